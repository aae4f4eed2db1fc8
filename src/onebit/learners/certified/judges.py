"""What a judge says about outputs: one more feature of the guess, and in a panel a control variate.

A judge is whoever scores outputs before any rater is asked: another model, a rule. Its scores may be wrong in any way.
They are fixed with the table, so a guess may depend on them as on the votes. Not in the paper; docs/certificate.md,
step 2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import constants
from onebit.learners.certified.outputs import Floats, Ints, Outputs, Predictions
from onebit.learners.items import ItemSource


class Judge:
    """The ``scores`` (N, n) of what each hypothesis says at each item of a table, from 0 to 1; NaN where missing.

    Hypotheses that say the same at an item share one score: the mean of those that are there.
    """

    def __init__(self, hypotheses: object, items: ItemSource, scores: ArrayLike) -> None:
        if not isinstance(hypotheses, PredictionTable):
            raise InvalidInputError("a judge's scores are of a table of predictions; give one, or leave the judge out")
        self._hypotheses, self._items = hypotheses, items
        self._scores = np.asarray(scores)
        shape = hypotheses.n_hypotheses, hypotheses.n_items
        if self._scores.shape != shape or self._scores.dtype.kind != "f":
            raise InvalidInputError(
                f"the judge's scores have shape {self._scores.shape} and type {self._scores.dtype}; they must be "
                f"floating point of shape {shape}, a row for each model and a column for each item"
            )
        if ((self._scores < 0) | (self._scores > 1)).any():
            raise InvalidInputError("a judge's scores are from 0 to 1, or NaN where one is missing")

    def scores(self, items: Ints) -> Floats:
        """The score of what each hypothesis says at ``items`` (m,), a half where it is missing; shape (N, m)."""
        return shared_scores(*self._at(items))

    def log_odds(self, items: Ints) -> Floats:
        """The log-odds of these scores; shape (N, m)."""
        return log_odds(*self._at(items))

    def _at(self, items: Ints) -> tuple[Predictions, Floats]:
        x = self._items.take(items)
        return self._hypotheses.predictions(x), self._scores[:, np.asarray(x, dtype=np.int64)]


def log_odds(said: Predictions, scores: Floats) -> Floats:
    """The log-odds of the scores (N, m) of what is ``said`` (N, m), shared by those who say the same."""
    score, margin = shared_scores(said, scores), constants.JUDGE_MARGIN
    odds: Floats = np.log((score + margin) / (1 - score + margin))
    return odds


def shared_scores(said: Predictions, scores: Floats) -> Floats:
    """The scores (N, m) of what is ``said`` (N, m), shared by those who say the same."""
    outputs = Outputs.of(said)
    place = outputs.code + outputs.first[:-1]
    is_there = np.isfinite(scores)
    n = np.bincount(place.ravel(), weights=is_there.ravel())
    total = np.bincount(place.ravel(), weights=np.where(is_there, scores, 0.0).ravel())
    # A missing score says as much as one of a half.
    shared: Floats = np.where(n > 0, total / np.maximum(n, 1), 0.5)[place]
    return shared
