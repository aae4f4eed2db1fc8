"""Going on from a study over HTTP: with other models or items, or by watching its choice."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.study.test_sequel import columns
from tests.unit.web.served import Served, serve_stored

import onebit
from onebit.study.constants import ANSWERED_BEFORE
from onebit.study.kinds.watch.chain import verify_watch
from onebit.study.proof import verify_study

MODELS = {"a": 0.8, "b": 0.75, "c": 0.7}
TABLE = {"path": "next.csv", "id": "name"}


def write(path: Path, models: dict[str, float], first: int = 0) -> Path:
    """A table of 40 items, from the one with this number on; a model says the same whichever others there are."""
    said = {"name": columns({}, 40, first)[0]["name"]}
    for model, accuracy in models.items():
        said |= {model: columns({model: accuracy}, 40, first, seed=ord(model) + first)[0][model]}
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([list(said), *zip(*said.values(), strict=True)])
    return path


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A study of three models, with links for ann and bob."""
    storage, table = f"sqlite:///{tmp_path}/studies.db", write(tmp_path / "first.csv", MODELS)
    onebit.create_study(table, "first", storage=storage, id="name", eps=0.02, protocol="panel").close()
    served = serve_stored(storage, tmp_path)
    yield served
    served.site.close()


def answer(served: Served, token: str, most: int = 10_000) -> int:
    """Answer as a rater who knows the truth, until nothing is left or so often."""
    n = 0
    while n < most and (questions := served.ask(token, n=3)):
        for question in questions:
            item = int(question["item"]["id"].removeprefix("item "))
            said = "yes" if question["label"]["name"] == f"L{item * 7 % 4}" else "no"
            assert served.tell_seen(token, question, said).is_success
            n += 1
    return n


def test_a_newcomer_joins_and_raters_go_on_by_their_links(served: Served, tmp_path: Path) -> None:
    n_before = answer(served, served.ann, 9)
    held, *_ = served.ask(served.bob)
    write(tmp_path / "next.csv", MODELS | {"d": 0.78})
    made = served.post("studies/1/sequel", served.owner, **TABLE, name="second", takes_links=True)
    assert (made.status_code, made.json()) == (200, {"study": 2, "name": "second", "links": 2})
    # What a page still holds of the first study is refused, and then it is given what the second asks.
    given, *_ = served.ask(served.bob)
    for late in (held, held | {"question": given["question"]}):
        refused = served.tell_seen(served.bob, late, "yes")
        assert refused.json()["refused"] is True
        assert not refused.is_success
    answer(served, served.bob)
    told = served.get("studies/2", served.owner).json()
    n_answers = {each["name"]: each["n_answers"] for each in told["raters"]}
    assert set(n_answers) == {"bob", ANSWERED_BEFORE}
    assert 0 < n_answers[ANSWERED_BEFORE] <= n_before
    assert (told["is_over"], told["report"]["n_models"]) == (True, 4)
    first = served.get("studies/1", served.owner).json()
    assert first["paused"] is True
    assert served.get("studies/1/links", served.owner).json()["links"] == []
    served.site.close()
    assert verify_study(served.site.storage, "second").problems == ()


def test_a_study_can_go_on_without_its_links(served: Served, tmp_path: Path) -> None:
    write(tmp_path / "next.csv", MODELS | {"d": 0.78})
    assert served.post("studies/1/sequel", served.owner, **TABLE, name="second").json()["links"] == 0
    assert served.get("studies/1", served.owner).json()["paused"] is False
    assert served.ask(served.ann)


@pytest.mark.parametrize(
    ("path", "body", "field", "words"),
    [
        ("studies/1/sequel", {"name": "first"}, "name", "already"),
        ("studies/1/sequel", {"name": "second", "id": "nothing"}, "id", "no column"),
        ("studies/1/sequel", {"name": "second"}, None, "the table is that of 'first'"),
        ("studies/1/sequel", {"name": "second", "eps": 0.2}, None, "'eps', which is not known"),
        ("studies/1/watch", {}, None, "not certified yet"),
        ("studies/1/watch", {"answers": 0}, "answers", "at least 1"),
        ("studies/1/watch", {"tiers": True}, None, "'tiers', which is not known"),
    ],
)
def test_what_cannot_be_is_refused(
    served: Served, tmp_path: Path, path: str, body: dict[str, Any], field: str | None, words: str
) -> None:
    write(tmp_path / "next.csv", MODELS)
    told = served.post(path, served.owner, **(TABLE | body))
    assert told.status_code == 422
    assert words in told.json()["error"]
    assert told.json().get("field") == field
    assert len(served.site.entries()) == 1
    assert served.post("studies/7/watch", served.owner, **TABLE).status_code == 404


def test_a_choice_is_watched_batch_after_batch(served: Served, tmp_path: Path) -> None:
    answer(served, served.ann)
    served.client.get(f"/o/{served.owner}")
    assert "Watch the choice on fresh items" in served.client.get("/studies/1").text
    write(tmp_path / "next.csv", MODELS, first=40)
    first = served.post("studies/1/watch", served.owner, **TABLE, answers=6, takes_links=True)
    assert first.json() == {"study": 2, "name": "first watch 1", "links": 2}
    assert answer(served, served.ann) >= 6
    write(tmp_path / "next.csv", MODELS, first=80)
    # From the page of a batch, too; links go from one batch to the next.
    second = served.post("studies/2/watch", served.owner, **TABLE, answers=6, takes_links=True)
    assert second.json() == {"study": 3, "name": "first watch 2", "links": 2}
    assert "The next batch" in served.client.get("/studies/2").text
    assert answer(served, served.ann, 2) >= 2
    again = served.post("studies/1/watch", served.owner, **TABLE)
    assert "asked about before" in again.json()["error"]
    served.site.close()
    assert verify_watch(served.site.storage, "first") == []


@pytest.mark.parametrize("asked", ["", "?as=watch"])
def test_the_page_says_what_it_goes_on_from(served: Served, asked: str) -> None:
    served.client.get(f"/o/{served.owner}")
    page = served.client.get(f"/studies/1/next{asked}").text
    assert "Go on from first" in page
    assert f'value="{"watch" if asked else "sequel"}" checked' in page
    assert served.client.get("/studies/9/next").status_code == 404
