"""From one epoch of a training to the next: what its answers teach, and whether training goes on or an audit comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from onebit.learners.training.audit import Audits
from onebit.learners.training.constants import AUDIT_QUESTIONS
from onebit.learners.training.epoch import TrainingEpoch
from onebit.learners.training.knowledge import Knowledge
from onebit.learners.training.pace import Pace, questions_of_epoch
from onebit.learners.training.planning import Planner
from onebit.learners.training.teaching import Teaching
from onebit.learners.training.trials import Trials
from onebit.records import Answer, EpochPlan, Question


@dataclass(eq=False)
class TrainingRun:
    """A run that has ``budget`` answers, after ``n_earlier`` that were trained on from the start.

    It changes when an epoch closes and when one begins, and not in between. Answers are counted within the run.
    """

    known: Knowledge
    planner: Planner
    teaching: Teaching
    trials: Trials
    audits: Audits
    budget: int
    n_earlier: int
    #: The last epoch from which the model has learned; it may be ahead of the epochs gone through again.
    learned_through: int = field(default=-1, init=False)
    #: The number of answers that the model has learned from.
    n_learned: int = field(default=0, init=False)
    #: The items of all epochs that closed, and how often the model learned.
    n_rounds: int = field(default=0, init=False)
    n_refits: int = field(default=0, init=False)
    #: Whether the epoch that closed last was an audit.
    audited: bool = field(default=False, init=False)
    _pace: Pace = field(default_factory=Pace, init=False)

    @property
    def n_to_train(self) -> int:
        """The number of answers at which training ends at the latest: those of the audit are left."""
        return self.budget - len(self.audits.aside)

    def close(
        self, epoch: TrainingEpoch, questions: list[Question], answers: list[Answer | int | None], n_answered: int
    ) -> None:
        """Take in the answers of an epoch, in the order of their questions, and let the model learn."""
        asked = np.unique(np.array([question.item for question in questions], dtype=np.int64))
        # What comes again does so because guesses at it failed, and says nothing of how good they are.
        new = asked[~self.known.asked[asked]]
        number, is_audit = epoch.plan.number, epoch.plan.audits
        if not is_audit and number > self.learned_through and asked.size:
            beliefs = dict(zip(asked.tolist(), self.planner.expected(asked), strict=True))
            self.planner.unlisted.learn(questions, answers, beliefs, self.known)
        self._take_in(questions, answers, is_audit)
        self.n_rounds += len(epoch.plan.items)
        self.audited = is_audit
        if is_audit:
            return
        self.planner.close()
        self.trials.take(epoch, questions, answers, n_answered)
        self._pace.take(epoch.n_asked())
        if self.known.taught().size:
            self.n_refits += 1
            if number > self.learned_through:
                self.teaching.after_epoch(number, new, self.n_earlier + n_answered)
        self.learned_through = max(self.learned_through, number)
        self.n_learned = n_answered

    def _take_in(self, questions: Sequence[Question], answers: Sequence[Answer | int | None], is_audit: bool) -> None:
        for question, answer in zip(questions, answers, strict=True):
            self.known.take_in(question, answer)
            if is_audit and isinstance(answer, Answer):
                self.audits.record(answer)

    def next_epoch(self, number: int, n_answered: int, given: EpochPlan | None) -> TrainingEpoch | None:
        """The next epoch, as a log has it if it is ``given``; None if the run is over."""
        n_to_audit = min(AUDIT_QUESTIONS, self.budget - n_answered)
        if given is not None:
            # Audits of earlier versions ended sooner; whatever their number, what they show holds at any moment.
            n_to_audit = min(n_to_audit, len(given.items)) if given.audits else 0
        if self.audited:
            if aside := self.audits.take(n_to_audit):
                return self.planner.audit(aside, number, given)
            if self.audits.over:
                return None
        n_most = self.n_to_train - n_answered
        logged = given is not None and given.audits
        due = n_most > 0 and not self.audited and self.audits.due(self.trials.settled_accuracy, n_answered, logged)
        if n_most > 0 and not due:
            n_questions = min(n_most, questions_of_epoch(self.n_earlier + n_answered))
            epoch = self.planner.train(n_questions, self._pace.questions_per_item, number, given)
            if epoch is not None:
                return epoch
        self.teaching.before_audit(self.n_earlier + n_answered)
        self.audits.begin(n_answered, last=not due)
        aside = self.audits.take(n_to_audit)
        return self.planner.audit(aside, number, given) if aside else None
