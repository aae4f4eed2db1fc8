"""Asking, telling and taking back over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.web.served import LABELS, TRUTH, Served, right_answer, serve_stored

from onebit.store.backup import backup
from onebit.web import rater_api
from onebit.web.room import in_words

Serving = Callable[..., Served]


def test_a_study_runs_to_its_certificate(served: Served) -> None:
    n = 0
    while questions := served.ask(served.ann if n % 2 else served.bob, n=5):
        token = served.ann if n % 2 else served.bob
        for question in questions:
            assert served.tell(token, question, right_answer(question)).json() == {"late": False, "repeated": False}
        n += 1
    told = served.post("ask", served.ann, n=1).json()
    assert told["state"] == "done"
    assert told["progress"]["words"] == "all questions are answered"
    status = served.get("studies/1", served.owner).json()
    assert status["report"]["status"] == "certified"
    assert status["report"]["chosen"] == ["model 7"]
    assert {rater["name"] for rater in status["raters"]} == {"ann", "bob"}
    assert status["report"]["answers"] == sum(rater["n_answers"] for rater in status["raters"])
    # Other ways are forecast once it is over.
    report = served.get("studies/1/report", served.owner).text
    assert "Full labels of random items" in report
    assert report.count("forecast, likely ") == 2


def test_questions_are_handed_out_ahead_and_kept_until_answered(served: Served) -> None:
    first = served.ask(served.ann, n=3)
    assert len({question["question"] for question in first}) == 3
    assert served.ask(served.ann, n=3) == first
    served.tell(served.ann, first[1], "no")
    again = served.ask(served.ann, n=3)
    assert [again[0], again[1]] == [first[0], first[2]]
    others = served.ask(served.bob, n=3)
    assert not {each["question"] for each in others} & {each["question"] for each in again}


def test_nobody_is_given_questions_ahead_while_others_wait(served: Served) -> None:
    room = served.site.room(1)
    room._scarce_until = float("inf")
    (first,) = served.ask(served.ann, n=3)
    assert served.ask(served.ann, n=3) == [first]
    room._scarce_until = 0.0
    ahead = served.ask(served.ann, n=3)
    assert ahead[0] == first
    room._scarce_until = float("inf")
    assert served.ask(served.ann, n=5) == ahead  # what was given stays
    assert len(served.ask(served.bob, n=3)) == 1


def test_what_a_rater_sees(served: Served) -> None:
    (question,) = served.ask(served.ann)
    item = int(question["item"]["id"].removeprefix("m"))
    assert question["item"]["columns"] == [{"name": "text", "text": f"message {item}", "html": None}]
    assert question["label"]["name"] in LABELS
    assert "propensity" not in str(question)


def test_the_same_token_counts_once_and_another_answer_is_refused(served: Served) -> None:
    (question,) = served.ask(served.ann)
    assert served.tell(served.ann, question, "yes", once="t1").json()["repeated"] is False
    assert served.tell(served.ann, question, "yes", once="t1").json()["repeated"] is True
    assert served.tell(served.ann, question, "no", once="t2").status_code == 409
    assert served.get("studies/1", served.owner).json()["report"]["answers"] == 1


def test_only_ones_own_questions_can_be_answered(served: Served) -> None:
    (question,) = served.ask(served.ann)
    assert served.tell(served.bob, question, "yes").status_code == 403
    assert served.post("undo", served.ann, question=question["question"]).status_code == 403
    assert served.post("undo", served.ann, question=10**6).status_code == 404


def test_an_answer_is_taken_back_and_the_question_comes_first_again(served: Served) -> None:
    first, second = served.ask(served.ann, n=2)
    served.tell(served.ann, first, "yes")
    assert served.post("undo", served.ann, question=first["question"]).json()["undone"] is True
    assert {each["question"] for each in served.ask(served.ann, n=2)} == {first["question"], second["question"]}
    assert served.get("studies/1", served.owner).json()["report"]["answers"] == 0
    assert served.tell(served.ann, first, "no").status_code == 200


def test_an_answer_that_was_used_stands_and_it_says_so(serving: Serving) -> None:
    served = serving(protocol="follow-up")
    (first,) = served.ask(served.ann)
    served.tell(served.ann, first, right_answer(first))
    while question := served.ask(served.ann):
        served.tell(served.ann, question[0], right_answer(question[0]))
    told = served.post("undo", served.ann, question=first["question"]).json()
    assert told["undone"] is False
    assert "stands" in told["words"]


def test_a_paused_study_gives_no_questions_and_takes_answers(served: Served) -> None:
    (question,) = served.ask(served.ann)
    served.post("studies/1/pause", served.owner, paused=True)
    assert served.post("ask", served.ann, n=1).json()["state"] == "paused"
    assert served.tell(served.ann, question, "yes").status_code == 200
    served.post("studies/1/pause", served.owner, paused=False)
    assert served.ask(served.ann)


def test_labels_can_be_asked_for_themselves(serving: Serving) -> None:
    served = serving(protocol="labels")
    assert [each["name"] for each in served.get("labels", served.ann).json()["labels"]] == list(LABELS)
    (question,) = served.ask(served.ann)
    assert question["label"] is None
    assert served.tell(served.ann, question, "nonsense").status_code == 422
    item = int(question["item"]["id"].removeprefix("m"))
    assert served.tell(served.ann, question, LABELS[TRUTH[item]]).status_code == 200


def test_labels_may_be_called_as_answers_are(serving: Serving) -> None:
    served = serving(protocol="labels", labels=("yes", "no", "maybe", "later", "never"))
    first, second, third = served.ask(served.ann, n=3)
    assert served.tell(served.ann, first, "yes").status_code == 200
    assert served.tell(served.ann, second, "no").status_code == 200
    assert served.tell(served.ann, third, "can't tell").status_code == 200
    exported = served.get("studies/1/export?what=labels&format=csv", served.owner).text.splitlines()[1:]
    assert [line.split(",")[2:4] for line in exported] == [["yes", "yes"], ["no", "yes"], ["", "can't tell"]]


def test_an_answer_to_another_question_than_was_seen_is_refused(serving: Serving, tmp_path: Path) -> None:
    """After an older backup was restored, a page that was open holds numbers that belong to other questions now."""
    served = serving(protocol="follow-up")
    backup(served.site.storage, str(tmp_path / "backup.db"))
    seen = []
    for _ in range(150):
        seen += served.ask(served.ann)
        served.tell(served.ann, seen[-1], "no")
    served.site.close()
    restored = serve_stored(f"sqlite:///{tmp_path}/backup.db", tmp_path)
    try:
        (now,) = restored.ask(restored.ann)
        while now == seen[now["question"]]:
            restored.tell_seen(restored.ann, now, "yes")
            (now,) = restored.ask(restored.ann)
        number = now["question"]
        refused = restored.tell_seen(restored.ann, seen[number], "yes")
        assert refused.status_code == 409
        assert "by now" in refused.json()["error"]
        meant = {"question": number - 1, "item": now["item"]["id"]}
        assert restored.post("undo", restored.ann, **meant).status_code == 409
        assert restored.get("studies/1", restored.owner).json()["report"]["answers"] == number
        assert restored.tell_seen(restored.ann, now, "no").status_code == 200
    finally:
        restored.site.close()


def test_the_label_that_was_seen_is_compared_too(served: Served) -> None:
    (question,) = served.ask(served.ann)
    other = next(label for label in LABELS if label != question["label"]["name"])
    for label in (other, None):
        body = {"question": question["question"], "answer": "yes", "token": "t", "label": label}
        assert served.post("tell", served.ann, **body).status_code == 409
    assert served.tell_seen(served.ann, question, "yes").status_code == 200


def test_a_long_output_is_a_text_to_read_and_not_the_name_of_a_label(serving: Serving) -> None:
    labels = (*LABELS[:-1], "Dear customer,\n**your bag** is here. <b>Now</b>")
    served = serving(labels=labels, markdown=True)
    seen: dict[str, tuple[bool, str | None]] = {}
    while len(seen) < len(labels):
        (question,) = served.ask(served.ann)
        label = question["label"]
        seen[label["name"]] = (label["is_text"], label["html"])
        served.tell(served.ann, question, right_answer(question, labels))
    assert seen.pop(labels[-1]) == (True, MARKED)
    assert set(seen.values()) == {(False, None)}


MARKED = "<p>Dear customer,<br />\n<strong>your bag</strong> is here. &lt;b&gt;Now&lt;/b&gt;</p>\n"


def test_a_rater_is_told_how_many_answers_are_the_raters_own(served: Served) -> None:
    def own(token: str) -> int:
        return int(served.get("progress", token).json()["progress"]["own"])

    for n in range(3):
        (question,) = served.ask(served.ann)
        assert own(served.ann) == n
        served.tell(served.ann, question, "yes")
    served.post("undo", served.ann, question=question["question"])
    assert (own(served.ann), own(served.bob)) == (2, 0)


def test_progress_in_words() -> None:
    assert in_words("asking", 0, None) == "just begun"
    assert in_words("asking", 12, None) == ""
    assert in_words("asking", 12, (1200, 1234, 1500)) == "about 1,200 to go"
    assert in_words("asking", 12, (0, 4, 9)) == "nearly there"
    assert in_words("waiting", 12, None) == "waiting for others to answer"


def test_progress_is_told_without_asking(served: Served) -> None:
    told = served.get("progress", served.ann).json()
    assert (told["study"], told["state"], told["progress"]["answers"]) == ("intents", "asking", 0)


def test_every_output_of_a_panel_is_a_text_to_read(serving: Serving) -> None:
    served = serving(protocol="panel", markdown=True)
    questions = served.ask(served.ann, n=3)
    assert len({question["item"]["id"] for question in questions}) < len(questions)
    assert all(question["label"]["is_text"] for question in questions)
    assert all(question["label"]["html"].startswith("<p>") for question in questions)


def test_a_client_that_leaves_before_its_body_came_is_no_fault_of_the_server(served: Served) -> None:
    came: Any = [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]
    sent: list[Any] = []

    async def receive() -> Any:
        return came.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {served.ann}".encode())]
    scope = {"type": "http", "method": "POST", "path": "/api/v1/ask", "query_string": b"", "headers": headers}
    app: Any = served.client.app
    asyncio.run(app({**scope, "client": ("127.0.0.1", 1), "root_path": ""}, receive, send))
    assert sent[0]["status"] == 400


def test_an_error_says_whether_it_is_of_use_to_send_it_again(served: Served) -> None:
    (question,) = served.ask(served.ann)
    assert served.tell(served.ann, question, "yes").status_code == 200
    again = served.tell(served.ann, question, "no")
    assert (again.status_code, again.json()["refused"]) == (409, True)
    assert served.tell(served.bob, {"question": 10**6}, "no").json()["refused"]
    for response in (served.post("ask", "wrong"), served.post("ask", served.owner), served.get("nothing", served.ann)):
        assert response.status_code in (401, 403, 404)
        assert "refused" not in response.json()


def test_a_text_that_is_too_long_for_markdown_is_shown_as_it_is(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Markdown of megabytes takes minutes of the processor that all raters share."""
    served = serving(text="**a**", markdown=True)
    (question,) = served.ask(served.ann)
    (column,) = question["item"]["columns"]
    assert column["html"].startswith("<p><strong>a</strong>")
    monkeypatch.setattr(rater_api, "MOST_MARKDOWN", len(column["text"]) - 1)
    (question,) = served.ask(served.ann)
    assert question["item"]["columns"] == [{**column, "html": None}]
