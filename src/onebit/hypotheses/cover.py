"""A finite class in place of an infinite one: a hypothesis for each way in which the class labels a sample.

Two hypotheses that agree on enough unlabelled examples rarely differ elsewhere, so one of them can stand for both.
:func:`build_cover` finds one hypothesis for each label pattern through the ERM oracle alone, and :class:`CoverClass`
makes them a finite class for any learner. How many examples are enough says
:func:`onebit.hypotheses.natarajan.cover_sample_size`; what they may cost, :func:`cover_size`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.hypotheses.base import Examples, Hypothesis, HypothesisClass, Labels, n_examples
from onebit.hypotheses.finite import FiniteClass
from onebit.hypotheses.natarajan import growth_bound

#: A cover with more representatives than this is refused unless the caller allows it.
MAX_REPRESENTATIVES = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """Every label pattern of a class on ``points``, once each: ``representatives[j]`` labels them ``patterns[j]``.

    Paper: H_fin in the proof of Proposition 1.

    ``points`` has the s examples on its first axis; ``patterns`` has shape (number of patterns, s).
    """

    points: NDArray[Any]
    patterns: Labels
    representatives: tuple[Hypothesis, ...]


@dataclass(frozen=True, slots=True)
class CoverSize:
    """The most that a cover on ``n_points`` examples can hold, and can cost in oracle calls."""

    n_points: int
    max_patterns: int
    max_calls: int


def cover_size(n_points: int, n_labels: int, dimension: int) -> CoverSize:
    """What :func:`build_cover` can come to for a class of this Natarajan dimension, before it starts.

    Paper: S of Proposition 1 for the patterns, where n_labels^n_points is not less. The calls are not in the paper:
    one to begin with, and n_labels - 1 for each prefix of each pattern.

    >>> cover_size(n_points=100, n_labels=3, dimension=1)
    CoverSize(n_points=100, max_patterns=301, max_calls=60201)
    """
    max_patterns = min(growth_bound(n_points, n_labels, dimension), n_labels**n_points)
    return CoverSize(n_points, max_patterns, max_calls=1 + (n_labels - 1) * n_points * max_patterns)


def build_cover(
    hypotheses: HypothesisClass,
    points: Examples,
    limit: int = MAX_REPRESENTATIVES,
    progress: Callable[[int, int], None] | None = None,
) -> Cover:
    """The label patterns of a class on ``points``, with a hypothesis for each.

    Paper: the learning rule in the proof of Proposition 1; the search is not in the paper. It goes from the patterns of
    the first i distinct points to those of the first i + 1: labels are realisable if the ERM for them, with weights 1,
    makes no error. Each prefix is extended without a call to the label its own representative gives, and with one call
    to each other label, so that at most n_labels * s * (number of patterns) calls are made in all.

    ``progress(i, n_patterns)`` is called when the first i distinct points are done. Raises InvalidInputError if the
    oracle is not exact, if a hypothesis abstains on a point, and as soon as there are more than ``limit`` prefixes.

    >>> from onebit.hypotheses.intervals import IntervalClass
    >>> build_cover(IntervalClass(n_cuts=1, n_labels=2), [0.1, 0.2, 0.3]).patterns.tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    _check_request(hypotheses, limit)
    sample = np.asarray(points)
    first, column = _distinct_points(sample)
    search = _PrefixSearch(hypotheses, sample[first])
    members = [search.root()]
    for level, n_before in enumerate(first):
        extended: list[_Member] = []
        for n_done, member in enumerate(members, start=1):
            extended += search.extensions(member, level)
            # Each of the prefixes still to come has at least one extension.
            if len(extended) + len(members) - n_done > limit:
                raise _over_limit(limit, n_before, len(members))
        members = extended
        if progress is not None:
            progress(level + 1, len(members))
    patterns = np.stack([member.labels for member in members])[:, column]
    return Cover(sample, patterns, tuple(member.h for member in members))


