"""By how much each model is right more often than its votes let believe: learned from a yes or no about single labels.

The votes give every label of an item a guess. The *merit* of a model is a number v that multiplies the odds of whatever
it says by exp(v), so with T(a) the merit of all who say a,

    m(a) = guess(a) exp(T(a)) / (sum over labels b without a no of guess(b) exp(T(b)) + 1 - sum of all guesses).

All merits are fitted together, by the likelihood of the answers, each given the noes before it at its item, and a
normal prior around 0: who is right against the many is soon believed, and so is who agrees with it elsewhere. A merit
may be anything that was fixed before an example is drawn; it touches no promise. Not in the paper;
docs/certificate.md, step 21.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numba import njit

from onebit.learners.certified import constants
from onebit.learners.certified.constants import LEAST_GUESS, MOST_MERIT
from onebit.learners.certified.epoch import Choices, Drawn, KnownAnswers
from onebit.learners.certified.guesses import Guess
from onebit.learners.certified.outputs import Bools, Floats, Ints, Predictions


class Merits:
    """The answers about single labels of a pool, where models say ``said`` (N, n); a judge says ``judged(items)``."""

    def __init__(self, said: Predictions, judged: Callable[[Ints], Floats | None]) -> None:
        self._said, self._judged = said, judged
        self._merit = np.zeros(said.shape[0])
        self._precision = Precision(np.empty((0, said.shape[0])), np.empty(0))
        #: Item and label of each answer, whether it was a yes, and the labels of the item with a no before it.
        self._answers: dict[tuple[int, int], tuple[bool, tuple[int, ...]]] = {}
        self._denied: dict[int, tuple[int, ...]] = {}

    def add(self, items: Ints, labels: Ints, right: Bools) -> None:
        """Labels of items were found right or not, in this order; what was answered before is left as it is."""
        for item, label, is_right in zip(items.tolist(), labels.tolist(), right.tolist(), strict=True):
            if (item, label) not in self._answers:
                before = self._denied.get(item, ())
                self._answers[item, label] = is_right, before
                if not is_right:
                    self._denied[item] = (*before, label)

    def fit(self, guess: Guess) -> tuple[Floats, Floats]:
        """The merit of each model if the votes are counted by ``guess``, and how much the answers say of it; (N,) each.

        The second is the sum of m (1 - m) of what the model says, over the answers.
        """
        latest = list(self._answers.items())[-constants.MOST_WEIGHED :]
        if not latest:
            return self._merit, np.zeros(self._merit.size)
        items = np.array([item for (item, _), _ in latest])
        drawn = Drawn(items, self._said[:, items], judged=self._judged(items))
        votes = replace(guess, merit=None)
        of = Choices(drawn, np.arange(self._merit.size), 0, votes, KnownAnswers())
        outputs = of.outputs
        none, part = 1 - outputs.per_example(of.guess), of.guess.copy()
        asked = np.empty(len(latest), dtype=np.int64)
        for i, ((_, label), (_, before)) in enumerate(latest):
            own = slice(outputs.first[i], outputs.first[i + 1])
            asked[i] = np.flatnonzero(outputs.label[own] == label)[0]
            part[own][np.isin(outputs.label[own], before)] = 0.0
        right = np.array([is_right for _, (is_right, _) in latest])
        for _ in range(constants.NEWTON_STEPS):
            slope, p, information = _slopes(self._merit, outputs.code, outputs.first, part, none, asked)
            self._precision = Precision(slope, p * (1 - p))
            step = self._precision.divide(slope.T @ (right - p) - constants.MERIT_PRIOR * self._merit)
            largest = float(np.abs(step).max())
            self._merit = self._merit + step / max(largest, 1.0)
            if largest < constants.MERIT_ROUGHLY:
                break
        return self._merit.round(constants.DECIMALS), information

    def variance(self, models: Ints, along: Floats) -> Floats:
        """Of sums of the merits of ``models`` (C,), which ``along`` (m, C) weighs, by the last fit; shape (m,)."""
        of_all = np.zeros((along.shape[0], self._merit.size))
        of_all[:, models] = along
        variance: Floats = (of_all * self._precision.divide(of_all.T).T).sum(axis=1)
        return variance


class Precision:
    """How surely merits are known: P = MERIT_PRIOR I + slope^T diag(held) slope, (N, N).

    ``slope`` (K, N) is that of the log-odds of each answer, and ``held`` (K,) the variance of the answer.
    """

    def __init__(self, slope: Floats, held: Floats) -> None:
        self._slope, self._held = slope, held

    def divide(self, value: Floats) -> Floats:
        """The solution x of P x = ``value``, (N,) or (N, m); by the answers where they are fewer than the models."""
        prior, slope = constants.MERIT_PRIOR, self._slope
        n_answers, n_models = slope.shape
        if n_answers >= n_models:
            return np.linalg.solve((slope.T * self._held) @ slope + prior * np.eye(n_models), value).astype(np.float64)
        # The formula of Woodbury: a system of n_answers in the place of n_models.
        small = np.diag(1 / self._held) + slope @ slope.T / prior
        found: Floats = value / prior - slope.T @ np.linalg.solve(small, slope @ value) / prior**2
        return found


@njit(cache=True, nogil=True)
def _slopes(merit, code, first, part, none, asked):  # type: ignore[no-untyped-def]
    """By how much the log-odds of a yes to each question rise with each merit (K, N); their probabilities (K,).

    They rise by 1 with that of who says the label, and fall by m(b) / (1 - m(a)) with that of who says another, b. The
    third is the sum of m (1 - m) of what each model says, (N,).
    """
    n_models, n = code.shape
    slope, p, information = np.zeros((n, n_models)), np.zeros(n), np.zeros(n_models)
    for i in range(n):
        m = part[first[i] : first[i + 1]].copy()
        total = np.zeros(m.size)
        for h in range(n_models):
            total[code[h, i]] += merit[h]
        for k in range(m.size):
            m[k] *= np.exp(min(max(total[k], -MOST_MERIT), MOST_MERIT))
        m /= m.sum() + none[i]
        a = asked[i]
        p[i] = min(max(m[a], LEAST_GUESS), 1 - LEAST_GUESS)
        for h in range(n_models):
            k = code[h, i]
            slope[i, h] = 1.0 if k == a else -m[k] / (1 - p[i])
            information[h] += m[k] * (1 - m[k])
    return slope, p, information
