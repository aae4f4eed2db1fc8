"""What an owner chose: all of it reaches the study, and what cannot be is refused at its field."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.unit.web.served import LABELS, PREDICTIONS, Served, bearer, known_labels, write_table

from onebit.study.about import Label
from onebit.study.opening import load_study

COLUMNS = {"path": "new.csv", "id": "id", "show": ["text"], "gold": "known", "protocol": "one-shot"}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table on the server, with some labels known."""
    return write_table(tmp_path / "new.csv", known=known_labels(20))


def test_everything_that_was_chosen_reaches_the_study(served: Served, table: Path) -> None:
    response = served.post(
        "studies",
        served.owner,
        **COLUMNS,
        name="second",
        eps=0.2,
        delta=0.1,
        budget=5000,
        f_no=0.1,
        f_yes=0.02,
        overlap=3,
        gold_share=0.25,
        repeat_share=0.125,
        labels=[*LABELS, "nothing of these"],
        descriptions={"refund": "wants money back"},
        instructions="Look.",
    )
    assert response.status_code == 200, response.text
    with load_study("second", storage=served.site.storage, read_only=True) as study:
        created, about = study.created, study.about
        setting = created.selection
        assert (setting.eps, setting.delta, setting.protocol, setting.budget) == (0.2, 0.1, "one-shot", 5000)
        assert (setting.f_no, setting.f_yes, created.overlap) == (0.1, 0.02, 3)
        assert (about.gold_share, about.repeat_share, len(about.gold)) == (0.25, 0.125, 20)
        assert about.instructions == "Look."
        assert about.labels[LABELS.index("refund")] == Label("refund", "wants money back")
        assert about.labels[-1] == Label("nothing of these")
        # Raters must not see what is right.
        assert study.item(0).shown == {"text": "message 0"}
        assert created.table.n_models == len(PREDICTIONS)


def test_gold_has_a_share_by_itself(served: Served, table: Path) -> None:
    assert served.post("studies", served.owner, **COLUMNS, name="second", eps=0.2).status_code == 200
    with load_study("second", storage=served.site.storage, read_only=True) as study:
        assert study.about.gold_share == 0.05


def test_right_labels_are_left_out_also_where_some_are_missing(served: Served, table: Path) -> None:
    body = {"path": "new.csv", "id": "id", "show": ["text"], "truth": "known", "eps": 0.2, "protocol": "labels"}
    assert served.post("studies", served.owner, **body, name="second").status_code == 200
    with load_study("second", storage=served.site.storage, read_only=True) as study:
        assert study.item(0).shown == {"text": "message 0"}
        assert study.created.table.n_models == len(PREDICTIONS)
        assert study.about.gold == ()


def test_an_upload_is_not_called_by_a_name_that_nobody_knows(served: Served) -> None:
    told = served.client.post(
        "/api/v1/tables", params={"name": "t.csv"}, content=b"id,a,b\n1,x,y\n2,x\n", headers=bearer(served.owner)
    ).json()
    error = served.post("plan", served.owner, upload=told["upload"], id="id", protocol="one-shot").json()["error"]
    assert error.startswith("the table, ")


