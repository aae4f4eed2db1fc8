"""The certified learner: the best of N models within eps, stopping as soon as the answers allow.

An epoch freezes the survivors, the exploration, the bets and the range before its first example is drawn. Rounds on
which all survivors agree cost no question. When every round of an epoch is settled, models that are shown to be worse
than the leader go, and the run stops once no survivor can be ahead of the leader by more than eps.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, check_count, check_fraction
from onebit.estimate.betting import bets_within
from onebit.hypotheses.finite import FiniteClass
from onebit.kernels.distinct import distinct_rows
from onebit.learners.base import Learner, Result
from onebit.learners.epoch import Epoch, EpochRecord
from onebit.learners.evidence import Drawn, Evidence, IndependentEvidence, PoolEvidence, Settled, contested, n_labels_at
from onebit.learners.items import ItemSource, Pool
from onebit.learners.ledger import Ledger
from onebit.learners.planning import (
    Exploration,
    Scene,
    draw_labels,
    labels_by_mass,
    plan_exploration,
    plurality,
    solve_exploration,
)
from onebit.learners.schedule import failure_per_rival
from onebit.randomness import RoundStream
from onebit.records import Answer, Question, RunStatus, Status

Protocol = Literal["one-shot", "follow-up", "labels"]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: An epoch has this share of the rounds so far, and at least so many; exact rounds, which say more, may be fewer.
EPOCH_SHARE = 0.03
MIN_ROUNDS, MIN_EXACT_ROUNDS = 64, 8
#: Share of eps that conceded examples, those with too many labels, may take of the population.
CONCEDED_SHARE = 0.1
#: Confirmed samples below which the votes of the models stand in for them, and the most that are planned with.
ENOUGH_CONFIRMED, MOST_PLANNED = 50, 2000
#: gamma behind the order of labels in follow-up questions, where it is no probability.
ORDER_GAMMA = 0.5
#: How finely the certified eps is told.
EPS_STEP = 1e-4


@dataclass(frozen=True, eq=False)
class CertifiedResult(Result):
    """What is known so far; it all holds at once with probability at least 1 - delta, whenever the run is stopped.

    ``chosen`` is the leader, ``names`` the models that predict exactly as it does, ``survivors`` those that may be the
    best. No model is ahead of the leader by more than ``achieved_eps``, the certified eps. Of ``n_rounds`` examples
    drawn, ``n_free_rounds`` cost nothing; ``n_answers`` were asked of the rater.
    """

    eps: float
    delta: float
    names: tuple[int, ...]
    survivors: tuple[int, ...]
    n_answers: int
    n_free_rounds: int
    n_cant_tell: int


class CertifiedLearner(Learner[CertifiedResult]):
    """Names a model that is within eps of the best of a finite class, with probability at least 1 - delta.

    Not in the paper. Protocols: *one-shot*, one yes/no question about each drawn example; *follow-up*, labels are asked
    about the same example until a yes, or until no survivor's label is left; *labels*, the full label, as a reference
    (``passive``: also where survivors agree). On a pool, "best" means best on that pool; one-shot draws it with
    replacement and asks nothing twice, the others draw without. Follow-up and labels assume one right label for each
    example; one-shot stays right for "the model's label is acceptable" where several are.

    "Can't tell" makes nobody right on that example: this assumes that it depends on the example, not on the label
    asked. Raters must not err; see ``docs/certificate.md`` for what is promised otherwise.
    """

    def __init__(
        self,
        hypotheses: FiniteClass,
        items: ItemSource,
        *,
        eps: float,
        delta: float = 0.05,
        protocol: Protocol = "one-shot",
        passive: bool = False,
        budget: int | None = None,
        seed: int = 0,
    ) -> None:
        if protocol not in get_args(Protocol):
            raise InvalidInputError(f"protocol is {protocol!r}; it must be one of {', '.join(get_args(Protocol))}")
        if passive and protocol != "labels":
            raise InvalidInputError("passive is for the protocol labels; the others ask only where survivors differ")
        self._eps, self._delta = check_fraction("eps", eps), check_fraction("delta", delta)
        self._budget = None if budget is None else check_count("budget", budget)
        self._protocol, self._passive, self._n_labels = protocol, passive, hypotheses.n_labels
        pool_said = None
        if isinstance(items, Pool):
            hypotheses.check_examples(items.x)
            pool_said = hypotheses.predictions(items.x)
        self._first, self._which = hypotheses.equal_rows() if pool_said is None else distinct_rows(pool_said)
        pool_said = None if pool_said is None else pool_said[self._first]
        self._pool_said = pool_said if protocol == "one-shot" else None
        self._all_known = False
        self._evidence: Evidence
        if pool_said is None or protocol == "one-shot":
            self._evidence = IndependentEvidence(hypotheses, items, self._first, pool_said)
        else:
            self._evidence = PoolEvidence(pool_said, passive)
        self._uniforms = RoundStream(seed, "rounds")
        self._ledger = Ledger(hypotheses.n_labels)
        self._place_of: dict[int, int] = {}
        #: Answers by item and label, and the rounds that wait for one: nothing is asked twice.
        self._recorded: dict[tuple[int, int], Answer] = {}
        self._waiting: dict[tuple[int, int], list[int]] = {}
        self._ready: deque[int] = deque()
        self._epoch: Epoch | None = None
        self.epochs: list[EpochRecord] = []
        self._threshold = math.log(1 / failure_per_rival(self._first.size, delta))
        self._survivors = np.arange(self._first.size)
        self._leader = 0
        self._score = np.zeros(self._first.size)
        self._confirmed: list[Settled] = []
        self._n_rounds = self._n_free = 0
        self._status = RunStatus.COMPLETE if self._first.size == 1 else RunStatus.RUNNING

    def ask(self, n: int = 1) -> tuple[Question, ...] | Status:
        check_count("the number of questions asked for", n)
        self._settle()
        questions: list[Question] = []
        if self._epoch is not None:
            for _ in range(min(n, len(self._ready), self._allowance())):
                questions.append(self._next_question(self._epoch, len(self._ledger.questions) + len(questions)))
        self._ledger.add(tuple(questions))
        if questions:
            return tuple(questions)
        return Status.WAIT if self._ledger.n_open else Status.DONE

    def tell(self, question_id: int, answer: Answer | int) -> None:
        question = self._ledger.record(question_id, answer)
        place = self._place_of.pop(question_id)
        if self._epoch is None:
            return
        if question.label is None:
            self._epoch.settle(place, -1 if isinstance(answer, Answer) else answer)
        elif isinstance(answer, Answer):
            key = question.item, question.label
            if self._pool_said is not None:
                self._recorded[key] = answer
            for waiting in self._waiting.pop(key, [place]):
                self._take(self._epoch, waiting, question.label, answer)

    @property
    def result(self) -> CertifiedResult:
        self._settle()
        answers = self._ledger.answers
        return CertifiedResult(
            status=self._status,
            promise=(
                "no model is ahead of the chosen one by more than achieved_eps, and the best is among the survivors, "
                f"with probability at least {1 - self._delta:g}, whenever the run is stopped"
            ),
            n_rounds=self._n_rounds,
            chosen=int(self._first[self._leader]),
            oracle_calls=0,
            intervals=None,
            achieved_eps=self._certified_eps(),
            eps=self._eps,
            delta=self._delta,
            names=tuple(np.flatnonzero(self._which == self._leader).tolist()),
            survivors=tuple(self._first[self._survivors].tolist()),
            n_answers=self._ledger.n_answered,
            n_free_rounds=self._n_free,
            n_cant_tell=sum(answer is Answer.CANT_TELL for answer in answers),
        )

    def _allowance(self) -> int:
        return len(self._ready) if self._budget is None else self._budget - len(self._ledger.questions)

    def _next_question(self, epoch: Epoch, number: int) -> Question:
        place = self._ready.popleft()
        label = epoch.to_ask[place].pop(0)
        self._place_of[number] = place
        return Question(
            number, int(epoch.drawn.items[place]), label, float(epoch.propensity[place]), epoch.record.number
        )

    def _take(self, epoch: Epoch, place: int, label: int, answer: Answer) -> None:
        """Settle a round by an answer, or go on to its next label."""
        if answer is Answer.YES:
            epoch.settle(place, label)
        elif answer is Answer.CANT_TELL or not epoch.to_ask[place]:
            epoch.settle(place, -1)
        else:
            self._ready.append(place)

    def _settle(self) -> None:
        """Close the epoch if it is over, and begin another unless the run is."""
        while self._status is RunStatus.RUNNING:
            if self._epoch is None:
                self._begin()
            elif self._epoch.unsettled == 0:
                self._close(self._epoch)
            elif self._ledger.n_open == 0 and self._allowance() <= 0:
                self._close(self._epoch, if_not_over=RunStatus.BUDGET)
            else:
                return

    def _begin(self) -> None:
        exact = isinstance(self._evidence, PoolEvidence)
        n_rounds = max(MIN_EXACT_ROUNDS if exact else MIN_ROUNDS, math.ceil(EPOCH_SHARE * self._n_rounds))
        widest = self._evidence.widest(self._survivors, CONCEDED_SHARE * self._eps)
        exploration = self._explore(widest)
        bets = bets_within(widest / exploration.gamma if self._protocol == "one-shot" else 1.0, self._eps)
        record = EpochRecord(
            len(self.epochs), self._n_rounds, n_rounds, self._leader, self._survivors, exploration, widest, bets
        )
        uniform = self._uniforms.uniforms(self._n_rounds, n_rounds)
        drawn = self._evidence.draw(self._survivors, uniform[:, 0])
        if drawn.items.size == 0:
            self._status = RunStatus.EXHAUSTED
            return
        differ = contested(drawn.said[self._survivors])
        conceded = np.zeros_like(differ)
        if self._protocol == "one-shot":
            conceded = n_labels_at(drawn.said[self._survivors]) > widest
        self._epoch = Epoch(record, drawn, np.ones_like(differ) if self._passive else differ & ~conceded, conceded)
        self.epochs.append(record)
        self._prepare(self._epoch, np.flatnonzero(~self._epoch.is_settled), uniform[:, 1:])
        if self._pool_said is not None and not self._ready:
            self._end_if_all_is_known(self._pool_said)

    def _end_if_all_is_known(self, said: NDArray[np.integer]) -> None:
        """On a pool, end the run if every label of a survivor has its answer on every contested item.

        Drawing with replacement would go on for long, although nothing is left to be asked: the accuracies of survivors
        differ by what is recorded.
        """
        places = np.flatnonzero(contested(said[self._survivors]))
        pairs = {(item, int(a)) for item in places.tolist() for a in said[self._survivors, item] if a >= 0}
        if not pairs <= self._recorded.keys():
            return
        right = {pair for pair, answer in self._recorded.items() if answer is Answer.YES}
        score = [sum((item, int(said[h, item])) in right for item in places.tolist()) for h in self._survivors]
        self._leader = int(self._survivors[np.argmax(score)])
        self._epoch, self._all_known, self._status = None, True, RunStatus.COMPLETE

    def _prepare(self, epoch: Epoch, places: Ints, uniform: Floats) -> None:
        """Decide what to ask in each round that costs something; what was asked before is not asked again."""
        said = epoch.drawn.said[np.ix_(self._survivors, places)]
        if self._protocol == "one-shot":
            labels, epoch.propensity[places] = draw_labels(epoch.record.exploration, said, uniform[places])
            to_ask: list[list[int | None]] = [[label] for label in labels.tolist()]
        elif self._protocol == "follow-up":
            to_ask = [list(labels_by_mass(epoch.record.exploration, column)) for column in said.T]
        else:
            to_ask = [[None] for _ in places]
        for place, labels_left in zip(places.tolist(), to_ask, strict=True):
            epoch.to_ask[place] = labels_left
            label, item = labels_left[0], int(epoch.drawn.items[place])
            if self._protocol != "one-shot" or label is None:
                self._ready.append(place)
            elif (item, label) in self._recorded:
                labels_left.clear()
                self._take(epoch, place, label, self._recorded[item, label])
            elif (item, label) in self._waiting:
                labels_left.clear()
                self._waiting[item, label].append(place)
            else:
                self._waiting[item, label] = [place]
                self._ready.append(place)

    def _close(self, epoch: Epoch, if_not_over: RunStatus = RunStatus.RUNNING) -> None:
        settled = epoch.settled_prefix()
        self._evidence.add(settled, epoch.record.bets)
        found = settled.label >= 0
        right = settled.right[:, found]
        self._score += right @ (1 / settled.propensity[found])
        n_rounds = settled.label.size
        self._n_rounds += n_rounds
        self._n_free += 0 if self._passive else n_rounds - int(contested(settled.drawn.said[self._survivors]).sum())
        self._remember(settled, found)
        self._epoch = None
        self._ready.clear()
        self._waiting.clear()
        self._leader = int(self._survivors[np.argmax(self._score[self._survivors])])
        behind = self._evidence.wealth.log_wealth(self._leader, 0.0) >= self._threshold
        behind[self._leader] = False
        self._survivors = self._survivors[~behind[self._survivors]]
        over = self._evidence.is_exhausted(self._survivors) or self._is_shown(self._eps, keep=True)
        self._status = RunStatus.COMPLETE if over else if_not_over

    def _remember(self, settled: Settled, found: NDArray[np.bool_]) -> None:
        """Keep the rounds with a known label, to plan with."""
        drawn = Drawn(settled.drawn.items[found], settled.drawn.said[:, found])
        self._confirmed.append(Settled(drawn, settled.label[found], settled.propensity[found], settled.conceded[found]))

    def _is_shown(self, c: float, keep: bool) -> bool:
        """Whether no survivor can be ahead of the leader by c or more."""
        rivals = self._survivors[self._survivors != self._leader]
        shown = self._evidence.wealth.log_wealth(self._leader, c, keep)[rivals] >= self._threshold
        return bool(shown.all())

    def _certified_eps(self) -> float:
        """The least c, up to EPS_STEP, that is shown."""
        exact = self._all_known or self._evidence.is_exhausted(self._survivors)
        if self._survivors.size == 1 or exact:
            return 0.0
        low, high = 0.0, 1.0
        if self._status is RunStatus.COMPLETE:
            high = self._eps
        while high - low > EPS_STEP:
            middle = (low + high) / 2
            low, high = (low, middle) if self._is_shown(middle, keep=False) else (middle, high)
        return high

    def _explore(self, widest: int) -> Exploration:
        """The exploration for the next epoch, from the samples confirmed so far or, before, from the models' votes."""
        leader = int(np.flatnonzero(self._survivors == self._leader)[0])
        scene = self._scene()
        if scene is None or self._protocol == "labels":
            return Exploration(np.array([leader]), np.ones(1), 1.0)
        if self._protocol == "follow-up":
            return solve_exploration(scene, leader, ORDER_GAMMA)
        return plan_exploration(scene, leader, widest, self._eps)

    def _scene(self) -> Scene | None:
        label = np.concatenate([each.label for each in self._confirmed] or [np.empty(0, dtype=np.int64)])
        if label.size >= ENOUGH_CONFIRMED:
            said = np.concatenate([each.drawn.said[self._survivors] for each in self._confirmed], axis=1)
            weight = 1 / np.concatenate([each.propensity for each in self._confirmed])
            kept = slice(max(0, label.size - MOST_PLANNED), None)
            share = weight.sum() / max(weight[kept].sum(), 1e-300)
            return Scene(said[:, kept], label[kept], share * weight[kept] / max(self._n_rounds, weight.sum()))
        votes = self._evidence.votes(self._survivors, MOST_PLANNED)
        if votes is None:
            return None
        said, mass = votes
        return Scene(said, plurality(said, self._n_labels), mass)
