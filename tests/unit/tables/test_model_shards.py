"""Tables whose models lie in several files: one table, whoever reads it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as arrow_parquet
import pytest
from tests.unit.passes.shards import Ints, random_said, write_shards

from onebit.errors import InvalidInputError
from onebit.passes import ShardedTable
from onebit.tables.drawing import check_draw, draw
from onebit.tables.model_shards import ModelShards, open_rows

SAID = random_said(n_models=6, n_items=101)
MODELS = [f"m{h}" for h in range(6)]


def write_models(folder: Path, said: Ints, first: int, group_size: int, lists: bool) -> None:
    """Some models, from the one with this number on, in two files of their own, with the ids of all rows."""
    folder.mkdir(parents=True)
    names = [f"m{h + first}" for h in range(said.shape[0])]
    for number, items in enumerate(np.array_split(np.arange(said.shape[1]), 2)):
        columns = {name: pa.array(row, mask=row < 0) for name, row in zip(names, said[:, items], strict=True)}
        table = pa.table({**columns, "id": items})
        if lists:
            flat = pa.array(said[:, items].T.astype(np.int16).ravel())
            outputs = pa.FixedSizeListArray.from_arrays(flat, len(names))
            table = pa.table({"id": items, "outputs": outputs}).replace_schema_metadata({"models": json.dumps(names)})
        arrow_parquet.write_table(table, folder / f"{number}.parquet", row_group_size=group_size)


@pytest.fixture(params=["columns", "lists"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    write_models(tmp_path / "t" / "first", SAID[:2], 0, 10, lists=False)
    write_models(tmp_path / "t" / "others", SAID[2:], 2, 7, request.param == "lists")
    return tmp_path / "t"


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    write_shards(tmp_path / "whole", SAID, 3, 10)
    return tmp_path / "whole"


def test_they_are_read_as_one_table(folder: Path) -> None:
    rows = open_rows(folder)
    assert isinstance(rows, ModelShards)
    assert rows.n_rows == 101
    assert rows.names == ("m0", "m1", "id", "m2", "m3", "m4", "m5")
    wanted = np.array([100, 0, 57, 57, 9])
    taken = rows.take(wanted)
    assert taken["id"].to_pylist() == wanted.tolist()
    for h, name in enumerate(MODELS):
        assert taken[name].fill_null(-1).to_pylist() == SAID[h, wanted].tolist()
    assert [(group.first, group.n_rows) for group in rows.groups][:4] == [(0, 7), (7, 3), (10, 4), (14, 6)]
    assert sum(group.n_rows for group in rows.groups) == 101


def test_draws_and_passes_are_those_of_one_file(folder: Path, whole: Path, tmp_path: Path) -> None:
    drawn = draw(folder, 40, seed=3)
    assert drawn.select(MODELS).cast(pa.schema([(name, pa.int64()) for name in MODELS])).to_pydict() == (
        draw(whole, 40, seed=3).select(MODELS).to_pydict()
    )
    arrow_parquet.write_table(drawn, tmp_path / "sample.parquet")
    assert check_draw(tmp_path / "sample.parquet", folder)["rows"] == 101
    there, one = (ShardedTable(place, 4, models=MODELS) for place in (folder, whole))
    assert there.votes().tolist() == one.votes().tolist()
    x, y, weight = np.arange(101), SAID[1].clip(0), np.random.default_rng(0).normal(size=101)
    assert there.agreement(x, y, weight).tolist() == pytest.approx(one.agreement(x, y, weight).tolist(), abs=1e-12)
    assert there.predictions([5, 99]).tolist() == SAID[:, [5, 99]].tolist()


def test_other_rows_are_found_out(tmp_path: Path) -> None:
    arrow_parquet.write_table(pa.table({"id": [1, 2, 3], "a": [0, 1, 0]}), tmp_path / "a.parquet")
    arrow_parquet.write_table(pa.table({"id": [1, 3, 2], "b": [0, 1, 0]}), tmp_path / "b.parquet")
    with pytest.raises(InvalidInputError, match="differ in their column 'id'"):
        draw(tmp_path, 3, seed=0)
    arrow_parquet.write_table(pa.table({"id": [1, 2], "b": [0, 1]}), tmp_path / "b.parquet")
    with pytest.raises(InvalidInputError, match="2 rows in place of 3; files with other models have the same rows"):
        open_rows(tmp_path)
