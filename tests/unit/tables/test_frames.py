"""Tables at hand: data frames of every kind give what a file gives."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from datetime import date
from enum import Enum
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from onebit.errors import InvalidInputError
from onebit.tables import frames, read_table
from onebit.tables.opening import Long, open_source

COLUMNS: dict[str, list[Any]] = {
    "key": ["k1", "k2", "k3", "k4"],
    "a": ["x", "z", None, "y"],
    "b": ["y", "y", "x", "z"],
}


def as_pandas(columns: dict[str, Any]) -> Any:
    return pytest.importorskip("pandas").DataFrame(columns)


def as_polars(columns: dict[str, Any]) -> Any:
    return pytest.importorskip("polars").DataFrame(columns)


class Datasets:
    """What the datasets of Hugging Face can do."""

    column_names = tuple(COLUMNS)

    def __len__(self) -> int:
        return len(COLUMNS["key"])

    def with_format(self, kind: str) -> Any:
        assert kind == "arrow"
        return pa.table(COLUMNS)

    def __getitem__(self, rows: slice) -> Any:
        raise AssertionError("rows are taken of the Arrow table")


class Interchange:
    """A frame of another library, known by the interchange protocol."""

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        return pa.table(COLUMNS).__dataframe__(nan_as_null, allow_copy)


KINDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": as_pandas,
    "pandas by category": lambda columns: as_pandas(columns).astype("category"),
    "pandas with an index": lambda columns: as_pandas(columns).set_index("key"),
    "polars": as_polars,
    "polars by category": lambda columns: as_polars(columns).cast(pytest.importorskip("polars").Categorical),
    "Arrow": pa.table,
    "Arrow batch": pa.RecordBatch.from_pydict,
    "dict": dict,
    "dict of arrays": lambda columns: {name: np.array(each, dtype=object) for name, each in columns.items()},
    "dict of tuples": lambda columns: {name: tuple(each) for name, each in columns.items()},
    "interchange": lambda columns: Interchange(),
    "datasets": lambda columns: Datasets(),
}


@pytest.mark.parametrize("rows", [1, 3, 2**16])
@pytest.mark.parametrize("kind", KINDS)
def test_every_frame_is_the_same_table(kind: str, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "ROWS", rows)
    table = read_table(KINDS[kind](COLUMNS), id="key")
    assert (table.models, table.labels) == (("a", "b"), ("x", "y", "z"))
    np.testing.assert_array_equal(table.predictions, [[0, 2, -1, 1], [1, 1, 0, 2]])
    assert [table.item_id(i) for i in range(4)] == COLUMNS["key"]


def test_an_index_with_a_name_is_the_id() -> None:
    table = read_table(as_pandas(COLUMNS).set_index("key"))
    assert table.item_id(2) == "k3"
    assert table.n_models == 2


def test_columns_that_are_numbered() -> None:
    pandas = pytest.importorskip("pandas")
    assert read_table(pandas.DataFrame([[1, 2], [3, 4]])).models == ("0", "1")


class Kind(Enum):
    GOOD = "good"
    BAD = "bad"


def test_labels_of_any_hashable_kind() -> None:
    source = open_source({"a": [Kind.GOOD, Kind.BAD, None], "b": [(1, 2), Kind.BAD, float("nan")]})
    table = read_table(source)
    assert set(table.labels) == {"Kind.GOOD", "Kind.BAD", "(1, 2)"}
    assert source.values == {"Kind.GOOD": Kind.GOOD, "Kind.BAD": Kind.BAD, "(1, 2)": (1, 2)}
    np.testing.assert_array_equal(table.predictions[:, 2], [-1, -1])
    numbers = open_source({"a": np.array([1, 2]), "b": np.array([2, 3])})
    assert read_table(numbers).labels == ("1", "2", "3")
    assert numbers.values == {"1": 1, "2": 2, "3": 3}


def test_dates_are_labels_as_other_objects_are() -> None:
    days = [date(2026, 1, 1), date(2026, 1, 2)]
    source = open_source({"a": days, "b": np.array(["2026-01-01", "2026-01-01"], dtype="datetime64[D]")})
    assert read_table(source).predictions.tolist() == [[0, 1], [0, 0]]
    assert source.values == {str(day): day for day in days}


def test_what_is_still_to_be_made_is_not_made_here() -> None:
    with pytest.raises(InvalidInputError, match=r"the table is of type LazyFrame, .*; collect\(\) it"):
        read_table(as_polars(COLUMNS).lazy())


def test_a_long_frame() -> None:
    rows = {"item": [1, 1, 2, 2], "model": ["m", "n"] * 2, "output": ["x", "y", "y", "y"]}
    for frame in (rows, as_pandas(rows), as_polars(rows)):
        table = read_table(frame, long=Long())
        assert table.predictions.tolist() == [[0, 1], [1, 1]]


@pytest.mark.parametrize("kind", ["pandas", "polars", "dict of arrays"])
def test_a_frame_is_read_without_a_copy_of_each_cell(kind: str) -> None:
    """All that is held besides the frame is less than three times what the frame holds; cells as objects take ten."""
    rng = np.random.default_rng(0)
    names = np.array([f"label number {k}" for k in range(50)])
    columns = {f"m{h}": names[rng.integers(0, 50, 100_000)] for h in range(10)}
    frame: Any = (
        columns if kind == "dict of arrays" else KINDS[kind]({name: each.tolist() for name, each in columns.items()})
    )
    size = sum(pa.array(each).nbytes for each in columns.values())
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    held = []
    tracemalloc.start()
    table = read_table(frame, progress=lambda done, whole: held.append(pool.bytes_allocated() - before))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table.predictions.nbytes == 10 * 100_000
    assert most + max(held, default=0) < 2 * size


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (7, "the table is of type int; give a data frame (pandas, polars, Arrow), a dict of columns, or the path"),
        (np.zeros((2, 3), dtype=int), "the table is of type ndarray"),
        ({"a": [1], "b": [1, 2]}, "columns of different lengths: 'a' 1, 'b' 2"),
        ({"a": [1.5, 2], "b": [1, 2]}, "the table, row 0, column 'a': 1.5 is no label"),
        ({"a": [[1], [2]], "b": [1, 2]}, "the table, column 'a': '[1]' is no label"),
        ({"a": [], "b": []}, "the table: there are column names and no rows"),
        ({}, "no column is a model's"),
    ],
)
def test_what_is_no_table(table: Any, says: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_table(table)
    assert says in str(caught.value)