class CoverClass(FiniteClass):
    """The representatives of a cover as a finite class; hypothesis j is ``cover.representatives[j]`` of ``inner``.

    Paper: H_fin. If ``cover`` was made from :func:`onebit.hypotheses.natarajan.cover_sample_size` independent examples,
    then by Lemma 5, except with that probability of failure, every hypothesis of ``inner`` differs from some member of
    this class on at most a share ``radius`` of the population.

    Every oracle call asks every representative for its labels. For many calls on the same items, ask once:
    ``PredictionTable(cover_class.predictions(items), n_labels)``.
    """

    def __init__(self, inner: HypothesisClass, cover: Cover) -> None:
        self.inner = inner
        self.cover = cover
        self.n_labels = inner.n_labels
        self.n_hypotheses = len(cover.representatives)

    def check_examples(self, x: Examples) -> None:
        self.inner.check_examples(x)

    def predictions(self, x: Examples) -> NDArray[np.integer]:
        table = np.empty((self.n_hypotheses, n_examples(x)), dtype=np.min_scalar_type(-self.n_labels))
        for row, h in zip(table, self.cover.representatives, strict=True):
            row[:] = self.inner.predict(h, x)
        return table

    def predict(self, h: Hypothesis, x: Examples) -> Labels:
        return self.inner.predict(self.cover.representatives[self._row(h)], x)


class _Member(NamedTuple):
    """A hypothesis, and its labels on all distinct points: it represents each prefix of them."""

    h: Hypothesis
    labels: Labels


class _PrefixSearch:
    """What the search asks of the oracle: where to begin, and how a prefix goes on."""

    def __init__(self, hypotheses: HypothesisClass, points: NDArray[Any]) -> None:
        self.hypotheses = hypotheses
        self.points = points

    def root(self) -> _Member:
        """Some hypothesis, to represent the empty prefix, after making sure that nobody abstains."""
        n_labels, n_points = self.hypotheses.n_labels, self.points.shape[0]
        # Each point with each label, weights -1: the more a hypothesis abstains the more errors it has, and the ERM has
        # most. No other sample shows an abstention: labels alone never ask for one, and its patterns would be missed.
        labels = np.tile(np.arange(n_labels), n_points)
        h = self.hypotheses.erm(np.repeat(self.points, n_labels, axis=0), labels, np.full(labels.size, -1.0))
        member = self._member(h)
        if (member.labels < 0).any():
            raise InvalidInputError(
                f"hypothesis {h!r} abstains on some of the points; label patterns are defined for hypotheses that give "
                "a label everywhere: leave out those that do not, or give abstention a label of its own"
            )
        return member

    def extensions(self, member: _Member, level: int) -> Iterator[_Member]:
        """A representative for each realisable extension, by one label, of the member's first ``level`` labels."""
        for label in range(self.hypotheses.n_labels):
            if label == member.labels[level]:
                yield member
            else:
                wanted = np.append(member.labels[:level], label)
                found = self._member(self.hypotheses.erm(self.points[: level + 1], wanted, np.ones(level + 1)))
                if np.array_equal(found.labels[: level + 1], wanted):
                    yield found

    def _member(self, h: Hypothesis) -> _Member:
        return _Member(h, self.hypotheses.predict(h, self.points))


def _distinct_points(sample: NDArray[Any]) -> tuple[list[int], list[int]]:
    """Where each distinct point comes first, and for every point which of the distinct ones it is."""
    number: dict[bytes, int] = {}
    first: list[int] = []
    column: list[int] = []
    for i in range(sample.shape[0]):
        key = sample[i : i + 1].tobytes()
        if key not in number:
            number[key] = len(first)
            first.append(i)
        column.append(number[key])
    return first, column


def _check_request(hypotheses: HypothesisClass, limit: int) -> None:
    if not hypotheses.exact:
        raise InvalidInputError(
            f"the oracle of {type(hypotheses).__name__} is not exact; where it finds no hypothesis with given labels "
            "there may still be one, so that its patterns are no cover: use a class whose erm is exact"
        )
    if limit < 1:
        raise InvalidInputError(f"limit is {limit}; a cover has at least one representative")


def _over_limit(limit: int, n_fitting: int, n_patterns: int) -> InvalidInputError:
    return InvalidInputError(
        f"the class has more than {limit} label patterns on the first {n_fitting + 1} points, and a cover keeps a "
        f"hypothesis for each; the first {n_fitting} points fit, with {n_patterns}: give only those, or raise limit"
    )
