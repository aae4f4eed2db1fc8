"""From what the user has (numbers, sparse numbers, texts) to the dense features that the built-in model takes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from onebit.learners.training.constants import N_DIMENSIONS


class Features:
    """Dense columns of unit variance; learned from the pool without any label.

    Numbers are standardised, and a constant column is left at 0. Texts become tf-idf weights of words and pairs of
    words; these, and any sparse features, become their main directions (latent semantic analysis), of length one.
    """

    def __init__(self, x: Any, seed: int) -> None:
        #: The number of columns that are wanted; None for texts.
        self.n_columns = None if is_text(x) else int(x.shape[1])
        self._before: Any = None
        if is_text(x) or issparse(x):
            weighted = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True).fit(x) if is_text(x) else None
            sparse = x if weighted is None else weighted.transform(x)
            n_dimensions = min(N_DIMENSIONS, min(sparse.shape) - 1)
            if n_dimensions > 0:
                # scikit-learn takes 32 bits; a seed that is drawn has more.
                svd = TruncatedSVD(n_dimensions, n_iter=3, random_state=seed % 2**32).fit(sparse)
                # Half the size of the file of a classifier of texts.
                svd.components_ = svd.components_.astype(np.float32)
                self._before = make_pipeline(*([weighted] if weighted is not None else []), svd, Normalizer())
            else:
                self._before = weighted
        dense = self._dense(x)
        self._mean = dense.mean(axis=0)
        spread = dense.std(axis=0)
        if self._before is not None:
            # The directions are in order of weight, which says how much each means: one scale for all.
            self._mean, spread = np.zeros_like(self._mean), np.full_like(spread, np.sqrt((dense**2).mean()))
        self._spread = np.where(spread > 0, spread, 1.0)

    def __call__(self, x: Any) -> NDArray[np.float32]:
        columns: NDArray[np.float32] = ((self._dense(x) - self._mean) / self._spread).astype(np.float32)
        return columns

    def of_names(self, names: Iterable[Any]) -> NDArray[np.float32] | None:
        """The names of labels in the same columns, if these are of texts; None otherwise."""
        return self(np.array([_words(str(name)) for name in names], dtype=object)) if self.n_columns is None else None

    def _dense(self, x: Any) -> NDArray[np.float64]:
        made = x if self._before is None else self._before.transform(x)
        return np.asarray(made.toarray() if issparse(made) else made, dtype=np.float64)


def is_text(x: Any) -> bool:
    """Whether the examples are texts: a one-dimensional array or list of strings."""
    if issparse(x) or len(getattr(x, "shape", (0,))) != 1 or not hasattr(x, "__len__"):
        return False
    return len(x) > 0 and all(isinstance(each, str) for each in x)


def _words(name: str) -> str:
    """A name as a text: with the words of ``book_flight`` and those of ``bookFlight`` apart, ``401k`` as it is."""
    whole = name.replace("_", " ")
    # YouTube is one word in texts; bookFlight is two. So both are given.
    apart = "".join(f" {b}" if a.islower() and b.isupper() else b for a, b in pairwise(f" {whole}"))
    return whole if apart == whole else f"{whole} {apart}"
