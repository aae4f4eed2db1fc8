"""What all runs of certified learners have in common: epochs that begin and close, and what is stated meanwhile.

A run says which questions its epochs ask (``_begin``) and what their answers show (``_close``); everything else about
asking, telling, taking back and stating is here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from onebit import promise
from onebit.errors import InvalidInputError, UnknownQuestionError, check_count, check_fraction
from onebit.hypotheses.finite import FiniteClass
from onebit.learners.certified.asking import Asking
from onebit.learners.certified.evidence import Evidence
from onebit.learners.certified.gate import GateStanding
from onebit.learners.certified.outputs import Predictions
from onebit.learners.certified.standing import Accuracies, Approach, Standing
from onebit.learners.certified.statement import CertifiedResult
from onebit.learners.contract import Learner
from onebit.learners.items import ItemSource, Pool
from onebit.learners.ledger import Ledger
from onebit.records import (
    Answer,
    Closing,
    Comparison,
    EpochPlan,
    EpochRecord,
    PackedRecords,
    Placing,
    Question,
    RunStatus,
    Setting,
    Status,
)


class CertifiedRun(Learner[CertifiedResult]):
    """A run with a ``setting`` over a finite class; rows count the distinct hypotheses of a pool.

    On a stream, rows that are equal so far may differ on what is to come, so all of them count.
    """

    def __init__(self, hypotheses: FiniteClass, items: ItemSource, setting: Setting) -> None:
        check_fraction("eps", setting.eps)
        check_fraction("delta", setting.delta)
        if setting.budget is not None:
            check_count("budget", setting.budget)
        if setting.baseline is not None and not 0 <= setting.baseline < hypotheses.n_hypotheses > 1:
            raise InvalidInputError(
                f"baseline is {setting.baseline!r} of {hypotheses.n_hypotheses} models; it must be the number of one, "
                "counted from 0, and there must be another to hold against it"
            )
        _check_aim(setting, hypotheses.n_hypotheses)
        if setting.spends and (setting.budget is None or setting.baseline is not None or setting.ranks):
            raise InvalidInputError(
                f"spends is given with budget {setting.budget!r}, baseline {setting.baseline!r}, top {setting.top!r} "
                f"and tiers {setting.tiers!r}; it takes a budget to spend on one choice, and the others make none"
            )
        #: What is promised follows from it.
        self._setting = setting
        self.seed = setting.seed
        self._pool_said: Predictions | None = None
        self._first = self._which = np.arange(hypotheses.n_hypotheses)
        if isinstance(items, Pool):
            hypotheses.check_examples(items.x)
            self._first, self._which, self._pool_said = hypotheses.distinct_on(items.x)
        self._ledger = Ledger(hypotheses.n_labels)
        self._standing: Standing | None = None
        #: The epochs under way, the first to close first.
        self._under_way: list[Asking] = []
        #: Raters who answer at once.
        self._n_raters = 1
        self._n_rounds = self._n_free = self._n_checks = self._n_contradicted = 0
        #: Answers of the epochs that have closed.
        self._n_used = 0
        self._status = RunStatus.RUNNING
        self.epochs: PackedRecords[EpochRecord] = PackedRecords()
        self.closings: PackedRecords[Closing] = PackedRecords()
        self._given: dict[int, EpochRecord] = {}

    @abstractmethod
    def _first_standing(self) -> Standing:
        """Where the run stands before the first answer."""

    @abstractmethod
    def _begin(self, standing: Standing) -> None:
        """Begin an epoch; where nothing is left to ask about and none is under way, set the status."""

    @abstractmethod
    def _close(self, standing: Standing, if_not_over: RunStatus = RunStatus.RUNNING) -> None:
        """Close the first epoch under way, and draw all conclusions; these end the run, or ``if_not_over`` does."""

    def _n_ahead(self, standing: Standing) -> int:
        """How many questions may be asked of epochs that begin while others are under way; 0: none may begin."""
        return 0

    def ask(self, n: int = 1) -> tuple[Question, ...] | Status:
        check_count("the number of questions asked for", n)
        self._settle()
        while self._n_ready() < n and self._begins_another():
            pass
        questions: list[Question] = []
        n = min(n, self._n_ready())
        for asking in self._under_way:
            for _ in range(min(n - len(questions), asking.n_ready)):
                questions.append(asking.next(len(self._ledger.questions) + len(questions)))
        self._ledger.add(tuple(questions))
        if questions:
            return tuple(questions)
        return Status.WAIT if self._ledger.n_open and self._status is RunStatus.RUNNING else Status.DONE

    def tell(self, question_id: int, answer: Answer | int) -> None:
        question = self._ledger.record(question_id, answer)
        # After the end the certificate has been given without it.
        for asking in self._under_way:
            if asking.number == question.epoch:
                asking.tell(question, answer)
            else:
                asking.overhear(question, answer)

    @property
    def n_ready(self) -> int:
        return self._n_ready() + self._n_more()

    def expect(self, n_raters: int) -> None:
        self._n_raters = check_count("the number of raters", n_raters)

    def untell(self, question_id: int) -> None:
        asking = next((each for each in self._under_way if question_id in each.questions), None)
        if asking is None or self._ledger.answers[question_id] is None:
            raise UnknownQuestionError(
                f"question {question_id!r} has no answer that can be taken back; that is possible while a question of "
                "the same epoch, or of one before it, is open"
            )
        asking.check_may_untell(question_id)
        question = self._ledger.take_back(question_id)
        asking.untell(question_id)
        for other in self._under_way:
            if other is not asking:
                other.forget(question)

    def adopt(self, record: EpochRecord | EpochPlan) -> None:
        # The plan may be any, so a log stays good where numbers come out otherwise in the last bit, or plans improve.
        if not isinstance(record, EpochRecord):
            raise InvalidInputError(f"epoch {record.number} of the log is one of training, and this is a selection")
        self._given[record.number] = record
        if record.n_open:
            # Now, before more answers come: it began while others were under way.
            self._settle()

    @property
    def result(self) -> CertifiedResult:
        return self.read()()

    def read(self, closes: bool = True) -> Callable[[], CertifiedResult]:
        if closes:
            self._settle()
        n_cant_tell = sum(answer is Answer.CANT_TELL for answer in self._ledger.answers)
        counts = {
            "status": self._status,
            "n_rounds": self._n_rounds,
            "n_answers": self._ledger.n_answered,
            "n_free_rounds": self._n_free,
            "n_cant_tell": n_cant_tell,
            "n_checks": self._n_checks,
            "n_contradicted": self._n_contradicted,
        }
        return partial(self._result_of, self._standing_now().frozen(), self.closings.copy(), counts)

    def _result_of(self, standing: Standing, closings: Sequence[Closing], counts: dict[str, Any]) -> CertifiedResult:
        ahead, setting = standing.ahead_at_most(), self._setting
        n_items = None if self._pool_said is None else self._pool_said.shape[1]
        rows = standing.chosen_rows().tolist()
        names = [name for row in rows for name in np.flatnonzero(self._which == row).tolist()]
        if setting.baseline is not None:
            names = [setting.baseline]
        # Intervals and approach are about the best model.
        is_bare = standing.is_suspended or setting.baseline is not None or setting.ranks
        return CertifiedResult(
            promise=promise.suspended(setting) if standing.is_suspended else promise.in_full(setting, n_items),
            chosen=names[0],
            achieved_eps=standing.told_eps(),
            eps=setting.eps,
            delta=setting.delta,
            names=tuple(names),
            survivors=tuple(self._first[standing.survivors].tolist()),
            ahead_at_most=tuple(ahead.tolist()),
            gate=self._comparisons(standing),
            placings=self._placings(standing),
            measure=None if is_bare else partial(self._measured, standing, float(ahead.max())),
            approach=None if is_bare else partial(self._approach, standing, closings),
            **counts,
        )

    def _approach(self, standing: Standing, closings: Sequence[Closing]) -> Approach:
        found = standing.approach(closings, lambda name: int(np.searchsorted(self._first, name)))
        return replace(found, closest=None if found.closest is None else int(self._first[found.closest]))

    def _measured(self, standing: Standing, certified_eps: float) -> Accuracies:
        """The intervals of all models; nobody is ahead of the leader by more than the certificate says."""
        found = standing.accuracies(self._setting.delta)
        shares, ahead = found.shares.of(self._which), found.ahead.of(self._which).at_most(certified_eps)
        return replace(found, shares=shares, ahead=ahead)

    def _comparisons(self, standing: Standing) -> tuple[Comparison, ...]:
        """What is shown of every candidate of a gate, by its number in the table."""
        baseline, told = self._setting.baseline, standing.comparisons()
        if baseline is None:
            return ()
        # Who says the same as the baseline everywhere is as good.
        told = {self._which[baseline]: Comparison(baseline, "not worse", 0.0, 0.0), **told}
        rows = enumerate(self._which.tolist())
        return tuple(replace(told[row], candidate=name) for name, row in rows if name != baseline)

    def _placings(self, standing: Standing) -> tuple[Placing, ...]:
        """Where each distinct model stands, by its number in the table."""

        def names(rows: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(self._first[list(rows)].tolist())

        return tuple(
            replace(
                each,
                model=int(self._first[each.model]),
                better_than=names(each.better_than),
                tied_with=names(each.tied_with),
            )
            for each in standing.placings()
        )

    def _gate(self, evidence: Evidence, baseline: int, delta: float, transfer: float = 1.0) -> GateStanding:
        """Where a gate stands before the first answer; ``delta`` is what the wealth may use up."""
        row, said = int(self._which[baseline]), self._pool_said
        differs = np.ones(self._first.size) if said is None else (said != said[row]).mean(axis=1)
        return GateStanding(
            evidence, baseline=row, margin=self._setting.eps, delta=delta, differs=differs, transfer=transfer
        )

    def _n_ready(self) -> int:
        """How many questions of the epochs under way can be asked now."""
        n_ready, budget = sum(asking.n_ready for asking in self._under_way), self._setting.budget
        return n_ready if budget is None else min(n_ready, budget - len(self._ledger.questions))

    @property
    def _is_spent(self) -> bool:
        """Whether the budget allows no more questions."""
        return self._setting.budget is not None and len(self._ledger.questions) >= self._setting.budget

    def _standing_now(self) -> Standing:
        """Who is ahead; the first time, examples may be looked at for a vote."""
        if self._standing is None:
            self._standing = self._first_standing()
            if self._standing.is_over:
                self._status = RunStatus.COMPLETE
        return self._standing

    def _settle(self) -> None:
        """Close the epochs that are over, in order, and begin another if none is under way, unless the run is over."""
        standing = self._standing_now()
        while self._status is RunStatus.RUNNING:
            if not self._under_way or self._is_due():
                self._begin(standing)
            elif self._under_way[0].n_unsettled == 0:
                self._close(standing)
            elif self._ledger.n_open == 0 and self._is_spent:
                self._close(standing, if_not_over=RunStatus.BUDGET)
            else:
                return
        # What is still open was not needed.
        self._under_way.clear()

    def _is_due(self) -> bool:
        """Whether a log has an epoch that began while so many were under way."""
        given = self._given.get(len(self.epochs))
        return given is not None and given.n_open == len(self._under_way)

    def _n_more(self) -> int:
        """How many questions may be asked, beside those that are ready, if epochs begin while others are under way."""
        if not self._under_way or self._is_spent or len(self.epochs) in self._given:
            return 0
        return self._n_ahead(self._standing_now())

    def _begins_another(self) -> bool:
        """Begin an epoch while others are under way, if one may; whether it did."""
        n_before = len(self.epochs)
        if self._n_more() > 0:
            self._begin(self._standing_now())
        return len(self.epochs) > n_before

    @staticmethod
    def _status_after(standing: Standing, if_not_over: RunStatus) -> RunStatus:
        if standing.is_suspended:
            return RunStatus.SUSPENDED
        if standing.is_shown:
            return RunStatus.COMPLETE
        return RunStatus.EXHAUSTED if standing.is_exact else if_not_over

    def _note_closing(self, standing: Standing) -> None:
        """Record what the first epoch under way has shown; it is over."""
        self._given.pop(len(self.closings), None)
        answers = self._ledger.answers
        self._n_used += sum(answers[number] is not None for number in self._under_way[0].questions)
        self.closings.append(
            Closing(
                len(self.closings),
                self._n_rounds,
                self._n_used,
                int(self._first[standing.leader]),
                tuple(self._first[standing.survivors].tolist()),
                standing.certified_eps,
                self._n_checks,
                self._n_contradicted,
                tuple(self._first[standing.chosen_rows()].tolist()) if self._setting.ranks else (),
            )
        )
        del self._under_way[0]


def _check_aim(setting: Setting, n_models: int) -> None:
    """InvalidInputError unless there is one aim, and there are models enough for it."""
    if setting.top is not None and not 1 <= setting.top < n_models:
        raise InvalidInputError(
            f"top is {setting.top!r} of {n_models} models; it must be at least 1, and one model at least must be left"
        )
    if setting.tiers and n_models < 2:
        raise InvalidInputError("tiers are asked for, and there is one model; there must be two to compare")
    if (setting.baseline is not None) + (setting.top is not None) + setting.tiers > 1:
        raise InvalidInputError("a run has one aim: give a baseline, top, or tiers, and no two of them")
