"""The chain: no event can be changed, moved, taken out or put in without a word."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.study.runs import created

from onebit.log.chain import AFTER, START, Chain, Head, Unchain, canonical, digest_of, digests
from onebit.log.events import Answered, Asked, Event, LogError
from onebit.log.journal import Journal, NotWrittenError
from onebit.records import Answer, Question
from onebit.store.commit import GroupCommit

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


def test_a_journal_says_which_line_breaks_the_chain(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with Journal(path) as journal:
        journal.append(EVENTS[:3])
        journal.append(EVENTS[3:])
        assert journal.head == read(texts())
    assert path.read_text().splitlines() == texts()
    path.write_text(path.read_text().replace('"yes"', '"no"'))
    with pytest.raises(LogError, match="line 4: it does not follow"):
        Journal(path)


def test_a_second_attempt_writes_the_same_texts() -> None:
    attempts: list[tuple[int, list[str]]] = []

    def write(first: int, lines: object) -> None:
        attempts.append((first, list(lines)))  # type: ignore[call-overload]
        if len(attempts) < 3:
            raise NotWrittenError("full")

    commit = GroupCommit(write, Head())
    for event in EVENTS[:2]:
        with pytest.raises(NotWrittenError):
            commit.wait(commit.put([event]))
        assert commit.head == Head()
    commit.wait(commit.put(EVENTS[2:]))
    assert [first for first, _ in attempts] == [0, 0, 0]
    assert attempts[2][1] == texts()
    assert attempts[1][1] == texts()[:2]
    assert commit.head == read(texts())
