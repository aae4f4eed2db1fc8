"""A study made from the page: upload, columns, plan, creation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.web.served import LABELS, Served, bearer, known_labels, write_table

from onebit.records import TrainingSpec
from onebit.study.opening import load_study
from onebit.tables.formats import ENDINGS, NAMES, one_of
from onebit.web import creating


def upload(served: Served, content: bytes, name: str = "table.csv") -> Any:
    return served.client.post("/api/v1/tables", params={"name": name}, content=content, headers=bearer(served.owner))


def test_from_an_upload_to_a_study(served: Served, tmp_path: Path) -> None:
    told = upload(served, write_table(tmp_path / "new.csv").read_bytes()).json()
    assert told["columns"][:3] == ["id", "text", "model 0"]
    body = {"upload": told["upload"], "id": "id", "show": ["text"], "eps": 0.1, "protocol": "follow-up"}
    plan = served.post("plan", served.owner, **body).json()
    assert (plan["models"], plan["items"], plan["labels"]) == (8, 300, 5)
    assert 0 < plan["answers"][0] <= plan["answers"][1] <= plan["answers"][2] <= 5 * 300
    assert plan["hours"][1] == pytest.approx(plan["answers"][1] * plan["seconds_per_answer"] / 3600)
    made = served.post("studies", served.owner, name="second", instructions="Look.", **body).json()
    token = served.site.access.make("rater", made["study"], "ann")[1]
    assert served.ask(token)
    assert "Look." in served.client.get(f"/r/{token}").text
    again = served.post("studies", served.owner, name="second", **body)
    assert again.status_code == 422
    assert "already" in again.json()["error"]


def test_a_gate_is_made_on_the_page(served: Served, tmp_path: Path) -> None:
    told = upload(served, write_table(tmp_path / "new.csv").read_bytes()).json()
    body = {"upload": told["upload"], "id": "id", "show": ["text"], "protocol": "follow-up", "baseline": "model 0"}
    body |= {"candidates": ["model 1", "model 2"], "margin": 0.1}
    assert served.post("plan", served.owner, **body).json()["answers"][1] > 0
    made = served.post("studies", served.owner, name="gate", **body).json()
    served.client.get(f"/o/{served.owner}")
    page = served.client.get(f"/studies/{made['study']}").text
    assert "Candidates beside model 0" in page
    assert "of 2 candidates decided" in page
    wrong = served.post("plan", served.owner, **(body | {"baseline": "nobody"}))
    assert (wrong.status_code, wrong.json()["field"]) == (422, "baseline")


def test_tiers_and_the_best_are_made_on_the_page(served: Served, tmp_path: Path) -> None:
    told = upload(served, write_table(tmp_path / "new.csv").read_bytes()).json()
    body = {"upload": told["upload"], "id": "id", "show": ["text"], "protocol": "follow-up", "eps": 0.1}
    served.client.get(f"/o/{served.owner}")
    assert served.post("plan", served.owner, **body, top=3).json()["answers"][1] > 0
    made = served.post("studies", served.owner, name="tiers", **body, tiers=True).json()
    assert "of 28 pairs of models settled" in served.client.get(f"/studies/{made['study']}").text
    wrong = served.post("plan", served.owner, **body, top=8)
    assert (wrong.status_code, wrong.json()["field"]) == (422, "top")


def test_a_log_says_which_columns_are_no_models(served: Served, tmp_path: Path) -> None:
    log = Path(__file__).parents[2] / "fixtures" / "logs" / "every_eval_ever.jsonl"
    (tmp_path / "log.jsonl").write_bytes(log.read_bytes())
    told = served.post("columns", served.owner, path="log.jsonl").json()
    assert set(told["columns"]) - set(told["of_no_model"]) == {"mock/careful", "mock/hasty"}
    assert served.post("columns", served.owner, path="table.csv").json()["of_no_model"] == []


def test_a_long_table_is_known_by_its_columns_and_what_is_left_out_is_told(served: Served) -> None:
    rows = "".join(f"{i},what is {i}?,{model},{i % 2 or model}\n" for i in range(30) for model in ("a", "b"))
    told = upload(served, f"id,question,model,answer\n{rows}30,lone?,a,0\n".encode(), "long.csv").json()
    assert told["long"] == {"item": "id", "model": "model", "output": "answer"}
    body = {"upload": told["upload"], "long": True, "eps": 0.1, "protocol": "one-shot"}
    plan = served.post("plan", served.owner, **body).json()
    assert (plan["models"], plan["items"], plan["labels"]) == (2, 30, 3)
    assert plan["notes"] == ["items that do not have every model are left out: 1"]
    made = served.post("studies", served.owner, name="long", **body, model="model", output="answer").json()
    with load_study("long", storage=served.site.storage, read_only=True) as study:
        assert study.about.models == ("a", "b")
        assert study.item(3).shown == {"question": "what is 3?"}
    assert made["study"] == 2
    refused = served.post("plan", served.owner, **body, output="said").json()
    assert (refused["field"], refused["error"][:25]) == ("output", "there is no column 'said'")
    assert upload(served, b"id,a,b\n1,x,y\n").json()["long"] is None


def test_what_a_log_leaves_out_is_told_when_it_is_read(served: Served, tmp_path: Path) -> None:
    log = Path(__file__).parents[2] / "fixtures" / "logs" / "every_eval_ever.jsonl"
    *kept, _ = log.read_text().splitlines()
    (tmp_path / "log.jsonl").write_text("\n".join(kept))
    told = served.post("columns", served.owner, path="log.jsonl").json()
    assert told["notes"] == ["items that were not given to every model are left out: 1 ('mock/hasty' lacks 1)"]
    plan = served.post("plan", served.owner, path="log.jsonl", eps=0.3, protocol="panel").json()
    assert plan["notes"][0] == told["notes"][0]


def test_a_judge_is_named_by_its_columns_and_no_file_is_read_for_it(served: Served, tmp_path: Path) -> None:
    scores: dict[str, Any] = {f"judge model {h}": ["0.5"] * 300 for h in range(8)}
    (tmp_path / "scores.csv").write_text("id,model 0\nm0,0.5\n")
    told = upload(served, write_table(tmp_path / "new.csv", **scores, said=known_labels(300)).read_bytes()).json()
    body = {"upload": told["upload"], "id": "id", "show": ["text"], "eps": 0.1, "protocol": "one-shot"}
    for judge, other in (("judge *", ["said"]), ("said", list(scores))):
        made = {**body, "show": ["text", *other], "judge": judge}
        assert served.post("plan", served.owner, **made).json()["models"] == 8
        served.post("studies", served.owner, name=judge, **made).raise_for_status()
        with load_study(judge, storage=served.site.storage, read_only=True) as study:
            assert study.kind.needs_verdicts
    refused = served.post("plan", served.owner, **body, judge=str(tmp_path / "scores.csv"))
    assert (refused.status_code, refused.json()["field"]) == (422, "judge")
    assert "there is no column" in refused.json()["error"]


def test_a_study_that_trains_a_classifier(served: Served) -> None:
    texts = [f"{label} {i}" for i in range(10) for label in LABELS]
    rows = [{"id": str(i), "words": text, "right": text.rsplit(" ", 1)[0]} for i, text in enumerate(texts)]
    told = upload(served, "".join(json.dumps(row) + "\n" for row in rows).encode(), "data.jsonl").json()
    assert told["columns"] == ["id", "words", "right"]
    body = {
        "kind": "training",
        "upload": told["upload"],
        "id": "id",
        "text": ["words"],
        "truth": "right",
        "target": 0.4,
    }
    plan = served.post("plan", served.owner, **body).json()
    assert (plan["models"], plan["items"], plan["labels"], plan["answers"]) == (0, 50, 5, [100, 100, 100])
    made = served.post("studies", served.owner, name="second", **body).json()
    with load_study("second", storage=served.site.storage, read_only=True) as study:
        assert study.created.kind == "training"
        assert study.created.setting.protocol == TrainingSpec.protocol
        # Labels that were not given are those of the right labels, which nobody sees.
        assert {label.name for label in study.about.labels} == set(LABELS)
        assert study.item(3).shown == {"words": texts[3]}
    assert served.ask(served.site.access.make("rater", made["study"], "ann")[1])


def test_a_path_on_the_server_must_be_below_its_folder(served: Served, tmp_path: Path) -> None:
    assert served.post("columns", served.owner, path="table.csv").json()["columns"][0] == "id"
    outside = tmp_path.parent / "outside.csv"
    write_table(outside)
    (tmp_path / "link.csv").symlink_to(outside)
    for path in ("../outside.csv", str(outside), "link.csv", "/etc/passwd", "a/../../outside.csv"):
        response = served.post("columns", served.owner, path=path)
        assert response.status_code == 422, path
        assert "not below" in response.json()["error"]
    for body in ({}, {"path": "table.csv", "upload": "x"}, {"upload": "../../etc/passwd"}, {"path": "no.csv"}):
        assert served.post("columns", served.owner, **body).status_code == 422


def test_uploads_have_a_limit_and_leave_nothing_behind(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(creating, "MOST_UPLOAD", 1000)
    assert upload(served, b"a,b\n" * 100).status_code == 200
    assert upload(served, b"x" * 1001).status_code == 413
    response = served.client.post(
        "/api/v1/tables",
        params={"name": "t.csv"},
        content=(b"x" * 100 for _ in range(11)),
        headers=bearer(served.owner),
    )
    assert response.status_code == 413
    assert upload(served, b"x", name="table.exe").status_code == 422
    assert upload(served, b"PAR1 no parquet", name="t.parquet").status_code == 422
    assert len(list(served.site.uploads.iterdir())) == 1
    assert served.client.post("/api/v1/tables?name=t.csv", headers=bearer(served.ann)).status_code == 403


def test_a_table_that_is_none_is_refused_in_words(served: Served) -> None:
    told = upload(served, b"id,text,model\n1,a,x\n1,b\n").json()
    response = served.post("plan", served.owner, upload=told["upload"], eps=0.1, protocol="one-shot")
    assert response.status_code == 422
    assert "row" in response.json()["error"]


def test_the_page_names_every_format_and_takes_it(served: Served) -> None:
    served.client.get(f"/o/{served.owner}")
    page = served.client.get("/new").text
    assert f"({NAMES})" in page
    assert f'accept="{",".join(ENDINGS)}"' in page
    for ending in ENDINGS:
        assert "is no table" not in upload(served, b"x", name=f"table{ending}").text
    refused = upload(served, b"x", name="table.exe")
    assert refused.json()["error"] == f"'table.exe' is no table; tables end in {one_of(ENDINGS)}"


def test_jsonl_becomes_a_study(served: Served) -> None:
    rows = [{"name": f"item {i}", "a": LABELS[i % 5], "b": LABELS[i % 3]} for i in range(30)]
    told = upload(served, "".join(json.dumps(row) + "\n" for row in rows).encode(), name="table.JSONL").json()
    assert told["columns"] == ["name", "a", "b"]
    body = {"upload": told["upload"], "id": "name", "eps": 0.1, "protocol": "one-shot"}
    assert served.post("plan", served.owner, **body).json()["items"] == 30


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("t.csv", b"", "the table is empty; it must hold a table of predictions"),
        ("t.csv", b"a,\xff\n", "the table, line 1: the column names are not UTF-8; save the file as UTF-8"),
        ("t.parquet", b"PAR1 no table", "the table cannot be read as Parquet"),
        ("t.jsonl", b"[1]\n", "the table, record 1 is no object with keys; it must be an array"),
    ],
)
def test_an_upload_that_is_no_table_is_refused_at_once(served: Served, name: str, content: bytes, says: str) -> None:
    response = upload(served, content, name=name)
    assert response.status_code == 422
    assert response.json()["error"].startswith(says)
    assert not list(served.site.uploads.iterdir())
