"""The verdicts of a study, in words: which output of which item, what was said, by whom and when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onebit.log.events import Answered, Created, Event, LogError
from onebit.log.fold import fold
from onebit.records import Answer
from onebit.study.items import Items
from onebit.study.kinds.selection.selectors import table_rows

#: Who gave a verdict: people, or a simulation.
HUMAN, SIMULATED = "human", "simulated"


@dataclass(frozen=True)
class GivenVerdict:
    """What was said about an output of an item; ``models`` gave that output, which is empty where a label was learned.

    ``rater`` is None where nobody was named, or where the majority of several counts.
    """

    item: str
    row: int
    shown: dict[str, str]
    output: str | None
    answer: Answer
    rater: str | None
    answered_at: str
    provenance: str
    models: tuple[str, ...] = ()


class Raters:
    """Raters as they are, or numbered in the order in which they came."""

    def __init__(self, anonymous: bool) -> None:
        self.anonymous = anonymous
        self._numbers: dict[str, str] = {}

    def name(self, rater: str | None) -> str | None:
        if rater is None or not self.anonymous:
            return rater
        return self._numbers.setdefault(rater, f"rater {len(self._numbers) + 1}")

    def in_json(self, event: dict[str, Any]) -> dict[str, Any]:
        shown = {key: self.name(value) if key == "rater" else value for key, value in event.items()}
        return {key: value for key, value in shown.items() if key != "token" or not self.anonymous}


def created_of(events: Sequence[Event]) -> Created:
    """The first event; LogError if it is another."""
    if not events or not isinstance(events[0], Created):
        raise LogError("the log does not begin with the creation of the study; restore a backup")
    return events[0]


def given_verdicts(
    log: Sequence[tuple[int, str, Event]],
    items: Items,
    raters: Raters,
    models: tuple[str, ...] = (),
    predictions: NDArray[np.signedinteger[Any]] | None = None,
) -> Iterator[GivenVerdict]:
    """One for each question that has an answer; who gave its output is known from the ``predictions`` (N, n)."""
    events = [event for *_, event in log]
    created, course = created_of(events), fold(events)
    table_row = table_rows(created.setting, created.table.n_items)
    answered_at = {event.question_id: at for _, at, event in log if isinstance(event, Answered)}
    for question, said in zip(course.questions, course.answers, strict=True):
        if said is None:
            continue
        row = int(table_row[question.item])
        # Asked for the label itself, a rater who gives one says yes to it.
        label = question.label if isinstance(said, Answer) else said
        item = items[row]
        gave = () if predictions is None or label is None else np.flatnonzero(predictions[:, row] == label).tolist()
        yield GivenVerdict(
            item=item.id,
            row=row,
            shown=item.shown,
            output=None if label is None else items.label(label).name,
            answer=said if isinstance(said, Answer) else Answer.YES,
            rater=raters.name(course.answered[question.id].rater),
            answered_at=answered_at[question.id],
            provenance=SIMULATED if created.simulated else HUMAN,
            models=tuple(models[h] for h in gave),
        )
