"""Any scikit-learn classifier as the model: a mixture found by the paper's potential, the classifier as its oracle.

Paper: the potential E[-log W_gamma(x, y)] over the confirmed samples, minimised by fully corrective Frank-Wolfe: each
new member is fitted to the samples that the mixture covers least, weight 1 / W_gamma, then the masses of all members
are solved for. Members are fitted to resampled answers, or all would be right wherever they were taught. The classifier
is an inexact oracle, so nothing here is a certificate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from onebit.errors import InvalidInputError, OnebitError
from onebit.explore.corrective import minimise_over_mixtures
from onebit.hypotheses.base import Examples
from onebit.learners.training.constants import (
    DISCOVERY,
    LEAST_NEW,
    MIXTURE_GAP,
    MOST_WEIGHT,
    N_FITTED,
    N_PROBED,
    REFIT_GROWTH,
    SOFT_LABELS,
)
from onebit.learners.training.model import Floats, Ints, Known


class EstimatorMixture:
    """Clones of ``estimator``, fitted to yes rows with importance weights and to no rows as soft labels.

    An estimator without ``predict_proba`` counts its prediction as certain. Labels that it has not met have
    probability 0, and are met through gamma. One whose fit takes no ``sample_weight``, or takes it and does not heed
    it, is fitted to rows that are drawn in proportion to their weights instead.
    """

    def __init__(self, estimator: Any, n_labels: int) -> None:
        if not hasattr(estimator, "fit") or not hasattr(estimator, "predict"):
            raise InvalidInputError(f"{estimator!r} has no fit and predict; give a scikit-learn classifier")
        # A pipeline hands the weights to its last step.
        steps = getattr(estimator, "steps", None)
        self._weight_name = f"{steps[-1][0]}__sample_weight" if steps else "sample_weight"
        takes_weights = has_fit_parameter(steps[-1][1] if steps else estimator, "sample_weight")
        #: Whether weights change what is learned; None until there are rows to try it on.
        self._heeds_weights: bool | None = None if takes_weights else False
        self._estimator, self._n_labels = estimator, n_labels
        self._members: list[Any] = []
        self._masses = np.ones(1)
        self._n_fitted = self._n_answers = 0

    @property
    def weights(self) -> Floats:
        return self._masses

    @property
    def gamma(self) -> float:
        return float(min(1.0, np.sqrt(DISCOVERY * self._n_labels / max(self._n_answers, 1))))

    def beliefs(self, x: Examples) -> Floats:
        if not self._members:
            return np.full((1, x.shape[0], self._n_labels), 1 / self._n_labels)
        return np.stack([self._belief(member, x) for member in self._members])

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        self._n_answers = known.n_answers
        # One label is left after a yes, or after a no to every other.
        confirmed = known.possible.sum(axis=1) == 1
        labels = known.possible[confirmed].argmax(axis=1)
        wanted = max(REFIT_GROWTH * self._n_fitted, self._n_fitted + LEAST_NEW)
        if known.n_answers < wanted or np.unique(labels).size < 2:
            return
        rows, label, weight = self._lessons(known, confirmed)
        importance = np.clip(known.confirmed_weight[confirmed], 1.0, MOST_WEIGHT)
        importance = importance / importance.sum()
        emphasis, right = np.ones(len(known.possible)), np.empty((0, labels.size))
        members: list[Any] = []
        for _ in range(N_FITTED):
            resampled = rng.poisson(1.0, len(emphasis)) * emphasis
            member = self._fitted(known.x[rows], label, weight * resampled[rows], rng)
            if member is None:
                continue
            members.append(member)
            guessed = self._belief(member, known.x[np.flatnonzero(confirmed)]).argmax(axis=1)
            right = np.vstack([right, (1 - self.gamma) * (guessed == labels) + self.gamma / self._n_labels])
            masses = minimise_over_mixtures(right, importance, np.full(len(members), 1 / len(members)), MIXTURE_GAP)
            uncovered = 1 / (masses @ right)
            emphasis = np.ones(len(known.possible))
            emphasis[confirmed] = uncovered / uncovered.mean()
        if members:
            self._members, self._masses, self._n_fitted = members, masses / masses.sum(), known.n_answers

    def _lessons(self, known: Known, confirmed: np.ndarray) -> tuple[Ints, Ints, Floats]:
        """Rows, labels and weights to fit: a yes row with its importance, a no row as its likeliest labels left."""
        yes = np.flatnonzero(confirmed)
        weight = np.clip(known.confirmed_weight[yes], 1.0, MOST_WEIGHT)
        no = np.flatnonzero(~confirmed)
        if not self._members or no.size == 0:
            return yes, known.possible[yes].argmax(axis=1), weight
        left = np.einsum("m,mnk->nk", self._masses, self.beliefs(known.x[no])) * known.possible[no]
        left /= np.maximum(left.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)
        likeliest = np.argsort(-left, axis=1)[:, :SOFT_LABELS]
        soft = np.take_along_axis(left, likeliest, axis=1)
        rows = np.concatenate([yes, np.repeat(no, likeliest.shape[1])])
        label = np.concatenate([known.possible[yes].argmax(axis=1), likeliest.ravel()])
        return rows, label, np.concatenate([weight, soft.ravel()])

    def _fitted(self, x: Examples, label: Ints, weight: Floats, rng: np.random.Generator) -> Any | None:
        """A fitted clone; None where the resampling left fewer than two labels."""
        used = np.flatnonzero(weight > 0)
        if np.unique(label[used]).size < 2:
            return None
        try:
            if self._heeds_weights is None:
                self._heeds_weights = self._weights_matter(x[used[:N_PROBED]])
            if self._heeds_weights:
                relative = weight[used] / weight[used].mean()
                return clone(self._estimator).fit(x[used], label[used], **{self._weight_name: relative})
            drawn = rng.choice(used, used.size, p=weight[used] / weight[used].sum())
            return clone(self._estimator).fit(x[drawn], label[drawn]) if np.unique(label[drawn]).size > 1 else None
        except Exception as error:
            raise OnebitError(
                f"{self._estimator!r} failed to fit {used.size} rows: {error}. The answers so far are kept; give "
                "another estimator, or None for the built-in model"
            ) from error

    def _weights_matter(self, x: Examples) -> bool:
        """Every row with each of two labels, nearly all the weight on one or the other: does it learn which?"""
        n = x.shape[0]
        twice, label = np.tile(np.arange(n), 2), np.repeat([0, 1], n)
        learned = [
            clone(self._estimator)
            .fit(x[twice], label, **{self._weight_name: np.where(label == favoured, 1.0, 1e-3)})
            .predict(x)
            for favoured in (0, 1)
        ]
        return not np.array_equal(*learned)

    def _belief(self, member: Any, x: Examples) -> Floats:
        belief = np.zeros((x.shape[0], self._n_labels))
        if hasattr(member, "predict_proba"):
            belief[:, member.classes_] = member.predict_proba(x)
        else:
            belief[np.arange(x.shape[0]), np.asarray(member.predict(x)).astype(np.int64)] = 1.0
        return belief