WITHOUT_GOLD = {"gold": None}
REFUSED: list[tuple[Mapping[str, Any], str, str]] = [
    ({"path": None}, "upload", "either an upload or a path"),
    ({"path": "../new.csv"}, "path", "not below"),
    ({"path": "missing.csv"}, "path", "no file"),
    ({"path": "x" * 1000}, "path", "no file"),
    ({"path": "not a table.csv"}, "path", "a model's"),
    ({"path": None, "upload": "0" * 32 + ".csv"}, "upload", "upload the table again"),
    ({"id": "name"}, "id", "no column 'name'"),
    ({"show": ["text", "body"]}, "show", "no column 'body'"),
    ({"gold": "right"}, "gold", "no column 'right'"),
    ({"show": ["known"]}, "gold", "must not be shown"),
    ({"truth": "known"}, "truth", "another use"),
    ({"labels": [*LABELS[1:], "more"]}, "path", "is not one of"),
    ({"gold": "empty"}, "gold", "is empty"),
    ({"gold": "text"}, "gold", "must not be shown"),
    ({"gold": "other"}, "gold", "is no label"),
    ({"media": "picture"}, "media", "no column 'picture'"),
    ({"media": "other", "media_folder": "../.."}, "media_folder", "not below"),
    ({"media": "other", "media_folder": "pictures"}, "media_folder", "no folder 'pictures'"),
    ({"f_no": 0.1, "protocol": "follow-up"}, "f_no", "use one-shot for raters who err"),
    ({"exhaustive": True}, "exhaustive", "only follow-up asks"),
    ({"protocol": None}, "protocol", "none is chosen for you"),
    ({"f_yes": 0.1, "protocol": "labels"}, "f_yes", "use one-shot for raters who err"),
    ({"f_no": 0.7, "f_yes": 0.3}, "f_no", "below 1"),
    ({"overlap": 2}, "overlap", "odd"),
    ({"overlap": 3, "protocol": "labels", **WITHOUT_GOLD}, "overlap", "yes/no questions"),
    ({"protocol": "labels"}, "gold_share", "checks of raters"),
    ({"protocol": "labels", "repeat_share": 0.1, **WITHOUT_GOLD}, "repeat_share", "checks of raters"),
    ({"gold_share": 0.1, **WITHOUT_GOLD}, "gold_share", "name their column as gold"),
    ({"gold_share": 0.5, "repeat_share": 0.5}, "repeat_share", "no room"),
    ({"eps": 2}, "eps", "eps is 2; it must be above 0 and below 1"),
    ({"protocol": "poll"}, "protocol", "protocol is 'poll'; it must be one of"),
    ({"target": 0.9}, "target", "a study of kind selection has none"),
    ({"kind": "training"}, "labels", "no labels are given"),
    ({"kind": "training", "labels": ["a", "b"], "eps": 0.1}, "eps", "a study of kind training has none"),
    ({"kind": "training", "labels": ["a", "b"], "protocol": "labels"}, "protocol", "one of one-shot, follow-up"),
    ({"kind": "training", "labels": ["a", "b"], "text": ["body"]}, "text", "no column 'body'"),
    ({"kind": "training", "labels": ["a", "b"]}, "path", "is no number"),
    ({"descriptions": {"refunds": "x"}}, "descriptions", "'refunds' is described"),
]


@pytest.mark.parametrize(("chosen", "field", "words"), REFUSED, ids=[f"{each[1]}: {each[2]}" for each in REFUSED])
def test_what_cannot_be_is_refused_at_its_field(
    served: Served, tmp_path: Path, chosen: Mapping[str, Any], field: str, words: str
) -> None:
    nothing = [""] * PREDICTIONS.shape[1]
    write_table(tmp_path / "new.csv", known=known_labels(20), empty=nothing, other=[*nothing[1:], "nonsense"])
    (tmp_path / "not a table.csv").write_text("a b\n1 2\n")
    body = {key: value for key, value in {**COLUMNS, **chosen}.items() if value is not None}
    # Columns that are neither models nor named would be taken for models.
    body["show"] = [*body.get("show", []), *({"empty", "other"} - {body.get("gold"), body.get("media")})]
    if body.get("path") == "not a table.csv":
        body = {"path": body["path"], "protocol": "one-shot"}
    for operation, more in (("plan", {}), ("studies", {"name": "second"})):
        response = served.post(operation, served.owner, **body, **more)
        assert response.status_code == 422
        told = response.json()
        assert told["field"] == field, told
        assert words in told["error"], told
    assert [entry.name for entry in served.site.entries()] == ["intents"]


def test_a_name_that_is_taken_is_refused_at_the_name(served: Served, table: Path) -> None:
    response = served.post("studies", served.owner, **COLUMNS, name="intents")
    assert (response.status_code, response.json()["field"]) == (422, "name")


@pytest.mark.parametrize(
    "path", ["../secret.png", "/etc/hostname", "a/../../secret.png", "%2e%2e/secret.png", "link.png"]
)
def test_pictures_outside_their_folder_are_refused(served: Served, tmp_path: Path, path: str) -> None:
    root = tmp_path / "pictures"
    root.mkdir()
    (tmp_path / "secret.png").write_bytes(b"secret")
    (root / "0.png").write_bytes(b"picture")
    (root / "link.png").symlink_to(tmp_path / "secret.png")
    body = {"path": "new.csv", "id": "id", "show": ["text"], "media": "image", "media_folder": "pictures", "eps": 0.2}
    body["protocol"] = "one-shot"
    n_items = PREDICTIONS.shape[1]
    write_table(tmp_path / "new.csv", image=["0.png"] * (n_items - 1) + [path])
    response = served.post("studies", served.owner, **body, name="second")
    assert response.status_code == 422
    assert f"row {n_items}" in response.json()["error"]
    write_table(tmp_path / "new.csv", image=["0.png"] * n_items)
    assert served.post("studies", served.owner, **body, name="second").status_code == 200
