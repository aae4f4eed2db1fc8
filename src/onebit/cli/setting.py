"""From options to a setting: what cannot mean anything is refused before anything is read or written."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, get_args

from onebit.errors import InvalidInputError, check_count, check_fraction
from onebit.log.events import SelectorName
from onebit.randomness import given_or_fresh
from onebit.records import AskingProtocol, Population, Setting

#: Help of ``--seed`` wherever something is promised.
SEED_HELP = (
    "For replay and simulation only: by default it is drawn from the operating system and recorded, and what is "
    "promised rests on that."
)
#: Help of ``--exhaustive``.
EXHAUSTIVE_HELP = (
    "Every item's right label is one of the labels; then the last that is left need not be asked (follow-up only)."
)


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
    check_fraction("--eps", eps)
    check_fraction("--delta", delta)
    if seed is not None:
        check_count("--seed", seed, least=0)
    if budget is not None:
        check_count("--budget", budget)
    for option, value, known in (("--protocol", protocol, AskingProtocol), ("--population", population, Population)):
        if value not in get_args(known):
            raise InvalidInputError(f"{option} is {value!r}; it must be one of {', '.join(get_args(known))}")
    f_no, f_yes = _rates(error_rates)
    if f_no + f_yes > 0 and protocol != "one-shot":
        raise InvalidInputError(
            f"--error-rates with --protocol {protocol}: it cannot allow for errors; use one-shot for raters who err"
        )
    if exhaustive and protocol != "follow-up":
        raise InvalidInputError(
            f"--exhaustive with --protocol {protocol}: it says that the last label need not be asked, and only "
            "follow-up asks one label after another; leave it out, or use --protocol follow-up"
        )
    chosen: Any = {"protocol": protocol, "population": population}
    number, is_given = given_or_fresh(seed)
    rest: Any = {"f_no": f_no, "f_yes": f_yes, "exhaustive": exhaustive, "seed_given": is_given}
    return Setting(eps=eps, delta=delta, budget=budget, seed=number, **rest, **chosen)


def _rates(text: str | None) -> tuple[float, float]:
    if text is None:
        return 0.0, 0.0
    try:
        f_no, f_yes = (float(part) for part in text.split(","))
    except ValueError:
        raise InvalidInputError(f"--error-rates is {text!r}; give two numbers with a comma, as in 0.1,0.02") from None
    if not (f_no >= 0 and f_yes >= 0 and f_no + f_yes < 1):
        raise InvalidInputError(
            f"--error-rates is {text!r}; both must be at least 0 and together below 1, or a yes says nothing"
        )
    return f_no, f_yes


def check_learner(learner: str, setting: Setting) -> SelectorName:
    """The learner, unless there is none of that name or it cannot have this setting."""
    if learner not in get_args(SelectorName):
        raise InvalidInputError(f"--learner is {learner!r}; it must be one of {', '.join(get_args(SelectorName))}")
    if learner != "certified" and setting.protocol != "one-shot":
        raise InvalidInputError(
            f"--learner {learner} with --protocol {setting.protocol}: it asks one yes/no question about each example "
            "and nothing else; leave --protocol out, or use --learner certified"
        )
    if learner != "certified" and setting.f_no + setting.f_yes > 0:
        raise InvalidInputError(
            f"--learner {learner} with --error-rates: only --learner certified can allow for errors"
        )
    name: Any = learner
    return name  # type: ignore[no-any-return]


def check_can_ask(setting: Setting) -> None:
    """Refuse what a person at a terminal cannot be asked, or to ask where there is no terminal."""
    if setting.protocol == "labels":
        raise InvalidInputError(
            "--protocol labels asks for the label itself, and the terminal takes yes and no; give --truth to simulate, "
            "or use --protocol follow-up"
        )
    if not sys.stdin.isatty():
        raise InvalidInputError("there is no terminal to ask at; give --truth COLUMN to simulate raters")


def read_labels(path: Path | None) -> tuple[str, ...] | None:
    """The labels in a text file, one a line; None without a file."""
    if path is None:
        return None
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"--labels is {path}, which cannot be read as UTF-8 text: {error}") from None
    return tuple(line for line in lines if line)
