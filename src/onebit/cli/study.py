"""``onebit study``: studies that many raters answer, kept in a database."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from onebit.cli import options as opt
from onebit.cli.answering import answer_at_terminal
from onebit.cli.export import Anonymous, To, write_verdicts
from onebit.cli.progress import progress_bar
from onebit.cli.terminal import plain
from onebit.cli.verify import tell
from onebit.errors import InvalidInputError
from onebit.records import SelectionSpec, StudySpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onebit.report import Entry
    from onebit.study.kinds.kind import StudyStatus
    from onebit.study.quality import Rate
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
#: Seconds in which the status works out how many answers are still needed, at most.
STATUS_SECONDS = 3.0
#: What a trained classifier is written to.
MODEL_SUFFIX = ".skops"


@app.command(cls=opt.TableCommand)
@opt.with_options(opt.of_a_selection)
def create(
    name: Name,
    table: opt.Tables,
    storage: Storage = None,
    eps: opt.Eps = SelectionSpec.eps,
    baseline: opt.Baseline = None,
    candidates: opt.Candidates = None,
    margin: opt.Margin = None,
    top: opt.Top = None,
    tiers: opt.Tiers = SelectionSpec.tiers,
    learner: opt.Learner = SelectionSpec.learner,
    truth: opt.Truth = None,
    one_at_a_time: opt.OneAtATime = SelectionSpec.one_at_a_time,
    descriptions: opt.Descriptions = None,
    instructions: opt.Instructions = None,
    media: opt.Media = None,
    media_root: opt.MediaRoot = None,
    media_hosts: opt.MediaHosts = None,
    markdown: opt.Markdown = SelectionSpec.markdown,
    overlap: opt.Overlap = SelectionSpec.overlap,
    lease_seconds: opt.Lease = SelectionSpec.lease_seconds,
    gold: opt.Gold = None,
    gold_share: opt.GoldShare = None,
    repeat_share: opt.RepeatShare = SelectionSpec.repeat_share,
    **options: Any,
) -> None:
    """Make a study from a table of labels or free texts; everything is checked before anything is written.

    Every column other than --id, --truth, --verdicts, --show, --reference, --media, --gold and --judge is a model,
    unless --models names them. With --baseline it is a gate: candidates are held against that model, and `onebit study
    verdict` tells of it. A column of right labels must be named with --truth or --gold, or it would be a model
    that is always right.
    """
    spec = opt.spec_of(SelectionSpec, locals() | options)
    from onebit.study.kinds.selection.making import read
    from onebit.tables.columns import listed

    with progress_bar("reading the table") as reading:
        found, spec = read(spec, table, reading)
    for note in found.notes:
        say(f"Note: {note}.")
    create_study(storage, name, spec, found)
    protocol = spec.decided(found.is_open).protocol
    what = "different outputs" if protocol == "panel" else "labels"
    of_gate = spec.models_of_gate(found.models)
    if of_gate is not None:
        say(f"It is a gate: {', '.join(of_gate[1:])} against {of_gate[0]}, with a margin of {spec.gate_margin:g}.")
    models = found.models if of_gate is None else of_gate
    # Named, so that a column that is no model's is seen before anybody answers.
    say(
        f"The study {name} has {len(models)} models ({listed(models)}), {found.n_items:,} items and {found.n_labels:,} "
        f"{what}; it asks by {protocol}."
    )


def create_study(storage: str | None, name: str, spec: StudySpec, source: ModelTable | Data) -> None:
    """Write a study, with a bar; the store is opened when all checks are passed."""
    from onebit.store.store import Store
    from onebit.study.creation import prepare
    from onebit.study.opening import storage_url

    new = prepare(spec, source)
    with progress_bar("writing the study") as writing, Store(storage_url(storage)) as store:
        new.write(store, name, writing)


def say(words: str) -> None:
    """A line on standard error, as it is; the terminal breaks it, so that no path is cut."""
    Console(stderr=True).print(plain(words), highlight=False, markup=False, soft_wrap=True)


@app.command("list")
def list_studies(
    storage: Storage = None,
    everything: Annotated[bool, typer.Option("--all", help="List archived studies, too.")] = False,
    as_json: opt.AsJson = False,
) -> None:
    """List the studies of a store; archived ones with --all."""
    from onebit.store.store import Store
    from onebit.study.opening import storage_url

    with Store(storage_url(storage)) as store:
        entries = [entry for entry in store.entries() if everything or not entry.archived]
    if as_json:
        told = ("name", "created_at", "n_events", "archived")
        print(json.dumps({"studies": [{name: getattr(each, name) for name in told} for each in entries]}))
        return
    table = Table("study", "created", "events")
    for entry in entries:
        name = f"{entry.name} (archived)" if entry.archived else entry.name
        table.add_row(plain(name), entry.created_at[:16].replace("T", " "), f"{entry.n_events:,}")
    Console().print(table, markup=False)


@app.command()
def status(name: Name, storage: Storage = None, as_json: opt.AsJson = False) -> None:
    """Show what is known: certified eps, survivors, forecast, raters. Works while the study is open elsewhere."""
    from onebit.study.opening import load_study

    with load_study(name, storage=storage, read_only=True) as study:
        study.look_ahead(STATUS_SECONDS)
        result = study.result
        found, models = study.status(result), study.kind.entries(result)
    if as_json:
        told = {"status": found.status.name.lower(), "safe_to_stop": found.is_safe_to_stop}
        print(json.dumps(asdict(found) | told | {"models": [asdict(each) for each in models]}))
    else:
        print_status(found, Console())
        # Before the first answer nothing is known of anybody.
        print_models(models if found.n_answers else (), Console())


@app.command()
def answer(
    name: Name,
    rater: Annotated[str | None, typer.Option(help="Your name.  [default: your user name]", show_default=False)] = None,
    storage: Storage = None,
) -> None:
    """Answer questions at the terminal: y, n, space for "can't tell", backspace to undo, q to quit."""
    from onebit.study.opening import load_study

    with load_study(name, storage=storage) as study:
        answer_at_terminal(study, Console(), rater)
        print_status(study.status(), Console())


@app.command()
def export(
    name: Name,
    path: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="New file: .csv, .jsonl or .parquet, or what --to says; .skops for the trained model.",
        ),
    ],
    to: To = None,
    log: Annotated[bool, typer.Option("--log", help="Write all events instead of the verified labels.")] = False,
    anonymous: Anonymous = False,
    storage: Storage = None,
) -> None:
    """Write the verified labels, the whole log, or the trained classifier to a file."""
    from onebit.study.export import export_study
    from onebit.study.opening import load_study, storage_url

    if path.suffix.lower() == MODEL_SUFFIX:
        if log or anonymous or to is not None:
            raise InvalidInputError(
                "--log, --to and --anonymous are about answers, and a model holds none; leave them out"
            )
        with load_study(name, storage=storage, read_only=True) as study:
            study.write_model(path)
        say(f"The model is in {path}")
        return
    if not log:
        write_verdicts(storage_url(storage), name, path, to, anonymous)
        return
    if to is not None:
        raise InvalidInputError("--to is for verdicts, and --log writes all events; give one of them")
    n = export_study(storage_url(storage), name, path, "log", anonymous)
    say(f"{n:,} {'event is' if n == 1 else 'events are'} in {path}")


@app.command()
def verify(
    name: Name,
    storage: Storage = None,
    digest: Annotated[
        str | None,
        typer.Option(help="A digest of the log that was told before; it must be on its way.", show_default=False),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Replay a study, recompute everything that it says, and compare. Exit code 1 if it does not hold.

    The certificate is recomputed independently of the learner.
    """
    from onebit.study.opening import storage_url
    from onebit.study.proof import verify_study

    with progress_bar("recomputing the certificate") as recomputing:
        found = verify_study(storage_url(storage), name, recomputing, digest)
    tell(found, found.problems, as_json)


