"""SPIDER Frank-Wolfe: its schedule, its error bounds on a generic objective, and Algorithm 2 as its instance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom
from tests.problems import Floats, models_of_accuracy, random_right
from tests.reference.exact_potential import exact_minimum

from onebit.explore.potential import gradient, potential
from onebit.explore.spider import (
    MixturePoint,
    PotentialOnSamples,
    SignedSample,
    SpiderStep,
    batch_size,
    is_reset,
    spider_frank_wolfe,
    step,
)
from onebit.hypotheses.base import Hypothesis
from onebit.hypotheses.counting import CountingClass
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.paper.schedule import reset_ratio
from onebit.randomness import generator

DIM, BETA, D = 4, 1.0, 2.0
NOISE = 9.0
G = BETA + NOISE
SHARE = 0.9


class NoisyQuadratic:
    """F(w) = SHARE * BETA / 2 * |w|^2 over the simplex, seen through gradients BETA b w + NOISE s.

    b is 1 in a share of the draws and else 0, s is a vector of random signs: so f is BETA-smooth and G-Lipschitz in
    the L1 norm, and both the gradient and its change carry noise. The minimum is at the centre.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def draw(self, n: int) -> tuple[Floats, Floats]:
        return (self.rng.random(n) < SHARE).astype(float), self.rng.choice([-1.0, 1.0], (n, DIM))

    def gradient(self, point: Floats, batch: tuple[Floats, Floats]) -> Floats:
        b, s = batch
        return BETA * b.mean() * point + NOISE * s.mean(axis=0)

    def gradient_change(self, point: Floats, before: Floats, batch: tuple[Floats, Floats]) -> Floats:
        return self.gradient(point, batch) - self.gradient(before, batch)

    def linear_minimum(self, gradient: Floats) -> int:
        return int(np.argmin(gradient))

    def move(self, point: Floats, vertex: int, step: float) -> Floats:
        return (1 - step) * point + step * np.eye(DIM)[vertex]


class WithoutCorrection(NoisyQuadratic):
    """The twin that must fail: between resets the estimate stays what it was."""

    def gradient_change(self, point: Floats, before: Floats, batch: tuple[Floats, Floats]) -> Floats:
        return np.zeros(DIM)


def gradient_errors(problem: NoisyQuadratic, n_steps: int) -> dict[int, float]:
    errors: dict[int, float] = {}

    def observe(seen: SpiderStep[Floats, Floats, int]) -> None:
        errors[seen.t] = float(abs(seen.gradient - SHARE * BETA * seen.point).max())

    spider_frank_wolfe(problem, np.eye(DIM)[0], n_steps, G / (BETA * D), observe)
    return errors


RUNS, T, DELTA = 60, 254, 0.1
#: The chance that a procedure with failure probability DELTA is failed by this test.
FALSE_ALARM = 1e-6
MOST_FAILURES = int(binom.ppf(1 - FALSE_ALARM, RUNS, DELTA))


def lemma_7_bound(t: int) -> float:
    return 12 * BETA * D / t * math.sqrt(math.log(DIM / DELTA))


def failures(kind: type[NoisyQuadratic]) -> dict[int, int]:
    runs = [gradient_errors(kind(seed), T) for seed in range(RUNS)]
    return {t: sum(run[t] > lemma_7_bound(t) for run in runs) for t in (64, 126, 127, 200, 254)}


def test_lemma_7_bounds_the_error_of_the_estimate() -> None:
    assert lemma_7_bound(64) < G / 10
    assert max(failures(NoisyQuadratic).values()) <= MOST_FAILURES


def test_lemma_7_fails_without_the_correction_term() -> None:
    assert failures(WithoutCorrection)[254] > MOST_FAILURES


def test_theorem_3_bounds_the_objective() -> None:
    """F(w_t) - F* <= 25 beta D^2 / t sqrt(log(d t / delta)), at every t, for t >= 2."""

    def excess(w: Floats) -> float:
        return SHARE * BETA / 2 * float(w @ w - 1 / DIM)

    def violated(seed: int) -> bool:
        seen: list[float] = []
        problem = NoisyQuadratic(seed)
        spider_frank_wolfe(problem, np.eye(DIM)[0], T, G / (BETA * D), lambda s: seen.append(excess(s.point)))
        bounds = [25 * BETA * D**2 / t * math.sqrt(math.log(DIM * t / DELTA)) for t in range(1, T + 1)]
        return any(value > bound for value, bound in zip(seen[1:], bounds[1:], strict=True))

    assert sum(violated(seed) for seed in range(RUNS)) <= MOST_FAILURES


def test_theorem_3_in_expectation() -> None:
    """The mean of F(w_t) - F* over all runs is at most 25 beta D^2 / t sqrt(log d), at every t >= 2."""

    def excesses(seed: int) -> list[float]:
        seen: list[float] = []
        spider_frank_wolfe(
            NoisyQuadratic(seed),
            np.eye(DIM)[0],
            T,
            G / (BETA * D),
            lambda s: seen.append(SHARE * BETA / 2 * float(s.point @ s.point - 1 / DIM)),
        )
        return seen

    mean = np.mean([excesses(seed) for seed in range(RUNS)], axis=0)
    bound = 25 * BETA * D**2 / np.arange(1, T + 1) * math.sqrt(math.log(DIM))
    assert (mean <= bound)[1:].all()


