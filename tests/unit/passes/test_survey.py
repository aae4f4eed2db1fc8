"""What a table says without a label: in one pass, or of rows at hand."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as arrow_parquet
import pytest
from tests.unit.passes.shards import Ints, random_said, write_shards

from onebit.errors import InvalidInputError
from onebit.passes import Survey, survey
from onebit.passes.survey import survey_of


def with_twins() -> Ints:
    """Seven models, of which the last but one says what the second says; the last differs from it in one row."""
    said = random_said(n_models=7, n_items=101)
    said[5] = said[6] = said[1]
    said[6, 100] = (said[1, 100] + 2) % 4
    return said


def expected(said: Ints) -> tuple[list[int], int]:
    """Agreement with the vote and contested rows, counted one by one."""
    agreeing, n_contested = [0] * len(said), 0
    for column in said.T.tolist():
        n_contested += len(set(column)) > 1
        told = [label for label in column if label >= 0]
        if told:
            winner = min(set(told), key=lambda label: (-told.count(label), label))
            agreeing = [n + (label == winner) for n, label in zip(agreeing, column, strict=True)]
    return agreeing, n_contested


def check(found: Survey, said: Ints) -> None:
    agreeing, n_contested = expected(said)
    assert found.n_agreeing.tolist() == agreeing
    assert found.agreement.tolist() == [n / 101 for n in agreeing]
    assert (found.n_contested, found.n_rows, found.n_all) == (n_contested, 101, 101)
    assert found.equal == (("m1", "m5"),)


MODELS = [f"m{h}" for h in range(7)]


@pytest.mark.parametrize("lists", [False, True])
@pytest.mark.parametrize("n_files", [1, 3])
def test_one_pass_finds_what_counting_finds(tmp_path: Path, n_files: int, lists: bool) -> None:
    write_shards(tmp_path / "t", with_twins(), n_files, 10, lists)
    check(survey(tmp_path / "t", MODELS), with_twins())


def test_rows_at_hand_give_the_same() -> None:
    check(survey_of(with_twins(), MODELS, 101), with_twins())


def test_an_executor_finds_the_same_and_goes_on_from_what_is_done(tmp_path: Path) -> None:
    write_shards(tmp_path / "t", with_twins(), 3, 10)
    told: list[tuple[int, int]] = []
    with ThreadPoolExecutor(2) as executor:
        found = survey(tmp_path / "t", MODELS, executor=executor, done=tmp_path / "done")
    check(found, with_twins())
    again = survey(tmp_path / "t", MODELS, done=tmp_path / "done", progress=lambda *each: told.append(each))
    check(again, with_twins())
    assert told == [(3, 3)]


def test_texts_and_large_numbers_are_told_apart_by_what_they_are(tmp_path: Path) -> None:
    """The numbers that labels have in one row group mean something else in the next."""
    for number, (a, b, c) in enumerate(
        [
            (["x", "y"], ["x", "y"], ["x", "z"]),
            (["q", None], ["r", None], ["q", None]),
        ]
    ):
        arrow_parquet.write_table(pa.table({"a": a, "b": b, "c": c}), tmp_path / f"{number}.parquet")
    found = survey(tmp_path)
    assert (found.n_agreeing.tolist(), found.n_contested, found.equal) == ([3, 2, 2], 2, ())
    large = tmp_path / "large"
    large.mkdir()
    columns = {"a": [10**9, -1, 7], "b": [10**9, -1, 7], "c": [10**9, 0, 7]}
    arrow_parquet.write_table(pa.table(columns), large / "0.parquet")
    found = survey(large)
    assert (found.n_agreeing.tolist(), found.n_contested, found.equal) == ([2, 2, 3], 1, (("a", "b"),))


def test_shards_of_models_are_one_table(tmp_path: Path) -> None:
    said = with_twins()
    for name, models in (("first", slice(0, 4)), ("second", slice(4, 7))):
        columns = {model: pa.array(row) for model, row in zip(MODELS[models], said[models], strict=True)}
        arrow_parquet.write_table(pa.table(columns), tmp_path / f"{name}.parquet", row_group_size=40)
    check(survey(tmp_path), said)


def test_a_column_that_is_not_there_is_refused(tmp_path: Path) -> None:
    write_shards(tmp_path / "t", random_said(), 2, 10)
    with pytest.raises(InvalidInputError, match="has no column 'nobody'"):
        survey(tmp_path / "t", ["m0", "nobody"])


def test_fingerprints_of_many_columns_that_differ_in_one_cell_differ(tmp_path: Path) -> None:
    n = 300
    said = np.zeros((n, n), dtype=np.int64)
    np.fill_diagonal(said, 1)
    names = [f"m{h}" for h in range(n)]
    lists = pa.FixedSizeListArray.from_arrays(pa.array(said.T.astype(np.int16).ravel()), n)
    table = pa.table({"outputs": lists}).replace_schema_metadata({"models": json.dumps(names)})
    arrow_parquet.write_table(table, tmp_path / "0.parquet", row_group_size=7)
    assert survey(tmp_path).equal == ()
