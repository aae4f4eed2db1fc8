"""Rows drawn at random from tables of any size, in files and by URL."""

from __future__ import annotations

import json
from pathlib import Path

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as arrow_parquet
import pytest
from tests.unit.passes.shards import random_said, write_shards

import onebit
from onebit.errors import InvalidInputError
from onebit.tables.drawing import check_draw, draw, rows_drawn
from onebit.tables.parquet_rows import ParquetRows
from onebit.tables.sampled import DRAW, sample_notes

SAID = random_said()


@pytest.fixture(params=["columns", "lists"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    write_shards(tmp_path / "t", SAID, 3, 10, request.param == "lists")
    return tmp_path / "t"


def in_numbers(table: pa.Table) -> list[list[int | None]]:
    return [table[f"m{h}"].to_pylist() for h in range(SAID.shape[0])]


def abstaining(said: np.ndarray) -> list[list[int | None]]:
    return [[None if each < 0 else each for each in row] for row in said.tolist()]


def test_rows_are_those_of_their_numbers_in_any_order(folder: Path) -> None:
    rows = np.array([100, 0, 57, 57, 9, 10])
    taken = ParquetRows(folder).take(rows)
    assert in_numbers(taken) == abstaining(SAID[:, rows])
    assert taken["y"].to_pylist() == np.maximum(SAID[0, rows], 0).tolist()
    assert ParquetRows(folder).take(np.empty(0, dtype=np.int64)).num_rows == 0
    with pytest.raises(InvalidInputError, match="rows 0 to 100"):
        ParquetRows(folder).take(np.array([101]))


def test_a_draw_says_where_it_is_from_and_can_be_drawn_again(folder: Path, tmp_path: Path) -> None:
    drawn = draw(folder, 30, seed=4)
    assert in_numbers(drawn) == abstaining(SAID[:, rows_drawn(101, 30, 4)])
    about = {"table": str(folder), "rows": 101, "drawn": 30, "seed": 4}
    assert json.loads(drawn.schema.metadata[DRAW]) == about
    path = tmp_path / "sample.parquet"
    arrow_parquet.write_table(drawn, path)
    assert check_draw(path, folder) == about


def test_whoever_reads_a_sample_is_told_which_it_is(folder: Path, tmp_path: Path) -> None:
    drawn, path = draw(folder, 30, seed=4), tmp_path / "sample.parquet"
    arrow_parquet.write_table(drawn, path)
    told = f"these are 30 rows drawn from the 101 of {folder}, by seed 4; votes and forecasts rest on them alone"
    for sample in (path, drawn):
        assert told in onebit.plan(sample, truth="y", eps=0.5, protocol="one-shot").notes
    assert sample_notes(None) == sample_notes({DRAW: b"[]"}) == sample_notes({DRAW: b"{"}) == ()


def test_a_sample_that_was_changed_is_found_out(folder: Path, tmp_path: Path) -> None:
    drawn, path = draw(folder, 30, seed=4), tmp_path / "sample.parquet"
    kept = drawn.schema.metadata
    arrow_parquet.write_table(drawn.take(list(range(29, -1, -1))).replace_schema_metadata(kept), path)
    with pytest.raises(InvalidInputError, match="not what seed 4 draws"):
        check_draw(path, folder)
    arrow_parquet.write_table(drawn.replace_schema_metadata(None), path)
    with pytest.raises(InvalidInputError, match="does not say how"):
        check_draw(path, folder)
    arrow_parquet.write_table(drawn, path)
    next(folder.iterdir()).unlink()
    with pytest.raises(InvalidInputError, match="another table"):
        check_draw(path, folder)


def test_every_row_is_as_likely_as_any_other_each_time() -> None:
    """50,000 draws of 10 rows: each comes 5,000 times, give or take five standard deviations; so do pairs in a row."""
    rows = rows_drawn(10, 50_000, seed=3)
    counts = np.bincount(rows, minlength=10)
    assert np.abs(counts - 5000).max() < 5 * np.sqrt(50_000 * 0.1 * 0.9)
    pairs = np.bincount(10 * rows[:-1] + rows[1:], minlength=100)
    assert np.abs(pairs - 500).max() < 5 * np.sqrt(50_000 * 0.01 * 0.99)
    assert rows_drawn(10, 100, seed=3).tolist() == rows[:100].tolist()


def test_a_folder_by_url(tmp_path: Path) -> None:
    write_shards(tmp_path / "t", SAID, 3, 10)
    memory = fsspec.filesystem("memory")
    for path in (tmp_path / "t").iterdir():
        memory.pipe(f"/drawing/{path.name}", path.read_bytes())
    local, there = draw(tmp_path / "t", 20, seed=1), draw("memory://drawing", 20, seed=1)
    assert there.replace_schema_metadata(None).equals(local.replace_schema_metadata(None))
    with pytest.raises(InvalidInputError, match="no Parquet file"):
        ParquetRows("memory://nowhere")
    with pytest.raises(InvalidInputError, match="cannot be opened"):
        ParquetRows("nothing://drawing")


def sorted_table(folder: Path) -> Path:
    """5,000 rows, in the first 2,000 of which b beats a by 30 points; on all, a beats b by 18."""
    rng = np.random.default_rng(0)
    y, early = rng.integers(0, 3, 5000), np.arange(5000) < 2000
    share = {"a": np.where(early, 0.5, 0.9), "b": np.where(early, 0.8, 0.4), "c": np.full(5000, 0.3)}
    said = {name: np.where(rng.random(5000) < right, y, (y + 1) % 3) for name, right in share.items()}
    arrow_parquet.write_table(pa.table({"y": y, **said}), folder / "t.parquet", row_group_size=500)
    return folder / "t.parquet"


def chosen_from(rows: pa.Table, seed: int) -> str:
    found = onebit.select(rows, truth="y", eps=0.1, population="stream", quiet=True, seed=seed)
    assert found.certified_eps <= 0.1
    return found.chosen


def test_a_selection_on_drawn_rows_is_about_the_whole_table(tmp_path: Path) -> None:
    """12 runs: more than 3 wrong ones have a probability below .3% at delta .05. The twin takes the first rows."""
    path = sorted_table(tmp_path)
    n_wrong = sum(chosen_from(draw(path, 2000, seed), seed) != "a" for seed in range(12))
    twins = [chosen_from(ParquetRows(path).take(np.arange(2000)), seed) for seed in range(3)]
    assert n_wrong <= 3
    assert twins == ["b"] * 3
