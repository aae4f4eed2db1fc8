"""A study made from the page: upload, columns, plan, creation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.web.served import LABELS, Served, bearer, write_table

from onebit.records import TrainingSpec
from onebit.study.opening import load_study
from onebit.web import creating


def upload(served: Served, content: bytes, name: str = "table.csv") -> Any:
    return served.client.post("/api/v1/tables", params={"name": name}, content=content, headers=bearer(served.owner))


def test_from_an_upload_to_a_study(served: Served, tmp_path: Path) -> None:
    told = upload(served, write_table(tmp_path / "new.csv").read_bytes()).json()
    assert told["columns"][:3] == ["id", "text", "model 0"]
    body = {"upload": told["upload"], "id": "id", "show": ["text"], "eps": 0.1, "protocol": "follow-up"}
    plan = served.post("plan", served.owner, **body).json()
    assert (plan["models"], plan["items"], plan["labels"]) == (8, 300, 5)
    assert 0 < plan["answers"][0] <= plan["answers"][1] <= 5 * 300
    assert plan["hours"][1] == pytest.approx(plan["answers"][1] * plan["seconds_per_answer"] / 3600)
    made = served.post("studies", served.owner, name="second", instructions="Look.", **body).json()
    token = served.site.access.make("rater", made["study"], "ann")[1]
    assert served.ask(token)
    assert "Look." in served.client.get(f"/r/{token}").text
    again = served.post("studies", served.owner, name="second", **body)
    assert again.status_code == 422
    assert "already" in again.json()["error"]


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
        "target": 0.9,
    }
    plan = served.post("plan", served.owner, **body).json()
    assert (plan["models"], plan["items"], plan["labels"], plan["answers"]) == (0, 50, 5, [100, 100])
    made = served.post("studies", served.owner, name="second", **body).json()
    with load_study("second", storage=served.site.storage, read_only=True) as study:
        assert study.created.kind == "learning"
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
    assert upload(served, b"not parquet", name="t.parquet").status_code == 422
    assert len(list(served.site.uploads.iterdir())) == 1
    assert served.client.post("/api/v1/tables?name=t.csv", headers=bearer(served.ann)).status_code == 403


def test_a_table_that_is_none_is_refused_in_words(served: Served) -> None:
    told = upload(served, b"id,text,model\n1,a,x\n1,b\n").json()
    response = served.post("plan", served.owner, upload=told["upload"], eps=0.1, protocol="one-shot")
    assert response.status_code == 422
    assert "row" in response.json()["error"]
