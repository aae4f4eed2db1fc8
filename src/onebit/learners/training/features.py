"""From what the user has (numbers, sparse numbers, texts) to the dense features that the built-in model takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.extmath import randomized_svd

from onebit.errors import InvalidInputError
from onebit.hypotheses.base import n_examples
from onebit.learners.training.constants import (
    FARTHEST,
    LEAST_APART,
    MOST_DIRECTED,
    MOST_OF_ONE,
    N_DIMENSIONS,
    N_DIRECTIONS,
    ONE_LENGTH,
    ROWS_AT_ONCE,
    VAST,
)


class Features:
    """Dense columns of about unit variance; learned from the pool without any label.

    Numbers are standardised, and a constant column is left at 0; more than ``N_DIRECTIONS`` columns become their main
    directions (principal components). If all rows have one length, as encoders often give them, what tells is where
    they point, and columns that vary little tell little: then all columns keep one scale, and there may be
    ``N_DIMENSIONS``. Texts become tf-idf weights of words and pairs of words, or of characters where most have no word;
    these, and any sparse features, become their main directions (latent semantic analysis), of length one.
    """

    #: The main directions of many columns of numbers, (columns, dimensions); None where there are few.
    _directions: NDArray[np.float32] | None = None
    #: What columns are divided by before all else, where some hold numbers whose squares have no end; None otherwise.
    #: Sparse columns have one number in common.
    _units: NDArray[np.float64] | None = None

    def __init__(self, x: Any, seed: int) -> None:
        #: The number of columns that are wanted; None for texts.
        self.n_columns = None if is_text(x) else int(x.shape[1])
        self._before: Any = None
        if is_text(x) or issparse(x):
            weighted = _weights_of_texts(x) if is_text(x) else None
            if weighted is None and (most := np.abs(x.data).max(initial=0.0)) > VAST:
                self._units = np.asarray(most, dtype=np.float64)
            sparse = self._in_units(x) if weighted is None else weighted.transform(x)
            n_dimensions = min(N_DIMENSIONS, min(sparse.shape) - 1)
            if n_dimensions > 0:
                # scikit-learn takes 32 bits; a seed that is drawn has more.
                svd = TruncatedSVD(n_dimensions, n_iter=3, random_state=seed % 2**32)
                # Of equal rows there is no variance, and it asks what share of it is explained.
                with np.errstate(invalid="ignore"):
                    svd.fit(sparse)
                # Half the size of the file of a classifier of texts.
                svd.components_ = svd.components_.astype(np.float32)
                self._before = make_pipeline(*([weighted] if weighted is not None else []), svd, Normalizer())
            else:
                self._before = weighted
        n_rows = n_examples(x)
        self._mean: NDArray[np.float64] | float = 0.0
        if self._before is None:
            least, most = _ends(self._in_parts(x))
            vast = np.maximum(-least, most)
            if (vast > VAST).any():
                self._units = np.where(vast > VAST, vast, 1.0)
                least, most = least / self._units, most / self._units
            mean = sum(dense.sum(axis=0) for dense in self._in_parts(x)) / n_rows
            # The mean of equal numbers may be rounded. That difference would be the spread of their column.
            self._mean = np.where(least == most, least, mean)
        squares = sum(((dense - self._mean) ** 2).sum(axis=0) for dense in self._in_parts(x)) / n_rows
        # Main directions are in order of weight, which says how much each means: one scale for all.
        has_one_scale = self._before is not None or self._have_one_length(x, squares)
        spread = np.sqrt(np.full_like(squares, squares.mean()) if has_one_scale else squares)
        self._spread = np.where(spread > 0, spread, 1.0)
        n_most = N_DIMENSIONS if has_one_scale else N_DIRECTIONS
        if self._spread.size > n_most:
            self._directions = self._main_directions(x, n_most, seed)

    def __call__(self, x: Any) -> NDArray[np.float32]:
        return np.concatenate([self._columns(dense) for dense in self._in_parts(x)])

    def _columns(self, dense: NDArray[np.float64]) -> NDArray[np.float32]:
        with np.errstate(over="ignore"):
            standard = (dense - self._mean) / self._spread
        # Of rows that were not there when this was learned; no row that was is so far away.
        columns = np.clip(standard, -FARTHEST, FARTHEST)
        # In double precision, so that what comes out for a row hardly hangs on the rows beside it.
        found = columns if self._directions is None else columns @ self._directions.astype(np.float64)
        return found.astype(np.float32)

    def _have_one_length(self, x: Any, variance: NDArray[np.float64]) -> bool:
        """Whether all rows are equally long; those of 0 alone do not count. ``variance`` is that of each column.

        Not so if one column makes them so: a time, which all rows nearly have in common, or plus or minus a thousand.
        """
        length = np.concatenate([np.linalg.norm(dense, axis=1) for dense in self._in_parts(x)])
        length = length[length > 0]
        most, whole = float(length.max(initial=0.0)), float(variance.sum())
        point_apart = whole > LEAST_APART * most**2 and variance.max() <= MOST_OF_ONE * whole
        return point_apart and float(np.ptp(length)) <= ONE_LENGTH * most

    def _main_directions(self, x: Any, n_most: int, seed: int) -> NDArray[np.float32]:
        """One scale for all of them, so that near rows stay near."""
        n_rows = n_examples(x)
        some = np.random.default_rng(seed).permutation(n_rows)[:MOST_DIRECTED]
        rows = self._columns(self._dense(x[np.sort(some)]))
        found = randomized_svd(rows, min(n_most, some.size), n_iter=2, random_state=seed % 2**32)[2]
        directions: NDArray[np.float32] = found.T.astype(np.float32)
        spread = np.sqrt(((rows @ directions) ** 2).mean())
        return directions / np.float32(spread if spread > 0 else 1)

    def of_names(self, names: Iterable[Any]) -> NDArray[np.float32] | None:
        """The names of labels in the same columns, if these are of texts; None otherwise."""
        return self(np.array([_words(str(name)) for name in names], dtype=object)) if self.n_columns is None else None

    def _in_parts(self, x: Any) -> Iterator[NDArray[np.float64]]:
        """Some rows after the other: all at once, in double precision, would take more memory than all else."""
        for first in range(0, max(n_examples(x), 1), ROWS_AT_ONCE):
            yield self._dense(x[first : first + ROWS_AT_ONCE])

    def _dense(self, x: Any) -> NDArray[np.float64]:
        made = self._in_units(x) if self._before is None else self._before.transform(self._in_units(x))
        return np.asarray(made.toarray() if issparse(made) else made, dtype=np.float64)

    def _in_units(self, x: Any) -> Any:
        return x if self._units is None else x / self._units


def _ends(parts: Iterable[NDArray[np.float64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the largest number of each column."""
    of_parts = [(part.min(axis=0), part.max(axis=0)) for part in parts]
    return np.min([least for least, _ in of_parts], axis=0), np.max([most for _, most in of_parts], axis=0)


