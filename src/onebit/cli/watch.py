"""``onebit watch`` and ``onebit study watch``: is the choice of a finished study still within eps on fresh items?

The answer is one line or one JSON object, and an exit code.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from onebit.cli import options as opt
from onebit.cli.answering import answer_at_terminal, simulate
from onebit.cli.keyboard import check_terminal
from onebit.cli.progress import progress_bar
from onebit.cli.select import SimulatingTruth
from onebit.cli.study import Name, Storage, say
from onebit.cli.terminal import plain
from onebit.records import WatchSpec
from onebit.tables.formats import LOG_NAMES, NAMES

if TYPE_CHECKING:
    from onebit.study.kinds.watch.kind import WatchStatus

#: What a command ends with. 1 is left to what nobody foresaw, and 2 to what was refused.
QUIET, ALARM = 0, 5
Answers = Annotated[int, opt.option("answers", WatchSpec)]
FalseAlarmEvery = Annotated[float | None, opt.option("false_alarm_every", WatchSpec)]
Fresh = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[TABLE]...",
        help=f"Fresh items: {NAMES}; one column per model. Or logs of {LOG_NAMES}. Without it: the last batch goes on.",
    ),
]
Verify = Annotated[bool, typer.Option("--verify", help="Recompute every batch and its links instead; 1 if wrong.")]


def watch(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder --out of onebit select.")],
    table: Fresh = None,
    answers: Answers = WatchSpec.answers,
    false_alarm_every: FalseAlarmEvery = None,
    truth: SimulatingTruth = None,
    verdicts: opt.Verdicts = None,
    id: opt.Id = None,
    show: opt.Show = None,
    models: opt.Models = None,
    reference: opt.Reference = None,
    equal: opt.Equal = WatchSpec.equal,
    empty: opt.Empty = WatchSpec.empty,
    long: opt.Long = WatchSpec.long,
    model: opt.Model = None,
    output: opt.Output = None,
    seed: opt.Seed = None,
    verify: Verify = False,
    as_json: opt.AsJson = False,
) -> None:
    """Watch the choice of a finished selection on fresh items: a few answers per batch, and an alarm if it has changed.

    Each TABLE is one batch, a day's items say, with the choice and its rivals as columns. With --truth or --verdicts
    raters are simulated; otherwise you are asked, as by `onebit select`. Without a TABLE the last batch goes on where
    it was left.

    Exit code 0: no alarm. 5: an alarm; the choice is no longer within eps of a rival. 2: something was refused.
    """
    from onebit.study.folder import StudyFolder

    place = StudyFolder(folder)
    spec = opt.spec_of(WatchSpec, locals())
    if verify:
        _verify(place.storage, place.name())
        return
    if table and truth is None and verdicts is None:
        check_terminal("give --truth COLUMN or --verdicts 'right_*' to simulate raters")
    console = Console(stderr=True)
    if table:
        begin(place.storage, place.name(), spec, table)
    _tell(_answered(place.storage, place.name(), console), as_json)


def study_watch(
    name: Name,
    table: Fresh = None,
    storage: Storage = None,
    answers: Answers = WatchSpec.answers,
    false_alarm_every: FalseAlarmEvery = None,
    id: opt.Id = None,
    truth: opt.Truth = None,
    show: opt.Show = None,
    models: opt.Models = None,
    reference: opt.Reference = None,
    equal: opt.Equal = WatchSpec.equal,
    empty: opt.Empty = WatchSpec.empty,
    one_at_a_time: opt.OneAtATime = WatchSpec.one_at_a_time,
    long: opt.Long = WatchSpec.long,
    model: opt.Model = None,
    output: opt.Output = None,
    instructions: opt.Instructions = None,
    overlap: opt.Overlap = WatchSpec.overlap,
    lease_seconds: opt.Lease = WatchSpec.lease_seconds,
    seed: opt.Seed = None,
    verify: Verify = False,
    as_json: opt.AsJson = False,
) -> None:
    """Watch the choice of a finished study on fresh items that raters judge; without a TABLE, tell how it stands.

    A TABLE becomes a study of its own beside the one that is watched, called "NAME watch 1" and so on, which raters
    answer as any other.

    Exit codes as of `onebit watch`: 0 no alarm, 5 an alarm, 2 something was refused.
    """
    from onebit.study.opening import storage_url

    spec, url = opt.spec_of(WatchSpec, locals()), storage_url(storage)
    if verify:
        _verify(url, name)
        return
    if table:
        say(f"The batch is the study {begin(url, name, spec, table, simulates=False)}; raters answer it.")
        return
    _tell(_standing(url, name), as_json)


def begin(storage: str, name: str, spec: WatchSpec, table: list[Path], simulates: bool = True) -> str:
    """Make the next batch of the watch of a study; what it is called."""
    from onebit.store.store import Store
    from onebit.study.kinds.selection.making import read_models
    from onebit.study.kinds.watch.chain import Watch
    from onebit.study.kinds.watch.making import read

    with progress_bar("reading the table") as reading:
        found, spec = (read_models(spec, table, reading), spec) if simulates else read(spec, table, reading)
    for note in found.notes:
        say(f"Note: {note}.")
    with Store(storage) as store:
        simulated = simulates and (found.truth is not None or found.verdicts is not None)
        return Watch(store, name).begin(spec, found, simulated).name


def _answered(storage: str, name: str, console: Console) -> WatchStatus:
    """Ask until the last batch is answered, or somebody stops it; how the watch stands then."""
    from onebit.store.store import Store
    from onebit.study.kinds.watch.chain import Watch

    with Watch(Store(storage), name).open_last() as study:
        if not study.is_over:
            (simulate if study.created.simulated else answer_at_terminal)(study, console)
        status: Any = study.status()
        return status  # type: ignore[no-any-return]


def _standing(storage: str, name: str) -> WatchStatus:
    from onebit.store.store import Store
    from onebit.study.kinds.watch.chain import Watch

    with Watch(Store(storage), name).open_last(read_only=True) as study:
        status: Any = study.status()
        return status  # type: ignore[no-any-return]


def _verify(storage: str, name: str) -> None:
    from onebit.study.kinds.watch.chain import verify_watch

    with progress_bar("recomputing the batches"):
        problems = verify_watch(storage, name)
    if problems:
        print(plain("\n".join(["What is claimed does not hold:", *(f"- {each}" for each in problems)])))
        raise typer.Exit(1)
    print("Verified: every batch, and that each goes on from the one before.")


def _tell(status: WatchStatus, as_json: bool) -> None:
    """Print how the watch stands, and end with its exit code."""
    from onebit.study.kinds.watch import words

    code = ALARM if status.alarms else QUIET
    line = words.in_a_line(status)
    if as_json:
        told = asdict(status) | {"status": status.status.name.lower(), "safe_to_stop": status.is_safe_to_stop}
        print(json.dumps(told | {"verdict": "alarm" if code else "quiet", "exit_code": code, "line": line}))
    else:
        print(plain(line))
    raise typer.Exit(code)
