"""``onebit.watch``: is the choice of a finished selection still within eps on fresh items?"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onebit.records import WatchSpec
from onebit.selecting import Ask, rater_or_truth
from onebit.store.store import Store
from onebit.study.folder import StudyFolder
from onebit.study.kinds.selection.making import open_table
from onebit.study.kinds.watch import words
from onebit.study.kinds.watch.chain import Watch
from onebit.study.kinds.watch.kind import WatchStatus


@dataclass(frozen=True, eq=False, repr=False)
class Watched:
    """How a watch stands after a batch: ``status`` has all of it, ``notes`` what was left out of the table."""

    status: WatchStatus
    notes: tuple[str, ...] = field(default=())

    @property
    def alarm(self) -> bool:
        """Whether the choice is no longer within eps of a rival."""
        return bool(self.status.alarms)

    @property
    def rivals(self) -> tuple[str, ...]:
        """The rivals that the alarm is about."""
        return self.status.alarms

    @property
    def evidence(self) -> dict[str, float]:
        """How far each rival is to an alarm, from 0 to 1 on a logarithmic scale."""
        return self.status.evidence

    @property
    def answers(self) -> int:
        """The answers of this batch."""
        return self.status.n_answers

    def __repr__(self) -> str:
        return words.in_a_line(self.status) + "".join(f"\nNote: {note}." for note in self.notes)


def watch(folder: str | Path, table: Any, ask: Ask | Any = None, **options: Any) -> Watched:
    """Hold the choice of a finished selection against its rivals on a batch of fresh items.

    ``folder`` is the ``out`` of ``onebit.select``; every call is one batch, and is kept there. Table and ``ask`` are as
    for ``select``; the options are those of ``onebit.records.WatchSpec``: ``answers`` of a batch, ``false_alarm_every``
    so many batches (fixed by the first), and those that read a table. InvalidInputError after an alarm.
    """
    spec, place = WatchSpec(**options), StudyFolder(Path(folder))
    name = place.name()
    models, rater = rater_or_truth(spec, open_table(spec, table), ask)
    with Store(place.storage) as store:
        Watch(store, name).begin(spec, models, simulated=rater is None)
    with Watch(Store(place.storage), name).open_last() as study:
        if rater is None:
            study.simulate()
        else:
            study.answer_by(rater, 1)
        status = study.status()
    if not isinstance(status, WatchStatus):
        raise TypeError(f"{study.name!r} is no batch of a watch")
    return Watched(status, models.notes)
