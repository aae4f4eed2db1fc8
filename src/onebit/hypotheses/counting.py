"""A wrapper that counts oracle calls, so that no algorithm has to."""

from __future__ import annotations

from numpy.typing import ArrayLike

from onebit.hypotheses.base import Examples, Hypothesis, HypothesisClass, Labels, Weights
from onebit.hypotheses.on_sample import Bools, OnSample


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
        self.takes_negative_weights = inner.takes_negative_weights
        self.n_calls = 0

    @property
    def uncounted(self) -> HypothesisClass:
        """The class beneath, however often it is wrapped."""
        return self.inner.uncounted if isinstance(self.inner, CountingClass) else self.inner

    def check_examples(self, x: Examples) -> None:
        self.inner.check_examples(x)

    def on_sample(self, x: Examples, y: ArrayLike, n_threads: int = 1) -> OnSample:
        return _CountedOnSample(self, self.inner.on_sample(x, y, n_threads))

    def predict(self, h: Hypothesis, x: Examples) -> Labels:
        return self.inner.predict(h, x)

    def _columns(self, x: Examples, y: Labels, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        self.n_calls += 1
        return self.inner._columns(x, y, weight, n_columns)


class _CountedOnSample(OnSample):
    """A class on a sample whose passes count as calls of the class."""

    def __init__(self, counter: CountingClass, inner: OnSample) -> None:
        self._counter, self._inner = counter, inner
        self.exact, self.n_samples, self.n_hypotheses = inner.exact, inner.n_samples, inner.n_hypotheses

    def best(self, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        self._counter.n_calls += 1
        return self._inner.best(weight, n_columns)

    def right(self, h: Hypothesis) -> Bools:
        return self._inner.right(h)

    def within_reach(self) -> Bools:
        return self._inner.within_reach()
