"""Studies of free texts: from the table to questions, texts, verify, export and simulation."""

from __future__ import annotations

import json
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from sqlalchemy import create_engine, text

from onebit.errors import OnebitError, OptionError
from onebit.log.events import Checked
from onebit.records import Answer, RunStatus, SelectionSpec
from onebit.store.store import Store
from onebit.study.creation import create
from onebit.study.export import export_study
from onebit.study.foresight import foresee
from onebit.study.kinds.selection.making import read
from onebit.study.opening import load_study, open_study
from onebit.study.proof import verify_study
from onebit.study.study import Offer, Study
from onebit.tables import ModelTable, read_table
from onebit.web.rater_api import are_together

N_ITEMS, MODELS = 80, ("small", "large", "tiny")
ACCEPTED = {"small": 0.6, "large": 0.9, "tiny": 0.3}


def is_right(model: str, item: int) -> bool:
    return bool(np.random.default_rng([MODELS.index(model), item]).random() < ACCEPTED[model])


def answer(model: str, item: int) -> str | None:
    """What a model says: all differ, but for some items on which two agree and one on which one is silent."""
    if item == 5 and model == "tiny":
        return None
    if item % 10 == 0 and model != "tiny":
        return f"# The same\n\nas the other on {item}"
    return f"{model} on {item}:\n\n```\nprint({item})\n```"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    columns: dict[str, Any] = {"question": [f"question {item}" for item in range(N_ITEMS)]}
    for model in MODELS:
        columns[f"answer_{model}"] = [answer(model, item) for item in range(N_ITEMS)]
        columns[f"right_{model}"] = [is_right(model, item) for item in range(N_ITEMS)]
    file = tmp_path_factory.mktemp("texts") / "texts.parquet"
    parquet.write_table(pa.table(columns | {"reference": ["yes"] * N_ITEMS}), file)
    return file


@pytest.fixture
def table(path: Path) -> ModelTable:
    return read_table(path, models="answer_*", verdicts="right_*", show=["question"], reference="reference")


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'studies.db'}"


def made(storage: str, table: ModelTable, simulated: bool = False, **options: Any) -> Study:
    spec = SelectionSpec(**{"eps": 0.1, "seed": 1, **options})
    store = Store(storage)
    return open_study(store, create(store, "s", spec, table, simulated=simulated))


def answers_of(study: Study, n: int) -> list[Offer]:
    offers: list[Offer] = []
    while len(offers) < n and isinstance(offer := study.ask("ann"), Offer):
        assert offer.label is not None
        shown = study.items.label(offer.label).name
        item = int(study.item(offer.item).shown["question"].split()[1])
        says = [model for model in MODELS if answer(model, item) == shown]
        assert says, shown
        study.tell(offer, is_right(says[0], item))
        offers.append(offer)
    return offers


def test_the_table_decides_for_a_panel(storage: str, table: ModelTable) -> None:
    with made(storage, table) as study:
        assert study.created.selection.protocol == "panel"
        assert study.about.is_open
        assert study.about.labels == ()
        assert study.about.reference == "reference"


@pytest.mark.parametrize(
    ("options", "protocol"),
    [({"protocol": "one-shot"}, "one-shot"), ({"f_no": 0.1}, "one-shot"), ({"exhaustive": True}, "follow-up")],
    ids=str,
)
def test_what_a_panel_does_not_allow_for_is_asked_otherwise(
    storage: str, table: ModelTable, options: dict[str, Any], protocol: str
) -> None:
    with made(storage, table, **options) as study:
        assert study.created.selection.protocol == protocol


def test_outputs_of_an_item_come_together_and_blind(storage: str, table: ModelTable) -> None:
    with made(storage, table) as study:
        offers = answers_of(study, 24)
        items = [offer.item for offer in offers]
        assert len([1 for a, b in pairwise(items) if a != b]) + 1 == len(set(items))
        assert len({(offer.item, offer.label) for offer in offers}) == 24
        # The order of the models' outputs differs from item to item.
        by_item: dict[int, list[str]] = {}
        for offer in offers:
            by_item.setdefault(offer.item, []).append(study.items.label(offer.label or 0).name.split()[0])
        assert len({tuple(each) for each in by_item.values()}) > 1


def test_an_answer_is_taken_back_and_the_study_goes_on_elsewhere(storage: str, table: ModelTable) -> None:
    with made(storage, table) as study:
        offers = answers_of(study, 10)
        study.undo(offers[-1])
        study.undo(offers[3])
        assert study.status().n_answers == 8
        study.tell(offers[3], Answer.CANT_TELL)
    with load_study("s", storage=storage) as study:
        held = study.ask_several("ann", 10)
        assert isinstance(held, tuple)
        assert offers[-1].id in [offer.id for offer in held]
        answers_of(study, 10**6)
        status = study.status()
        assert status.status is RunStatus.COMPLETE
        assert study.result.n_cant_tell == 1
    assert verify_study(storage, "s").problems == ()


