"""Examples of what models got wrong: outputs that raters denied, those of the best models first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from onebit.log.votes import Given
from onebit.records import Answer
from onebit.report.record import Mistake
from onebit.study.constants import MISTAKES_EACH, MODELS_WITH_MISTAKES, MOST_MISTAKES
from onebit.study.items import Items

#: An answer: the row of the table, the label that was asked about, None for the label itself, and what was said.
Said = tuple[int, int | None, Given]


def pick_mistakes(
    said: Iterable[Said], predictions: NDArray[np.integer], models: Sequence[str], best: Sequence[int], items: Items
) -> tuple[Mistake, ...]:
    """A few outputs that raters denied, of each of the ``best`` models; ``predictions`` is (N, n)."""
    denied, accepted = _sorted_out(said, predictions)
    picked: list[tuple[int, int]] = []
    for model in best[:MODELS_WITH_MISTAKES]:
        own = [cell for cell in denied if predictions[model, cell[0]] == cell[1]]
        # Where raters accepted something else as well, one sees what was meant.
        own.sort(key=lambda cell: cell[0] not in accepted)
        # One that is there already, because a better model said so too, counts for both.
        picked += [cell for cell in own[:MISTAKES_EACH] if cell not in picked]
    return tuple(_mistake(cell, accepted, predictions, models, items) for cell in picked[:MOST_MISTAKES])


def _sorted_out(
    said: Iterable[Said], predictions: NDArray[np.integer]
) -> tuple[list[tuple[int, int]], dict[int, list[int]]]:
    """What was denied, as pairs of row and label in the order asked, and what was accepted of each row."""
    denied: dict[tuple[int, int], None] = {}
    accepted: dict[int, list[int]] = {}
    for row, label, answer in said:
        if label is None:
            # Who gives the label denies all others.
            if isinstance(answer, Answer):
                continue
            accepted.setdefault(row, []).append(answer)
            denied |= {(row, int(other)): None for other in np.unique(predictions[:, row]) if other not in (answer, -1)}
        elif answer is Answer.YES:
            accepted.setdefault(row, []).append(label)
        elif answer is Answer.NO:
            denied[row, label] = None
    return list(denied), accepted


def _mistake(
    cell: tuple[int, int],
    accepted: dict[int, list[int]],
    predictions: NDArray[np.integer],
    models: Sequence[str],
    items: Items,
) -> Mistake:
    row, label = cell
    item = items[row]
    return Mistake(
        tuple(models[h] for h in np.flatnonzero(predictions[:, row] == label).tolist()),
        item.id,
        item.shown,
        items.label(label).name,
        tuple(items.label(each).name for each in accepted.get(row, ())),
    )
