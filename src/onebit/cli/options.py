"""The options of the commands, from the fields of the specs: defaults, help and checks stand there.

Here is what only a command line has: how an option is written, and which ones are given as files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

import typer
from typer.core import TyperArgument, TyperCommand

from onebit.errors import OptionError
from onebit.records import ANSWERS_PER_ITEM, SelectionSpec, StudySpec, TrainingSpec, WatchSpec
from onebit.records.option import options
from onebit.tables.formats import LOG_NAMES, NAMES

#: Options whose flag is not their name with dashes.
FLAGS = {"lease_seconds": "--lease", "candidates": "--candidate", "f_no": "--error-rates", "f_yes": "--error-rates"}
Spec = TypeVar("Spec", bound=StudySpec)
Function = TypeVar("Function", bound=Callable[..., None])


class TableCommand(TyperCommand):
    """A command that takes tables; its help calls them paths, and not by a type of Python."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        for each in self.params:
            if isinstance(each, TyperArgument) and each.nargs == -1:
                vars(each)["display_type_rich"] = lambda ctx: "<path>"


def flag(name: str) -> str:
    """An option as it is written in a command; what is no option stays as it is.

    >>> flag("gold_share"), flag("the number of rows")
    ('--gold-share', 'the number of rows')
    """
    if any(name in options(spec) for spec in (SelectionSpec, TrainingSpec, WatchSpec)):
        return FLAGS.get(name, f"--{name.replace('_', '-')}")
    return name


def option(name: str, spec: type[Any] = SelectionSpec, form: str = "", metavar: str | None = None) -> Any:
    """The option of a command for a field of a spec; ``form`` says what is given, where it is not the value itself."""
    default = getattr(spec, name)
    shows_default = isinstance(default, str | float | int) and default is not False and default != ""
    words = f"{options(spec)[name].help} {form}".strip()
    return typer.Option(flag(name), help=words, show_default=shows_default, metavar=metavar)


