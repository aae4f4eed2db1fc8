"""A person at the terminal who trains a classifier: one key an answer, each kept in a file before the next question.

What is asked follows from the data, the options and the answers. So going on, and going on without the last answer,
are both the same run anew, in which only what the file does not hold is asked.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel

from onebit.cli.terminal import ANSWERS, KEYS, QUIT, UNDO
from onebit.errors import InvalidInputError
from onebit.randomness import given_or_fresh
from onebit.records import Answer
from onebit.tables.data import Data

VERSION = 2


class TakenBackError(Exception):
    """The last answer was taken back; what followed from it must be done anew."""


class QuitError(Exception):
    """The person wants to go on later."""


class AnswersFile:
    """The answers so far, by row (from 0) and label; a line of JSON each, on the disk before it counts.

    ``seed`` is the one that the file was begun with: what is asked follows from it, so going on needs the same. A new
    file is begun with the one given, or with one that is drawn.
    """

    def __init__(self, path: Path, digest: str, seed: int | None = None) -> None:
        self._path, self.known = path, dict[tuple[int, str], Answer]()
        try:
            self._file = path.open("a+b")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise InvalidInputError(
                f"{path} is being written by another onebit learn; let that one end first"
            ) from None
        except OSError as error:
            raise InvalidInputError(f"{path} cannot be written: {error.strerror}") from error
        try:
            self.seed = self._read(digest, seed)
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        self._file.close()

    def add(self, row: int, label: str, answer: Answer) -> None:
        self._append({"row": row, "label": label, "answer": answer.value})
        self.known[row, label] = answer

    def take_back(self) -> bool:
        """Take the last answer back; False if there is none."""
        if not self.known:
            return False
        row, label = next(reversed(self.known))
        self._append({"row": row, "label": label, "answer": None})
        del self.known[row, label]
        return True

    def _append(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self, digest: str, seed: int | None) -> int:
        """Take in the answers; the seed of the file."""
        self._file.seek(0)
        lines = self._file.read().split(b"\n")
        # What a crash left of a last line was never an answer.
        if torn := lines.pop():
            self._file.truncate(self._file.tell() - len(torn))
        if not lines:
            number, is_given = given_or_fresh(seed)
            self._append({"version": VERSION, "data": digest, "seed": number, "seed_given": is_given})
            return number
        about = self._parsed(1, lines[0])
        if about.get("version") != VERSION:
            raise InvalidInputError(
                f"{self._path} was written by another version of onebit; finish it with that one, or begin another "
                "file with --answers"
            )
        if about.get("data") != digest:
            raise InvalidInputError(
                f"{self._path} has the answers about other data; give the same data, or another file with --answers"
            )
        kept = about.get("seed")
        if not isinstance(kept, int):
            self._fail(1)
        if seed not in (None, kept):
            raise InvalidInputError(
                f"--seed is {seed}, and the answers in {self._path} belong to the seed {kept}, which decides what is "
                "asked; leave --seed out, or begin another file with --answers"
            )
        for number, line in enumerate(lines[1:], start=2):
            self._take_in(number, self._parsed(number, line))
        return kept

    def _parsed(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            parsed = json.loads(line)
        except ValueError:
            parsed = None
        return parsed if isinstance(parsed, dict) else self._fail(number)

    def _take_in(self, number: int, said: dict[str, Any]) -> None:
        try:
            key = int(said["row"]), str(said["label"])
            answer = None if said["answer"] is None else Answer(said["answer"])
        except (ValueError, KeyError, TypeError):
            self._fail(number)
        # The order is that of time, also where an answer was taken back and given again.
        self.known.pop(key, None)
        if answer is not None:
            self.known[key] = answer

    def _fail(self, number: int) -> NoReturn:
        raise InvalidInputError(f"{self._path}, line {number} is damaged; restore the file, or move it away")


class Person:
    """Answers from the file what it holds, and asks at the terminal for the rest."""

    def __init__(
        self, data: Data, kept: AnswersFile, key: Callable[[], str], status: Callable[[], str], console: Console
    ) -> None:
        self._data, self._kept, self._key, self._status, self._console = data, kept, key, status, console

    def __call__(self, row: int, label: str) -> Answer:
        if (row, label) in self._kept.known:
            return self._kept.known[row, label]
        # What was pressed before the question is seen is no answer to it.
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        self._show(row, label)
        while (pressed := self._key()) not in ANSWERS:
            if pressed in QUIT:
                raise QuitError
            if pressed in UNDO:
                if self._kept.take_back():
                    self._console.print("  taken back\n")
                    raise TakenBackError
                self._console.print("  there is no answer to take back\n")
        self._kept.add(row, label, ANSWERS[pressed])
        self._console.print(f"  {ANSWERS[pressed].value}\n")
        return ANSWERS[pressed]

    def _show(self, row: int, label: str) -> None:
        lines = [f"[dim]{escape(name)}[/] {escape(text)}" for name, text in self._data.shown(row).items()]
        lines.append(f"Is [b]{escape(label)}[/] right?")
        title = f"item {escape(self._data.item_id(row))}"
        self._console.print(Panel("\n".join(lines), title=title, title_align="left", padding=(0, 1)))
        self._console.print(f"  [dim]{escape(self._status())}[/]\n  {KEYS}", highlight=False)


def check_can_ask(data: Data) -> None:
    """Refuse to ask where there is no terminal, or about an example of which nothing can be shown."""
    if not sys.stdin.isatty():
        raise InvalidInputError("there is no terminal to ask at; give --label COLUMN to simulate raters")
    if not data.shown(0):
        raise InvalidInputError(
            "there is nothing to show to a person; name columns to show with --show, or with --text"
        )
