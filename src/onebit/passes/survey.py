"""What the rows of a table say of its models before anybody is asked: votes, agreement, equal models; in one pass.

Everything is a sum per model, so that a table of any size is gone through a row group at a time, by any engine. Labels
need no common numbers for it: a vote is taken within a row group, and cells are compared by what they hold.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numba import njit
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.kernels.votes import any_differ, n_agreeing, vote
from onebit.passes.engine import DoneShards, Progress, Sums, key_of, run_pass
from onebit.passes.table import Group, Ints, TableShard, shards_of
from onebit.tables.model_shards import open_rows
from onebit.tables.parquet_rows import OUTPUTS, said_by

Keys = NDArray[np.uint64]
#: Numbers above which labels are numbered anew within a row group: a count of each would take more than the cells do.
MOST_NUMBERS = 1 << 16


@dataclass(frozen=True, eq=False)
class Survey:
    """What ``n_rows`` rows of the ``n_all`` of a table say of its ``models``, without any label.

    On ``n_contested`` of them two models say something else. ``n_agreeing`` (N,) counts the rows on which a model says
    what most models say, the first of equals. Models of one group of ``equal`` say the same on each of these rows.
    """

    models: tuple[str, ...]
    n_rows: int
    n_all: int
    n_contested: int
    n_agreeing: Ints
    equal: tuple[tuple[str, ...], ...]

    @property
    def agreement(self) -> NDArray[np.float64]:
        """The share of the rows on which each model agrees with the vote, (N,)."""
        return self.n_agreeing / self.n_rows


def survey(
    place: str | Path,
    models: Sequence[str] | None = None,
    *,
    executor: Executor | None = None,
    done: str | Path | None = None,
    progress: Progress | None = None,
) -> Survey:
    """Go through all rows of a table in Parquet files once; ``models`` are the columns of the models, or all.

    A task per file, or per row group of a single file. Models are taken for equal if their fingerprints of 64 bits are:
    of 10,000 models two that differ meet in one with a probability of about 3e-12.

    >>> import pyarrow.parquet, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> pa.parquet.write_table(pa.table({"a": ["x", "y"], "b": ["x", "x"], "c": ["x", "y"]}), folder + "/0.parquet")
    >>> found = survey(folder)
    >>> found.n_contested, found.agreement.tolist(), found.equal
    (1, [1.0, 0.5, 1.0], (('a', 'c'),))
    """
    rows = open_rows(place)
    columns = rows.names if models is None else tuple(models)
    if missing := sorted({*columns} - {*rows.names}):
        raise InvalidInputError(f"{place} has no column {missing[0]!r}")
    shards = shards_of(rows.groups)
    kept = None
    if done is not None:
        kept = DoneShards(done, key_of("survey", {"shards": shards, "stamps": rows.stamps, "models": columns}))
    total = _Total(len(columns))
    for sums in run_pass(partial(_surveyed, models=columns), shards, executor, kept, progress):
        total.add(*sums)
    return total.survey(columns, rows.n_rows, rows.n_rows)


def survey_of(said: NDArray[np.signedinteger[Any]], models: Sequence[str], n_all: int) -> Survey:
    """The same of rows at hand, ``said`` (N, n), of a table that has ``n_all``."""
    total = _Total(len(models))
    total.add(*_counted(np.maximum(said, -1), _keys_of_numbers(int(said.max(initial=-1)) + 1), 0))
    return total.survey(tuple(models), said.shape[1], n_all)


class _Total:
    """The sums of all row groups so far."""

    def __init__(self, n_models: int) -> None:
        self._agreeing: Ints = np.zeros(n_models, dtype=np.int64)
        self._fingerprint: Keys = np.zeros(n_models, dtype=np.uint64)
        self._n_contested = 0

    def add(self, agreeing: Ints, fingerprint: Keys, n_contested: Ints) -> None:
        self._agreeing = self._agreeing + agreeing
        self._fingerprint = self._fingerprint + fingerprint
        self._n_contested += int(n_contested)

    def sums(self) -> Sums:
        return self._agreeing, self._fingerprint, np.array(self._n_contested)

    def survey(self, models: tuple[str, ...], n_rows: int, n_all: int) -> Survey:
        groups: dict[int, list[str]] = {}
        for model, fingerprint in zip(models, self._fingerprint.tolist(), strict=True):
            groups.setdefault(fingerprint, []).append(model)
        equal = tuple(tuple(group) for group in groups.values() if len(group) > 1)
        return Survey(models, n_rows, n_all, self._n_contested, self._agreeing, equal)


def _surveyed(shard: TableShard, models: tuple[str, ...]) -> Sums:
    total = _Total(len(models))
    for group in shard.groups:
        said, keys = _cells(group, models)
        total.add(*_counted(said, keys, group.first))
    return total.sums()


def _counted(said: NDArray[np.signedinteger[Any]], keys: Keys, first: int) -> tuple[Ints, Keys, Ints]:
    """What row ``first`` and those after it add to the sums; ``keys`` are of -1 and of each number from 0 on."""
    agreeing = n_agreeing(said, vote(said, np.ones(len(said), dtype=np.int64)))
    fingerprint = np.zeros(len(said), dtype=np.uint64)
    _add_fingerprints(said, keys, mixed(np.arange(first, first + said.shape[1], dtype=np.uint64)), fingerprint)
    return agreeing, fingerprint, any_differ(said, np.arange(len(said))).sum()


def _cells(group: Group, models: tuple[str, ...]) -> tuple[NDArray[np.signedinteger[Any]], Keys]:
    """What the models say in a row group as numbers, (N, n), -1 where one abstains; and the keys of these numbers."""
    where = f"{group.path}, row group {group.number}"
    has_lists = OUTPUTS in group.names() and OUTPUTS not in models
    table = group.read([OUTPUTS] if has_lists else list(models))
    kinds = [] if has_lists else [table.schema.field(name).type for name in models]
    if all(pa.types.is_integer(kind) for kind in kinds):
        said = np.maximum(said_by(table, models, None, where), -1)
        if (most := int(said.max(initial=-1))) < MOST_NUMBERS:
            return said, _keys_of_numbers(most + 1)
        numbers, codes = np.unique(said, return_inverse=True)
        keys = np.append(_keys_of_numbers(0), mixed(numbers[numbers >= 0].astype(np.uint64)))
        return codes.reshape(said.shape) - int(numbers[0] < 0), keys
    # In order: of labels with as many votes the first has it, in whichever row group.
    texts = table.select(list(models)).cast(pa.schema([(name, pa.string()) for name in models]))
    labels = sorted(set().union(*(pa.compute.unique(texts[name]).drop_null().to_pylist() for name in models)))
    digests = (hashlib.blake2b(label.encode(), digest_size=8).digest() for label in labels)
    keys = np.append(_keys_of_numbers(0), np.array([int.from_bytes(each) for each in digests], dtype=np.uint64))
    return said_by(texts, models, labels, where), keys


def _keys_of_numbers(n: int) -> Keys:
    """Of -1, and of the numbers 0 to n - 1."""
    return mixed(np.arange(-1, n).astype(np.uint64))


def mixed(numbers: Keys) -> Keys:
    """Each number as one that looks drawn at random (the end of SplitMix64, Steele, Lea and Flood 2014)."""
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: Keys = z ^ (z >> np.uint64(31))
    return found


@njit(cache=True, nogil=True)
def _add_fingerprints(said, keys, of_row, fingerprint):  # type: ignore[no-untyped-def]
    """A number for each cell, by its row and by what it holds; the sum over a column tells it from others."""
    for h in range(said.shape[0]):
        total = np.uint64(0)
        for i in range(said.shape[1]):
            z = of_row[i] + keys[said[h, i] + 1]
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            total += z ^ (z >> np.uint64(31))
        fingerprint[h] += total
