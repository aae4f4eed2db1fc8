"""``onebit study``: studies that many raters answer, kept in a database."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from onebit.cli.answering import answer_at_terminal
from onebit.cli.progress import progress_bar
from onebit.cli.setting import EXHAUSTIVE_HELP, SEED_HELP, check_learner, make_setting, read_labels
from onebit.cli.verify import tell
from onebit.errors import InvalidInputError
from onebit.tables.formats import NAMES

if TYPE_CHECKING:
    from onebit.study.kinds.kind import StudyStatus
    from onebit.study.quality import Rate

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


Id = Annotated[str | None, typer.Option(help="Column that names the items.", show_default=False)]
Show = Annotated[list[str] | None, typer.Option(help="Column to show to raters; several times.", show_default=False)]
Descriptions = Annotated[
    Path | None, typer.Option(help="JSON file: an object from labels to descriptions.", show_default=False)
]
Instructions = Annotated[Path | None, typer.Option(help="Text file for raters.", show_default=False)]
Image = Annotated[str | None, typer.Option(help="Column with image paths.", show_default=False)]
ImageRoot = Annotated[Path | None, typer.Option(help="Folder that image paths are below.", show_default=False)]
Overlap = Annotated[int, typer.Option(help="Raters who answer each question.")]
Lease = Annotated[float, typer.Option(help="Seconds for which a question is kept for a rater.")]
GoldColumn = Annotated[
    str | None,
    typer.Option(
        help="Column with right labels, where known, several with | between; plants questions.", show_default=False
    ),
]
GoldShare = Annotated[float, typer.Option(help="Share of planted questions, with --gold.")]
RepeatShare = Annotated[float, typer.Option(help="Share of repeated questions.")]
Seed = Annotated[int | None, typer.Option(help=SEED_HELP, show_default=False)]


@app.command()
def create(
    name: Name,
    table: Annotated[Path, typer.Argument(help=f"Predictions: {NAMES}; one column per model.")],
    storage: Storage = None,
    eps: Annotated[float, typer.Option(help="How far the chosen model may be from the best.")] = 0.01,
    delta: Annotated[float, typer.Option(help="Probability with which the guarantee may fail.")] = 0.05,
    protocol: Annotated[str, typer.Option(help="one-shot, follow-up or labels.")] = "one-shot",
    learner: Annotated[str, typer.Option(help="certified, paper or uniform.")] = "certified",
    population: Annotated[str, typer.Option(help="pool or stream.")] = "pool",
    id: Id = None,
    show: Show = None,
    labels: Annotated[
        Path | None, typer.Option(help="Text file with the labels, one per line.", show_default=False)
    ] = None,
    descriptions: Descriptions = None,
    instructions: Instructions = None,
    image: Image = None,
    image_root: ImageRoot = None,
    error_rates: Annotated[
        str | None,
        typer.Option(
            metavar="F_NO,F_YES",
            help="Most that the answer that counts errs: with --overlap, the majority's.",
            show_default=False,
        ),
    ] = None,
    exhaustive: Annotated[bool, typer.Option("--exhaustive", help=EXHAUSTIVE_HELP)] = False,
    budget: Annotated[int | None, typer.Option(help="Maximum number of answers.", show_default=False)] = None,
    overlap: Overlap = 1,
    lease: Lease = 60.0,
    gold: GoldColumn = None,
    gold_share: GoldShare = 0.05,
    repeat_share: RepeatShare = 0.0,
    seed: Seed = None,
) -> None:
    """Make a study from a table of predictions; everything is checked before anything is written."""
    from onebit.study.gold import split_gold
    from onebit.study.opening import create_study
    from onebit.tables import read_table

    setting = make_setting(eps, delta, protocol, population, budget, seed, error_rates, exhaustive)
    with progress_bar("reading the table") as reading:
        shown = [*(show or ()), *([image] if image is not None and image not in (show or ()) else ())]
        items = read_table(
            table, id=id, show=[*shown, *([gold] if gold else ())], labels=read_labels(labels), progress=reading
        )
    models, known = split_gold(items, gold, items.labels)
    with (
        progress_bar("writing the study") as writing,
        create_study(
            models,
            name,
            storage=storage,
            eps=eps,
            delta=delta,
            protocol=setting.protocol,
            population=setting.population,
            learner=check_learner(learner, setting),
            budget=budget,
            seed=seed,
            f_no=setting.f_no,
            f_yes=setting.f_yes,
            exhaustive=setting.exhaustive,
            overlap=overlap,
            lease_seconds=lease,
            instructions="" if instructions is None else read_text(instructions),
            descriptions=None if descriptions is None else read_descriptions(descriptions),
            gold=known,
            gold_share=gold_share if known else 0.0,
            repeat_share=repeat_share,
            image=image,
            image_root=None if image_root is None else str(image_root),
            progress=writing,
        ),
    ):
        pass
    Console(stderr=True).print(
        f"The study {name} has {models.n_models} models, {models.n_items:,} items and {models.n_labels} labels.",
        highlight=False,
        markup=False,
    )


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
    """Answer questions at the terminal: y, n, space for "can't tell", backspace to undo, q to quit."""
    from onebit.study.opening import load_study

    with load_study(name, storage=storage) as study:
        answer_at_terminal(study, Console(), rater)
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
    from onebit.study.opening import load_study, storage_url

    if path.suffix.lower() == MODEL_SUFFIX:
        if log or anonymous:
            raise InvalidInputError("--log and --anonymous are about answers, and a model holds none; leave them out")
        with load_study(name, storage=storage, read_only=True) as study:
            study.write_model(path)
        Console(stderr=True).print(f"The model is in {path}", highlight=False, markup=False)
        return
    n = export_study(storage_url(storage), name, path, "log" if log else "labels", anonymous)
    Console(stderr=True).print(f"{n:,} rows are in {path}", highlight=False, markup=False)


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
    from onebit.study.opening import storage_url
    from onebit.study.verification import verify_study

    with progress_bar("recomputing the certificate") as recomputing:
        found = verify_study(storage_url(storage), name, recomputing, digest)
    tell(found, found.problems, as_json)


@app.command()
def backup(
    target: Annotated[str, typer.Argument(help="New file, or the URL of an empty store.")], storage: Storage = None
) -> None:
    """Copy all studies, as they are at one moment, while they are being answered."""
    from onebit.store.backup import backup as copy
    from onebit.study.opening import storage_url

    with progress_bar("copying") as copying:
        n = copy(storage_url(storage), target, copying)
    Console(stderr=True).print(f"{n} studies are in {target}", highlight=False, markup=False)


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


def print_status(found: StudyStatus, console: Console) -> None:
    """What is known of a study, of its raters and of its log."""
    console.print("\n".join(found.lines()), highlight=False, markup=False)
    if found.raters:
        table = Table("rater", "answers", "can't tell", "late", "no to right", "yes to wrong", "changed")
        for each in found.raters:
            counts = (f"{n:,}" for n in (each.n_answers, each.n_cant_tell, each.n_late))
            table.add_row(each.rater, *counts, *map(_shown, (each.f_no, each.f_yes, each.changed)))
        console.print(table, markup=False)
    console.print(
        f"log             {found.n_events:,} events, digest {found.log_digest}", highlight=False, soft_wrap=True
    )
    for warning in found.warnings:
        console.print(f"Warning: {warning}.", highlight=False, markup=False)


def _shown(rate: Rate) -> str:
    return "" if rate.n == 0 else f"{rate.n_wrong} of {rate.n} ({rate.low:.2f} to {rate.high:.2f})"


def read_text(path: Path) -> str:
    """A file of text; InvalidInputError if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{path} cannot be read as UTF-8 text: {error}") from None


def read_descriptions(path: Path) -> dict[str, str]:
    """Descriptions of labels; InvalidInputError unless the file holds an object of texts."""
    content = read_text(path)
    try:
        found = json.loads(content)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise InvalidInputError(f'{path} must hold one JSON object from labels to texts, as in {{"cat": "a pet"}}')
    return found