def test_simulated_raters_say_what_the_verdicts_say(storage: str, table: ModelTable) -> None:
    with made(storage, table, simulated=True, budget=60) as study:
        study.simulate()
        report = study.report()
    assert report.excess == pytest.approx(0.0)
    assert report.leaderboard[0].accuracy == pytest.approx(table.accuracy().max())
    # 80 items with three outputs each, but for 8 that two share and one that nobody gave.
    assert [(price.way, price.answers) for price in report.prices] == [("Every output of every item", 240 - 8 - 1)]
    assert verify_study(storage, "s").problems == ()


def test_a_study_of_people_keeps_no_verdicts(storage: str, table: ModelTable) -> None:
    made(storage, table).close()
    with create_engine(storage).connect() as connection:
        kinds = {row[0] for row in connection.execute(text("SELECT DISTINCT kind FROM blocks"))}
    assert "verdicts" not in kinds
    assert "outputs" in kinds


@pytest.mark.parametrize("kind", ["outputs", "verdicts"])
def test_an_edited_text_or_verdict_is_noticed(storage: str, table: ModelTable, kind: str) -> None:
    with made(storage, table, simulated=True) as study:
        study.simulate()
    engine = create_engine(storage)
    with engine.begin() as connection:
        data = connection.execute(text("SELECT data FROM blocks WHERE kind = :kind"), {"kind": kind}).scalar_one()
        plain = bytearray(zlib.decompress(data))
        place = plain.index(b"l") if kind == "outputs" else 7
        plain[place] = ord("L") if kind == "outputs" else 1 - plain[place]
        packed = zlib.compress(bytes(plain), level=1)
        connection.execute(text("UPDATE blocks SET data = :data WHERE kind = :kind"), {"data": packed, "kind": kind})
    try:
        problems = verify_study(storage, "s").problems
    except OnebitError as error:
        problems = (str(error),)
    assert problems


def test_labels_are_exported_with_their_texts(storage: str, table: ModelTable, tmp_path: Path) -> None:
    with made(storage, table) as study:
        answers_of(study, 6)
    assert export_study(storage, "s", tmp_path / "labels.jsonl") == 6
    rows = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert all(row["label"] in table.labels for row in rows)


def test_gold_of_several_right_answers(storage: str, table: ModelTable) -> None:
    right = {item: tuple(int(code) for code in table.predictions[:2, item]) for item in range(20)}
    with made(storage, table, gold=right, gold_share=0.3) as study:
        answers_of(study, 60)
        quality = study.status().raters[0]
        assert quality.f_no.n + quality.f_yes.n > 0
    with pytest.raises(OptionError, match="labels are 0 to"):
        made(storage + "2", table, gold={0: table.n_labels})


def test_a_panel_is_rehearsed(table: ModelTable) -> None:
    needed = foresee(SelectionSpec(eps=0.1), table)
    assert not needed.at_least
    assert 0 < needed.low <= needed.middle <= needed.high <= 240


def test_verdicts_are_left_out_of_a_study_from_a_file(path: Path) -> None:
    spec = SelectionSpec(models="answer_*", verdicts="right_*", show=("question",), reference="reference")
    found, _ = read(spec, path)
    assert found.models == MODELS
    assert set(found.shown(0)) == {"question", "reference"}


@pytest.mark.parametrize("one_at_a_time", [False, True])
def test_outputs_are_shown_together_or_one_at_a_time(storage: str, table: ModelTable, one_at_a_time: bool) -> None:
    with made(storage, table, one_at_a_time=one_at_a_time) as study:
        assert are_together(study) != one_at_a_time


def test_gold_from_a_column_of_lists(path: Path, tmp_path: Path) -> None:
    table = parquet.read_table(path)
    known = [
        json.dumps([answer("small", item), answer("large", item)]) if item < 20 else None for item in range(N_ITEMS)
    ]
    file = tmp_path / "gold.parquet"
    parquet.write_table(table.append_column("known", pa.array(known)), file)
    spec = SelectionSpec(models="answer_*", show=("question",), gold="known", protocol="panel")
    found, spec = read(spec, file)
    assert isinstance(spec.gold, dict)
    assert {row: {found.labels[label] for label in labels} for row, labels in spec.gold.items()} == {
        item: {answer("small", item), answer("large", item)} for item in range(20)
    }


@pytest.mark.parametrize("options", [{}, {"repeat_share": 0.2}], ids=str)
def test_one_rater_judges_all_outputs_of_an_item(storage: str, table: ModelTable, options: dict[str, Any]) -> None:
    judges: dict[int, set[str]] = {}
    with made(storage, table, **options) as study:
        for n in range(300):
            rater = f"rater {n % 3}"
            dealt = study.ask_several(rater, 1 + n % 4)
            if not isinstance(dealt, tuple):
                continue
            assert len(dealt) <= 1 + n % 4
            for offer in dealt:
                is_check = isinstance(study._course.given[offer.id], Checked)
                if not is_check:
                    judges.setdefault(offer.item, set()).add(rater)
                study.tell(offer, True)
    assert len(judges) > 20
    assert all(len(each) == 1 for each in judges.values())
    assert verify_study(storage, "s").problems == ()
