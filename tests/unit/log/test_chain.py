"""The chain: no event can be changed, moved, taken out or put in without a word."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from tests.unit.study.runs import created

from onebit.log.chain import AFTER, START, Chain, Head, Unchain, canonical, digest_of, digests
from onebit.log.events import Answered, Asked, Event, LogError
from onebit.records import Answer, Question
from onebit.store.commit import GroupCommit
from onebit.store.database import NotWrittenError

EVENTS: list[Event] = [
    created(),
    Asked(Question(0, 5, 1, 0.25, 0)),
    Answered(0, Answer.YES, "zoë"),
    Asked(Question(1, 6, 2, 0.5, 0)),
    Answered(1, Answer.NO),
]


def texts() -> list[str]:
    chain = Chain()
    return [chain.link(event) for event in EVENTS]


def read(lines: list[str]) -> Head:
    unchain = Unchain()
    assert [unchain.take(line) for line in lines]
    return unchain.head


def test_each_event_holds_the_digest_of_the_one_before() -> None:
    lines = texts()
    afters = [json.loads(line)["after"] for line in lines]
    assert afters == [START, *(digest_of(line) for line in lines[:-1])]
    assert read(lines) == Head(5, digest_of(lines[-1]))
    assert digests(EVENTS) == [digest_of(line) for line in lines]


def test_another_layout_of_the_same_text_is_harmless() -> None:
    lines = [json.dumps(dict(reversed(json.loads(line).items())), indent=1, ensure_ascii=False) for line in texts()]
    assert lines != texts()
    assert read(lines) == read(texts())


def unlinked_text(line: str) -> str:
    return canonical({key: value for key, value in json.loads(line).items() if key != AFTER})


EDITS: dict[str, Callable[[list[str]], list[str]]] = {
    "changed": lambda log: [*log[:2], log[2].replace("yes", "no"), *log[3:]],
    "taken out": lambda log: [*log[:3], *log[4:]],
    "put in": lambda log: [*log[:3], log[2], *log[3:]],
    "in another order": lambda log: [*log[:2], log[3], log[2], log[4]],
    "without a link": lambda log: [*log[:2], unlinked_text(log[2]), *log[3:]],
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_breaks_the_chain(edit: str) -> None:
    with pytest.raises(LogError, match="does not follow the event before it"):
        read(EDITS[edit](texts()))


@pytest.mark.parametrize("more", ["x", "later"])
def test_a_field_more_is_refused_even_with_the_chain_written_anew(more: str) -> None:
    lines = texts()
    changed = canonical({**json.loads(lines[-1]), more: 1})
    with pytest.raises(LogError, match=f"'answered' is not as onebit writes it: '{more}' is unknown"):
        read([*lines[:-1], changed])


def test_a_second_attempt_writes_the_same_texts() -> None:
    attempts: list[tuple[int, list[str]]] = []

    def write(first: int, lines: object) -> str:
        attempts.append((first, list(lines)))  # type: ignore[call-overload]
        if len(attempts) < 3:
            raise NotWrittenError("full")
        return "now"

    published: list[tuple[list[Event], Head, str]] = []
    commit = GroupCommit(write, Head(), lambda events, head, at: published.append((list(events), head, at)))
    for event in EVENTS[:2]:
        with pytest.raises(NotWrittenError):
            commit.wait(commit.put([event]))
        assert commit.head == Head()
    assert published == [], "nobody hears of what is not durable"
    commit.wait(commit.put(EVENTS[2:]))
    assert [first for first, _ in attempts] == [0, 0, 0]
    assert attempts[2][1] == texts()
    assert attempts[1][1] == texts()[:2]
    assert commit.head == read(texts())
    assert published == [(EVENTS, commit.head, "now")]
