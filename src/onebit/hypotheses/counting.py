"""A wrapper that counts oracle calls, so that no algorithm has to."""

from __future__ import annotations

from onebit.hypotheses.base import Examples, Hypothesis, HypothesisClass, Labels, Weights


class CountingClass(HypothesisClass):
    """The class ``inner``, with the calls of its ERM oracle counted in ``n_calls``.

    A call is one pass over the sample, however many columns it returns.

    >>> from onebit.hypotheses.finite import PredictionTable
    >>> counted = CountingClass(PredictionTable([[0, 1], [1, 1]], n_labels=2))
    >>> counted.erm([0, 1], [1, 1], [1.0, 1.0]), counted.n_calls
    (1, 1)
    """

    def __init__(self, inner: HypothesisClass) -> None:
        self.inner = inner
        self.n_labels = inner.n_labels
        self.exact = inner.exact
        self.n_hypotheses = inner.n_hypotheses
        self.n_calls = 0

    def predict(self, h: Hypothesis, x: Examples) -> Labels:
        return self.inner.predict(h, x)

    def _columns(self, x: Examples, y: Labels, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        self.n_calls += 1
        return self.inner._columns(x, y, weight, n_columns)
