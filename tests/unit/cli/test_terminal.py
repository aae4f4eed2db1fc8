"""``onebit select`` asking a person, through a pseudo-terminal: answer, take back, quit, be killed, go on."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.tables import write_table
from typer.testing import CliRunner

from onebit.cli.main import app

COMMAND = [sys.executable, "-c", "from onebit.cli.main import main; main()", "select"]
PATIENCE = 60.0
QUESTION = re.compile(r"item (\w+) .*?item number (\d+).*?Is (\w+) right\?.*?go on later", re.DOTALL)
BACKSPACE = "\x7f"


class Person:
    """Sits at a terminal in front of ``onebit select`` and reads what it shows."""

    def __init__(self, table: Path, truth: dict[str, str], *options: str) -> None:
        self._truth = truth
        self._master, slave = pty.openpty()
        command = [*COMMAND, str(table), "--id", "key", "--show", "words", "--json", "--eps", "0.1", *options]
        environment = {**os.environ, "TERM": "dumb", "COLUMNS": "100", "NO_COLOR": "1"}
        self._process = subprocess.Popen(command, stdin=slave, stderr=slave, stdout=subprocess.PIPE, env=environment)
        os.close(slave)
        self._unread = ""
        self.screen = ""

    def question(self) -> tuple[str, str] | None:
        """The item and the label of the next question; None when the run is over."""
        end = time.monotonic() + PATIENCE
        while not (found := QUESTION.search(self._unread)):
            assert time.monotonic() < end, self.screen
            if not self._read() and self._process.poll() is not None:
                return None
        self._unread = self._unread[found.end() :]
        assert found[1] == f"k{found[2]}"
        return found[1], found[3]

    def press(self, key: str) -> None:
        os.write(self._master, key.encode())

    def answer(self, item: str, label: str) -> None:
        self.press("y" if self._truth[item] == label else "n")

    def answer_all(self) -> dict[str, Any]:
        """Answer rightly to the end; what is printed there."""
        while (asked := self.question()) is not None:
            self.answer(*asked)
        return self.output()

    def output(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        printed = self._process.stdout.read()
        self._process.stdout.close()
        assert self._process.wait(PATIENCE) == 0, self.screen
        os.close(self._master)
        told: dict[str, Any] = json.loads(printed)
        return told

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        os.close(self._master)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], 0.2)
        if not ready:
            return False
        try:
            text = os.read(self._master, 65536).decode(errors="replace")
        except OSError:  # The other end is gone.
            return False
        self._unread += text
        self.screen += text
        return bool(text)


@pytest.fixture
def votes(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A table without its truth, which the person knows; with it, it is in ``known.csv``."""
    path, truth = write_table(tmp_path, n_items=60)
    shutil.copy(path, tmp_path / "known.csv")
    rows = [line.split(",") for line in path.read_text().splitlines()]
    path.write_text("\n".join(",".join(row[:2] + row[3:]) for row in rows) + "\n")
    return path, truth


def told(figures: dict[str, Any]) -> dict[str, Any]:
    """What does not depend on the clock, on the truth, on who answers or on what was taken back."""
    others = ("seconds", "excess", "simulated", "promise", "n_events", "log_digest")
    return {key: value for key, value in figures.items() if key not in others}


def simulated(table: Path, *options: str) -> dict[str, Any]:
    """What an uninterrupted run prints, with raters who know the truth and are asked many questions at a time."""
    columns = ["--id", "key", "--show", "words", "--truth", "right"]
    shown = CliRunner().invoke(app, ["select", str(table), *columns, "--json", "--eps", "0.1", *options])
    figures: dict[str, Any] = json.loads(shown.stdout)
    return figures


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_take_back_quit_be_killed_and_go_on(votes: tuple[Path, dict[str, str]], tmp_path: Path, protocol: str) -> None:
    whole = simulated(tmp_path / "known.csv", "--protocol", protocol, "--seed", "0")
    assert (whole["chosen"], whole["status"]) == ("best", "certified")

    options = ("--protocol", protocol, "--seed", "0", "--out", str(tmp_path / "broken"))
    person = Person(*votes, *options)
    first = person.question()
    assert first is not None
    person.press("x")  # No answer, and nothing happens.
    person.press("n" if votes[1][first[0]] == first[1] else "y")
    person.question()
    person.press(BACKSPACE)
    assert person.question() == first
    assert "taken back" in person.screen
    person.answer(*first)
    for _ in range(4):
        asked = person.question()
        assert asked is not None
        person.answer(*asked)
    waiting = person.question()
    person.kill()

    person = Person(*votes, *options)
    assert person.question() == waiting
    person.press("q")
    stopped = person.output()
    assert stopped["status"] == "budget"
    assert stopped["reason"] == "it was stopped; the same command goes on with it"
    assert stopped["answers"] == 5

    finished = Person(*votes, *options).answer_all()
    assert told(finished) == told(whole)


def test_cant_tell_and_nothing_to_take_back(votes: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    person = Person(*votes, "--budget", "2")
    assert person.question() is not None
    person.press(BACKSPACE)
    assert person.question() is not None
    assert "there is no answer to take back" in person.screen
    person.press(" ")
    assert person.question() is not None
    assert "can't tell" in person.screen
    person.press("\x03")
    assert person.output()["answers"] == 1
    figures = json.loads((tmp_path / "votes" / "report.json").read_text())
    assert figures["cant_tell"] == 1
    assert figures["excess"] is None
    # What others would have cost is forecast when the run is over.
    assert {price["source"] for price in figures["prices"]} == {"counted on this table"}


def test_a_second_process_is_told_that_the_run_is_open(votes: tuple[Path, dict[str, str]]) -> None:
    person = Person(*votes)
    assert person.question() is not None
    second = Person(*votes)
    assert second.question() is None
    assert second._process.wait(PATIENCE) == 2
    assert "onebit: " in second.screen
    second.kill()
    person.kill()
