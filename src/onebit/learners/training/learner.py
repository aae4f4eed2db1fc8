"""The training learner: a classifier from yes/no answers, and a valid interval for its accuracy.

It goes through *epochs*, at the end of which the model learns. In a training epoch it asks what teaches most; in an
audit it asks whether the classifier, now fixed, is right on items set aside at random and never trained on. Which items
and labels an epoch asks about is fixed when it begins, or follows from the answers about the same item, so it does not
matter in which order the answers come; except in an epoch that the budget cuts short.

What an epoch asks is a record. With the records and the answers a run can be gone through again without its model, so
its course does not hang on the last bit of a floating-point number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, UnknownQuestionError, check_count, check_fraction, check_range
from onebit.hypotheses.base import Examples, n_examples
from onebit.learners.contract import Learner
from onebit.learners.ledger import Ledger
from onebit.learners.training.audit import Audits
from onebit.learners.training.beginning import around_among, begin, neighbours_among
from onebit.learners.training.constants import RECENT
from onebit.learners.training.earlier import EarlierAnswer
from onebit.learners.training.epoch import TrainingEpoch, best_possible
from onebit.learners.training.follow_up import FollowUpPlanner
from onebit.learners.training.guide import Guide
from onebit.learners.training.history import Sample
from onebit.learners.training.model import Model
from onebit.learners.training.one_shot import OneShotPlanner
from onebit.learners.training.planning import Planner, as_asked_about
from onebit.learners.training.result import PROMISE, TrainingResult
from onebit.learners.training.run import TrainingRun
from onebit.learners.training.teaching import Teaching
from onebit.learners.training.trials import Trials
from onebit.learners.training.unlisted import Unlisted
from onebit.records import DELTA, Answer, EpochPlan, EpochRecord, Question, RunStatus, Status, TrainingProtocol


class TrainingLearner(Learner[TrainingResult]):
    """Trains ``model`` on the pool ``x`` by yes/no questions. Not in the paper.

    Protocols: *one-shot*, one question about each item that comes (the pool is gone around in random order; what is
    known, or sure, is passed over); *follow-up*, items chosen by what they teach, labels asked best guess first
    until a yes, a few at a time. ``budget`` answers in all, of which ``audit`` are kept for the interval (None: a
    twentieth). With ``target``, the run is complete once an audit shows an accuracy of at least that. If
    ``near_are_alike``, ``x`` are dense numbers, and questions also go by what is known of near items
    (``neighbours.py``) and, if labels have names in the same features, of ``names`` (K, d) (``names.py``). With a
    ``guide`` the model may be an estimator over rows of any kind: the guide has networks and features, and near items
    go by the latter. ``earlier`` answers are trained on from the start and count towards the budget; ``sample`` says
    which items they left a random sample, of which the audit is (None: those audited then, or else those never asked
    about).

    The interval holds with probability at least 1 - delta for the population of which the pool is a random sample, if
    raters say no to a right label with probability at most ``f_no`` and yes to a wrong one with at most ``f_yes``.
    There is no promise on the excess error. Each item has at most one right label. Can't tell about a label is not a
    yes to it, and nothing more. Where all labels but one were denied the last is taken for granted, except on a random
    tenth of the items, where it is asked: a no there shows that a label is missing. An item that seems to have none of
    the labels is left (``unlisted.py``), but for a random fiftieth; ``takes_none``: raters may say so themselves, which
    settles the item, and is a no to the label that was asked. What an answer says counts when its epoch closes; until
    then it can be taken back.
    """

    def __init__(
        self,
        model: Model,
        x: Examples,
        n_labels: int,
        *,
        budget: int,
        protocol: TrainingProtocol = "one-shot",
        target: float | None = None,
        audit: int | None = None,
        delta: float = DELTA,
        f_no: float = 0.0,
        f_yes: float = 0.0,
        near_are_alike: bool = False,
        names: NDArray[np.floating] | None = None,
        guide: Guide | None = None,
        earlier: Sequence[EarlierAnswer] = (),
        sample: Sample | None = None,
        takes_none: bool = True,
        seed: int = 0,
    ) -> None:
        if protocol not in get_args(TrainingProtocol):
            raise InvalidInputError(f"protocol is {protocol!r}; it must be one-shot or follow-up")
        n_items = check_count("the number of items", n_examples(x))
        start = begin(n_items, budget=budget, audit=audit, target=target, earlier=earlier, sample=sample, seed=seed)
        for name, rate in (("f_no", f_no), ("f_yes", f_yes)):
            check_range(name, rate, least=0, below=1)
        self._division, n_earlier = start.division, len(start.taught)
        audits = Audits(self._division.audited, check_fraction("delta", delta), target, f_no, f_yes)
        self._known = start.known(n_labels, seed)
        # Of a large pool those have neighbours that are asked about first.
        listed = as_asked_about(self._division.to_train, self._known)
        neighbours = neighbours_among(listed, x, n_labels, near_are_alike, names, guide)
        planner = OneShotPlanner if protocol == "one-shot" else FollowUpPlanner
        self._planner: Planner = planner(model, x, self._known, self._division.to_train, seed, neighbours, guide)
        around = around_among(listed, neighbours, self._known)
        teaching = Teaching(model, guide, x, self._known, seed, protocol == "one-shot", around)
        trials = Trials(delta, (f_no, f_yes), n_earlier, names is not None)
        self._run = TrainingRun(self._known, self._planner, teaching, trials, audits, start.budget, n_earlier)
        self._model = model
        self._ledger = Ledger(n_labels, takes_none=takes_none)
        #: The plans of all epochs so far.
        self.epochs: list[EpochPlan] = []
        self._epoch: TrainingEpoch | None = None
        self._n_cant_tell = 0
        self._status = RunStatus.RUNNING
        if self._known.taught().size:
            teaching.earlier(n_earlier)

    def ask(self, n: int = 1) -> tuple[Question, ...] | Status:
        check_count("the number of questions asked for", n)
        self._settle()
        questions: list[Question] = []
        first, epoch = len(self._ledger.questions), self._epoch
        while epoch is not None and epoch.ready and len(questions) < min(n, self._limit - first):
            questions.append(epoch.ask(first + len(questions), self._next_label(epoch)))
        self._ledger.add(tuple(questions))
        if questions:
            return tuple(questions)
        return Status.WAIT if self._ledger.n_open else Status.DONE

    def tell(self, question_id: int, answer: Answer | int) -> None:
        question = self._ledger.record(question_id, answer)
        self._n_cant_tell += answer is Answer.CANT_TELL
        # An epoch stays until every question of it is answered.
        if answer is not Answer.YES and self._epoch is not None:
            if answer is Answer.CANT_TELL:
                self._known.leave_open(question.item, question.label or 0)
            else:
                self._known.deny(question.item, question.label or 0)
            if self._is_followed_up(question, answer):
                self._epoch.ask_next_label(question_id)

    def untell(self, question_id: int) -> None:
        epoch, answers = self._epoch, self._ledger.answers
        if epoch is None or question_id not in epoch.place_of or answers[question_id] is None:
            raise UnknownQuestionError(
                f"question {question_id!r} has no answer that can be taken back; that is possible while a question of "
                "the same epoch is open"
            )
        place = epoch.place_of[question_id]
        asked = self._ledger.questions[question_id]
        followed_up = self._is_followed_up(asked, answers[question_id])
        if epoch.last_asked[place] != question_id or (followed_up and place not in epoch.ready):
            raise UnknownQuestionError(
                f"the next label was already asked about the item of question {question_id}; its answer stands"
            )
        if followed_up:
            epoch.ready.remove(place)
        self._n_cant_tell -= answers[question_id] is Answer.CANT_TELL
        question = self._ledger.take_back(question_id)
        self._known.forget(question.item, question.label or 0)

    def adopt(self, plan: EpochRecord | EpochPlan) -> None:
        if not isinstance(plan, EpochPlan):
            raise InvalidInputError(f"epoch {plan.number} of the log is one of a selection, and this trains")
        if self._ledger.n_open or not self._is_over or self._status is not RunStatus.RUNNING:
            raise InvalidInputError(f"epoch {plan.number} of the log begins before the one before it is over")
        self._begin_next(plan)
        if self._epoch is None:
            raise InvalidInputError(f"the log has an epoch {plan.number}, and the run ends before it")

    def ask_again(self, questions: Sequence[Question]) -> None:
        # What follows from the plan and the answers: the model that chose among several labels is not needed.
        for question in questions:
            number, epoch = len(self._ledger.questions), self._epoch
            if epoch is None or not epoch.ready or number >= self._limit:
                raise InvalidInputError(f"question {question.id} is logged and is not asked now")
            planned, label = epoch.next_label[epoch.ready[0]], question.label
            if label is None or not (label == planned or (planned is None and self._may_be_next(epoch, label))):
                raise InvalidInputError(f"question {question.id} is about the label {label}, which is not next")
            asked = epoch.ask(number, label)
            if asked != question:
                raise InvalidInputError(f"the log has {question}, and by its plan it is {asked}")
            self._ledger.add((asked,))

    @property
    def learned_through(self) -> int:
        """The last epoch from which the model has learned; it may be ahead of the epochs gone through again."""
        return self._run.learned_through

    @property
    def n_learned(self) -> int:
        """The number of answers that the model has learned from."""
        return self._run.n_learned

    @property
    def unlisted(self) -> Unlisted:
        """What is known of items that have none of the labels; it is learned, like the model."""
        return self._planner.unlisted

    def restore(self, learned_through: int, unlisted: Unlisted | None = None) -> None:
        """The model has been set to what it was when that epoch closed, so it learns from later ones only.

        So has what was known of items that have none of the labels, if it is given.
        """
        self._run.learned_through = learned_through
        if unlisted is not None:
            self._planner.unlisted = unlisted

    @property
    def sample(self) -> Sample:
        """Which items are a random sample by now: for a run that goes on from this one."""
        divided, trains_on = self._division, self._known.trains_on
        # Items are chosen, or passed over, among all that are trained on; those kept to be drawn at random are not.
        return Sample(tuple(divided.order[: divided.n_aside].tolist()), np.flatnonzero(trains_on))

    @property
    def is_training(self) -> bool:
        """Whether the model is still to change, and no audit of it is under way."""
        return self._status is RunStatus.RUNNING and not self._is_auditing

    @property
    def result(self) -> TrainingResult:
        return self.read()()

    def read(self, closes: bool = True) -> Callable[[], TrainingResult]:
        if closes:
            self._settle()
        result = self._result_now()
        return lambda: result

    def _result_now(self) -> TrainingResult:
        run, known, n_answered = self._run, self._known, self._ledger.n_answered
        answers = [each for each in self._ledger.answers[-RECENT:] if each is not None]
        return TrainingResult(
            status=self._status,
            promise=PROMISE,
            n_rounds=run.n_rounds,
            chosen=self._model,
            n_refits=run.n_refits,
            n_answers=run.n_earlier + n_answered,
            n_cant_tell=self._n_cant_tell,
            accuracy=run.audits.interval if run.audited or self._is_auditing else None,
            recent_accuracy=run.trials.accuracy,
            recent_yes_rate=sum(each is Answer.YES for each in answers) / len(answers) if answers else None,
            verified=tuple(known.verified),
            progress=tuple(run.trials.progress),
            curve=run.trials.curve(),
            forecast=run.trials.forecast(known.n_labels, n_answered, run.n_to_train),
            n_asked_to_end=known.n_asked_to_end,
            n_without_label=known.n_without_label,
            without_label=tuple(np.flatnonzero(known.has_none).tolist()),
            left=tuple(np.flatnonzero(known.left).tolist()),
            n_items_asked=int(known.asked.sum()),
        )

    @property
    def _is_auditing(self) -> bool:
        return self._epoch is not None and self._epoch.plan.audits

    @property
    def _limit(self) -> int:
        """The number of answers at which the epoch ends at the latest."""
        return self._run.budget if self._is_auditing else self._run.n_to_train

    @property
    def _is_over(self) -> bool:
        """Whether the epoch has nothing more to ask."""
        return self._epoch is None or not self._epoch.ready or self._ledger.n_answered >= self._limit

    def _is_followed_up(self, question: Question, answer: Answer | int | None) -> bool:
        """Whether the next label is asked after an answer: it does not settle the item."""
        asks_on = self._epoch is not None and self._epoch.may_ask_on(question.id)
        return answer not in (Answer.YES, Answer.NONE) and asks_on and self._known.is_open(question.item)

    def _next_label(self, epoch: TrainingEpoch) -> int:
        place = epoch.ready[0]
        planned = epoch.next_label[place]
        if planned is not None:
            return planned
        if epoch.belief is None:
            # The noes of this epoch came after its plan was made.
            # Those that are being asked now are not in the ledger yet, and have no answer.
            n_asked = len(self._ledger.questions)
            asked = [self._ledger.questions[number] for number in epoch.place_of if number < n_asked]
            noes = (Answer.NO, Answer.NONE)
            denied = [(each.item, each.label or 0) for each in asked if self._ledger.answers[each.id] in noes]
            for item, label in denied:
                self._known.forget(item, label)
            epoch.belief = self._planner.belief(epoch.plan)
            for item, label in denied:
                self._known.deny(item, label)
        return int(best_possible(epoch.belief[place], self._known.askable(epoch.plan.items[place])))

    def _may_be_next(self, epoch: TrainingEpoch, label: int) -> bool:
        askable = self._known.askable(epoch.plan.items[epoch.ready[0]])
        return label < askable.size and bool(askable[label])

    def _settle(self) -> None:
        """Close the epoch if all its answers are there, and begin the next."""
        while self._status is RunStatus.RUNNING and self._ledger.n_open == 0 and self._is_over:
            self._begin_next(None)

    def _begin_next(self, given: EpochPlan | None) -> None:
        ledger, epoch = self._ledger, self._epoch
        if epoch is not None:
            first = len(ledger.questions) - len(epoch.place_of)
            self._run.close(epoch, ledger.questions[first:], ledger.answers[first:], ledger.n_answered)
        self._epoch = self._run.next_epoch(len(self.epochs), ledger.n_answered, given)
        if self._epoch is None:
            self._status = RunStatus.COMPLETE if self._run.audits.reached else RunStatus.BUDGET
        else:
            self.epochs.append(self._epoch.plan)
