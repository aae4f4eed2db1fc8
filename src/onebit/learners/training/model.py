"""What the training learner needs of a model: beliefs of several members about every label, and a way to learn."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from onebit.hypotheses.base import Examples

if TYPE_CHECKING:
    from onebit.learners.training.around import Around

Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Known:
    """All that ``n_answers`` answers say about the examples ``x`` that were asked about.

    ``possible`` (n, K) are the labels that the answers about each example leave possible: one after a yes.
    ``left``, if there is a guide whose word counts, is what it believes of the labels left (n, K). ``is_new`` (n,) are
    those first asked about since the model learned. If ``is_final``, no training follows for now.
    ``items`` (n,) are the numbers of the examples in the pool, if it is known which rows of it are ``around`` them.
    ``with_likely(rows, labels)``, in follow-up with a guide, gives those rows of ``x`` and after them examples that
    nobody was asked about and that are likely to have one of ``labels``, and the labels of these.
    """

    x: Examples
    possible: Bools
    n_answers: int
    left: Callable[[], Floats] | None = None
    is_new: Bools | None = None
    is_final: bool = False
    with_likely: Callable[[Ints, Ints], tuple[Examples, Ints]] | None = None
    items: Ints | None = None
    around: Around | None = None


class Model(Protocol):
    """Several members, each with a probability for every label; together they are the classifier and its doubt.

    A question is drawn from the members' guesses: with probability 1 - ``gamma`` the guess of a member drawn by
    ``weights``, else any label that is still possible.
    """

    @property
    def weights(self) -> Floats:
        """The share of each member in the mixture; shape (M,), summing to 1."""

    @property
    def gamma(self) -> float:
        """The share of questions that are about any label that is still possible."""

    def beliefs(self, x: Examples) -> Floats:
        """The probability that each member gives each label; shape (M, n, K)."""

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        """Take in all that is known so far, what was known before included."""


def take(x: Examples, rows: Ints) -> Examples:
    """Some rows of examples, which may be a data frame, a table of pyarrow, or a list."""
    if isinstance(x, list):
        return [x[row] for row in rows.tolist()]
    if hasattr(x, "column_names") and hasattr(x, "take"):
        return x.take(rows)
    return x.iloc[rows] if hasattr(x, "iloc") else x[rows]


def mean_belief(model: Model, x: Examples) -> Floats:
    """The probability of each label under the mixture; shape (n, K)."""
    belief: Floats = np.einsum("m,mnk->nk", model.weights, model.beliefs(x))
    return belief


def unwarned_of_few_rows() -> None:
    """Keep scikit-learn from warning, at every fit, that rows are few for so many labels: at first they are.

    For use within ``warnings.catch_warnings``.
    """
    warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)


def softened(belief: Floats, n_of_each_label: Ints) -> Floats:
    """``belief`` (n, K) of an estimator, as if K more rows had come with labels in proportion to those known so far.

    So a label that it has not met is not ruled out.
    """
    n_labels, n_known = belief.shape[1], n_of_each_label.sum()
    shares = (n_of_each_label + 1) / (n_known + n_labels)
    soft: Floats = (n_known * belief + n_labels * shares) / (n_known + n_labels)
    return soft
