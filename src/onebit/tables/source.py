"""Where a table comes from: its columns, and what is known of them before anybody has named one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onebit.tables.columns import Columns


@dataclass(frozen=True, eq=False)
class Source:
    """Columns of a file, a data frame or several logs.

    ``id`` and ``show`` are taken unless others are named. ``target`` is a column of reference answers: no model, and
    shown to nobody unless it is named. ``scores`` are columns of what scorers gave, by model; ``others`` are no models'
    either. ``notes`` say what was left out. ``free``: the models wrote texts of their own. ``values`` are the labels as
    they were before they became texts, by text.
    """

    columns: Columns
    id: str | None = None
    show: tuple[str, ...] = ()
    target: str | None = None
    scores: Mapping[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    free: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def of_no_model(self) -> frozenset[str]:
        """Columns that are no model's, whatever is named."""
        one = [name for name in (self.id, self.target) if name is not None]
        return frozenset([*one, *self.show, *self.scores.values(), *self.others])
