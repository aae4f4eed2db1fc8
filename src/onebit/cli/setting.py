"""From the options of ``onebit select`` to a setting."""

from __future__ import annotations

import sys
from typing import Any

from onebit.cli.options import read_labels as read_labels
from onebit.cli.options import spec_of
from onebit.errors import InvalidInputError
from onebit.records import SelectionSpec, SelectorName, Setting
from onebit.records.option import options

SEED_HELP, EXHAUSTIVE_HELP = (options(SelectionSpec)[name].help for name in ("seed", "exhaustive"))


def make_setting(
    eps: float,
    delta: float,
    protocol: str,
    population: str,
    budget: int | None,
    seed: int | None,
    error_rates: str | None,
    exhaustive: bool = False,
) -> Setting:
    """The setting, after all checks that need no table."""
    return spec_of(SelectionSpec, locals()).setting()


def check_learner(learner: str, setting: Setting) -> SelectorName:
    """The learner, unless there is none of that name or it cannot have this setting."""
    given: Any = {"learner": learner, "protocol": setting.protocol, "f_no": setting.f_no, "f_yes": setting.f_yes}
    return SelectionSpec(**given).learner


def check_can_ask(setting: Setting) -> None:
    """Refuse what a person at a terminal cannot be asked, or to ask where there is no terminal."""
    if setting.protocol == "labels":
        raise InvalidInputError(
            "--protocol labels asks for the label itself, and the terminal takes yes and no; give --truth to simulate, "
            "or use --protocol follow-up"
        )
    if not sys.stdin.isatty():
        raise InvalidInputError("there is no terminal to ask at; give --truth COLUMN to simulate raters")
