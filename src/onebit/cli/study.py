"""``onebit study``: studies that many raters answer, kept in a database."""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from onebit.cli import options as opt
from onebit.errors import InvalidInputError
from onebit.records import SelectionSpec, StudySpec

if TYPE_CHECKING:
    from onebit.tables import ModelTable
    from onebit.tables.data import Data

app = typer.Typer(
    name="study",
    help="Studies: many raters, for weeks, with nothing lost.",
    no_args_is_help=True,
    # Paragraphs are filled to the width of the terminal.
    rich_markup_mode="markdown",
)

Name = Annotated[str, typer.Argument(help="Name of the study.")]
Storage = Annotated[
    str | None,
    typer.Option(
        envvar="ONEBIT_STORAGE",
        help="Where studies are kept: sqlite:///FILE or postgresql://...  [default: sqlite:///onebit.db]",
        show_default=False,
    ),
]
#: What a trained classifier is written to.
MODEL_SUFFIX = ".skops"
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


@app.command()
def create(
    name: Name,
    table: Annotated[Path, typer.Argument(help="Predictions: CSV, Parquet, NPZ or JSONL; one column per model.")],
    storage: Storage = None,
    eps: opt.Eps = SelectionSpec.eps,
    delta: opt.Delta = SelectionSpec.delta,
    protocol: opt.Protocol = SelectionSpec.protocol,
    learner: opt.Learner = SelectionSpec.learner,
    population: opt.Population = SelectionSpec.population,
    id: opt.Id = None,
    truth: opt.Truth = None,
    show: opt.Show = None,
    labels: opt.Labels = None,
    descriptions: opt.Descriptions = None,
    instructions: opt.Instructions = None,
    image: opt.Image = None,
    image_root: opt.ImageRoot = None,
    error_rates: opt.ErrorRates = None,
    exhaustive: opt.Exhaustive = SelectionSpec.exhaustive,
    budget: opt.Budget = None,
    overlap: opt.Overlap = SelectionSpec.overlap,
    lease_seconds: opt.Lease = SelectionSpec.lease_seconds,
    gold: opt.Gold = None,
    gold_share: opt.GoldShare = None,
    repeat_share: opt.RepeatShare = SelectionSpec.repeat_share,
    seed: opt.Seed = None,
) -> None:
    """Make a study from a table of predictions; everything is checked before anything is written.

    Every column other than --id, --truth, --show, --image and --gold is a model. A column of right labels must be named
    with --truth or --gold, or it would be a model that is always right.
    """
    spec = opt.spec_of(SelectionSpec, locals())
    from onebit.study.source import read_models

    with progress_bar("reading the table") as reading:
        models, spec = read_models(spec, table, reading)
    create_study(storage, name, spec, models)
    say(f"The study {name} has {models.n_models} models, {models.n_items:,} items and {models.n_labels} labels.")


def create_study(storage: str | None, name: str, spec: StudySpec, source: ModelTable | Data) -> None:
    """Write a study, with a bar; the store is opened when all checks are passed."""
    from onebit.store.store import Store
    from onebit.study.creation import prepare
    from onebit.study.opening import storage_url

    new = prepare(spec, source)
    with progress_bar("writing the study") as writing, Store(storage_url(storage)) as store:
        new.write(store, name, writing)


def say(words: str) -> None:
    """A line on standard error, as it is."""
    Console(stderr=True).print(words, highlight=False, markup=False)


@app.command("list")
def list_studies(storage: Storage = None, as_json: AsJson = False) -> None:
    """List the studies of a store."""
    from onebit.store.store import Store
    from onebit.study.opening import storage_url

    with Store(storage_url(storage)) as store:
        entries = store.entries()
    if as_json:
        found = [{"name": each.name, "created_at": each.created_at, "n_events": each.n_events} for each in entries]
        print(json.dumps({"studies": found}))
        return
    table = Table("study", "created", "events")
    for entry in entries:
        table.add_row(entry.name, entry.created_at[:16].replace("T", " "), f"{entry.n_events:,}")
    Console().print(table)


@app.command()
def status(name: Name, storage: Storage = None, as_json: AsJson = False) -> None:
    """Show what is known: certified eps, survivors, forecast, raters. Works while the study is open elsewhere."""
    from onebit.cli.study_status import print_status
    from onebit.study.opening import load_study

    with load_study(name, storage=storage, read_only=True) as study:
        found = study.status()
    if as_json:
        print(json.dumps(asdict(found) | {"status": found.status.name.lower()}))
    else:
        print_status(found, Console())


