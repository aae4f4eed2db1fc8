"""``create_learning_study``: a study that trains a classifier."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from onebit.randomness import given_or_fresh
from onebit.records import ANSWERS_PER_ITEM, TrainingProtocol, TrainingSetting
from onebit.study.about import About, described, gold_of
from onebit.study.draft import draft_training
from onebit.study.opening import create, storage_url
from onebit.study.study import Study
from onebit.tables.data import Data, data_of


def create_learning_study(
    examples: Data | Any,
    name: str,
    *,
    labels: Sequence[str],
    storage: str | None = None,
    protocol: TrainingProtocol = "follow-up",
    budget: int | None = None,
    target: float | None = None,
    audit: int | None = None,
    delta: float = 0.05,
    seed: int | None = None,
    overlap: int = 1,
    lease_seconds: float = 60.0,
    instructions: str = "",
    descriptions: Mapping[str, str] | None = None,
    gold: Mapping[int, int | Collection[int]] | None = None,
    gold_share: float = 0.0,
    repeat_share: float = 0.0,
    image: str | None = None,
    image_root: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Study:
    """Make a study in which raters train a classifier, and open it.

    ``examples`` is what ``onebit.tables.data.read_data`` gives, numbers (n, d), or n texts. ``labels`` are those that
    raters are asked about; those of texts are guessed from these names and their ``descriptions``. At most ``budget``
    answers (None: two for each item), ``audit`` of them for the accuracy interval, which may be wrong with probability
    ``delta``; with ``target``, it ends once that accuracy is shown. The other options are those of ``create_study``.
    Everything is checked before anything is written.
    """
    data = examples if isinstance(examples, Data) else data_of(examples)
    names = tuple(labels)
    if budget is None:
        budget = ANSWERS_PER_ITEM * data.n_items
    number, is_given = given_or_fresh(seed)
    setting = TrainingSetting(budget, protocol, target, audit, delta, number, is_given)
    about = About(
        models=(),
        labels=described(names, descriptions or {}),
        instructions=instructions,
        lease_seconds=lease_seconds,
        gold=gold_of(gold),
        gold_share=gold_share,
        repeat_share=repeat_share,
        image=image,
        image_root=None if image_root is None else str(Path(image_root).resolve()),
        columns=data.columns,
        is_text=data.is_text,
    )
    return create(draft_training(data, setting, about, overlap), name, storage_url(storage), progress)
