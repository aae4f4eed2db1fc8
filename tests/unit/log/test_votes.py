"""What several raters say together, none of these among it."""

from __future__ import annotations

import pytest

from onebit.log.votes import majority
from onebit.records import Answer

YES, NO, NONE, CANT_TELL = Answer.YES, Answer.NO, Answer.NONE, Answer.CANT_TELL


@pytest.mark.parametrize(
    ("votes", "answer"),
    [
        ([NONE, NONE], NONE),
        ([NONE, NO], NO),
        ([NONE], None),
        ([NONE, YES], None),
        ([NONE, YES, NO], NO),
        ([NONE, YES, YES], YES),
        ([NONE, CANT_TELL, YES], CANT_TELL),
        ([NONE, CANT_TELL, CANT_TELL], CANT_TELL),
    ],
)
def test_none_of_these_denies_the_label_unless_most_say_it(votes: list[Answer], answer: Answer | None) -> None:
    assert majority(votes, overlap=3) is answer
