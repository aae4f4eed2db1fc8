"""Full information: the learner that is told the label. What yes/no answers are measured against."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onebit.hypotheses.base import Examples, Labels
from onebit.learners.paper.one_phase import OnePhaseLearner
from onebit.records import Answer, Question


class FullInformationLearner(OnePhaseLearner):
    """Ask for the label of each example and return the ERM.

    Paper: the full-information setting of section 1; 2 log(2N / delta) / eps^2 labels suffice. Every question's label
    is None and its answer a label; "can't tell" makes every hypothesis wrong on that round.
    """

    @property
    def _largest(self) -> float:
        return 1.0

    def _choose(self, x: Examples, uniform: NDArray[np.float64]) -> tuple[None, NDArray[np.float64]]:
        return None, np.ones(uniform.shape[0])

    def _labels_and_weights(
        self, questions: list[Question], answers: list[Answer | int | None]
    ) -> tuple[Labels, NDArray[np.float64]]:
        told = np.array([-1 if isinstance(answer, Answer) else answer for answer in answers], dtype=np.int64)
        return np.maximum(told, 0), (told >= 0).astype(np.float64)
