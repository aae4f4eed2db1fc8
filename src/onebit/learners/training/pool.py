"""The rows that a training chooses from, where these are not all rows that there are; and what each is called there.

To the learner items are numbered from 0 on. Of a large pool they are some of its rows, drawn at random
(``records/pool.py``), and nothing else of it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onebit.errors import InvalidInputError
from onebit.hypotheses.base import n_examples
from onebit.learners.training.history import NOTHING, Sample
from onebit.learners.training.model import Ints, take
from onebit.records.pool import rows_of_pool


@dataclass(frozen=True, eq=False)
class PoolRows:
    """Of ``n_rows`` rows those that are chosen from, rising; all where ``rows`` is None."""

    n_rows: int = 0
    rows: Ints | None = None

    @classmethod
    def of(cls, x: Any, budget: int | None, seed: int, answers: Sequence[Sequence[Any]] = ()) -> PoolRows:
        """The rows of ``x`` that a training chooses from; those of earlier ``answers``, whose first is the row, too."""
        # What is no pool at all is refused elsewhere, in words.
        is_pool = len(getattr(x, "shape", (1,))) > 0 and (hasattr(x, "shape") or hasattr(x, "__len__"))
        n_rows = n_examples(x) if is_pool else 0
        drawn = rows_of_pool(n_rows, budget, seed)
        if drawn is None:
            return cls(n_rows)
        rows = [each[0] for each in answers if len(each)]
        known = [row for row in rows if isinstance(row, int | np.integer) and 0 <= row < n_rows]
        return cls(n_rows, np.union1d(drawn, np.array(known, dtype=np.int64)))

    def taken(self, x: Any) -> Any:
        """What is chosen from: these rows of ``x``, read into memory if they are drawn."""
        if self.rows is None:
            return x
        if hasattr(x, "iloc") or hasattr(x, "shape"):
            return take(x, self.rows)
        return [x[row] for row in self.rows.tolist()]

    def row(self, item: int) -> int:
        """The row of an item."""
        return item if self.rows is None else int(self.rows[item])

    def item(self, row: int) -> int:
        """The item of a row, which is among those chosen from."""
        return row if self.rows is None else int(np.searchsorted(self.rows, row))

    def items_of(self, sample: Sample, n_items: int) -> Sample:
        """A sample of rows as one of items; InvalidInputError if a row that was set aside is not there any more."""
        if missing := [row for row in sample.aside if row >= (n_items if self.rows is None else self.n_rows)]:
            raise InvalidInputError(
                f"row {missing[0]} was set aside for the audit, and is not there; give the rows of the earlier fit, "
                "in the same order, and new ones after them"
            )
        aside, among = tuple(map(self.item, sample.aside)), sample.chosen_from
        if self.rows is not None and among is not None:
            among = np.flatnonzero(np.isin(self.rows, among))
        return Sample(aside, among if among is None else among[among < n_items])

    def sample_of(self, items: Sample, before: Sample) -> Sample:
        """A sample of items as one of rows, after one from ``before``: what was chosen from then stays so."""
        chosen_from = self.rows_of(NOTHING if items.chosen_from is None else items.chosen_from)
        earlier = NOTHING if before.chosen_from is None else before.chosen_from
        return Sample(tuple(self.rows_of(items.aside).tolist()), np.union1d(earlier, chosen_from))

    def rows_of(self, items: Sequence[int] | Ints) -> Ints:
        """The rows of items."""
        numbers: Ints = np.array(items, dtype=np.int64)
        return numbers if self.rows is None else self.rows[numbers]
