"""Votes of several raters on a question, and answers that are taken back."""

from __future__ import annotations

from onebit.errors import OnebitError
from onebit.log.events import Answered, Undone, Unvoted
from onebit.log.fold import Course
from onebit.log.recorder import Recorder
from onebit.log.votes import majority


def standing_answers(course: Course, rater: str) -> list[int]:
    """The questions that a rater has answered and not taken back, in the order of the last answers."""
    numbers = dict.fromkeys(reversed(course.answered_by[rater]))
    return [number for number in reversed(numbers) if rater in course.votes[number]]


def settle_by_votes(recorder: Recorder, number: int) -> None:
    """Give a question that several raters answer its answer, once their votes have one."""
    course = recorder.course
    resolved = majority(course.votes[number].values(), course.created.overlap)
    if resolved is not None and number not in course.answered:
        recorder.take(Answered(number, resolved))


def take_back(recorder: Recorder, number: int, rater: str | None) -> bool:
    """Take a vote back, and the answer that it helped to; whether that was possible."""
    course = recorder.course
    overlap, answered = course.created.overlap, course.answered.get(number)
    others = [vote for who, vote in course.votes[number].items() if who != rater]
    if answered is not None and majority(others, overlap) != answered.answer:
        try:
            recorder.take(Undone(number, rater if overlap == 1 else None))
        except OnebitError:
            return False
    if overlap > 1:
        recorder.take(Unvoted(number, rater))
        settle_by_votes(recorder, number)
    return True
