"""A person at the terminal who answers a study: one key an answer."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel

from onebit.cli.terminal import ANSWERS, KEYS, QUIT, UNDO, single_keys
from onebit.errors import InvalidInputError
from onebit.records import Status

if TYPE_CHECKING:
    from onebit.study.study import Offer, Study

#: Seconds between looks whether others have answered.
LOOK_AGAIN = 1.0


def answer_at_terminal(study: Study, rater: str, console: Console) -> None:
    """Ask a person until nothing is left to ask, or the person quits."""
    from onebit.study.study import Undo

    if not sys.stdin.isatty():
        raise InvalidInputError("there is no terminal to ask at; run this where you can type")
    if study.created.setting.protocol == "labels":
        raise InvalidInputError("this study asks for the labels themselves, and the terminal takes yes and no")
    if study.about.instructions:
        console.print(Panel(escape(study.about.instructions), title="Instructions", title_align="left"))
    answered: list[Offer] = []
    with single_keys() as key:
        while (offer := _next(study, rater, console)) is not None:
            _show(study, offer, console)
            while (pressed := key()) not in ANSWERS and pressed not in UNDO and pressed not in QUIT:
                pass
            if pressed in QUIT:
                return
            if pressed in ANSWERS:
                study.tell(offer, ANSWERS[pressed])
                answered.append(offer)
                console.print(f"  {ANSWERS[pressed].value}\n")
            elif not answered:
                console.print("  there is no answer to take back\n")
            else:
                became = study.undo(answered.pop())
                console.print(f"  {became.value}\n" if became is Undo.DISPUTED else "  taken back\n")


def _next(study: Study, rater: str, console: Console) -> Offer | None:
    told = False
    while (asked := study.ask(rater)) is Status.WAIT:
        if not told:
            console.print("  waiting for others ...", highlight=False)
            told = True
        time.sleep(LOOK_AGAIN)
    return None if isinstance(asked, Status) else asked


def _show(study: Study, offer: Offer, console: Console) -> None:
    item = study.item(offer.item)
    lines = [f"[dim]{escape(name)}[/] {escape(text)}" for name, text in item.shown.items()]
    if offer.label is not None:
        label = study.about.labels[offer.label]
        lines.append(f"Is [b]{escape(label.name)}[/] right?")
        if label.description:
            lines.append(f"[dim]{escape(label.description)}[/]")
    console.print(Panel("\n".join(lines), title=f"item {escape(item.id)}", title_align="left", padding=(0, 1)))
    console.print(f"  {KEYS}", highlight=False)
