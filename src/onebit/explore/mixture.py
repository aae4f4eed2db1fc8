"""A sparse distribution P over hypotheses, and the label distribution W that it induces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.explore.constants import SUM_TOLERANCE
from onebit.hypotheses.base import Examples, Hypothesis, HypothesisClass, Labels


@dataclass(frozen=True, eq=False)
class Mixture:
    """P: distinct ``hypotheses`` with their ``probabilities``, which are positive and add up to one.

    Paper: P in Delta_N. Frank-Wolfe adds at most one hypothesis a step, so the support stays small whatever N is.
    """

    hypotheses: tuple[Hypothesis, ...]
    probabilities: NDArray[np.float64]

    def __post_init__(self) -> None:
        p = self.probabilities
        if len(self.hypotheses) != p.size or len(set(self.hypotheses)) != p.size:
            raise InvalidInputError("a mixture needs distinct hypotheses and one probability for each")
        if not (p > 0).all() or abs(p.sum() - 1) > SUM_TOLERANCE:
            raise InvalidInputError(
                f"the probabilities add up to {p.sum()}, the least is {p.min(initial=1)}; they must be positive and "
                "add up to 1"
            )

    @classmethod
    def point(cls, h: Hypothesis) -> Mixture:
        """All mass on ``h``."""
        return cls((h,), np.ones(1))

    @classmethod
    def of(cls, hypotheses: Sequence[Hypothesis], probabilities: NDArray[np.float64]) -> Mixture:
        """The mixture in proportion to ``probabilities``; zeros are dropped, repeated hypotheses merged."""
        mass: dict[Hypothesis, float] = {}
        for h, p in zip(hypotheses, probabilities.tolist(), strict=True):
            if p != 0:
                mass[h] = mass.get(h, 0.0) + p
        p = np.array(list(mass.values()))
        return cls(tuple(mass), p / p.sum())

    def toward(self, h: Hypothesis, step: float) -> Mixture:
        """(1 - step) P + step * (all mass on h): one Frank-Wolfe step."""
        if step == 1:
            return Mixture.point(h)
        shrunk = (1 - step) * self.probabilities
        if h in self.hypotheses:
            shrunk[self.hypotheses.index(h)] += step
            return Mixture(self.hypotheses, shrunk / shrunk.sum())
        grown = np.append(shrunk, step)
        return Mixture((*self.hypotheses, h), grown / grown.sum())

    def predictions(self, hypotheses: HypothesisClass, x: Examples) -> Labels:
        """What each hypothesis of the support says on ``x``; shape (support, n)."""
        return np.stack([hypotheses.predict(h, x) for h in self.hypotheses])

    def W(self, hypotheses: HypothesisClass, x: Examples, y: Labels) -> NDArray[np.float64]:
        """W_P(x, y) = sum_h P(h) [h(x) = y] for each pair; shape (n,).

        Paper: section 2, additional notation.
        """
        mass: NDArray[np.float64] = self.probabilities @ (self.predictions(hypotheses, x) == y)
        return mass
