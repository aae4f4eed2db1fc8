"""Who answers a study: a person at the terminal, one key per answer, or simulated raters."""

from __future__ import annotations

import getpass
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel

from onebit.cli.keyboard import (
    ANSWERS,
    KEYS,
    KEYS_WITH_NONE,
    NONE_KEY,
    QUIT,
    UNDO,
    check_terminal,
    forget_keys,
    single_keys,
)
from onebit.cli.terminal import plain
from onebit.errors import InvalidInputError
from onebit.records import Answer, Status

if TYPE_CHECKING:
    from onebit.study.study import Offer, Study

#: Seconds between looks whether others have answered.
LOOK_AGAIN = 1.0
#: Least seconds between two looks at the status while raters are simulated.
REFRESH = 0.5


def simulate(study: Study, console: Console) -> None:
    """Let simulated raters answer to the end, or until somebody stops it; a line shows how far it is."""
    status, look_at = _StatusLine(study), 0.0
    with console.status("asking simulated raters") if console.is_terminal else nullcontext() as line:

        def look() -> None:
            nonlocal look_at
            if line is not None and (now := time.monotonic()) > look_at:
                line.update(escape(status.in_words()))
                # A look costs something, so it is a small part of the time.
                look_at = time.monotonic() + max(REFRESH, 10 * (time.monotonic() - now))

        try:
            study.simulate(observe=look)
        except KeyboardInterrupt:
            console.print("stopped; the same command goes on")


def answer_at_terminal(study: Study, console: Console, rater: str | None = None) -> None:
    """Ask a person until nothing is left to ask, or the person quits; by default called by the user's name."""
    from onebit.study.rehearsal import Rehearsal
    from onebit.study.study import Undo

    check_terminal("run this where you can type")
    if study.created.setting.protocol == "labels":
        raise InvalidInputError("this study asks for the labels themselves, and the terminal takes yes and no")
    who, status = rater or getpass.getuser(), _StatusLine(study)
    if study.about.instructions:
        console.print(Panel(escape(plain(study.about.instructions)), title="Instructions", title_align="left"))
    answered: list[Offer] = []
    answers = ANSWERS | ({NONE_KEY: Answer.NONE} if study.kind.takes_none else {})
    with single_keys() as key, Rehearsal(study.kind) as rehearsal, _looking_ahead(study) as look_ahead:
        while (offer := _next(study, who, console)) is not None:
            forget_keys()
            _show(study, offer, status.in_words(), console)
            # While the first question is read.
            rehearsal.start()
            look_ahead()
            while (pressed := key()) not in answers and pressed not in UNDO and pressed not in QUIT:
                pass
            if pressed in QUIT:
                return
            if pressed in answers:
                study.tell(offer, answers[pressed])
                answered.append(offer)
                console.print(f"  {answers[pressed].value}\n")
            elif (last := answered.pop() if answered else study.last_answered(who)) is None:
                console.print("  there is no answer to take back\n")
            else:
                became = study.undo(last)
                console.print(f"  {became.value}\n" if became is Undo.DISPUTED else "  taken back\n")


@contextmanager
def _looking_ahead(study: Study) -> Iterator[Callable[[], None]]:
    """What begins to work out, in the background, how many answers it takes; it is stopped at the end."""
    stopped = threading.Event()
    thread = threading.Thread(target=study.look_ahead, kwargs={"is_stopped": stopped.is_set}, name="looking ahead")

    def begin() -> None:
        if thread.ident is None:
            thread.start()

    try:
        yield begin
    finally:
        stopped.set()
        if thread.ident is not None:
            thread.join()


def _next(study: Study, rater: str, console: Console) -> Offer | None:
    told = False
    while (asked := study.ask(rater)) is Status.WAIT:
        if not told:
            console.print("  waiting for others ...", highlight=False)
            told = True
        time.sleep(LOOK_AGAIN)
    return None if isinstance(asked, Status) else asked


def _show(study: Study, offer: Offer, status: str, console: Console) -> None:
    item = study.item(offer.item)
    lines = [f"[dim]{escape(plain(name))}[/] {escape(plain(text))}" for name, text in item.shown.items()]
    label = None if offer.label is None else study.items.label(offer.label)
    if label is not None and not study.about.is_open:
        lines.append(f"Is [b]{escape(plain(label.name))}[/] right?")
        if label.description:
            lines.append(f"[dim]{escape(plain(label.description))}[/]")
    console.print(Panel("\n".join(lines), title=f"item {escape(plain(item.id))}", title_align="left", padding=(0, 1)))
    if label is not None and study.about.is_open:
        text = escape(plain(label.name)) or "[dim](empty)[/]"
        console.print(Panel(text, title="answer", title_align="left", padding=(0, 1)))
        console.print("Is this answer right?", highlight=False)
    keys = KEYS_WITH_NONE if study.kind.takes_none else KEYS
    console.print(f"  [dim]{escape(plain(status))}[/]\n  {keys}", highlight=False)


class _StatusLine:
    """Where a study is, in one line; what is costly is looked up anew only when an epoch has closed."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._n_epochs = -1
        self._standing = ""

    def in_words(self) -> str:
        view = self._study.view
        if view.n_epochs != self._n_epochs:
            self._n_epochs = view.n_epochs
            self._standing = self._study.status().in_a_line()
        return f"{len(view.answers):,} answers so far{self._standing}"
