"""One batch of a watch: a few fresh items, judged to see whether the choice is still within eps of every rival.

What is asked is fixed by the table and the seed before the first answer, and all of it counts: what nobody answers is
taken to speak for the choice. So nobody can raise an alarm by leaving out, waiting or repeating. docs/certificate.md,
step 18.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit import promise
from onebit.errors import InvalidInputError, UnknownQuestionError, check_count
from onebit.estimate.delta import alarm_threshold
from onebit.estimate.detector import after_batch, alarms, nothing_yet, of_rivals
from onebit.learners.contract import Learner, Result
from onebit.learners.ledger import Ledger
from onebit.randomness import generator
from onebit.records import Answer, Question, RunStatus, Status, WatchSetting

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Predictions = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class WatchResult(Result):
    """What a watch shows with this batch. Model 0 is the choice, ``chosen``; the others are its rivals.

    ``alarms`` are the rivals that were ahead of it by more than eps, as ``promise`` says. ``evidence`` (n_rivals,) is
    what is held against the choice for each of them, of which ``threshold`` raises an alarm; ``carried`` (n_rivals,
    n_bets) is the same for each bet, for the next batch. ``n_unanswered`` questions were taken to speak for the choice.
    """

    alarms: tuple[int, ...]
    evidence: Floats
    threshold: float
    carried: Floats
    n_answers: int
    n_cant_tell: int
    n_unanswered: int


@dataclass(frozen=True, eq=False)
class BatchPlan:
    """What a batch goes through: the ``items`` of its order up to the last that is asked about, and the ``questions``.

    These are pairs of an item and an output of it.
    """

    items: Ints
    questions: tuple[tuple[int, int], ...]


def planned(predictions: Predictions, setting: WatchSetting) -> BatchPlan:
    """What a batch goes through; ``predictions`` (N, n) with the choice in row 0.

    The items come in an order that the seed draws. Those on which a rival differs from the choice are asked about, all
    their outputs, until so many answers are asked for as the setting says: whether an item is, depends on those before
    it alone, and not on how many outputs it has itself.
    """
    order = generator(setting.seed, "order of the batch").permutation(predictions.shape[1])
    mixed = generator(setting.seed, "outputs of the batch")
    questions: list[tuple[int, int]] = []
    for place, item in enumerate(order.tolist()):
        if len(questions) >= setting.answers:
            return BatchPlan(order[:place], tuple(questions))
        said = predictions[:, item]
        if (said != said[0]).any():
            # In an order that says nothing about the models.
            outputs = mixed.permutation(np.unique(said[said >= 0]))
            questions += [(item, int(output)) for output in outputs]
    return BatchPlan(order, tuple(questions))


class BatchLearner(Learner[WatchResult]):
    """A batch of fresh items of which the models say ``predictions`` (N, n), negative where one abstains."""

    def __init__(self, predictions: Predictions, n_labels: int, setting: WatchSetting) -> None:
        check_count("the number of models", predictions.shape[0], least=2)
        n_rivals, self._setting = predictions.shape[0] - 1, setting
        carried = np.array(setting.carried, dtype=np.float64)
        self._carried = nothing_yet(n_rivals) if setting.batch == 1 and carried.size == 0 else carried
        if self._carried.shape != nothing_yet(n_rivals).shape or not (self._carried >= 0).all():
            raise InvalidInputError(
                f"the evidence carried from the last batch has shape {self._carried.shape}; {n_rivals} rivals need "
                f"{nothing_yet(n_rivals).shape}, and none of it may be negative"
            )
        self._said = np.maximum(predictions, -1)
        self._plan = planned(self._said, setting)
        self._ledger = Ledger(n_labels)

    @property
    def n_planned(self) -> int:
        """How many answers the batch asks for."""
        return len(self._plan.questions)

    @property
    def n_ready(self) -> int:
        return len(self._plan.questions) - len(self._ledger.questions)

    @property
    def continues_item(self) -> bool:
        """Whether the next question is about the item of the last one."""
        n = len(self._ledger.questions)
        return 0 < n < len(self._plan.questions) and self._plan.questions[n][0] == self._plan.questions[n - 1][0]

    def ask(self, n: int = 1) -> tuple[Question, ...] | Status:
        check_count("the number of questions asked for", n)
        first = len(self._ledger.questions)
        cells = self._plan.questions[first : first + n]
        questions = tuple(Question(first + i, item, label, 1.0, 0) for i, (item, label) in enumerate(cells))
        self._ledger.add(questions)
        if questions:
            return questions
        return Status.WAIT if self._ledger.n_open else Status.DONE

    def tell(self, question_id: int, answer: Answer | int) -> None:
        self._ledger.record(question_id, answer)

    def untell(self, question_id: int) -> None:
        is_known = 0 <= question_id < len(self._ledger.questions)
        if not is_known or self._ledger.answers[question_id] is None:
            raise UnknownQuestionError(f"question {question_id!r} has no answer that can be taken back")
        self._ledger.take_back(question_id)

    @property
    def result(self) -> WatchResult:
        evidence = self._evidence()
        answers = self._ledger.answers
        n_unanswered = len(self._plan.questions) - self._ledger.n_answered
        found = alarms(evidence, self._setting.false_alarm_every)
        return WatchResult(
            status=RunStatus.RUNNING if n_unanswered else RunStatus.COMPLETE,
            promise=promise.of_watch(self._setting),
            n_rounds=len({item for item, _ in self._plan.questions}),
            chosen=0,
            alarms=tuple((found + 1).tolist()),
            evidence=of_rivals(evidence),
            threshold=alarm_threshold(evidence.shape[0], self._setting.false_alarm_every),
            carried=evidence,
            n_answers=self._ledger.n_answered,
            n_cant_tell=sum(answer is Answer.CANT_TELL for answer in answers),
            n_unanswered=n_unanswered,
        )

    def _evidence(self) -> Floats:
        """With all that is asked in this batch, whether it is answered yet or not."""
        D, differ = self._differences()
        n_differ = (self._said[1:] != self._said[0]).sum(axis=1)
        return after_batch(self._carried, D, differ, n_differ, self._said.shape[1], self._setting.eps)

    def _differences(self) -> tuple[Ints, Bools]:
        """D of every rival along the order, and where it differs from the choice; each of shape (n_rivals, m)."""
        items = self._plan.items
        said, choice = self._said[1:, items], self._said[0, items]
        place = {item: t for t, item in enumerate(items.tolist())}
        # Until it is answered, the choice's output is taken to be accepted and a rival's not.
        for_choice = (choice >= 0).astype(np.int64)
        for_rival = np.zeros(said.shape, dtype=np.int64)
        for question, answer in zip(self._ledger.questions, self._ledger.answers, strict=True):
            if answer is None:
                continue
            t, accepted = place[question.item], int(answer is Answer.YES)
            if choice[t] == question.label:
                for_choice[t] = accepted
            for_rival[said[:, t] == question.label, t] = accepted
        return for_rival - for_choice, said != choice
