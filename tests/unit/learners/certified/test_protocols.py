"""What is asked in a round, answer by answer."""

from __future__ import annotations

import itertools

import pytest

from onebit.learners.certified.protocols import Ask, OneQuestion, Settled, TheLabelItself, UntilAYes
from onebit.records import Answer

YES, NO, CANT_TELL = Answer.YES, Answer.NO, Answer.CANT_TELL


def test_one_question_is_one_question() -> None:
    assert OneQuestion(4).step([]) == Ask(4)
    assert [OneQuestion(4).step([answer]) for answer in (YES, NO, CANT_TELL)] == [Settled(1), Settled(0), Settled(0)]


def test_the_label_itself() -> None:
    assert TheLabelItself().step([]) == Ask(None)
    assert TheLabelItself().step([3]) == Settled(3)
    assert TheLabelItself().step([CANT_TELL]) == Settled(-1)


def test_labels_are_asked_until_a_yes() -> None:
    script = UntilAYes((5, 2, 7))
    assert script.step([]) == Ask(5)
    assert script.step([NO]) == script.step([CANT_TELL]) == Ask(2)
    assert script.step([YES]) == Settled(5)
    assert script.step([CANT_TELL, NO]) == Ask(7)
    assert script.step([NO, NO, YES]) == Settled(7)
    assert script.step([NO, CANT_TELL, NO]) == Settled(-1)


@pytest.mark.parametrize(("check", "extra"), [(0.0, 2), (0.49, 2), (0.5, 7), (0.99, 7)])
def test_after_the_yes_one_more_label_is_asked_where_it_is_checked(check: float, extra: int) -> None:
    script = UntilAYes((5, 2, 7), check)
    assert script.step([YES]) == Ask(extra)
    assert script.step([YES, YES]) == Settled(5, contradicted=True)
    assert script.step([YES, NO]) == script.step([YES, CANT_TELL]) == Settled(5, contradicted=False)
    assert script.step([NO, YES]) == Ask(7)
    assert script.step([NO, NO, YES]) == Settled(7)
    assert script.step([NO, NO, NO]) == Settled(-1)


def test_of_labels_that_cover_everything_the_last_is_not_asked() -> None:
    two = UntilAYes((1, 0), n_labels=2)
    assert two.step([]) == Ask(1)
    assert two.step([NO]) == Settled(0)
    assert two.step([YES]) == Settled(1)
    # Survivors give only some of the labels: another may be right.
    assert UntilAYes((1, 0), n_labels=3).step([NO]) == Ask(0)


def test_of_labels_that_cover_everything_a_cant_tell_denies_none() -> None:
    """Whatever is asked first, the label that is not denied is right."""
    assert UntilAYes((1, 0), n_labels=2).step([CANT_TELL]) == Ask(0)
    assert UntilAYes((1, 0), n_labels=2).step([CANT_TELL, NO]) == Settled(1)
    assert UntilAYes((0, 1), n_labels=2).step([NO]) == Settled(1)
    assert UntilAYes((1, 0), n_labels=2).step([CANT_TELL, CANT_TELL]) == Settled(-1)
    three = UntilAYes((2, 0, 1), n_labels=3)
    assert three.step([NO, CANT_TELL]) == Ask(1)
    assert three.step([NO, CANT_TELL, NO]) == Settled(0)
    assert three.step([NO, CANT_TELL, CANT_TELL]) == Settled(-1)


def test_where_it_is_checked_the_last_label_is_asked_and_must_not_be_denied() -> None:
    """What the check hears does not change what was found."""
    two = UntilAYes((1, 0), check=0.5, n_labels=2)
    assert two.step([NO]) == Ask(0)
    assert two.step([NO, YES]) == Settled(0, contradicted=False)
    assert two.step([NO, NO]) == Settled(0, contradicted=True)
    assert two.step([NO, CANT_TELL]) == Settled(0)
    assert two.step([CANT_TELL, NO]) == Settled(1)
    assert two.step([YES, YES]) == Settled(1, contradicted=True)


@pytest.mark.parametrize("check", [None, 0.3])
@pytest.mark.parametrize("n_labels", [None, 3])
def test_whoever_has_the_one_right_label_is_found_whatever_is_checked(
    check: float | None, n_labels: int | None
) -> None:
    for labels in itertools.permutations(range(3)):
        for right in range(3):
            answers: list[Answer | int] = []
            while isinstance(step := UntilAYes(labels, check, n_labels).step(answers), Ask):
                answers.append(YES if step.label == right else NO)
            assert step.outcome == right
            assert not step.contradicted
