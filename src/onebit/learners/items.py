"""Where examples come from: a pool, drawn with replacement, or a stream, taken in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from itertools import chain, islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.hypotheses.base import Examples, n_examples


class ItemSource(Protocol):
    """Independent draws of examples, each with a number by which it can be had again.

    ``size`` is how many there are; None where that is not known.
    """

    @property
    def size(self) -> int | None: ...

    def draw(self, uniform: NDArray[np.float64]) -> NDArray[np.int64]:
        """The numbers of the next examples, one for each number of ``uniform``; fewer where the source ends."""

    def put_back(self, items: NDArray[np.int64]) -> None:
        """Undo the last draw, ``items``: nothing was asked about them."""

    def take(self, items: NDArray[np.int64]) -> Examples:
        """The examples with these numbers."""


class Pool:
    """A fixed set of examples, drawn uniformly with replacement: "best" then means best on this pool."""

    def __init__(self, x: Examples) -> None:
        x = np.asarray(x) if isinstance(x, list | tuple | range) else x
        if not hasattr(x, "shape") or len(x.shape) == 0:
            raise InvalidInputError(f"the pool is {x!r}; give an array of examples")
        if n_examples(x) == 0:
            raise InvalidInputError("the pool is empty; it needs at least one example")
        self.x = x
        self.size: int = n_examples(x)

    def draw(self, uniform: NDArray[np.float64]) -> NDArray[np.int64]:
        return (uniform * self.size).astype(np.int64)

    def put_back(self, items: NDArray[np.int64]) -> None:
        """Nothing to do: a pool does not change when it is drawn from."""

    def take(self, items: NDArray[np.int64]) -> Examples:
        return self.x[items]


class Stream:
    """Examples from an iterator that yields independent draws. Each is kept, since the last step needs it again."""

    def __init__(self, examples: Iterable[Any]) -> None:
        self.size: int | None = len(examples) if isinstance(examples, Sized) else None
        self._iterator: Iterator[Any] = iter(examples)
        self._drawn: list[Any] = []

    def draw(self, uniform: NDArray[np.float64]) -> NDArray[np.int64]:
        first = len(self._drawn)
        self._drawn.extend(islice(self._iterator, uniform.size))
        return np.arange(first, len(self._drawn))

    def put_back(self, items: NDArray[np.int64]) -> None:
        first = len(self._drawn) - items.size
        self._iterator = chain(self._drawn[first:], self._iterator)
        del self._drawn[first:]

    def take(self, items: NDArray[np.int64]) -> Examples:
        return np.asarray([self._drawn[i] for i in items])
