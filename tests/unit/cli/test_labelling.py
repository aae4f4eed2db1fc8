"""``onebit learn`` asking a person, through a pseudo-terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.unit.cli.notes import write_texts

PATIENCE = 60.0


class Person:
    """Sits at a terminal in front of ``onebit learn``, and knows which notes are about cats."""

    QUESTION = re.compile(r"item k(\d+) .*?it (\w+) and.*?Is (\w+) right\?.*?go on later", re.DOTALL)

    def __init__(self, folder: Path, data: Path) -> None:
        (folder / "labels.txt").write_text("cat\ndog\n")
        command = [
            sys.executable,
            "-c",
            "from onebit.cli.main import main; main()",
            "learn",
            str(data),
            "--text",
            "note",
        ]
        command += ["--id", "key", "--labels", str(folder / "labels.txt"), "--budget", "24", "--json"]
        self._master, slave = pty.openpty()
        environment = {**os.environ, "TERM": "dumb", "COLUMNS": "100", "NO_COLOR": "1"}
        self._process = subprocess.Popen(command, stdin=slave, stderr=slave, stdout=subprocess.PIPE, env=environment)
        os.close(slave)
        self.screen = ""

    def question(self) -> tuple[str, bool] | None:
        """The item and whether its label is right; None when it is over."""
        end = time.monotonic() + PATIENCE
        while not (found := self.QUESTION.search(self.screen)):
            assert time.monotonic() < end, self.screen
            try:
                self.screen += os.read(self._master, 4096).decode(errors="replace")
            except OSError:
                return None
        self.screen = self.screen[found.end() :]
        return found[1], (found[2] == "purrs") == (found[3] == "cat")

    def press(self, key: str) -> None:
        os.write(self._master, key.encode())

    def output(self) -> dict[str, Any]:
        printed, _ = self._process.communicate(timeout=PATIENCE)
        os.close(self._master)
        assert self._process.returncode == 0, self.screen
        told: dict[str, Any] = json.loads(printed)
        return told


def test_a_person_answers_takes_back_quits_and_goes_on(tmp_path: Path) -> None:
    data = write_texts(tmp_path)
    person = Person(tmp_path, data)
    asked = [person.question()]
    person.press("n")
    asked.append(person.question())
    person.press("\x7f")
    assert person.question() == asked[0], "what was taken back is asked again"
    for _ in range(5):
        assert asked[0] is not None
        person.press("y" if asked[0][1] else "n")
        asked = [person.question()]
    person.press("q")
    stopped = person.output()
    assert (stopped["status"], stopped["n_answers"], stopped["model"]) == ("running", 5, None)

    person = Person(tmp_path, data)
    n_more = 0
    while (now := person.question()) is not None:
        if n_more == 0:
            assert now == asked[0], "it goes on with the question that was open"
        person.press("y" if now[1] else "n")
        n_more += 1
    figures = person.output()
    assert n_more == 24 - 5
    assert (figures["n_answers"], figures["accuracy"], figures["n_held_out"]) == (24, None, 0)
    assert Path(figures["model"]).is_file()
