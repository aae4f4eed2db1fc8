"""The journal: durable lines, torn ends cut off, damage reported, one writer."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.study.runs import created

from onebit.log.events import Answered, Asked, Event, LogError
from onebit.log.journal import InUseError, Journal, NotWrittenError
from onebit.records import Answer, Question

EVENTS: list[Event] = [
    created(),
    Asked(Question(0, 5, 1, 0.25, 0)),
    Answered(0, Answer.YES),
    Asked(Question(1, 6, 2, 0.5, 0)),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Journal(tmp_path / "log.jsonl") as journal:
        assert journal.events == ()
        journal.append(EVENTS[:2])
        journal.append(EVENTS[2:])
    return tmp_path / "log.jsonl"


def test_keeps_events_in_order(path: Path) -> None:
    with Journal(path) as journal:
        assert list(journal.events) == EVENTS
    assert [json.loads(line)["event"] for line in path.read_text().splitlines()] == [
        "created",
        "asked",
        "answered",
        "asked",
    ]


def test_a_file_cut_at_any_byte_keeps_its_whole_lines_and_goes_on(path: Path) -> None:
    content = path.read_bytes()
    for size in range(len(content)):
        path.write_bytes(content[:size])
        whole = content[:size].count(b"\n")
        with Journal(path) as journal:
            assert list(journal.events) == EVENTS[:whole]
            journal.append(EVENTS[whole:])
        assert path.read_bytes() == content


def test_a_torn_end_of_zeros_is_cut_off(path: Path) -> None:
    with path.open("ab") as file:
        file.write(bytes(100))
    with Journal(path) as journal:
        assert list(journal.events) == EVENTS


@pytest.mark.parametrize(
    ("line", "content", "said"),
    [
        (2, b'{"event": "asked"', "line 2: it is not JSON"),
        (2, b"\xff\xfe", "line 2: it is not JSON"),
        (3, b'{"event": "asked"}', "line 3: .*'id' is missing"),
        (4, b'{"event": "asked"}', "first 3 lines"),
        (1, b'{"event": "offered", "id": 0, "rater": null}', "line 1: the first event"),
    ],
)
def test_damage_before_the_end_says_where_and_what_to_do(path: Path, line: int, content: bytes, said: str) -> None:
    lines = path.read_bytes().splitlines()
    lines[line - 1] = content
    path.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(LogError, match=said):
        Journal(path)
    # It let go of the lock, and touched nothing.
    assert path.read_bytes().splitlines() == lines


def test_a_second_process_is_told_and_a_dead_one_is_no_obstacle(path: Path) -> None:
    code = (
        f"import sys; from onebit.log.journal import Journal; journal = Journal({str(path)!r}); "
        "print(1, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "1\n"
        with pytest.raises(InUseError, match="another process is writing"):
            Journal(path)
        other.kill()
        other.wait()
    Journal(path).close()


def test_a_full_disk_loses_nothing_and_the_same_call_works_later(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, real = path.read_bytes(), os.write
    with Journal(path) as journal:

        def full(file: int, data: memoryview) -> int:
            real(file, data[:10])
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(NotWrittenError, match="No space left"):
            journal.append([Answered(1, Answer.NO)])
        monkeypatch.undo()
        journal.append([Answered(1, Answer.NO)])
    assert path.read_bytes().startswith(before)
    with Journal(path) as journal:
        assert list(journal.events) == [*EVENTS, Answered(1, Answer.NO)]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotWrittenError, match="No such file"):
        Journal(tmp_path / "nowhere" / "log.jsonl")