@app.command()
def rename(name: Name, new: Annotated[str, typer.Argument(help="Its new name.")], storage: Storage = None) -> None:
    """Give a study another name. Its log, and what it shows, do not change."""
    from onebit.store.listing import rename as call_it
    from onebit.store.store import Store
    from onebit.study.opening import storage_url

    with Store(storage_url(storage)) as store:
        entry = store.entry(name)
        # Whoever has it open would go on under the old name.
        lock = store.lock(entry)
        try:
            call_it(store, entry.id, new)
        finally:
            lock.release()
    say(f"{name} is called {new} now.")


@app.command()
def archive(
    name: Name,
    undo: Annotated[bool, typer.Option("--undo", help="Take it out of the archive; it stays paused.")] = False,
    storage: Storage = None,
) -> None:
    """Put a study away: it is not listed, and gives out no questions. Nothing of it is lost."""
    from onebit.store.listing import archive as put_away
    from onebit.store.store import Store
    from onebit.study.opening import storage_url

    with Store(storage_url(storage)) as store:
        put_away(store, store.entry(name).id, not undo)
    say(f"{name} is listed again, and paused." if undo else f"{name} is archived.")


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
            say(f"{name} was kept.")
            raise typer.Exit(1)
        store.delete(name)
    say(f"{name} and its {entry.n_events:,} events are deleted.")


def print_models(models: Sequence[Entry], console: Console) -> None:
    """How often every model is accepted, and how far it is from the leader."""
    from onebit.report import words

    if not any(each.accepted for each in models):
        return
    table = Table("model", "accepted", "to the leader, points")
    for each in models:
        if each.accepted is not None and each.difference is not None:
            told = words.span(each.accepted), words.difference(each.difference)
            table.add_row(plain(" = ".join(each.names)), *told)
    console.print(table, markup=False)
    console.print(
        "Accepted is the share of items on which models differ; all intervals hold together at any time "
        "(docs/certificate.md, step 16).",
        highlight=False,
        soft_wrap=True,
    )


def print_status(found: StudyStatus, console: Console) -> None:
    """What is known of a study, of its raters and of its log."""
    console.print(plain("\n".join(found.lines())), highlight=False, markup=False, soft_wrap=True)
    if found.raters:
        table = Table("rater", "answers", "can't tell", "late", "no to right", "yes to wrong", "changed")
        for each in found.raters:
            counts = (f"{n:,}" for n in (each.n_answers, each.n_cant_tell, each.n_late))
            table.add_row(plain(each.rater), *counts, *map(_shown, (each.f_no, each.f_yes, each.changed)))
        console.print(table, markup=False)
    console.print(
        f"log             {found.n_events:,} event{'' if found.n_events == 1 else 's'}, digest {found.log_digest}",
        highlight=False,
        soft_wrap=True,
    )
    for warning in found.warnings:
        console.print(plain(f"Warning: {warning}."), highlight=False, markup=False, soft_wrap=True)


def _shown(rate: Rate) -> str:
    return "" if rate.n == 0 else f"{rate.n_wrong} of {rate.n} ({rate.low:.2f} to {rate.high:.2f})"
