"""The law of the questions where a budget is spent, again: step 21 of ``docs/certificate.md``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from onebit.records import EpochRecord, Setting

#: What is added to the variance of a guess, and the least probability that an item is asked about.
LEAST_VARIANCE, LEAST_ASKED = 0.02, 0.005
#: The most that the merit of all who say the same can be, and the least below 0.
MOST_MERIT = 20.0


def chooses(setting: Setting) -> bool:
    """Whether questions are drawn by this law."""
    return setting.spends and setting.population == "pool" and setting.protocol == "one-shot"


def weighed(
    merit: Sequence[float], says: NDArray[np.signedinteger], labels: Sequence[int], guess: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The guesses about ``labels``, each times exp(merit of all who say it), where models say ``says`` (N,)."""
    own = np.array(merit)
    together = np.array([own[says == label].sum() for label in labels])
    parts: NDArray[np.float64] = guess * np.exp(np.clip(together, -MOST_MERIT, MOST_MERIT))
    return parts


def choice_scores(
    epoch: EpochRecord, says: NDArray[np.int64], labels: Sequence[int], guess: Sequence[float]
) -> list[float]:
    """The score of each label without a verdict, at an item at which the models of the table say ``says`` (N,)."""
    models = [model for model, _ in epoch.mixture]
    weight = np.array([weight for _, weight in epoch.mixture])
    given = says[models]
    if not any(guess) or (given == given[0]).all():
        return [0.0] * len(labels)
    weight = weight / weight.sum()
    scores = []
    for label, m in zip(labels, guess, strict=True):
        # Between a no and a yes to the label, by how much the belief about what each contender says rises.
        rises = np.zeros(len(models))
        for other, belief in zip(labels, guess, strict=True):
            rises[given == other] = 1.0 if other == label else -belief / (1 - m)
        variance = float(weight @ (rises - weight @ rises) ** 2)
        scores.append((variance * (m * (1 - m) + LEAST_VARIANCE)) ** epoch.sharpness)
    return scores