def is_text(x: Any) -> bool:
    """Whether the examples are texts: a one-dimensional array or list of strings."""
    if issparse(x) or len(getattr(x, "shape", (0,))) != 1 or not hasattr(x, "__len__"):
        return False
    return len(x) > 0 and all(isinstance(each, str) for each in x)


def _weights_of_texts(texts: Any) -> TfidfVectorizer:
    """Weights of words and pairs of them; of characters where most texts have no word, such as an emoji."""
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    word = re.compile(words.token_pattern)
    if 2 * sum(word.search(text) is not None for text in texts) >= len(texts):
        return words.fit(texts)
    if not any(texts):
        raise InvalidInputError(f"all {len(texts)} texts are empty; there is nothing to learn from")
    return TfidfVectorizer(analyzer="char", ngram_range=(1, 2), sublinear_tf=True).fit(texts)


def _words(name: str) -> str:
    """A name as a text: with the words of ``book_flight`` and those of ``bookFlight`` apart, ``401k`` as it is."""
    whole = name.replace("_", " ")
    # YouTube is one word in texts; bookFlight is two. So both are given.
    apart = "".join(f" {b}" if a.islower() and b.isupper() else b for a, b in pairwise(f" {whole}"))
    return whole if apart == whole else f"{whole} {apart}"
