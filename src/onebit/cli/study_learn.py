"""``onebit study learn``: a study in which raters train a classifier."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onebit.cli import options as opt
from onebit.cli.progress import progress_bar
from onebit.cli.study import Name, Storage, create_study, say
from onebit.records import TrainingSpec
from onebit.tables.formats import NAMES


def learn(
    name: Name,
    data: Annotated[Path, typer.Argument(help=f"Examples, one per row: {NAMES}. Or a folder of Parquet files.")],
    labels: opt.TrainingLabels = None,
    storage: Storage = None,
    text: opt.Text = None,
    id: opt.Id = None,
    truth: opt.Truth = None,
    show: opt.Show = None,
    protocol: opt.TrainingProtocol = TrainingSpec.protocol,
    budget: opt.TrainingBudget = None,
    target: opt.Target = None,
    audit: opt.Audit = None,
    delta: opt.Delta = TrainingSpec.delta,
    none_of_these: opt.NoneOfThese = TrainingSpec.none_of_these,
    error_rates: opt.TrainingErrorRates = None,
    descriptions: opt.Descriptions = None,
    instructions: opt.Instructions = None,
    media: opt.Media = None,
    media_root: opt.MediaRoot = None,
    media_hosts: opt.MediaHosts = None,
    markdown: opt.Markdown = TrainingSpec.markdown,
    overlap: opt.Overlap = TrainingSpec.overlap,
    lease_seconds: opt.Lease = TrainingSpec.lease_seconds,
    gold: opt.Gold = None,
    gold_share: opt.GoldShare = None,
    repeat_share: opt.RepeatShare = TrainingSpec.repeat_share,
    seed: opt.Seed = None,
) -> None:
    """Make a study in which raters train a classifier; everything is checked before anything is written.

    Every column other than --id, --truth, --show, --media and --gold must be numbers to learn from, unless --text names
    texts, which raters are shown too. `onebit study export NAME model.skops` writes the classifier for
    `onebit predict`.
    """
    spec = opt.spec_of(TrainingSpec, locals())
    from onebit.study.kinds.training.making import read

    with progress_bar("reading the data"):
        examples, spec = read(spec, data)
    create_study(storage, name, spec, examples)
    drawn = "" if examples.drawn_from is None else f", drawn at random from {examples.drawn_from:,} rows,"
    say(f"The study {name} has {examples.n_items:,} items{drawn} and {len(spec.labels or ())} labels.")
