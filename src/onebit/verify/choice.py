"""The law of the questions where a budget is spent, again: step 21 of ``docs/certificate.md``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from onebit.records import EpochRecord, Setting

#: What is added to the variance of a guess, and what weight times doubt is raised to.
LEAST_VARIANCE, POWER = 0.02, 0.75
#: The least probability that an item is asked about.
LEAST_ASKED = 0.02


def chooses(setting: Setting) -> bool:
    """Whether questions are drawn by this law."""
    return setting.spends and setting.population == "pool" and setting.protocol == "one-shot"


def choice_scores(
    epoch: EpochRecord, says: NDArray[np.int64], labels: Sequence[int], guess: Sequence[float]
) -> list[float]:
    """The score of each label of an item, at which the models of the table say ``says`` (N,)."""
    total = sum(weight for _, weight in epoch.mixture)
    scores = []
    for label, m in zip(labels, guess, strict=True):
        for_it = sum(weight for model, weight in epoch.mixture if says[model] == label) / total
        against = sum(weight for model, weight in epoch.mixture if says[model] != label) / total
        scores.append((for_it * against * (m * (1 - m) + LEAST_VARIANCE)) ** POWER)
    return scores
