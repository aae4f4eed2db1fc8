"""What owners can have and do."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.unit.web.served import PREDICTIONS, TRUTH, Served, bearer, make_study, right_answer

from onebit.study.proof import verify_study

Serving = Callable[..., Served]


def answer_some(served: Served, n: int) -> None:
    while n > 0 and (questions := served.ask(served.ann, n=min(n, 5))):
        for question in questions:
            served.tell(served.ann, question, right_answer(question))
        n -= len(questions)


def test_files_can_be_had(served: Served, tmp_path: Path) -> None:
    answer_some(served, 5)
    labels = served.get("studies/1/export?what=labels&format=csv", served.owner)
    assert len(labels.text.splitlines()) == 6
    assert "intents%20labels.csv" in labels.headers["content-disposition"]
    log = served.get("studies/1/export?what=log&format=jsonl&anonymous=yes", served.owner).text
    events = [json.loads(line) for line in log.splitlines()]
    assert events[0]["event"] == "created"
    assert sum(event["event"] == "answered" for event in events) == 5
    assert "ann" not in {event.get("rater") for event in events}
    (tmp_path / "copy.db").write_bytes(served.get("backup", served.owner).content)
    with sqlite3.connect(tmp_path / "copy.db") as copy:
        assert copy.execute("SELECT name FROM studies").fetchall() == [("intents",)]
    copy.close()
    report = served.get("studies/1/report", served.owner).text
    assert "onebit study verify intents</code>" in report
    assert "log.jsonl" not in report
    assert list(served.site.uploads.iterdir()) == []


def test_the_dashboard_says_what_the_study_shows(serving: Serving) -> None:
    served = serving(protocol="follow-up")
    served.client.get(f"/o/{served.owner}")
    before = served.client.get("/studies/1").text
    assert "just begun" not in before
    assert "Nobody has answered yet" in before
    answer_some(served, 1000)
    page = served.client.get("/studies/1").text
    assert "certified" in page
    assert "percentage points" in page or "none of the 8 models is accepted more often" in page
    assert page.count('<svg class="chart"') == 1
    assert "What ends the run" in page
    assert "hold together, whenever one looks" in page
    assert "What was once shown stays shown, whenever you stop." in page
    assert "safe to stop" in page
    assert "not yet" in before
    assert "report card" not in page
    assert served.client.get("/studies/7").status_code == 404


def test_the_dashboard_has_the_report_card_of_a_judge(serving: Serving) -> None:
    """Without styles within the page, which its policy does not allow."""
    served = serving(protocol="follow-up", judge=(PREDICTIONS == TRUTH).astype(float))
    served.client.get(f"/o/{served.owner}")
    assert "No question about an output that it scores" in served.client.get("/studies/1").text
    answer_some(served, 40)
    page = served.client.get("/studies/1").text
    assert "It agreed with the raters in 100%" in page
    card = page[page.index("report card") :]
    assert card.count('<svg class="interval"') == 2
    assert "style=" not in page
    told = served.get("studies/1", served.owner).json()
    assert told["report"]["judge"]["agreement"]["n_yes"] == 40


def test_links_are_made_listed_and_told_once(served: Served) -> None:
    made = served.post("studies/1/links", served.owner, rater="cy").json()
    token = made["url"].rsplit("/", 1)[1]
    assert served.ask(token)
    listed = served.get("studies/1/links", served.owner).json()["links"]
    assert [link["rater"] for link in listed] == ["cy", "bob", "ann"]
    assert token not in json.dumps(listed)
    for rater in ("", " ", "x" * 201, "\0", "\ud800"):
        body = json.dumps({"rater": rater})
        response = served.client.post("/api/v1/studies/1/links", content=body, headers=bearer(served.owner))
        assert response.status_code == 422, rater


def test_watchers_are_told_when_something_happens(served: Served) -> None:
    """The stream itself, without a server: it speaks at once, and again after an answer."""
    from starlette.requests import Request

    from onebit.web.calls import Call
    from onebit.web.owner_api import live

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(3600)
        return {"type": "http.disconnect"}

    async def watch() -> list[dict[str, Any]]:
        request = Request({"type": "http", "headers": []}, receive)
        link = served.site.access.find(served.owner)
        call = Call(served.site, link, served.owner, {}, {"study": 1}, {}, request)
        response: Any = await live(call)
        told = [json.loads((await anext(response.body_iterator)).removeprefix("data: "))]
        answer_some(served, 1)
        told.append(json.loads((await anext(response.body_iterator)).removeprefix("data: ")))
        await response.body_iterator.aclose()
        return told

    first, second = asyncio.run(watch())
    assert second["events"] > first["events"]


def test_what_raters_of_one_question_agree_on(serving: Serving) -> None:
    served = serving(overlap=3)
    third = served.site.access.make("rater", 1, "cy")[1]
    tokens = (served.ann, served.bob, third)
    (question,) = served.ask(served.ann)
    for token, answer in zip(tokens, ("yes", "no", "yes"), strict=True):
        (same,) = served.ask(token)
        assert same["question"] == question["question"]
        served.tell(token, same, answer)
    raters = {each["name"]: each["agreement"] for each in served.get("studies/1", served.owner).json()["raters"]}
    # The third vote came after two of three disagreed, so all three are compared with the majority.
    assert raters == {"ann": {"n_same": 1, "n": 1}, "bob": {"n_same": 0, "n": 1}, "cy": {"n_same": 1, "n": 1}}


def test_a_study_that_is_open_elsewhere_says_so(served: Served) -> None:
    from onebit.study.opening import load_study

    with load_study("intents", storage=served.site.storage):
        response = served.post("ask", served.ann, n=1)
        # Not a conflict: the page keeps its answers, and tries again.
        assert response.status_code == 503
        assert "open elsewhere" in response.json()["error"]
    assert served.ask(served.ann)


def test_a_study_is_deleted_by_its_name_with_its_links(served: Served) -> None:
    answer_some(served, 3)
    refused = served.post("studies/1/delete", served.owner, name="intent")
    assert refused.status_code == 422
    assert "nothing was deleted" in refused.json()["error"]
    assert served.ask(served.ann)
    assert served.post("studies/1/delete", served.ann, name="intents").status_code == 403
    assert served.post("studies/1/delete", served.owner, name="intents").json() == {"deleted": "intents"}
    assert served.site.entries() == []
    assert served.post("ask", served.ann, n=1).status_code == 401
    assert served.get("studies/1", served.owner).status_code == 404


def test_the_list_has_the_state_and_the_progress_of_every_study(serving: Serving, tmp_path: Path) -> None:
    served = serving()
    make_study(served.site.storage, tmp_path, name="second")
    served.client.get(f"/o/{served.owner}")
    assert served.client.get("/").text.count(">opening</span>") == 2
    served.site.open_all()
    answer_some(served, 1)
    page = served.client.get("/").text
    assert "1 answer</p>" in page
    assert "0 answers, just begun</p>" in page
    served.site.access.pause(2, True)
    page = served.client.get("/").text
    assert page.count('<span class="badge running">running</span>') == 1
    assert page.count('<span class="badge paused">paused</span>') == 1


def test_nobody_leads_before_the_first_answer(served: Served) -> None:
    served.client.get(f"/o/{served.owner}")
    page = served.client.get("/studies/1").text
    assert "nothing is known about the 8 models" in page
    assert "<h1" not in page
    assert "leads" not in page
    answer_some(served, 1)
    page = served.client.get("/studies/1").text
    assert "It leads after 1 yes/no answer; so few" in page


def test_a_study_is_renamed_while_it_is_open(serving: Serving, tmp_path: Path) -> None:
    served = serving()
    make_study(served.site.storage, tmp_path, name="second")
    answer_some(served, 2)
    for wrong in ("second", "  "):
        assert served.post("studies/1/rename", served.owner, name=wrong).status_code == 422
    assert served.post("studies/1/rename", served.ann, name="mine").status_code == 403
    assert served.post("studies/1/rename", served.owner, name="what they want").json() == {"name": "what they want"}
    assert served.get("studies/1", served.owner).json()["name"] == "what they want"
    assert "onebit study verify &#39;what they want&#39;" in served.get("studies/1/report", served.owner).text
    assert len(served.ask(served.ann)) == 1
    served.site.close()
    assert verify_study(served.site.storage, "what they want").ok


def test_an_archived_study_is_listed_apart_and_gives_out_nothing(serving: Serving, tmp_path: Path) -> None:
    served = serving()
    make_study(served.site.storage, tmp_path, name="second")
    served.client.get(f"/o/{served.owner}")
    assert served.post("studies/1/archive", served.owner, archived=True).json() == {"archived": True}
    listed = served.get("studies", served.owner).json()["studies"]
    assert [(each["name"], each["archived"]) for each in listed] == [("intents", True), ("second", False)]
    home, archive = served.client.get("/").text, served.client.get("/?archived=yes").text
    assert "Archive: 1 study" in home
    assert ">intents</h2>" not in home
    assert ">intents</h2>" in archive
    assert ">second</h2>" not in archive
    assert served.post("ask", served.ann, n=1).json()["state"] == "paused"
    assert "This study is archived" in served.client.get("/studies/1").text
    assert served.post("studies/1/archive", served.owner, archived=False).json() == {"archived": False}
    assert "Archive:" not in served.client.get("/").text
    assert served.post("ask", served.ann, n=1).json()["state"] == "paused"
    served.post("studies/1/pause", served.owner, paused=False)
    assert len(served.ask(served.ann)) == 1
