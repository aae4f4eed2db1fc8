"""``onebit study learn``: a study in which raters train a classifier."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from onebit.cli.progress import progress_bar
from onebit.cli.setting import read_labels
from onebit.cli.study import (
    Descriptions,
    GoldColumn,
    GoldShare,
    Id,
    Image,
    ImageRoot,
    Instructions,
    Lease,
    Name,
    Overlap,
    RepeatShare,
    Seed,
    Show,
    Storage,
    read_descriptions,
    read_text,
)
from onebit.errors import InvalidInputError, check_count, check_fraction
from onebit.tables.formats import WITH_COLUMNS


def learn(
    name: Name,
    data: Annotated[Path, typer.Argument(help=f"Examples, one a row: {WITH_COLUMNS}.")],
    labels: Annotated[Path, typer.Option(help="Text file with the labels, one a line.")],
    storage: Storage = None,
    text: Annotated[
        list[str] | None,
        typer.Option(help="Column of texts to learn from, and from no other; several times.", show_default=False),
    ] = None,
    id: Id = None,
    show: Show = None,
    protocol: Annotated[
        str, typer.Option(help="one-shot: one question an item; follow-up: until a yes, items chosen.")
    ] = "follow-up",
    budget: Annotated[
        int | None, typer.Option(help="Answers in all; by default two for each item.", show_default=False)
    ] = None,
    target: Annotated[float | None, typer.Option(help="Stop once this accuracy is shown.", show_default=False)] = None,
    delta: Annotated[float, typer.Option(help="Probability with which the accuracy interval may be wrong.")] = 0.05,
    descriptions: Descriptions = None,
    instructions: Instructions = None,
    image: Image = None,
    image_root: ImageRoot = None,
    overlap: Overlap = 1,
    lease: Lease = 60.0,
    gold: GoldColumn = None,
    gold_share: GoldShare = 0.05,
    repeat_share: RepeatShare = 0.0,
    seed: Seed = None,
) -> None:
    """Make a study in which raters train a classifier; everything is checked before anything is written.

    Every column other than --id, --show, --image and --gold must be numbers to learn from, unless --text names texts,
    which raters are shown too. `onebit study export NAME model.skops` writes the classifier for `onebit predict`.
    """
    from onebit.study.gold import split_gold
    from onebit.study.learning import create_learning_study
    from onebit.tables.data import Wanted, read_data

    if target is not None:
        check_fraction("--target", target)
    if budget is not None:
        check_count("--budget", budget)
    check_fraction("--delta", delta)
    if seed is not None:
        check_count("--seed", seed, least=0)
    names = read_labels(labels) or ()
    columns = dict.fromkeys([*(show or ()), *([image] if image else ()), *([gold] if gold else ())])
    with progress_bar("reading the data"):
        rows = read_data(data, Wanted(text=tuple(text or ()), id=id, show=tuple(columns)))
    examples, known = split_gold(rows, gold, names)
    if not examples.shown(0):
        raise InvalidInputError("there is nothing to show to raters; name columns with --show, --image or --text")
    options: Any = {"protocol": protocol, "budget": budget, "target": target, "delta": delta, "seed": seed}
    with (
        progress_bar("writing the study") as writing,
        create_learning_study(
            examples,
            name,
            labels=names,
            storage=storage,
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
            **options,
        ),
    ):
        pass
    Console(stderr=True).print(
        f"The study {name} has {examples.n_items:,} items and {len(names)} labels.", highlight=False, markup=False
    )
