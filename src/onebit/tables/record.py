"""A prediction table in memory, the same from whichever file it came."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError

#: What a prediction is where the model gave none.
ABSTAINS = -1
#: Items at and above which a column is asked whether it is a model at all; fewer can be anything.
ENOUGH_TO_TELL = 20
#: Items from which on outputs may be taken for free texts: one or two with a different label each say nothing.
ENOUGH_FOR_TEXTS = 3
#: Share of different values above which a column of outputs is one of free texts.
OWN_SHARE = 0.5


@dataclass(frozen=True, eq=False, kw_only=True)
class Items:
    """What items are called and what is shown of them: Arrow arrays of texts, a tenth of the memory of tuples."""

    _ids: Any = field(default=None, repr=False)
    _show: dict[str, Any] = field(default_factory=dict, repr=False)

    def item_id(self, item: int) -> str:
        """The item's own name, or its place in the table, counted from 1, if it has none."""
        return str(item + 1) if self._ids is None else str(self._ids[item].as_py())

    def shown(self, item: int) -> dict[str, str]:
        """What a rater is shown of an item: the columns that were asked for; an empty cell is an empty text."""
        return {name: column[item].as_py() or "" for name, column in self._show.items()}


@dataclass(frozen=True, eq=False)
class ModelTable(Items):
    """What N models say about n items.

    ``predictions`` (N, n) are numbers of ``labels``, or -1 where a model abstains. ``truth`` (n,) are numbers of labels
    too, of which some may be predicted by no model; it is None unless it was asked for. ``digest`` (sha256, hex) stands
    for models, labels and predictions: two files with the same ones, in whatever format, have the same. Where outputs
    are free texts, these are the labels, and ``verdicts`` (N, n) may say what raters would say about each: 1 for yes, 0
    for no, -1 for nothing. ``reference`` names the column among those shown that has a right answer. ``judge`` (N, n)
    is what a judge says of the predictions, from 0 to 1, NaN where it says nothing; None without a judge. ``notes`` say
    what of a log was left out.
    """

    predictions: NDArray[np.signedinteger[Any]]
    models: tuple[str, ...]
    labels: tuple[str, ...]
    truth: NDArray[np.int64] | None
    digest: str
    verdicts: NDArray[np.int8] | None = None
    reference: str | None = None
    notes: tuple[str, ...] = ()
    judge: NDArray[np.float32] | None = None

    def only(self, models: tuple[str, ...]) -> ModelTable:
        """The table of these models alone, in this order."""
        rows = [self.models.index(model) for model in models]
        predictions = self.predictions[rows]
        return replace(
            self,
            predictions=predictions,
            models=models,
            verdicts=None if self.verdicts is None else self.verdicts[rows],
            judge=None if self.judge is None else self.judge[rows],
            digest=digest_of(predictions, models, self.labels),
        )

    @property
    def n_models(self) -> int:
        return len(self.models)

    @property
    def n_items(self) -> int:
        return int(self.predictions.shape[1])

    @property
    def n_labels(self) -> int:
        return len(self.labels)

    @property
    def is_open(self) -> bool:
        """Whether outputs are free texts."""
        return is_open(self.n_labels, self.n_items)

    def accuracy(self) -> NDArray[np.float64]:
        """The share of items on which each model is right; shape (N,). Needs the truth, or verdicts."""
        if self.verdicts is not None:
            accepted: NDArray[np.float64] = (self.verdicts == 1).mean(axis=1)
            return accepted
        if self.truth is None:
            raise InvalidInputError("the accuracy of models is known only where the truth is; read the table with it")
        return np.array([(row == self.truth).mean() for row in self.predictions])


def is_open(n_labels: int, n_items: int) -> bool:
    """Whether outputs are free texts: labels are given again and again, texts hardly ever."""
    return n_labels > n_items >= ENOUGH_FOR_TEXTS


def narrow(n_labels: int) -> type[np.signedinteger[Any]]:
    """The smallest signed type that holds labels 0 to n_labels - 1 and -1."""
    if n_labels <= 2**7:
        return np.int8
    return np.int16 if n_labels <= 2**15 else np.int32


def make_table(
    predictions: NDArray[np.signedinteger[Any]],
    models: tuple[str, ...],
    labels: tuple[str, ...],
    truth: NDArray[np.int64] | None,
    where: str,
    ids: Any = None,
    show: dict[str, Any] | None = None,
    free: bool = False,
) -> ModelTable:
    """The record, after the checks that all formats share; ``where`` names the file in messages.

    ``free``: the labels are texts that models wrote, of which all may be different.
    """
    for model, row in zip(models, predictions, strict=True):
        if not (row >= 0).any():
            raise InvalidInputError(
                f"{where}, column {model!r}: the model has no prediction at all, so nothing can be learned about it; "
                "take it out"
            )
    if not free:
        _check_are_models(predictions, models, len(labels), where)
    digest = digest_of(predictions, models, labels)
    return ModelTable(predictions, models, labels, truth, digest, _ids=ids, _show=show or {})


def digest_of(predictions: NDArray[np.signedinteger[Any]], models: tuple[str, ...], labels: tuple[str, ...]) -> str:
    """sha256 of the names and the predictions, whatever type these are kept in."""
    digest = hashlib.sha256(json.dumps([models, labels, predictions.shape[1]]).encode())
    for row in predictions:
        digest.update(row.astype("<i4").tobytes())
    return digest.hexdigest()


def _check_are_models(
    predictions: NDArray[np.signedinteger[Any]], models: tuple[str, ...], n_labels: int, where: str
) -> None:
    """Refuse a column of numbers or texts of the items that was not named as such: it is no model, but would be one."""
    n_items = predictions.shape[1]
    if n_items < ENOUGH_TO_TELL or n_labels < n_items:
        return
    n_different = np.array([np.unique(row[row >= 0]).size for row in predictions])
    for h in np.flatnonzero(n_different == n_items).tolist():
        # Where the others hardly repeat themselves either, all are free texts, and their names must tell.
        if np.median(np.delete(n_different, h)) > OWN_SHARE * n_items:
            continue
        own = np.unique(predictions[h])
        is_own = np.zeros(n_labels, dtype=np.bool_)
        is_own[own] = True
        if not any(is_own[other[other >= 0]].any() for g, other in enumerate(predictions) if g != h):
            raise InvalidInputError(
                f"{where}, column {models[h]!r}: every value is different and none occurs in another column, so it is "
                "no model's predictions; name it with --id or --show, or take it out"
            )