@app.command()
def answer(
    name: Name,
    rater: Annotated[str | None, typer.Option(help="Your name.  [default: your user name]", show_default=False)] = None,
    storage: Storage = None,
) -> None:
    """Answer questions at the terminal: y, n, space for "can't tell", backspace takes back, q quits."""
    from onebit.cli.answering import answer_at_terminal
    from onebit.cli.study_status import print_status
    from onebit.study.opening import load_study

    with load_study(name, storage=storage) as study:
        answer_at_terminal(study, rater or getpass.getuser(), Console())
        print_status(study.status(), Console())


@app.command()
def export(
    name: Name,
    path: Annotated[Path, typer.Argument(help="New file: .csv, .jsonl or .parquet; .skops for the trained model.")],
    log: Annotated[bool, typer.Option("--log", help="Write all events instead of the verified labels.")] = False,
    anonymous: Annotated[bool, typer.Option("--anonymous", help="Number the raters instead of naming them.")] = False,
    storage: Storage = None,
) -> None:
    """Write the verified labels, the whole log, or the trained classifier to a file."""
    from onebit.study.export import export_study
    from onebit.study.opening import storage_url

    if path.suffix.lower() == MODEL_SUFFIX:
        from onebit.study.classifier import export_classifier

        if log or anonymous:
            raise InvalidInputError("--log and --anonymous are about answers, and a model holds none; leave them out")
        export_classifier(storage_url(storage), name, path)
        say(f"The model is in {path}")
        return
    n = export_study(storage_url(storage), name, path, "log" if log else "labels", anonymous)
    say(f"{n:,} rows are in {path}")


@app.command()
def verify(
    name: Name,
    storage: Storage = None,
    digest: Annotated[
        str | None,
        typer.Option(help="A digest of the log that was told before; it must be on its way.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Replay a study, recompute everything that it says, and compare. Exit code 1 if it does not hold.

    The certificate is recomputed independently of the learner.
    """
    from onebit.report.words import fraction
    from onebit.study.audit import verify_study
    from onebit.study.opening import storage_url

    with progress_bar("recomputing the certificate") as recomputing:
        found = verify_study(storage_url(storage), name, recomputing, digest)
    if as_json:
        print(json.dumps(asdict(found)))
    elif found.ok:
        shown = ""
        if found.verdict is not None:
            told, again = found.stated_eps, fraction(found.verdict.certified_eps)
            shown = (
                " Nothing is certified." if told is None else f" Certified is {fraction(told)} (recomputed: {again})."
            )
        if found.accuracy is not None:
            shown = " The accuracy is between {:.3f} and {:.3f}.".format(*found.accuracy)
        Console().print(
            f"{found.n_events:,} events were replayed and all is as the study says.{shown}",
            highlight=False,
            soft_wrap=True,
        )
        Console().print(f"Log: {found.n_events:,} events, digest {found.log_digest}", highlight=False, soft_wrap=True)
    else:
        for problem in found.problems:
            Console().print(problem, highlight=False, markup=False)
    if not found.ok:
        raise typer.Exit(1)


@app.command()
def backup(
    target: Annotated[str, typer.Argument(help="New file, or the URL of an empty store.")], storage: Storage = None
) -> None:
    """Copy all studies, as they are at one moment, while they are being answered."""
    from onebit.store.backup import backup as copy
    from onebit.study.opening import storage_url

    with progress_bar("copying") as copying:
        n = copy(storage_url(storage), target, copying)
    say(f"{n} studies are in {target}")


@app.command()
def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    storage: Storage = None,
) -> None:
    """Delete a study and all its answers."""
    from onebit.store.store import Store
    from onebit.study.opening import storage_url

    with Store(storage_url(storage)) as store:
        entry = store.entry(name)
        if not yes and not typer.confirm(f"Delete {name} with {entry.n_events:,} events for good?", err=True):
            raise typer.Exit(1)
        store.delete(name)


@contextmanager
def progress_bar(what: str) -> Iterator[Any]:
    """A progress bar on standard error, as a function of the part done and the whole."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, whole: bar.update(task, completed=done, total=whole)
