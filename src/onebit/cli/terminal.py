"""A person at the terminal as the rater: one key an answer."""

from __future__ import annotations

import os
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel

from onebit.errors import OnebitError
from onebit.log.recorder import Recorder
from onebit.records import Answer, Question, Status
from onebit.tables import ModelTable

ANSWERS = {"y": Answer.YES, "n": Answer.NO, " ": Answer.CANT_TELL}
UNDO, QUIT = ("\x7f", "\x08"), ("q", "\x03", "\x04", "")
KEYS = "[b]y[/] yes  [b]n[/] no  [b]space[/] can't tell  [b]backspace[/] undo  [b]q[/] quit, and go on later"


@contextmanager
def single_keys() -> Iterator[Callable[[], str]]:
    """Reads one key at a time from the terminal, which is set back at the end; "" when it is gone."""
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)

    def key() -> str:
        return os.read(keyboard, 1).decode("ascii", errors="replace")

    try:
        tty.setraw(keyboard, termios.TCSADRAIN)
        # Raw input, but output as before: line ends would not return the carriage.
        mode = termios.tcgetattr(keyboard)
        mode[1] = before[1]
        termios.tcsetattr(keyboard, termios.TCSADRAIN, mode)
        yield key
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


class TerminalRater:
    """Shows questions one after the other and records each answer as it is given."""

    def __init__(
        self,
        recorder: Recorder,
        table: ModelTable,
        row: Callable[[int], int],
        status: Callable[[], str],
        console: Console,
    ) -> None:
        self._recorder, self._table, self._row, self._status, self._console = recorder, table, row, status, console

    def run(self) -> bool:
        """Ask until there is nothing to ask (True), or the person quits (False)."""
        waiting: list[Question] = []
        with single_keys() as key:
            while True:
                question = waiting.pop() if waiting else self._next()
                if question is None:
                    return True
                # What was pressed before the question is seen is no answer to it.
                termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
                self._show(question)
                while (pressed := key()) not in ANSWERS and pressed not in UNDO and pressed not in QUIT:
                    pass
                if pressed in QUIT:
                    return False
                if pressed in ANSWERS:
                    self._recorder.tell(question.id, ANSWERS[pressed])
                    self._console.print(f"  {ANSWERS[pressed].value}\n")
                else:
                    waiting.append(question)
                    self._take_back(waiting)

    def _next(self) -> Question | None:
        asked = self._recorder.ask(1)
        return None if isinstance(asked, Status) else asked[0]

    def _take_back(self, waiting: list[Question]) -> None:
        """Take the last answer back, so that its question comes before the one that is shown now."""
        answered = list(self._recorder.answers)
        if not answered:
            self._console.print("  there is no answer to take back\n")
            return
        try:
            self._recorder.undo(answered[-1])
        except OnebitError as error:
            self._console.print(f"  {error}\n", markup=False, highlight=False)
            return
        self._console.print("  taken back\n")
        question = self._next()
        if question is not None:
            waiting.append(question)

    def _show(self, question: Question) -> None:
        row = self._row(question.item)
        shown = self._table.shown(row)
        lines = [f"[dim]{escape(name)}[/] {escape(text)}" for name, text in shown.items()]
        label = "" if question.label is None else self._table.labels[question.label]
        lines.append(f"Is [b]{escape(label)}[/] right?")
        console = self._console
        console.print(
            Panel(
                "\n".join(lines), title=f"item {escape(self._table.item_id(row))}", title_align="left", padding=(0, 1)
            )
        )
        console.print(f"  [dim]{escape(self._status())}[/]\n  {KEYS}", highlight=False)
