"""What kinds of studies share that are about models and their table: a selection, and a batch of a watch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onebit.log.events import Created
from onebit.raters import Rater, VerdictRater
from onebit.store.store import Entry, Store
from onebit.study.about import About
from onebit.study.items import read_predictions, read_truth, read_verdicts
from onebit.study.kinds.kind import Kind


class Told(NamedTuple):
    """What the models of a study say, ``predictions`` (N, n), and what simulated raters know.

    That is the ``truth`` (n,), or ``verdicts`` (N, n) as in a ModelTable.
    """

    predictions: NDArray[np.integer]
    truth: NDArray[np.int64] | None = None
    verdicts: NDArray[np.int8] | None = None


def read_told(store: Store, entry: Entry, created: Created, about: About) -> Told:
    """What the models of a study of a store say."""
    predictions = read_predictions(store, entry.id, created.table, about)
    return Told(predictions, read_truth(store, entry.id), read_verdicts(store, entry.id, created.table))


class OfModels(Kind):
    """A study of models that is open, and what they say."""

    def __init__(self, study: str, created: Created, about: About, told: Told) -> None:
        super().__init__(study, created, about, told.truth)
        self.predictions, self._verdicts = told.predictions, told.verdicts

    def outputs(self, row: int) -> dict[int, tuple[str, ...]]:
        said: NDArray[Any] = self.predictions[:, row]
        return {
            int(label): tuple(self.about.models[h] for h in np.flatnonzero(said == label))
            for label in np.unique(said[said >= 0])
        }

    def simulated_rater(self) -> Rater:
        if self._verdicts is not None:
            return VerdictRater(self.predictions, self._verdicts)
        return super().simulated_rater()
