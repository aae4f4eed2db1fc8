"""Uniform exploration: the obvious learner, whose variance is K times that of full labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onebit.estimate.importance import importance_weights
from onebit.hypotheses.base import Examples, Labels
from onebit.learners.paper.one_phase import OnePhaseLearner
from onebit.records import Answer, Question


class UniformLearner(OnePhaseLearner):
    """Ask a uniformly drawn label, weight a yes by K, return the weighted ERM.

    Paper: section 1, "a straightforward approach"; order K log(N / delta) / eps^2 rounds.
    """

    @property
    def _largest(self) -> float:
        return self._n_labels

    def _choose(self, x: Examples, uniform: NDArray[np.float64]) -> tuple[Labels, NDArray[np.float64]]:
        label = (uniform[:, 0] * self._n_labels).astype(np.int64)
        return label, np.full(label.size, 1 / self._n_labels)

    def _labels_and_weights(
        self, questions: list[Question], answers: list[Answer | int | None]
    ) -> tuple[Labels, NDArray[np.float64]]:
        yes = np.array([answer is Answer.YES for answer in answers])
        label = np.array([q.label for q in questions], dtype=np.int64)
        return label, importance_weights(yes, np.array([q.propensity for q in questions]))
