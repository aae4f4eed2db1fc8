"""The suites for hypothesis classes: what ``predict`` and ``erm`` promise, held against brute force."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, NegativeWeightError
from onebit.hypotheses.base import Examples, HypothesisClass
from onebit.hypotheses.counting import CountingClass

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class HypothesisSuite:
    """What every hypothesis class keeps, exact or not. Override ``make`` and ``examples``.

    >>> class TestMine(HypothesisSuite):
    ...     def make(self):
    ...         return MyClass(n_labels=3)
    ...     def examples(self, rng, n):
    ...         return rng.normal(size=(n, 2))
    """

    def make(self) -> HypothesisClass:
        """The class; the same each time."""
        raise NotImplementedError("a suite of a hypothesis class needs make(self), which returns the class")

    def examples(self, rng: np.random.Generator, n: int) -> Examples:
        """``n`` random examples of the class; small domains, in which examples come twice, show most."""
        raise NotImplementedError("a suite of a hypothesis class needs examples(self, rng, n), which draws n examples")

    def test_it_predicts_one_label_or_an_abstention_for_each_example(self) -> None:
        hypotheses = self.make()
        for rng, n in _sizes(1):
            h = hypotheses.erm(*self.sample(rng, n))
            for m in (0, 1, n):
                said = np.asarray(hypotheses.predict(h, self.examples(rng, m)))
                assert said.shape == (m,)
                assert said.dtype.kind in "iu"
                assert (said < hypotheses.n_labels).all()

    def test_same_sample_same_answer(self) -> None:
        rng = np.random.default_rng(3)
        x, y, weight = self.sample(rng, 6)
        for weights in (weight, np.zeros(6)):
            first, second = (each.predict(each.erm(x, y, weights), x) for each in (self.make(), self.make()))
            assert np.array_equal(first, second)

    def test_columns_are_few_and_begin_with_the_minimiser(self) -> None:
        hypotheses = self.make()
        for rng, n in _sizes(2):
            x, y, weight = self.sample(rng, n)
            columns = hypotheses.erm_columns(x, y, weight, 4)
            assert 1 <= len(columns) <= 4
            assert len(set(columns)) == len(columns)
            best, first = hypotheses.erm(x, y, weight), columns[0]
            assert np.array_equal(hypotheses.predict(best, x), hypotheses.predict(first, x))

    def test_negative_weights_are_taken_or_refused_as_declared(self) -> None:
        hypotheses = self.make()
        x, y, weight = self.sample(np.random.default_rng(5), 4)
        if hypotheses.takes_negative_weights:
            hypotheses.erm(x, y, -abs(weight))
        else:
            with pytest.raises(NegativeWeightError):
                hypotheses.erm(x, y, -abs(weight))

    def test_bad_samples_are_refused(self) -> None:
        hypotheses = self.make()
        n_labels, ones = hypotheses.n_labels, [1.0, 1.0, 1.0]
        x = self.examples(np.random.default_rng(0), 3)
        bad: list[tuple[Any, Any]] = [
            ([0, 1, n_labels], ones),
            ([0, 1, -1], ones),
            ([0.0, 1.0, 1.0], ones),
            ([0, 1, 1], ["a", "b", "c"]),
            ([[0], [1, 1]], ones),
            ([0, 1], ones),
            ([0, 1, 1], [1.0, 1.0]),
            ([0, 1, 1], [1.0, float("nan"), 1.0]),
            ([0, 1, 1], [1.0, float("inf"), 1.0]),
        ]
        for y, weight in bad:
            with pytest.raises(InvalidInputError):
                hypotheses.erm(x, y, weight)
        for n_columns in (0, 2.5, "1"):
            with pytest.raises(InvalidInputError):
                hypotheses.erm_columns(x, [0, 1, 1], ones, n_columns)  # type: ignore[arg-type]

    def test_foreign_hypothesis_is_refused(self) -> None:
        with pytest.raises(InvalidInputError):
            self.make().predict("not one of yours", self.examples(np.random.default_rng(0), 1))

    def test_counting_changes_nothing(self) -> None:
        hypotheses = self.make()
        counted = CountingClass(hypotheses)
        x, y, weight = self.sample(np.random.default_rng(4), 6)
        first, second = (each.predict(each.erm(x, y, weight), x) for each in (counted, hypotheses))
        assert np.array_equal(first, second)
        counted.erm_columns(x, y, weight, 3)
        assert counted.n_calls == 2
        for name in ("n_labels", "exact", "n_hypotheses", "takes_negative_weights"):
            assert getattr(counted, name) == getattr(hypotheses, name)

    def test_on_a_fixed_sample_it_is_the_same_oracle(self) -> None:
        hypotheses = self.make()
        rng = np.random.default_rng(6)
        x, y, _ = self.sample(rng, 6)
        counted = CountingClass(hypotheses)
        fixed = counted.on_sample(x, y)
        for _ in range(5):
            weight = self.weights(rng, 6)
            columns, again = fixed.best(weight, 3), hypotheses.erm_columns(x, y, weight, 3)
            assert len(columns) == len(again)
            for h, same in zip(columns, again, strict=True):
                assert np.array_equal(hypotheses.predict(h, x), hypotheses.predict(same, x))
                assert np.array_equal(fixed.right(h), hypotheses.predict(h, x) == y)
        assert counted.n_calls == 5
        assert (fixed.exact, fixed.n_samples) == (hypotheses.exact, 6)

    def sample(self, rng: np.random.Generator, n: int) -> tuple[Examples, Ints, Floats]:
        """``n`` examples with random labels and weights that the class takes."""
        return self.examples(rng, n), rng.integers(0, self.make().n_labels, n), self.weights(rng, n)

    def weights(self, rng: np.random.Generator, n: int) -> Floats:
        """Random weights, of both signs if the class takes them."""
        weight = rng.normal(size=n)
        return weight if self.make().takes_negative_weights else abs(weight)


class ExactSuite(HypothesisSuite):
    """What a class keeps whose oracle is ``exact``: it truly minimises, over all that the class can say.

    Override ``patterns``, too. It is to list what the class can say by a way of its own, as simple as possible and
    never through ``erm``: this is what ``erm`` is held against.

    >>> class TestMine(ExactSuite):
    ...     def make(self):
    ...         return MyClass(n_labels=3)
    ...     def examples(self, rng, n):
    ...         return rng.integers(0, 6, n)
    ...     def patterns(self, x):
    ...         return MODELS[:, x]
    """

    def patterns(self, x: Examples) -> Iterable[Ints]:
        """Every row of labels that some hypothesis gives to ``x``; each has shape (n,)."""
        raise NotImplementedError(
            "a suite of an exact class needs patterns(self, x), which lists every row of labels that the class can give"
        )

    def test_it_says_that_it_is_exact(self) -> None:
        assert self.make().exact

    def test_erm_is_brute_force(self) -> None:
        hypotheses = self.make()
        for sign in (None, 1, -1):
            for rng, n in _sizes(7, least=0):
                x, y, weight = self.sample(rng, n)
                weight = weight if sign is None else sign * abs(weight)
                found = _loss(hypotheses.predict(hypotheses.erm(x, y, weight), x), y, weight)
                least = min(_loss(pattern, y, weight) for pattern in self.patterns(x))
                assert found == pytest.approx(least, abs=1e-12), f"weights {weight} of labels {y} at {x}"

    def test_what_it_predicts_is_one_of_its_patterns(self) -> None:
        hypotheses, rng = self.make(), np.random.default_rng(1)
        x = self.examples(rng, 5)
        patterns = {tuple(np.asarray(pattern).tolist()) for pattern in self.patterns(x)}
        for _ in range(10):
            h = hypotheses.erm(x, rng.integers(0, hypotheses.n_labels, 5), rng.normal(size=5))
            assert tuple(np.asarray(hypotheses.predict(h, x)).tolist()) in patterns

    def test_columns_come_in_the_order_of_their_error(self) -> None:
        hypotheses = self.make()
        for rng, n in _sizes(8):
            x, y, weight = self.sample(rng, n)
            losses = [_loss(hypotheses.predict(h, x), y, weight) for h in hypotheses.erm_columns(x, y, weight, 4)]
            assert losses == pytest.approx(sorted(losses))

    def test_same_sample_same_hypothesis(self) -> None:
        hypotheses = self.make()
        x, y, weight = self.sample(np.random.default_rng(9), 6)
        for weights in (weight, np.zeros(6)):
            h = hypotheses.erm(x, y, weights)
            assert hypotheses.erm(x, y, weights) == h
            assert hypotheses.erm_columns(x, y, weights, 3)[0] == h

    def test_all_that_is_within_reach_is_said_to_be(self) -> None:
        hypotheses = self.make()
        x, y, _ = self.sample(np.random.default_rng(6), 6)
        reachable = np.any([pattern == y for pattern in self.patterns(x)], axis=0)
        assert (hypotheses.on_sample(x, y).within_reach() | ~reachable).all()


def _sizes(seed: int, least: int = 1) -> Iterable[tuple[np.random.Generator, int]]:
    """Sizes of small samples, each a few times, and where to draw them from."""
    rng = np.random.default_rng(seed)
    return [(rng, n) for n in (0, 1, 2, 4, 5, 6) * 3 if n >= least]


def _loss(said: Ints, y: Ints, weight: Floats) -> float:
    return float(weight @ (said != y))
