"""Negative weights for classes that take none: a sample that should be wrong becomes samples of the other labels.

For a hypothesis that gives every example one of the K labels, being right at y is being wrong at all other labels but
K - 2 of them:

    [h(x) = y]  =  sum over l != y of [h(x) != l]  -  (K - 2).

So a weight w < 0 on [h(x) != y] = 1 - [h(x) = y] is the weight |w| on [h(x) != l] for each of the K - 1 other labels l,
up to a constant. This is the reduction from costs to weights by which any learner of weighted samples becomes one of
SPIDER's signed samples.
"""

from __future__ import annotations

import numpy as np

from onebit.hypotheses.base import Examples, Hypothesis, HypothesisClass, Labels, Weights


class CostSensitiveClass(HypothesisClass):
    """The class ``inner``, whose oracle is only ever given weights that are not negative.

    Not in the paper, whose oracle takes all weights; with it SPIDER runs on learned classes. A sample of negative
    weight becomes K - 1 samples. The answer is as good as that of ``inner``: exact if that is, as long as no hypothesis
    abstains, and a heuristic if that is one.

    >>> from onebit.hypotheses.finite import PredictionTable
    >>> signed = CostSensitiveClass(PredictionTable([[0, 1], [2, 1]], n_labels=3))
    >>> signed.erm([0, 1], [0, 1], [-1.0, 1.0])
    1
    """

    takes_negative_weights = True

    def __init__(self, inner: HypothesisClass) -> None:
        self.inner = inner
        self.n_labels = inner.n_labels
        self.exact = inner.exact
        self.n_hypotheses = inner.n_hypotheses

    def check_examples(self, x: Examples) -> None:
        self.inner.check_examples(x)

    def predict(self, h: Hypothesis, x: Examples) -> Labels:
        return self.inner.predict(h, x)

    def _columns(self, x: Examples, y: Labels, weight: Weights, n_columns: int) -> tuple[Hypothesis, ...]:
        rows, labels, weights = without_negative_weights(y, weight, self.n_labels)
        return self.inner.erm_columns(np.asarray(x)[rows], labels, weights, n_columns)


def without_negative_weights(y: Labels, weight: Weights, n_labels: int) -> tuple[Labels, Labels, Weights]:
    """Samples of the same weighted error up to a constant: for each the row of the old sample, its label and weight.

    >>> [part.tolist() for part in without_negative_weights(np.array([0, 1]), np.array([0.5, -2.0]), 3)]
    [[0, 1, 1], [0, 0, 2], [0.5, 2.0, 2.0]]
    """
    kept, turned = np.flatnonzero(weight >= 0), np.flatnonzero(weight < 0)
    # The labels after y, modulo K, are all the others; sorted, so that the order is that of the labels.
    others = np.sort((y[turned, None] + np.arange(1, n_labels)) % n_labels, axis=1)
    rows = np.concatenate([kept, np.repeat(turned, n_labels - 1)])
    return rows, np.concatenate([y[kept], others.ravel()]), np.abs(weight)[rows]
