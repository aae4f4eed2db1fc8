"""``choose``: the best of several fitted classifiers, by yes/no answers about items none of them was trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.certified.statement import CertifiedResult
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.randomness import given_or_fresh
from onebit.raters import CallableRater
from onebit.records import DELTA, Answer, AskingProtocol


@dataclass(frozen=True, eq=False)
class Choice:
    """The ``estimator`` that leads, its ``index`` in the list, and what is certified about it.

    With probability at least 1 - delta none of the others is ahead of it, on the pool, by more than
    ``certified.achieved_eps``; whether that is at most the eps asked for is what ``certified.status`` says.
    """

    estimator: Any
    index: int
    certified: CertifiedResult


def choose(
    estimators: Sequence[Any],
    X: Any,
    *,
    answer: Callable[[int, Any], bool | Answer | None],
    eps: float,
    delta: float = DELTA,
    protocol: AskingProtocol = "one-shot",
    budget: int | None = None,
    seed: int | None = None,
) -> Choice:
    """The best of fitted ``estimators`` on the rows of ``X``, within ``eps``, with probability at least 1 - ``delta``.

    Not in the paper: their predictions are a table, and the certified learner asks about it. ``answer(index, label)``
    says whether ``label`` is right for a row; None for can't tell. Nothing is asked where all predict the same. "Best"
    is best on these rows; if any estimator was trained on them, it will look better than it is. ``seed`` is for replay
    and simulation; without it one is drawn from the operating system.

    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = [[0]] * 40, ["cat"] * 40
    >>> always = [DummyClassifier(strategy="constant", constant=label) for label in ("dog", "cat")]
    >>> fitted = [dummy.fit([[0], [0]], ["cat", "dog"]) for dummy in always]
    >>> choose(fitted, X, answer=lambda row, label: y[row] == label, eps=0.1).index
    1
    """
    if len(estimators) < 2:
        raise InvalidInputError(f"there is {len(estimators)} estimator to choose from; give at least two")
    said = [_predicted(estimator, X) for estimator in estimators]
    sizes = {each.size for each in said}
    if len(sizes) > 1:
        raise InvalidInputError(
            f"the estimators predict for {sorted(sizes)} rows; each must give one label for each row"
        )
    labels, numbers = np.unique(np.concatenate(said), return_inverse=True)
    # Labels that nobody predicts are never asked about, so they need not be known. A class has at least two.
    table = PredictionTable(numbers.reshape(len(said), -1), max(2, labels.size))
    learner = CertifiedLearner(
        table,
        Pool(np.arange(table.n_items)),
        eps=eps,
        delta=delta,
        protocol=protocol,
        budget=budget,
        seed=given_or_fresh(seed)[0],
    )
    result = run(learner, CallableRater(lambda item, label: answer(item, labels[label].item())))
    return Choice(estimators[result.chosen], int(result.chosen), result)


def _predicted(estimator: Any, X: Any) -> np.ndarray[Any, Any]:
    try:
        said = np.asarray(estimator.predict(X))
    except Exception as error:
        raise InvalidInputError(
            f"{estimator!r} failed to predict: {error}. No question was asked; give fitted classifiers that take X"
        ) from error
    if said.ndim != 1 or said.size == 0:
        raise InvalidInputError(f"{estimator!r} predicts an array of shape {said.shape}; one label a row is needed")
    return said
