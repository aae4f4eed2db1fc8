"""Checks what a run of the certified learner claims, from its log, the table and the seed alone.

``verify`` draws every question again, counts the wealth of every pair again from the answers, and holds each closing
against it, as ``docs/certificate.md`` says and independently of the learner: the two share records and the named random
streams, and no other code. It is made to be read, not to be quick. In the order of reading: ``contest.py`` (who
competes on what), ``redraw.py`` (what had to be asked), ``settle.py`` (what was answered), ``recount.py`` (what that is
worth), ``audit.py`` (whether that bears the claims); ``panel.py`` has the middle three for panels.

What a log cannot show is left to trust: that the answers are a rater's, and that each epoch was planned before its
questions were drawn, without a look at what draws them. How it was planned does not matter otherwise, nor who leads.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.records import Answer, Closing, EpochRecord, Question, Setting
from onebit.verify.audit import Audit, Verdict
from onebit.verify.choice import chooses
from onebit.verify.contest import Contest, contest
from onebit.verify.intervals import Order, Sights, Skipped, differing
from onebit.verify.panel import PanelAudit
from onebit.verify.recount import (
    USUAL_EXACT,
    USUAL_WEIGHTED,
    Count,
    IndependentCount,
    PoolCount,
    bet_weights,
    luck_of_errors,
    refutes_one_label,
)
from onebit.verify.redraw import Known, left_to_draw, redraw
from onebit.verify.settle import Answers, Given, Settled
from onebit.verify.weighted_intervals import Weighted

#: Coefficients of a guess, and with a judge one more.
N_COEFFICIENTS = 4


def verify(
    setting: Setting,
    predictions: NDArray[np.integer],
    n_labels: int,
    epochs: Sequence[EpochRecord],
    questions: Sequence[Question],
    answers: Sequence[Given],
    closings: Sequence[Closing],
    progress: Callable[[int, int], None] | None = None,
    judge: NDArray[np.floating] | None = None,
) -> Verdict:
    """Hold a run's log against ``docs/certificate.md``; ``predictions`` (N, n) is its table, -1 for an abstention.

    ``answers`` belong to ``questions``, None while open. The last epoch may be open, and then has no closing: only its
    questions are checked. ``progress`` is told the number of epochs done, and of all. ``judge`` (N, n) has the scores
    of its judge, if it had one. Raises InvalidInputError if the setting or the table cannot be that of a run at all.
    """
    if len(questions) != len(answers):
        raise InvalidInputError(f"there are {len(questions)} questions and {len(answers)} answers; give one for each")
    scene = contest(setting, np.asarray(predictions), n_labels, judge)
    audit = PanelAudit(scene) if setting.protocol == "panel" else _RoundsAudit(scene)
    audit.begin()
    audit.tell(_log_faults(setting, epochs, questions, closings))
    audit.tell(
        f"question {question.id} has the answer {answer!r}, which is none to what it asks"
        for question, answer in zip(questions, answers, strict=True)
        if not _is_answer(question, answer, n_labels)
    )
    asked: dict[int, list[tuple[Question, Given]]] = defaultdict(list)
    for question, answer in zip(questions, answers, strict=True):
        asked[question.epoch].append((question, answer if _is_answer(question, answer, n_labels) else None))
    for j, epoch in enumerate(epochs):
        may_be_cut = j == len(closings) - 1 and len(questions) == setting.budget
        goes_on = audit.check_epoch(j, epoch, asked[j], closings[j] if j < len(closings) else None, may_be_cut)
        if progress is not None:
            progress(j + 1, len(epochs))
        if not goes_on:
            break
    return audit.verdict(n_answers=sum(answer is not None for answer in answers))


def _log_faults(
    setting: Setting, epochs: Sequence[EpochRecord], questions: Sequence[Question], closings: Sequence[Closing]
) -> Iterator[str]:
    """What is wrong with the records as such."""
    if setting.budget is not None and len(questions) > setting.budget:
        yield f"{len(questions)} questions were asked with a budget of {setting.budget}"
    least = max((epoch.n_closed for epoch in epochs), default=0)
    if not least <= len(closings) <= len(epochs):
        yield f"there are {len(closings)} closings for {len(epochs)} epochs; {least} had closed when the last began"
    last = -1
    for question in questions:
        # Checks of raters have numbers of the same sequence, in between.
        if question.id <= last:
            yield f"question {question.id} stands after question {last}; they are numbered in the order asked"
        last = question.id
        if not 0 <= question.epoch < len(epochs):
            yield f"question {question.id} belongs to epoch {question.epoch}, of which there is no record"


def _is_answer(question: Question, answer: Given, n_labels: int) -> bool:
    if answer is None or answer is Answer.CANT_TELL:
        return True
    if question.label is None:
        return isinstance(answer, int | np.integer) and 0 <= answer < n_labels
    return isinstance(answer, Answer)


class _RoundsAudit(Audit):
    """A run whose rounds are drawn one by one: one-shot, follow-up and labels."""

    def __init__(self, scene: Contest) -> None:
        super().__init__(scene)
        self._n_with_two = 0
        raters_err = self._setting.f_no > 0 or self._setting.f_yes > 0
        # Step 14: on a pool, half of delta is for the luck of raters who err.
        self._has_slack = raters_err and self._setting.population == "pool"
        if self._has_slack:
            self._delta = self._setting.delta / 2
        # Step 14: with raters who err, answers differ by s c where accuracies differ by c.
        self._transfer = 1 - self._setting.f_no - self._setting.f_yes
        #: What is known after the last closing; what was when the last epoch began, and what each epoch asked.
        self._known, self._known_then = Known(), Known()
        self._asked: list[list[tuple[Question, Given]]] = []
        self._n_known_then = 0
        self._undrawn = np.ones(scene.n_items, dtype=np.bool_)
        self._pool_count: PoolCount | None = None
        n_models = scene.said.shape[0]
        slack = self._slack if self._has_slack else None
        weights = bet_weights(self._setting.eps, USUAL_WEIGHTED)
        self._count: Count = IndependentCount(n_models, weights, abstaining_rival=self._setting.f_yes, slack=slack)
        if self._setting.population == "pool" and self._setting.protocol != "one-shot":
            self._count = self._pool_count = PoolCount(scene.said, bet_weights(self._setting.eps, USUAL_EXACT))
        # Step 16: what is seen of single models.
        said = scene.said_by_distinct
        is_pool, passive = self._setting.population == "pool", self._setting.passive
        self._order = Order(said.shape[0], said if is_pool else None, all_count=passive)
        self._weighted = Weighted(scene)
        n_counted = said.shape[1] if passive else int(differing(said).sum())
        self._skipped = Skipped(n_counted, self._setting.seed)

    def _settle(
        self, number: int, epoch: EpochRecord, asked: list[tuple[Question, Given]], closes: bool, may_be_cut: bool
    ) -> bool:
        self._asked.append(asked)
        for then in self._asked[self._n_known_then : epoch.n_closed]:
            self._learn(self._known_then, then)
        self._n_known_then = epoch.n_closed
        rounds = redraw(self._scene, epoch, self._undrawn, self._known_then, self._n_with_two)
        # Step 22: what an epoch drew that was open then is not asked again.
        answers = Answers(asked, [each for open_then in self._asked[epoch.n_closed : number] for each in open_then])
        outcomes = [answers.settle(drawn) for drawn in rounds]
        self.tell(answers.faults)
        self.tell(
            f"question {question.id} (item {question.item}, label {question.label}) is none that epoch {number} drew"
            for question in answers.unclaimed()
        )
        if not closes:
            return False
        settled: list[Settled] = []
        for outcome in outcomes:
            if outcome is None:
                break
            settled.append(outcome)
        if len(settled) < len(rounds) and not may_be_cut:
            self.tell(
                [
                    f"epoch {number} was closed, but round {self._n_rounds + len(settled)} (item "
                    f"{rounds[len(settled)].item}) lacks an answer; only where the budget ran out may rounds be left"
                ]
            )
            return False
        self._take(epoch, settled, asked)
        return True

    def _record_faults(self, number: int, epoch: EpochRecord) -> Iterator[str]:
        if epoch.n_open and (self._setting.protocol != "one-shot" or chooses(self._setting)):
            yield f"it began while {epoch.n_open} were open, which is for one-shot that looks for an eps"
        if epoch.n_rounds < 1:
            yield f"it has {epoch.n_rounds} rounds; there must be one at least"
        if not 0 < epoch.gamma <= 1:
            yield f"gamma is {epoch.gamma}; it must be above 0 and at most 1, or some labels are never asked"
        if not all(0 <= need <= 1 for _, need in epoch.mixture):
            yield "its mixture has needs that are not between 0 and 1"
        if chooses(self._setting) and not sum(need for _, need in epoch.mixture) > 0:
            yield "its mixture has no contender"
        if self._setting.protocol == "labels":
            return
        if len(epoch.trust) != len(self._scene.distinct) or not all(0 <= trust < math.inf for trust in epoch.trust):
            yield "its trust is not one finite number, at least 0, for each distinct model"
        n_coefficients = N_COEFFICIENTS + (self._scene.judge is not None)
        if len(epoch.guess) != n_coefficients or not all(math.isfinite(each) for each in epoch.guess):
            yield f"its guess is {epoch.guess}; these must be {n_coefficients} finite numbers"
        if epoch.merit and not chooses(self._setting):
            yield "its models have merit, which is for a budget that is spent in one-shot on a pool"
        if epoch.merit and (len(epoch.merit) != len(self._scene.distinct) or not all(map(math.isfinite, epoch.merit))):
            yield "its merit is not one finite number for each distinct model"
        if epoch.sharpness != 1 and not chooses(self._setting):
            yield "its scores are raised to a power, which is for a budget that is spent in one-shot on a pool"
        if not 0 < epoch.sharpness < math.inf:
            yield f"its scores are raised to the power {epoch.sharpness}; it must be above 0"
        if epoch.n_viewed and not chooses(self._setting):
            yield "it looks at items to say who leads, which is for a budget that is spent in one-shot on a pool"
        if not 0 <= epoch.sure_from < math.inf:
            yield f"its score from which on items are always asked about is {epoch.sure_from}; it must not be negative"

    def _take(self, epoch: EpochRecord, settled: list[Settled], asked: list[tuple[Question, Given]]) -> None:
        """Count the settled rounds of an epoch, and remember what later ones know by it."""
        self._see(epoch, settled)
        if self._pool_count is not None:
            self._undrawn[[each.round.item for each in settled]] = False
        self._count.add(epoch.survivors, settled)
        self._n_rounds += len(settled)
        self._n_free += sum(each.round.outputs.size == 1 and not each.round.to_ask for each in settled)
        self._n_answers += sum(answer is not None for _, answer in asked)
        self._n_with_two += sum(each.round.has_two_labels for each in settled)
        for contradicted in (each.contradicted for each in settled if each.contradicted is not None):
            self._n_checks, self._n_contradicted = self._n_checks + 1, self._n_contradicted + contradicted
            self._suspended |= refutes_one_label(self._n_checks, self._n_contradicted)
        self._learn(self._known, asked)

    def _learn(self, known: Known, asked: list[tuple[Question, Given]]) -> None:
        """Step 9: on a pool one-shot asks nothing again."""
        if self._setting.population == "pool" and self._setting.protocol == "one-shot":
            for question, answer in asked:
                if question.label is not None and isinstance(answer, Answer):
                    known.add(question.item, question.label, answer)

    def _see(self, epoch: EpochRecord, settled: list[Settled]) -> None:
        """Step 16: note what the settled rounds show of single models."""
        if self._setting.protocol == "one-shot":
            self._weighted.add(epoch.survivors, settled)
            return
        n_open = len(left_to_draw(self._scene, epoch.survivors, self._undrawn))
        survives = np.isin(self._scene.distinct, epoch.survivors)
        for number, each in enumerate(settled):
            says = self._scene.said[self._scene.rows, each.round.item]
            is_known = survives & (not each.round.is_nil) | self._setting.passive
            right = np.zeros(says.size) if each.found is None else (says == each.found).astype(np.float64)
            n_skipped = 0 if self._pool_count is None else self._skipped.before(n_open - number)
            self._order.add(says, np.where(is_known, right, np.nan), n_skipped)

    def _sights(self) -> Sights:
        return self._weighted if self._setting.protocol == "one-shot" else self._order

    def _log_wealth(self, rivals: Sequence[int], leader: int, c: float) -> NDArray[np.float64]:
        return self._count.log_wealth(rivals, leader, c)

    def _slack(self, leader: int) -> NDArray[np.float64]:
        """Step 14: by how much verdicts on the pool may favour the leader against each model, but for delta / 2."""
        said, setting = self._scene.said, self._setting
        n_differ = (said != said[leader]).sum(axis=1)
        # Steps 17 and 20: gates and tiers have two statements about luck for each pair.
        share = self._scene.shares[leader] / (2 if setting.baseline is not None or setting.tiers else 1)
        log_odds = math.log(1 / (share * setting.delta / 2))
        return luck_of_errors(n_differ, log_odds, setting.f_no, setting.f_yes) / self._scene.n_items

    def _known_gap(self, leader: int) -> float | None:
        if self._survivors == (leader,):
            return 0.0
        if self._setting.population == "stream":
            return None
        if self._pool_count is not None:
            if (self._scene.contested(self._survivors) & self._undrawn).any():
                return None
            return int(self._pool_count.sums(self._survivors, leader).max()) / self._scene.n_items
        ahead = self._all_known_ahead([h for h in self._survivors if h != leader], leader)
        return None if ahead is None else float(np.clip(max(ahead), 0, 1))

    def _known_ahead(self, rival: int, leader: int) -> float | None:
        if self._setting.population == "stream" or self._pool_count is not None:
            return None
        ahead = self._all_known_ahead([rival], leader)
        return None if ahead is None else ahead[0]

    def _all_known_ahead(self, rivals: Sequence[int], leader: int) -> list[float] | None:
        """By how much each rival is ahead at most, by answers that are known; None unless all are that could matter."""
        items = np.flatnonzero(self._scene.contested(self._survivors))
        n_accepted = self._known.n_accepted(self._scene.said, items.tolist(), self._survivors)
        if n_accepted is None:
            return None
        said, slack = self._scene.said, self._slack(leader) if self._has_slack else np.zeros(self._scene.said.shape[0])
        ahead = []
        for h in rivals:
            n_silent = int(((said[h, items] < 0) & (said[leader, items] >= 0)).sum())
            favoured = n_accepted[h] - n_accepted[leader] + self._setting.f_yes * n_silent
            ahead.append(float((favoured / self._scene.n_items + slack[h]) / self._transfer))
        return ahead
