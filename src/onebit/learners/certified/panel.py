"""The panel: every distinct output of a drawn item is judged, so that several may be right, or none.

Two notions: the *order* of the items, which is random and fixed before the first answer; and the *contenders*, the
leader and those rivals that are not yet shown to be within eps of it. An epoch goes on along the order and asks for the
verdicts that tell contenders apart, on every item up to there, if nobody has given them yet. So who becomes a contender
again is judged on all items that it missed, and nothing is asked that decides nothing.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.estimate.betting import usual_bet
from onebit.estimate.delta import even_failure_per_leader
from onebit.estimate.panels import JudgeScores
from onebit.hypotheses.finite import FiniteClass
from onebit.learners.certified import constants
from onebit.learners.certified.asking import Asking
from onebit.learners.certified.judges import Judge
from onebit.learners.certified.outputs import Ints, Predictions
from onebit.learners.certified.pairs import pairs_standing
from onebit.learners.certified.panel_evidence import PanelEvidence
from onebit.learners.certified.planning import needed_rounds, rounds_for
from onebit.learners.certified.protocols import Given
from onebit.learners.certified.run import CertifiedRun
from onebit.learners.certified.standing import Standing
from onebit.learners.items import ItemSource, Pool
from onebit.randomness import fresh_seed, generator
from onebit.records import DELTA, Answer, EpochRecord, Population, Question, RunStatus, Setting


class PanelQuestions(Asking):
    """The verdicts that an epoch asks for: ``cells`` are pairs of a place in the order and an output there.

    ``items`` has the item at each place.
    """

    def __init__(self, number: int, cells: list[tuple[int, int]], items: Ints) -> None:
        self.number, self._items = number, items
        self._ready = deque(cells)
        self._asked: dict[int, tuple[int, int]] = {}
        self._cells = frozenset(cells)
        #: That of the output asked about last.
        self._last_place = -1
        #: The verdicts given so far; can't tell is not a yes.
        self.accepted: dict[tuple[int, int], bool] = {}

    @property
    def n_ready(self) -> int:
        return len(self._ready)

    @property
    def n_unsettled(self) -> int:
        return len(self._cells) - len(self.accepted)

    @property
    def questions(self) -> list[int]:
        return list(self._asked)

    @property
    def unsettled_places(self) -> set[int]:
        """The items of which a verdict is missing."""
        return {place for place, _ in self._cells - self.accepted.keys()}

    @property
    def continues_item(self) -> bool:
        """Whether the next output is one of the item whose output was asked about last."""
        return bool(self._ready) and self._ready[0][0] == self._last_place

    def next(self, number: int) -> Question:
        place, label = self._asked[number] = self._ready.popleft()
        self._last_place = place
        return Question(number, int(self._items[place]), label, 1.0, self.number)

    def tell(self, question: Question, answer: Given) -> None:
        self.accepted[self._asked[question.id]] = answer is Answer.YES

    def check_may_untell(self, question_id: int) -> None:
        """Any answer may be taken back: what else the epoch asks does not depend on it."""

    def untell(self, question_id: int) -> None:
        del self.accepted[self._asked[question_id]]


class PanelLearner(CertifiedRun):
    """Names a model within eps of the best, with probability at least 1 - delta, however many outputs are right.

    Not in the paper. Models may say anything: outputs are numbers that stand for texts, -1 for an abstention, which is
    not accepted. "Best" is about verdicts: accepted most often, had raters judged every output of every item. So
    raters may err, and nothing is assumed about how many outputs of an item are right. On a pool the items come in a
    random order, each once; a stream is taken as it comes. docs/certificate.md, step 15. ``judge`` (N, n) may hold the
    scores of what each model says on the items of a table, from 0 to 1, NaN where one is missing; it saves answers on a
    pool if it is good, and touches no promise. With a ``baseline`` all other models are held against it (a gate); with
    ``top``, so many best models are named; with ``tiers`` all pairs are compared.

    The seed is drawn from the operating system; a given one is for replay and simulation.
    """

    def __init__(
        self,
        hypotheses: FiniteClass,
        items: ItemSource,
        *,
        eps: float,
        delta: float = DELTA,
        budget: int | None = None,
        seed: int | None = None,
        judge: NDArray[np.floating] | None = None,
        baseline: int | None = None,
        top: int | None = None,
        tiers: bool = False,
        spends: bool = False,
    ) -> None:
        population: Population = "pool" if isinstance(items, Pool) else "stream"
        seed = fresh_seed() if seed is None else seed
        aim = {"baseline": baseline, "top": top, "tiers": tiers, "spends": spends}
        setting = Setting(eps, delta, "panel", population, budget=budget, seed=seed, **aim)  # type: ignore[arg-type]
        super().__init__(hypotheses, items, setting)
        self._hypotheses, self._source = hypotheses, items
        #: The item at each place of the order.
        self._items = np.empty(0, dtype=np.int64)
        said: Predictions = np.empty((hypotheses.n_hypotheses, 0), dtype=np.int64)
        if self._pool_said is not None:
            self._items = generator(seed, "panel order").permutation(self._pool_said.shape[1])
            said = self._pool_said[:, self._items]
        scores = None
        if judge is not None and self._pool_said is not None:
            judged = Judge(hypotheses, items, judge).scores(self._items)[self._first]
            scores = JudgeScores(np.where(said < 0, 0.0, judged), constants.JUDGE_WEIGHT, constants.JUDGE_SHARE)
        self._evidence = PanelEvidence(said, self._pool_said is not None, scores, usual_bet(eps, exact=True))
        self._panel: PanelQuestions | None = None

    @property
    def continues_item(self) -> bool:
        return self._panel is not None and self._n_ready() > 0 and self._panel.continues_item

    def _first_standing(self) -> Standing:
        if self._setting.baseline is not None:
            return self._gate(self._evidence, self._setting.baseline, self._setting.delta)
        placed = pairs_standing(self._setting, self._evidence, self._pool_said, self._first.size, self._setting.delta)
        if placed is not None:
            return placed
        failure = even_failure_per_leader(self._first.size, self._setting.delta)
        eps, delta, spends = self._setting.eps, self._setting.delta, self._setting.spends
        return Standing(self._evidence, eps=eps, delta=delta, failure=failure, spends=spends)

    def _begin(self, standing: Standing) -> None:
        number = len(self.epochs)
        given = self._given.get(number)
        contenders = self._contenders(standing) if given is None else self._recorded(given)
        n_rounds = self._draw(contenders, self._size(standing, contenders), None if given is None else given.n_rounds)
        n_drawn = self._n_rounds + n_rounds
        places, labels = self._evidence.missing(contenders, n_drawn)
        if n_rounds == 0 and places.size == 0:
            self._status = RunStatus.EXHAUSTED
            return
        rivals = self._first[contenders[contenders != standing.leader]]
        record = EpochRecord(
            number=number,
            first_round=self._n_rounds,
            n_rounds=n_rounds,
            leader=int(self._first[standing.leader]),
            survivors=tuple(self._first[standing.survivors].tolist()),
            mixture=tuple((int(rival), 1.0) for rival in rivals),
            gamma=1.0,
        )
        self.epochs.append(record)
        # Raters see the outputs of one item together, in an order that says nothing about the models.
        order = generator(self.seed, f"outputs of epoch {number}").permutation(places.size)
        order = order[np.argsort(places[order], kind="stable")]
        cells = list(zip(places[order].tolist(), labels[order].tolist(), strict=True))
        self._n_rounds = n_drawn
        self._n_free += n_rounds - np.unique(places[places >= record.first_round]).size
        self._panel = PanelQuestions(number, cells, self._items)
        self._under_way.append(self._panel)

    def _contenders(self, standing: Standing) -> Ints:
        """The leader, and the rivals that may still be ahead of it by more than eps; rising.

        Where a budget is spent: all that may be the best.
        """
        if self._setting.spends:
            return standing.survivors
        return np.union1d(standing.not_shown(self._setting.eps), [standing.leader])

    def _recorded(self, record: EpochRecord) -> Ints:
        """The contenders of a log."""
        names = np.array([record.leader, *(rival for rival, _ in record.mixture)])
        if not np.isin(names, self._first).all():
            raise InvalidInputError(f"epoch {record.number} has contenders that are not among the distinct models")
        return np.unique(np.searchsorted(self._first, names))

    def _size(self, standing: Standing, contenders: Ints) -> int:
        """How many items on which contenders differ the next epoch should have; more where raters would wait."""
        least = constants.MIN_EXACT_ROUNDS
        n_wanted = max(least, math.ceil(constants.EPOCH_SHARE * self._n_rounds))
        if self._n_raters == 1:
            return n_wanted
        needed = needed_rounds(standing, self._n_rounds, self._setting.eps)
        return max(n_wanted, rounds_for(self._n_raters, contenders.size, max(self._n_rounds, least), needed))

    def _draw(self, contenders: Ints, n_wanted: int, n_rounds: int | None) -> int:
        """Go on along the order by ``n_rounds`` items, or by as many as an epoch wants; how many there were."""
        if self._pool_said is not None:
            n_left = self._evidence.n_seen - self._n_rounds
            return min(self._evidence.places_until(n_wanted, contenders) if n_rounds is None else n_rounds, n_left)
        items = self._source.draw(np.zeros(n_wanted if n_rounds is None else n_rounds))
        if items.size:
            try:
                x = self._source.take(items)
                self._hypotheses.check_examples(x)
                said = np.maximum(self._hypotheses.predictions(x), -1)
            except Exception:
                # An example that was drawn and not asked about would be missing from the population.
                self._source.put_back(items)
                raise
            self._evidence.extend(said)
            self._items = np.concatenate([self._items, items])
        return int(items.size)

    def _close(self, standing: Standing, if_not_over: RunStatus = RunStatus.RUNNING) -> None:
        if self._panel is None:
            return
        for (place, label), accepted in self._panel.accepted.items():
            self._evidence.judge(place, label, accepted)
        unsettled, self._panel = self._panel.unsettled_places, None
        self._evidence.update(self._n_rounds, standing.leader, unsettled)
        standing.update(None)
        self._status = self._status_after(standing, if_not_over)
        self._note_closing(standing)