Tables = Annotated[
    list[Path],
    typer.Argument(
        metavar="TABLE",
        help=f"Predictions: {NAMES}; one row per item, one column per model. Or logs of {LOG_NAMES}, several at once.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Workers = Annotated[
    str,
    typer.Option(metavar="WORKERS", help="A number of processes, or the address of a Dask scheduler: tcp://HOST:PORT."),
]
Eps = Annotated[float | None, option("eps")]
Baseline = Annotated[str | None, option("baseline", metavar="MODEL")]
Candidates = Annotated[list[str] | None, option("candidates", metavar="MODEL")]
Margin = Annotated[float | None, option("margin")]
Top = Annotated[int | None, option("top", metavar="K")]
Tiers = Annotated[bool, option("tiers")]
Delta = Annotated[float, option("delta")]
Protocol = Annotated[str, option("protocol")]
TrainingProtocol = Annotated[str, option("protocol", TrainingSpec)]
Learner = Annotated[str, option("learner")]
Population = Annotated[str, option("population")]
Models = Annotated[str | None, option("models", metavar="PATTERN")]
Verdicts = Annotated[str | None, option("verdicts", metavar="PATTERN")]
Reference = Annotated[str | None, option("reference")]
Equal = Annotated[str, option("equal")]
OneAtATime = Annotated[bool, option("one_at_a_time")]
Empty = Annotated[str, option("empty")]
ErrorRates = Annotated[str | None, option("f_no", form=options(SelectionSpec)["f_yes"].help, metavar="F_NO,F_YES")]
Judge = Annotated[str | None, option("judge")]
Exhaustive = Annotated[bool, option("exhaustive")]
Target = Annotated[float | None, option("target", TrainingSpec)]
Audit = Annotated[int | None, option("audit", TrainingSpec)]
NoneOfThese = Annotated[bool, option("none_of_these", TrainingSpec)]
TrainingErrorRates = Annotated[
    str | None,
    option("f_no", TrainingSpec, form=options(TrainingSpec)["f_yes"].help, metavar="F_NO,F_YES"),
]
Budget = Annotated[int | None, option("budget")]
TrainingBudget = Annotated[
    int | None,
    typer.Option(
        flag("budget"),
        help=f"Maximum number of answers. Without it: {ANSWERS_PER_ITEM} for each item.",
        show_default=False,
    ),
]
Seed = Annotated[int | None, option("seed")]
Id = Annotated[str | None, option("id")]
Truth = Annotated[str | None, option("truth")]
Show = Annotated[list[str] | None, option("show", metavar="COLUMN")]
Long = Annotated[bool, option("long")]
Model = Annotated[str | None, option("model")]
Output = Annotated[str | None, option("output")]
Text = Annotated[list[str] | None, option("text", TrainingSpec, metavar="COLUMN")]
Labels = Annotated[Path | None, option("labels", form="A text file, one label per line.")]
TrainingLabels = Annotated[Path | None, option("labels", TrainingSpec, form="A text file, one label per line.")]
Overlap = Annotated[int, option("overlap")]
Lease = Annotated[float, option("lease_seconds")]
Instructions = Annotated[Path | None, option("instructions", form="A text file.")]
Descriptions = Annotated[Path | None, option("descriptions", form="A JSON file: an object from labels to texts.")]
Gold = Annotated[str | None, option("gold")]
GoldShare = Annotated[float | None, option("gold_share")]
RepeatShare = Annotated[float, option("repeat_share")]
Media = Annotated[str | None, option("media")]
MediaRoot = Annotated[Path | None, option("media_root")]
MediaHosts = Annotated[list[str] | None, option("media_hosts", metavar="HOST")]
Markdown = Annotated[bool, option("markdown")]


def of_a_selection(
    delta: Delta = SelectionSpec.delta,
    protocol: Protocol = SelectionSpec.protocol,
    population: Population = SelectionSpec.population,
    verdicts: Verdicts = None,
    id: Id = None,
    show: Show = None,
    models: Models = None,
    reference: Reference = None,
    equal: Equal = SelectionSpec.equal,
    empty: Empty = SelectionSpec.empty,
    labels: Labels = None,
    long: Long = SelectionSpec.long,
    model: Model = None,
    output: Output = None,
    error_rates: ErrorRates = None,
    exhaustive: Exhaustive = SelectionSpec.exhaustive,
    judge: Judge = None,
    budget: Budget = None,
    seed: Seed = None,
) -> None:
    """The options that every command has which makes a selection."""


def with_options(shared: Callable[..., None]) -> Callable[[Function], Function]:
    """A command that takes ``**options`` with the options of ``shared`` in their place, in its help too."""

    def extended(command: Function) -> Function:
        own = signature(command, eval_str=True)
        parameters: list[Parameter] = []
        for each in own.parameters.values():
            is_place = each.kind is Parameter.VAR_KEYWORD
            parameters += signature(shared, eval_str=True).parameters.values() if is_place else [each]

        @wraps(command)
        def run(**given: Any) -> None:
            command(**given)

        by_name = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in parameters]
        run.__signature__ = own.replace(parameters=by_name)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return cast(Function, run)

    return extended


def spec_of(kind: type[Spec], given: Mapping[str, Any]) -> Spec:
    """The spec from the arguments of a command, by the names of its fields; what is None was not given.

    The files of options are read. Raises OptionError.
    """
    chosen = {name: given[name] for name in options(kind) if given.get(name) is not None}
    if given.get("error_rates") is not None:
        chosen["f_no"], chosen["f_yes"] = _two_rates(given["error_rates"])
    for name, read in FILES.items():
        if name in chosen:
            chosen[name] = read(chosen[name])
    return kind(**chosen)


def read_labels(path: Path | None) -> tuple[str, ...] | None:
    """The labels in a text file, one per line; None without a file."""
    return None if path is None else tuple(line for line in _read("labels", path).splitlines() if line)


def _two_rates(text: str) -> tuple[float, float]:
    try:
        f_no, f_yes = (float(part) for part in text.split(","))
    except ValueError:
        raise OptionError("f_no", f"f_no is {text!r}; give two numbers with a comma, as in 0.1,0.02") from None
    return f_no, f_yes


def _descriptions(path: Path) -> dict[str, str]:
    content = _read("descriptions", path)
    try:
        found = json.loads(content)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise OptionError(
            "descriptions", f'{path} must hold one JSON object from labels to texts, as in {{"cat": "a pet"}}'
        )
    return found


def _read(name: str, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise OptionError(name, f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise OptionError(name, f"{path} is no text in UTF-8: {error}") from None


#: How the value of an option is read that is given as a path.
FILES: dict[str, Callable[[Path], Any]] = {
    "labels": read_labels,
    "descriptions": _descriptions,
    "instructions": lambda path: _read("instructions", path),
    "media_root": str,
}