def test_theorem_3_in_expectation_needs_three_coordinates() -> None:
    """Lemmas 6 and 7 give 1 + 24 sqrt(log d), which is within 25 sqrt(log d) from d = 3 on and not for d = 2."""
    follows = [1 + 24 * math.sqrt(math.log(d)) <= 25 * math.sqrt(math.log(d)) for d in (2, 3, 4, 100)]
    assert follows == [False, True, True, True]


def test_support_is_at_most_the_number_of_steps() -> None:
    """The first step replaces P_1, and each step adds at most one hypothesis."""
    table, truth = models_of_accuracy(np.random.default_rng(8), np.linspace(0.2, 0.6, 40), 300, 4)
    sizes: list[int] = []
    problem = PotentialOnSamples(PredictionTable(table, 4), np.arange(300), truth, 0.5, np.random.default_rng(9))
    spider_frank_wolfe(
        problem, problem.start(), 25, reset_ratio(4, 0.5), lambda s: sizes.append(len(s.point.mixture.hypotheses))
    )
    assert all(size <= max(1, t) for t, size in enumerate(sizes))
    assert sizes[-1] > 5


def test_schedule_of_steps_and_batches() -> None:
    assert [t for t in range(1, 70) if is_reset(t)] == [1, 3, 7, 15, 31, 63]
    assert [step(t) for t in (1, 2, 4)] == [1, 0.5, 0.25]
    assert [batch_size(t, 0.5) for t in range(1, 9)] == [1, 2, 3, 4, 5, 6, 13, 8]
    # Theorem 1's first resets ask for less than one sample; one is drawn.
    assert [batch_size(t, reset_ratio(10, 0.5)) for t in (1, 3, 7, 31, 63)] == [1, 1, 1, 1, 3]


K, GAMMA = 4, 0.5


def small_potential(seed: int, n_samples: int) -> tuple[PotentialOnSamples, CountingClass, np.ndarray]:
    rng = np.random.default_rng(seed)
    right = random_right(rng, 6, n_samples)
    counted = CountingClass(PredictionTable(np.where(right, 0, 1), K))
    truth = np.zeros(n_samples, dtype=np.int64)
    problem = PotentialOnSamples(counted, np.arange(n_samples), truth, GAMMA, generator(seed, "spider"))
    return problem, counted, right


def dense(signed: SignedSample, right: np.ndarray) -> Floats:
    """The gradient that a signed sample stands for; shape (N,)."""
    out: Floats = -(right[:, signed.index] @ signed.weight)
    return out


def test_algorithm_2_is_the_generic_algorithm_on_dense_gradients() -> None:
    """The signed list stands for the same estimate as explicit gradient vectors; its oracle call is their argmin."""
    problem, _, right = small_potential(3, 500)
    estimates: list[Floats] = []
    before: list[MixturePoint] = []
    batches: list[np.ndarray] = []
    draw = problem.draw

    def drawing(n: int) -> np.ndarray:
        batches.append(draw(n))
        return batches[-1]

    problem.draw = drawing  # type: ignore[method-assign]

    def observe(seen: SpiderStep[MixturePoint, SignedSample, Hypothesis]) -> None:
        rows = right[:, batches[-1]]
        here = gradient(rows, seen.point.W[batches[-1]], GAMMA, K)
        if not is_reset(seen.t):
            here = estimates[-1] + here - gradient(rows, before[-1].W[batches[-1]], GAMMA, K)
        estimates.append(here)
        before.append(seen.point)
        assert dense(seen.gradient, right) == pytest.approx(here, abs=1e-12)
        assert here[seen.vertex] == pytest.approx(here.min(), abs=1e-12)

    spider_frank_wolfe(problem, problem.start(), 40, reset_ratio(K, GAMMA), observe)
    assert len(estimates) == 40
    # Fresh batches are drawn without replacement while S lasts.
    used = np.concatenate(batches)[:500]
    assert np.unique(used).size == used.size


def test_algorithm_2_carries_negative_weights_and_counts_its_calls() -> None:
    problem, counted, _ = small_potential(4, 300)
    negative = []
    spider_frank_wolfe(
        problem, problem.start(), 100, reset_ratio(K, GAMMA), lambda s: negative.append((s.gradient.weight < 0).any())
    )
    assert counted.n_calls == 1 + 100
    assert sum(negative) > 50


def test_algorithm_2_approaches_the_minimum() -> None:
    problem, _, right = small_potential(5, 400)
    _, least = exact_minimum(right, GAMMA, K)
    end = spider_frank_wolfe(problem, problem.start(), 2000, reset_ratio(K, GAMMA))
    assert potential(end.W, GAMMA, K) - least < 0.005
    assert end.mixture.W(problem.hypotheses, problem.x, problem.y) == pytest.approx(end.W, abs=1e-9)
    assert problem.n_passes > 1


def test_a_used_up_sample_is_gone_through_again() -> None:
    problem, _, _ = small_potential(6, 10)
    drawn = problem.draw(25)
    assert sorted(drawn[:10]) == sorted(drawn[10:20]) == list(range(10))
    assert problem.n_passes == 3
