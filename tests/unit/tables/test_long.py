"""Long tables: one row for each item and model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onebit.errors import InvalidInputError
from onebit.tables import read_table
from onebit.tables.opening import Long, open_source

LONG = (
    "id,question,topic,model,response,score,note\n"
    "1,one?,a,m,yes,0.5,x\n1,one?,a,n,no,1.0,y\n"
    "2,two?,b,n,no,0,z\n2,two?,b,m,,1,z\n"
    "3,three?,b,m,yes,1,z\n"
)


def written(folder: Path, text: str) -> Path:
    path = folder / "long.csv"
    path.write_text(text)
    return path


def test_columns_are_found_by_their_usual_names(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, LONG), long=Long())
    assert (table.models, table.labels) == (("m", "n"), ("no", "yes"))
    assert table.predictions.tolist() == [[1, -1], [0, 0]]
    assert [table.item_id(i) for i in range(2)] == ["1", "2"]
    assert table.shown(1) == {"question": "two?"}
    assert set(table.notes) == {
        "the column 'score' differs between models of one item, and is not used",
        "the column 'note' differs between models of one item, and is not used",
        "items that do not have every model are left out: 1",
        "raters do not see 'topic', unless it is named as shown (--show)",
    }


def test_what_is_named_is_not_told_as_unseen(tmp_path: Path) -> None:
    rows = "".join(f"{i},{model},yes,yes,a\n" for i in range(3) for model in "mn")
    path = written(tmp_path, f"id,model,output,right,topic\n{rows}")
    assert read_table(path, long=Long(), truth="right", show=["topic"]).notes == ()
    (note,) = read_table(path, long=Long(), truth="right").notes
    assert note == "raters do not see 'topic', unless it is named as shown (--show)"


def test_columns_are_named_and_numbers_are_scores(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = {"q": [1, 1, 2, 2], "who": ["m", "n"] * 2, "said": [1, 2, 2, 2], "judge": [0.1, 0.2, 0.3, 0.4]}
    pq.write_table(pa.table({**rows, "target": [1, 1, 2, 2]}), tmp_path / "long.parquet")
    source = open_source(tmp_path / "long.parquet", Long("q", "who", "said"))
    assert source.columns.names == ("q", "target", "m", "n", "score_m", "score_n")
    assert (source.target, dict(source.scores)) == ("target", {"m": "score_m", "n": "score_n"})
    table = read_table(source, truth="target")
    assert table.accuracy().tolist() == [1.0, 0.5]
    assert table.shown(0) == {}


@pytest.mark.parametrize(
    ("text", "long", "says"),
    [
        ("q,model,output\n1,m,x\n", Long(), "which column is the item? There are 'q', 'model', 'output'; name it with"),
        ("id,who,output\n1,m,x\n", Long(), "which column is the model?"),
        ("id,model,said\n1,m,x\n", Long(), "name it with --output"),
        ("id,model,output\n1,m,x\n", Long(model="who"), "there is no column 'who' (--model)"),
        ("id,model,output\n", Long(), "no rows"),
        ("id,model,output\n1,m,x\n1,m,y\n", Long(), "line 3: the item '1' has the model 'm' before"),
        ("id,model,output\n1,m,x\n2,m,y\n", Long(), "names one model, 'm', and two are needed"),
        ("id,model,output\n1,m,x\n2,n,y\n", Long(), "none of the 2 items has a row for each of the 2 models"),
        ("id,model,output\n1,m,x\n,n,y\n", Long(), "line 3, column 'id': the cell is empty"),
        ("id,model,output\n1,id,x\n1,n,y\n", Long(), "a model is called 'id', as a column is"),
    ],
)
def test_a_long_table_that_cannot_be_read(tmp_path: Path, text: str, long: Long, says: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_table(written(tmp_path, text), long=long)
    assert "long.csv" in str(caught.value)
    assert says in str(caught.value)


def test_logs_are_not_long() -> None:
    logs: Any = Path(__file__).parents[2] / "fixtures" / "logs" / "promptfoo.json"
    with pytest.raises(InvalidInputError, match=r"promptfoo\.json is a log, which has columns for models already"):
        read_table(logs, long=Long())
