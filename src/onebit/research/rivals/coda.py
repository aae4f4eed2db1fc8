"""CODA: consensus-driven active model selection (Kay et al., ICCV 2025, arXiv 2507.23771), with hard predictions.

Every model has a confusion matrix, each row of it with a Dirichlet law (Dawid and Skene). The prior is a diagonal one
and the model's agreement with the vote of all. A label moves the row of that label. How likely a model is the best
goes by the Beta laws of the diagonals, row by row, mixed by how frequent the labels seem. The item that is labelled
next lowers the entropy of this most, on average over its labels. Settings are the authors'.

CODA is made for soft scores: what a model gives to every label of an item. The tables here have hard predictions, a
score of one for one label, so its vote and its guesses are coarser than they could be; an abstention has no score.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaln

from onebit.research.rivals.labelled import Floats, LabelledRival, Predictions

#: The authors' settings: the share of the prior that is the vote's, the factor of the prior, the step of a label.
VOTE_SHARE, PRIOR_FACTOR, LEARNING_RATE = 0.1, 2.0, 0.01
#: Points of the integrals, the weight of a label that is only imagined, and the least logarithm.
N_POINTS, IMAGINED, LEAST_LOG = 256, 1.0, -69.0


class Coda(LabelledRival):
    """The label that is expected to say most about which model is the best comes next."""

    def __init__(self, said: Predictions, n_labels: int, rng: np.random.Generator) -> None:
        super().__init__(said, n_labels, rng)
        self._differ = (self.said != self.said[0]).any(axis=0)
        self._points = np.linspace(1e-6, 1 - 1e-6, N_POINTS)
        self._start()
        #: Of each label, how likely each model is the best by its row; worked out again for rows that moved.
        self._rows: dict[int, _Row] = {}

    def _start(self) -> None:
        """The Beta laws of the diagonals, (N, K) each, and the weight of each label at each item, (n, K)."""
        N, n, K = *self.said.shape, self.n_labels
        votes = np.zeros((n, K))
        for says in self.said:
            votes[says >= 0, says[says >= 0]] += 1
        vote = votes.argmax(axis=1)
        off = 1 / (K - 1)
        self._alpha, self._beta, self._weight = np.empty((N, K)), np.empty((N, K)), np.zeros((n, K))
        for h, says in enumerate(self.said):
            spoke = says >= 0
            confusion = np.zeros((K, K))
            np.add.at(confusion, (vote[spoke], says[spoke]), 1.0)
            confusion /= np.bincount(vote, minlength=K).clip(1)[:, None]
            law = PRIOR_FACTOR * (np.where(np.eye(K) > 0, 1.0, off) + VOTE_SHARE * confusion)
            self._alpha[h] = law.diagonal()
            self._beta[h] = law.sum(axis=1) - law.diagonal()
            self._weight[spoke] += law[:, says[spoke]].T

    def tell(self, item: int, label: int) -> None:
        super().tell(item, label)
        says = self.said[:, item]
        self._alpha[says == label, label] += LEARNING_RATE
        self._beta[(says != label) & (says >= 0), label] += LEARNING_RATE
        agree = (self.said == says[:, None]) & (says >= 0)[:, None]
        self._weight[:, label] += LEARNING_RATE * agree.sum(axis=0)
        self._rows.pop(label, None)

    def _row(self, label: int) -> _Row:
        if label not in self._rows:
            self._rows[label] = _Row(self._alpha[:, label], self._beta[:, label], self._points)
        return self._rows[label]

    def _frequencies(self) -> tuple[Floats, Floats]:
        """How likely each label is at each item, (n, K), and in all, (K,)."""
        of_items = self._weight / self._weight.sum(axis=1, keepdims=True).clip(1e-12)
        return of_items, of_items.mean(axis=0)

    def _best(self, frequency: Floats) -> Floats:
        mixed: Floats = sum(frequency[c] * self._row(c).best for c in range(self.n_labels))
        return mixed

    def next(self) -> int | None:
        items = np.flatnonzero(self.unlabelled & self._differ)
        if items.size == 0:
            return None
        of_items, frequency = self._frequencies()
        best, likely = self._best(frequency), of_items[items]
        expected = np.zeros(items.size)
        for c in range(self.n_labels):
            row = self._row(c)
            says = self.said[:, items] == c
            some = np.flatnonzero(says.any(axis=0))
            entropy = np.full(items.size, _entropy(best + frequency[c] * (row.if_denied - row.best)))
            if some.size:
                entropy[some] = _entropy(best + frequency[c] * (row.after(says[:, some].T) - row.best))
            expected += likely[:, c] * entropy
        return int(items[self.one_of(np.flatnonzero(np.isclose(expected, expected.min(), rtol=1e-8)))])

    def leader(self) -> int:
        return int(self._best(self._frequencies()[1]).argmax())


class _Row:
    """One label: how likely each model is the best on its items, now and after an imagined item of that label.

    ``alpha`` and ``beta`` (N,) are the models' Beta laws of being right there.
    """

    def __init__(self, alpha: Floats, beta: Floats, points: Floats) -> None:
        step = points[1] - points[0]
        self._end_weights = np.full(points.size, step)
        self._end_weights[[0, -1]] /= 2
        pdf, log_cdf = _laws(alpha, beta, points)
        self.best = _normed(self._integrals(log_cdf.sum(axis=0)[None], pdf, log_cdf))[0]
        #: The laws of those that say the label, and of the others.
        self._yes, self._no = _laws(alpha + IMAGINED, beta, points), _laws(alpha, beta + IMAGINED, points)
        self.if_denied = self.after(np.zeros((1, alpha.size), dtype=np.bool_))[0]

    def after(self, says: np.ndarray) -> Floats:
        """After an item of the label at which models say it or not, (m, N); shape (m, N)."""
        (yes, log_yes), (no, log_no) = self._yes, self._no
        together = log_no.sum(axis=0) + says @ (log_yes - log_no)
        return _normed(np.where(says, self._integrals(together, yes, log_yes), self._integrals(together, no, log_no)))

    def _integrals(self, together: Floats, pdf: Floats, log_cdf: Floats) -> Floats:
        # The product of the others' distribution functions is that of all over one's own.
        scale = together.max(axis=1, keepdims=True)
        integrals: Floats = (np.exp(together - scale) * self._end_weights) @ (pdf * np.exp(-log_cdf)).T
        return integrals


def _normed(share: Floats) -> Floats:
    """Rows that add up to one."""
    normed: Floats = share / share.sum(axis=1, keepdims=True).clip(1e-30)
    return normed


def _laws(alpha: Floats, beta: Floats, points: Floats) -> tuple[Floats, Floats]:
    """Densities of Beta laws at the points, and the logarithm of their distribution functions; (N, n_points) each."""
    a, b = alpha[:, None], beta[:, None]
    pdf = np.exp((a - 1) * np.log(points) + (b - 1) * np.log1p(-points) - betaln(a, b))
    steps = (pdf[:, 1:] + pdf[:, :-1]) / 2 * np.diff(points)
    cdf = np.concatenate([np.zeros((alpha.size, 1)), np.cumsum(steps, axis=1)], axis=1)
    return pdf, np.maximum(np.log(np.maximum(cdf, 1e-300)), LEAST_LOG)


def _entropy(best: Floats) -> Floats:
    p = best.clip(1e-12)
    entropy: Floats = -(p * np.log2(p)).sum(axis=-1)
    return entropy
