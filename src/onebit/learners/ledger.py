"""The questions of a run and their answers: each is answered once, in any order."""

from __future__ import annotations

import numpy as np

from onebit.errors import AlreadyAnsweredError, InvalidInputError, UnknownQuestionError
from onebit.records import Answer, Question


class Ledger:
    """Questions by number, with what was answered; None while a question is open."""

    def __init__(self, n_labels: int, takes_none: bool = False) -> None:
        self._n_labels, self._takes_none = n_labels, takes_none
        self.questions: list[Question] = []
        self.answers: list[Answer | int | None] = []
        self.n_open = 0

    @property
    def n_answered(self) -> int:
        return len(self.questions) - self.n_open

    def add(self, questions: tuple[Question, ...]) -> None:
        """Open questions; their numbers go on where the last ended."""
        self.questions.extend(questions)
        self.answers.extend([None] * len(questions))
        self.n_open += len(questions)

    def record(self, question_id: int, answer: Answer | int) -> Question:
        """Write down an answer after checking it; the question that it answers."""
        if not isinstance(question_id, int) or not 0 <= question_id < len(self.questions):
            raise UnknownQuestionError(
                f"question {question_id!r} was never asked; {len(self.questions)} questions have been asked so far, "
                "numbered from 0"
            )
        given = self.answers[question_id]
        if given is not None:
            said = given.value if isinstance(given, Answer) else given
            raise AlreadyAnsweredError(
                f"question {question_id} already has the answer {said}; an answer counts once or the estimate is biased"
            )
        question = self.questions[question_id]
        self._check_answer(question, answer)
        self.answers[question_id] = answer
        self.n_open -= 1
        return question

    def take_back(self, question_id: int) -> Question:
        """Open an answered question again."""
        question = self.questions[question_id]
        self.answers[question_id] = None
        self.n_open += 1
        return question

    def _check_answer(self, question: Question, answer: object) -> None:
        if answer is Answer.NONE and not self._takes_none:
            raise InvalidInputError(
                f'the answer to question {question.id} was "{answer.value}"; this asks about each label by itself, so '
                "say no, or make a training that allows it"
            )
        if isinstance(answer, Answer):
            if question.label is None and answer is not Answer.CANT_TELL:
                raise InvalidInputError(
                    f"the question asks for the label itself; the answer was {answer.value} and must be a label or "
                    "Answer.CANT_TELL"
                )
        elif question.label is not None:
            raise InvalidInputError(
                f"the question asks whether label {question.label} is right; the answer was {answer!r} and must be "
                "Answer.YES, Answer.NO or Answer.CANT_TELL"
            )
        elif not isinstance(answer, int | np.integer) or isinstance(answer, bool) or not 0 <= answer < self._n_labels:
            raise InvalidInputError(f"the answer {answer!r} is not a label; labels are 0 to {self._n_labels - 1}")
