"""Answers to look at, by item and by rater."""

from __future__ import annotations

import pytest

from onebit.log.events import Answered, Asked, CheckAnswered, Undone, Unvoted, Voted
from onebit.records import Answer, Question
from onebit.study.answer_book import AnswerBook, ItemCounts
from onebit.study.constants import LONGEST_ANSWER

YES, NO, CANT_TELL = Answer.YES, Answer.NO, Answer.CANT_TELL


def at(seconds: float) -> str:
    return f"2026-01-01T00:{int(seconds) // 60:02}:{seconds % 60:06.3f}+00:00"


def book_of(*events: object) -> AnswerBook:
    book = AnswerBook()
    for seconds, event in enumerate(events):
        book.take(event, at(seconds))  # type: ignore[arg-type]
    return book


def asked(number: int, item: int, label: int | None = 0) -> Asked:
    return Asked(Question(number, item, label, 1.0, 0))


def test_items_are_counted_the_latest_first() -> None:
    book = book_of(asked(0, 7), asked(1, 7, 1), asked(2, 3), asked(3, 4), Answered(0, YES, "a"), Answered(2, NO, "a"))
    book.take(Answered(1, CANT_TELL, "b"), at(9))
    assert list(book.items().items()) == [(3, ItemCounts(1, 0, 1, 0, 0)), (7, ItemCounts(2, 1, 0, 1, 0))]
    assert [(each.id, each.votes, each.answer) for each in book.questions({7})] == [
        (0, {"a": YES}, YES),
        (1, {"b": CANT_TELL}, CANT_TELL),
    ]


def test_what_is_taken_back_is_not_counted() -> None:
    book = book_of(asked(0, 7), Answered(0, YES, "a"), Undone(0, "a"))
    assert book.items() == {}
    book.take(Answered(0, NO, "a"), at(9))
    assert book.items() == {7: ItemCounts(1, 0, 1, 0, 0)}


def test_votes_of_several_raters_are_one_answer() -> None:
    votes = Voted(0, YES, "a"), Voted(0, NO, "b"), Voted(0, CANT_TELL, "c")
    book = book_of(asked(0, 7), *votes, Answered(0, YES))
    assert book.items() == {7: ItemCounts(1, 1, 0, 1, 1)}
    for event in (Undone(0, None), Unvoted(0, "b"), Unvoted(0, "c")):
        book.take(event, at(9))
    assert book.items() == {}
    (question,) = book.questions({7})
    assert (question.votes, question.answer) == ({"a": YES}, None)


def test_who_gives_the_label_says_yes_to_it() -> None:
    assert book_of(asked(0, 7, None), Answered(0, 2, "a")).items() == {7: ItemCounts(1, 1, 0, 0, 0)}


def test_seconds_are_between_answers_and_pauses_are_left_out() -> None:
    book = AnswerBook()
    for number, seconds in enumerate((0.0, 2.0, 6.0, 7.0, 8.0 + LONGEST_ANSWER)):
        book.take(asked(number, number), at(seconds))
        book.take(Answered(number, YES, "a"), at(seconds))
    assert book.median_seconds() == {"a": 2.0}
    book.take(CheckAnswered(9, YES, "a"), at(9.0 + LONGEST_ANSWER))
    assert book.median_seconds() == {"a": 1.5}


def test_agreement_is_about_questions_that_several_answered() -> None:
    events: list[object] = []
    for number, said in enumerate([(YES, YES), (NO, NO), (YES, NO), (YES, YES), (NO, None)]):
        events += [asked(number, number)]
        events += [Voted(number, each, rater) for rater, each in zip("ab", said, strict=True) if each is not None]
    book = book_of(*events)
    assert book.alpha() == pytest.approx(0.5333, abs=1e-4)
    assert book.kappas() == pytest.approx({"a": 0.5, "b": 0.5})
