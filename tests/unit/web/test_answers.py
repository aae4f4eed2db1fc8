"""Looking at answers, as the owner does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit.web.served import LABELS, PREDICTIONS, Served, right_answer

from onebit.web import answers
from onebit.web.calls import COOKIE

Serving = Callable[..., Served]


def answer(served: Served, token: str, n: int, said: str | None = None) -> list[int]:
    """Answer so many questions; the rows that they were about."""
    rows = []
    while n > 0 and (questions := served.ask(token, n=1)):
        for question in questions:
            served.tell(token, question, said or right_answer(question))
            rows.append(int(question["item"]["id"].removeprefix("m")))
            n -= 1
    return rows


def test_items_are_listed_with_what_was_said(served: Served) -> None:
    denied, accepted = answer(served, served.ann, 3, "no"), answer(served, served.ann, 2, "yes")
    found = served.get("studies/1/answers", served.owner).json()
    told = {each["row"]: each for each in found["items"]}
    assert set(told) == {*denied, *accepted}
    assert sum(each["n_no"] for each in told.values()) == 3
    assert sum(each["n_yes"] for each in told.values()) == 2
    assert told[denied[0]]["shown"] == {"text": f"message {denied[0]}"}
    assert (found["n_chosen"], found["page"], found["n_pages"]) == (len(told), 1, 1)
    assert found["alpha"] is None
    assert set(found["seconds"]) == {"ann"}


def test_items_can_be_chosen(served: Served) -> None:
    answer(served, served.ann, 4, "yes")
    (unsure,) = answer(served, served.ann, 1, "can't tell")
    found = served.get("studies/1/answers?only=cant-tell", served.owner).json()
    assert [each["row"] for each in found["items"]] == [unsure]
    assert served.get("studies/1/answers?only=raters-differ", served.owner).json()["items"] == []
    assert served.get("studies/1/answers?only=models-differ", served.owner).json()["items"] == []


def test_where_raters_differ_is_seen(serving: Serving) -> None:
    served = serving(overlap=3)
    cy = served.post("studies/1/links", served.owner, rater="cy").json()["url"].rsplit("/", 1)[1]
    rows = [answer(served, token, 1, said) for token, said in ((served.ann, "yes"), (served.bob, "no"))]
    assert served.get("studies/1/answers?only=raters-differ", served.owner).json()["items"] == []
    rows.append(answer(served, cy, 1, "yes"))
    assert rows[0] == rows[1] == rows[2]
    found = served.get("studies/1/answers?only=raters-differ", served.owner).json()
    assert [(each["row"], each["n_yes"], each["n_differ"]) for each in found["items"]] == [(rows[0][0], 1, 1)]
    assert found["alpha"] < 0.5
    (judged,) = [
        each
        for each in served.get(f"studies/1/items/{rows[0][0]}", served.owner).json()["outputs"]
        if each["answer"] is not None
    ]
    assert (judged["answer"], judged["votes"]) == ("yes", [["ann", "yes"], ["bob", "no"], ["cy", "yes"]])


def test_pages_of_items(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "ITEMS_PER_PAGE", 2)
    rows = answer(served, served.ann, 5)
    n = len(set(rows))
    seen = []
    for number in range(1, -(-n // 2) + 1):
        found = served.get(f"studies/1/answers?page={number}", served.owner).json()
        assert found["n_pages"] == -(-n // 2)
        seen += [each["row"] for each in found["items"]]
    assert sorted(seen) == sorted(set(rows))
    for wrong in ("0", "99", "x", "1.5"):
        assert served.get(f"studies/1/answers?page={wrong}", served.owner).status_code == 422
    assert served.get("studies/1/answers?only=some", served.owner).status_code == 422


def test_an_item_shows_what_models_say_side_by_side(served: Served) -> None:
    (row,) = answer(served, served.ann, 1, "no")
    found = served.get(f"studies/1/items/{row}", served.owner).json()
    assert found["id"] == f"m{row}"
    assert {each["output"] for each in found["outputs"]} == {LABELS[label] for label in set(PREDICTIONS[:, row])}
    assert sum(len(each["models"]) for each in found["outputs"]) == len(PREDICTIONS)
    asked = [each for each in found["outputs"] if each["answer"] is not None]
    assert [(each["answer"], each["votes"]) for each in asked] == [("no", [["ann", "no"]])]
    assert served.get("studies/1/items/300", served.owner).status_code == 404


def test_the_pages_say_the_same(served: Served) -> None:
    (row,) = answer(served, served.ann, 1, "no")
    answer(served, served.ann, 30)
    served.client.get(f"/o/{served.owner}")
    page = served.client.get("/studies/1/answers")
    assert page.status_code == 200
    assert f'href="/studies/1/items/{row}"' in page.text
    assert "Krippendorff" in page.text
    assert "By label" in page.text
    assert served.client.get("/studies/1/answers?page=77").status_code == 422
    item = served.client.get(f"/studies/1/items/{row}").text
    assert "denied" in item
    assert "ann: no" in item
    assert f"message {row}" in item


def test_answers_are_for_owners_alone(served: Served) -> None:
    for path in ("studies/1/answers", "studies/1/items/0"):
        assert served.get(path, served.ann).status_code == 403
    served.client.cookies.set(COOKIE, served.ann)
    assert served.client.get("/studies/1/answers").status_code == 403
    assert served.client.get("/studies/1/items/0").status_code == 403
