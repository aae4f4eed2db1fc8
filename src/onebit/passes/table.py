"""A finite class whose table lies in shards: its oracle, votes and accuracies are passes over these.

Each task opens its shard by path, goes through it one row group at a time, and returns sums per hypothesis. They are
added in the order of the shards, so that the result is the same bit by bit, whatever the engine and its workers do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onebit.errors import InvalidInputError
from onebit.hypotheses.base import ABSTAIN, Examples, Labels, Weights, as_whole_numbers, check_n_labels, n_examples
from onebit.hypotheses.finite import FiniteClass
from onebit.hypotheses.on_sample import ErmOnSample, OnSample
from onebit.kernels.agreement import weighted_agreement
from onebit.kernels.votes import n_agreeing, vote
from onebit.learners.certified.constants import FURTHER_VOTES, VOTES_AT_EVEN_ODDS
from onebit.passes.engine import DoneShards, Progress, Sums, key_of, run_pass
from onebit.tables.model_shards import JoinedGroup, open_rows
from onebit.tables.parquet_rows import OUTPUTS, RowGroup, said_by

Ints = NDArray[np.int64]
#: Rows that are read at once.
Group = RowGroup | JoinedGroup


@dataclass(frozen=True)
class Meaning:
    """How cells become numbers: the columns that are ``models``, and the ``labels`` where cells are texts."""

    models: tuple[str, ...]
    n_labels: int
    labels: tuple[str, ...] | None

    def said(self, group: Group) -> NDArray[np.signedinteger[Any]]:
        """What the models say in a row group, (N, n), -1 where one abstains."""
        where = f"{group.path}, row group {group.number}"
        columns = None if OUTPUTS in group.names() else list(self.models)
        return self.checked(said_by(group.read(columns or [OUTPUTS]), self.models, self.labels, where), where)

    def checked(self, said: NDArray[np.signedinteger[Any]], where: str) -> NDArray[np.signedinteger[Any]]:
        if said.max(initial=-1) >= self.n_labels:
            raise InvalidInputError(f"{where}: a model gives label {said.max()}; there are {self.n_labels}, from 0 on")
        numbers: NDArray[np.signedinteger[Any]] = np.maximum(said, ABSTAIN)
        return numbers


@dataclass(frozen=True)
class TableShard:
    """Row groups that are one task."""

    groups: tuple[Group, ...]

    @property
    def first(self) -> int:
        return self.groups[0].first

    def __str__(self) -> str:
        return f"{self.groups[0].path}, rows {self.first} to {self.groups[-1].first + self.groups[-1].n_rows - 1}"


class ShardedTable(FiniteClass):
    """A class given as Parquet files (``tables/parquet_rows.py``), of which only one row group is in memory at a time.

    Its examples are row numbers. ``executor`` is where tasks run; None: here, one after the other. In the folder
    ``done`` is kept what is done of each pass. ``models`` are the columns of the models, all unless they are named;
    cells are numbers from 0 to n_labels - 1, or ``labels``. A shard is a file, or a row group where there is one file.

    >>> import pyarrow, pyarrow.parquet, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> pyarrow.parquet.write_table(pyarrow.table({"a": [0, 1, 1], "b": [2, 1, 0]}), folder + "/0.parquet")
    >>> ShardedTable(folder, n_labels=3).erm(x=[0, 2], y=[2, 0], weight=[1.0, 1.0])
    1
    """

    def __init__(
        self,
        place: str | Path,
        n_labels: int | None = None,
        *,
        labels: Sequence[str] | None = None,
        models: Sequence[str] | None = None,
        executor: Executor | None = None,
        done: str | Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        if (n_labels is None) == (labels is None):
            raise InvalidInputError("give the number of labels, or the labels themselves where cells are texts")
        self.rows = open_rows(place)
        names = self.rows.names
        self.models = names if models is None else tuple(models)
        if missing := sorted({*self.models} - {*names}):
            raise InvalidInputError(f"{place} has no column {missing[0]!r}")
        self.n_labels = check_n_labels(len(labels or ()) if n_labels is None else n_labels)
        self.n_hypotheses, self.n_items = len(self.models), self.rows.n_rows
        self._meaning = Meaning(self.models, self.n_labels, None if labels is None else tuple(labels))
        self.shards = shards_of(self.rows.groups)
        self._firsts = np.array([shard.first for shard in self.shards])
        self._executor, self._done, self._progress = executor, done, progress

    def predictions(self, x: Examples) -> NDArray[np.integer]:
        """By random access: each row group that has one of the rows is read once."""
        taken = self.rows.take_raw(self._items(x))
        return self._meaning.checked(
            said_by(taken, self.models, self._meaning.labels, self.rows.place), self.rows.place
        )

    def on_sample(self, x: Examples, y: ArrayLike, n_threads: int = 1) -> OnSample:
        labels, _ = self._checked_sample(x, y, np.zeros(n_examples(x)))
        return ErmOnSample(self, x, labels)

    def votes(self) -> Ints:
        """On how many items each model agrees with the last of several votes, as the certified learner votes; (N,)."""
        weight = np.ones(self.n_hypotheses, dtype=np.int64)
        for _ in range(1 + FURTHER_VOTES):
            agreed: Ints = self._sums(
                "votes", partial(_voted, meaning=self._meaning, weight=weight), {"weight": weight}
            )
            weight = VOTES_AT_EVEN_ODDS * agreed // (self.n_items - agreed + 1) + 1
        return agreed

    def accuracy(self, truth: str) -> Weights:
        """The share of items on which each model is right, by the column ``truth``; shape (N,)."""
        right: Ints = self._sums("accuracy", partial(_right, meaning=self._meaning, truth=truth), {"truth": truth})
        return right / self.n_items

    def _agreement(self, x: Examples, y: Labels, weight: Weights) -> Weights:
        items = self._items(x)
        of_shard = np.searchsorted(self._firsts, items, side="right") - 1
        samples = {
            number: (items[of_shard == number], y[of_shard == number], weight[of_shard == number])
            for number in np.unique(of_shard).tolist()
        }
        task = partial(_agreement, meaning=self._meaning)
        work = [(self.shards[number], *sample) for number, sample in samples.items()]
        parts: dict[str, object] = {"items": items, "labels": y, "weight": weight}
        return self._added("agreement", task, work, parts, np.zeros(self.n_hypotheses))

    def _sums(self, name: str, task: Callable[[TableShard], Sums], parts: dict[str, object]) -> Ints:
        zero = np.zeros(self.n_hypotheses, dtype=np.int64)
        total: Ints = self._added(name, task, self.shards, parts, zero)
        return total

    def _added(
        self, name: str, task: Callable[[Any], Sums], work: Sequence[Any], parts: dict[str, object], zero: NDArray[Any]
    ) -> NDArray[Any]:
        done = None
        if self._done is not None:
            told = {**parts, "shards": self.shards, "stamps": self.rows.stamps, "meaning": self._meaning}
            done = DoneShards(self._done, key_of(name, told))
        for (sums,) in run_pass(task, work, self._executor, done, self._progress):
            zero = zero + sums
        return zero

    def _items(self, x: Examples) -> Ints:
        items = as_whole_numbers(x, "examples")
        if items.ndim != 1 or (items.size and not 0 <= items.min() <= items.max() < self.n_items):
            raise InvalidInputError(f"the examples of a table are its row numbers, 0 to {self.n_items - 1}")
        return items.astype(np.int64)

    def check_examples(self, x: Examples) -> None:
        self._items(x)


def shards_of(groups: Sequence[Group]) -> tuple[TableShard, ...]:
    """The tasks of a pass: the files of a table, or the row groups of a single file."""
    paths = list(dict.fromkeys(group.path for group in groups))
    if len(paths) == 1:
        return tuple(TableShard((group,)) for group in groups)
    return tuple(TableShard(tuple(group for group in groups if group.path == path)) for path in paths)


def _agreement(work: tuple[TableShard, Ints, Labels, Weights], meaning: Meaning) -> Sums:
    """Weighted agreement on the samples of a shard, in the order of the row groups and there of the samples."""
    shard, items, labels, weight = work
    total = np.zeros(len(meaning.models))
    for group in shard.groups:
        inside = (items >= group.first) & (items < group.first + group.n_rows)
        if inside.any():
            said = meaning.said(group)
            total += weighted_agreement(said, items[inside] - group.first, labels[inside], weight[inside])
    return (total,)


def _voted(shard: TableShard, meaning: Meaning, weight: Ints) -> Sums:
    """On how many items of a shard each model agrees with the vote."""
    agreed = np.zeros(len(meaning.models), dtype=np.int64)
    for group in shard.groups:
        said = meaning.said(group)
        agreed += n_agreeing(said, vote(said, weight))
    return (agreed,)


def _right(shard: TableShard, meaning: Meaning, truth: str) -> Sums:
    """On how many items of a shard each model is right."""
    right = np.zeros(len(meaning.models), dtype=np.int64)
    for group in shard.groups:
        where = f"{group.path}, row group {group.number}"
        if truth not in group.names():
            raise InvalidInputError(f"{where} has no column {truth!r}")
        labels = said_by(group.read([truth]), [truth], meaning.labels, where)[0].astype(np.int64)
        right += n_agreeing(meaning.said(group), labels)
    return (right,)
