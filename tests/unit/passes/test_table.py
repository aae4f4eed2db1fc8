"""A table in shards says what the same table says in memory."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as arrow_parquet
import pytest
from tests.unit.passes.shards import random_said, write_shards

from onebit.errors import InvalidInputError
from onebit.explore.corrective import Barrier, corrective_frank_wolfe
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified.outputs import agreement
from onebit.passes import ShardedTable

SAID = random_said()
MODELS = [f"m{h}" for h in range(SAID.shape[0])]


@pytest.fixture(params=["columns", "lists", "one file"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    write_shards(tmp_path / "t", SAID, 1 if request.param == "one file" else 4, 10, request.param == "lists")
    return tmp_path / "t"


@pytest.fixture(params=["here", "threads"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor | None]:
    if request.param == "here":
        yield None
        return
    with ThreadPoolExecutor(3) as pool:
        yield pool


def sample(n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return rng.integers(0, SAID.shape[1], n), rng.integers(0, 4, n), rng.normal(size=n)


def test_all_sums_are_those_of_the_table_in_memory(folder: Path, executor: Executor | None) -> None:
    here, there = PredictionTable(SAID, 4), ShardedTable(folder, 4, models=MODELS, executor=executor)
    x, y, weight = sample()
    assert there.agreement(x, y, weight) == pytest.approx(here.agreement(x, y, weight), rel=1e-12)
    assert there.erm(x, y, weight) == here.erm(x, y, weight)
    assert there.predictions(x).tolist() == here.predictions(x).tolist()
    assert there.votes().tolist() == agreement(SAID).tolist()
    right = np.maximum(SAID[0], 0)
    assert there.accuracy("y") == pytest.approx((right == SAID).mean(axis=1))


def test_sums_do_not_depend_on_the_engine(folder: Path) -> None:
    x, y, weight = sample()
    alone = ShardedTable(folder, 4, models=MODELS).agreement(x, y, weight)
    with ThreadPoolExecutor(4) as pool:
        assert ShardedTable(folder, 4, models=MODELS, executor=pool).agreement(x, y, weight).tolist() == alone.tolist()


def test_a_solver_takes_it_as_its_oracle(folder: Path) -> None:
    x, y, _ = sample(30)
    barrier = Barrier.of_paper(30, 0.1, 4)
    solved = [
        corrective_frank_wolfe(each.on_sample(x, y), barrier, 1e-3)
        for each in (PredictionTable(SAID, 4), ShardedTable(folder, 4, models=MODELS))
    ]
    assert max(each.gap for each in solved) <= 1e-3


def test_what_is_done_is_not_read_again(folder: Path, tmp_path: Path) -> None:
    first = ShardedTable(folder, 4, models=MODELS, done=tmp_path / "done")
    expected = first.votes().tolist()
    for path in folder.iterdir():
        path.rename(path.with_suffix(".gone"))
    assert first.votes().tolist() == expected
    with pytest.raises(InvalidInputError, match="cannot be read"):
        first.accuracy("y")


def test_what_was_done_of_files_that_were_written_anew_does_not_count(tmp_path: Path) -> None:
    """The same names, rows and columns, and other cells."""
    folder, done = tmp_path / "t", tmp_path / "done"
    for said in (SAID, SAID[::-1]):
        write_shards(folder, said, 2, 10)
        assert ShardedTable(folder, 4, models=MODELS, done=done).votes().tolist() == agreement(said).tolist()


def test_texts_are_numbered_by_the_labels_given(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    arrow_parquet.write_table(pa.table({"a": ["cat", None, "dog"], "b": ["dog", "dog", "dog"]}), path)
    table = ShardedTable(path, labels=["dog", "cat"])
    assert table.predictions([0, 1, 2]).tolist() == [[1, -1, 0], [0, 0, 0]]
    with pytest.raises(InvalidInputError, match="column 'a': 'cat' is none of the 2 labels"):
        ShardedTable(path, labels=["dog", "bird"]).votes()


def test_bad_shards_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no Parquet file"):
        ShardedTable(tmp_path, 4)
    write_shards(tmp_path / "t", SAID, 2, 10)
    with pytest.raises(InvalidInputError, match="label 3; there are 3"):
        ShardedTable(tmp_path / "t", 3, models=MODELS).votes()
    with pytest.raises(InvalidInputError, match="number of labels, or the labels"):
        ShardedTable(tmp_path / "t")
    with pytest.raises(InvalidInputError, match="no column 'm9'"):
        ShardedTable(tmp_path / "t", 4, models=["m0", "m9"])
    with pytest.raises(InvalidInputError, match="row numbers, 0 to 100"):
        ShardedTable(tmp_path / "t", 4, models=MODELS).predictions([101])
    arrow_parquet.write_table(pa.table({"other": [1]}), tmp_path / "t" / "z.parquet")
    with pytest.raises(InvalidInputError, match="other columns"):
        ShardedTable(tmp_path / "t", 4)
    (tmp_path / "t" / "z.parquet").write_bytes(b"nothing")
    with pytest.raises(InvalidInputError, match="cannot be read as Parquet"):
        ShardedTable(tmp_path / "t", 4)
