"""Single keys from the terminal, and what each of them means."""

from __future__ import annotations

import os
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from onebit.errors import InvalidInputError
from onebit.records import Answer

ANSWERS = {"y": Answer.YES, "n": Answer.NO, " ": Answer.CANT_TELL}
UNDO, QUIT = ("\x7f", "\x08"), ("q", "\x03", "\x04", "")
#: Where a study allows it.
NONE_KEY = "x"
KEYS = "[b]y[/] yes  [b]n[/] no  [b]space[/] can't tell  [b]backspace[/] undo  [b]q[/] quit, and go on later"
KEYS_WITH_NONE = KEYS.replace("  [b]backspace", f"  [b]{NONE_KEY}[/] none of these  [b]backspace")


def check_terminal(instead: str) -> None:
    """InvalidInputError where there is no terminal to ask at; ``instead`` says what to do then."""
    if not sys.stdin.isatty():
        raise InvalidInputError(f"there is no terminal to ask at; {instead}")


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


def forget_keys() -> None:
    """Drop what was pressed before a question was seen: it is no answer to it."""
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
