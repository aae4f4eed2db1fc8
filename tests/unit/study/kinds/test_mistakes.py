"""Examples of what models got wrong."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from onebit.records import Answer
from onebit.study.constants import MISTAKES_EACH
from onebit.study.kinds.selection.mistakes import pick_mistakes

MODELS = ("a", "b", "c")
PREDICTIONS = np.array([[0, 0, 0, 0, -1, 0], [1, 1, 0, 1, 1, 1], [2, 1, 0, 2, 2, 2]])


class FakeItems:
    """Items that are called by their rows, and labels by their numbers."""

    def __getitem__(self, row: int) -> Any:
        return SimpleNamespace(id=f"item {row}", shown={"text": f"text {row}"})

    def label(self, number: int) -> Any:
        return SimpleNamespace(name=f"label {number}")


def picked(said: list[Any], best: list[int]) -> list[tuple[Any, ...]]:
    found = pick_mistakes(said, PREDICTIONS, MODELS, best, FakeItems())  # type: ignore[arg-type]
    return [(each.models, each.item, each.output, each.accepted) for each in found]


def test_what_was_denied_is_shown_with_what_was_accepted() -> None:
    said = [(1, 1, Answer.NO), (0, 1, Answer.NO), (0, 0, Answer.YES), (2, 0, Answer.CANT_TELL), (3, 0, Answer.YES)]
    assert picked(said, [1, 0]) == [
        (("b",), "item 0", "label 1", ("label 0",)),
        (("b", "c"), "item 1", "label 1", ()),
    ]


def test_the_best_models_come_first_and_each_has_a_few() -> None:
    said = [(row, label, Answer.NO) for row in range(6) for label in (2, 1)]
    found = picked(said, [2, 1, 0])
    assert all("c" in models for models, *_ in found[:MISTAKES_EACH])
    assert all("b" in models for models, *_ in found[MISTAKES_EACH:])
    # One of b's three is there already: c said the same.
    assert len(found) == 2 * MISTAKES_EACH - 1
    assert len(set(found)) == len(found)


def test_who_gives_the_label_denies_the_others() -> None:
    assert picked([(4, None, 2), (0, None, Answer.CANT_TELL)], [2, 1, 0]) == [
        (("b",), "item 4", "label 1", ("label 2",))
    ]
