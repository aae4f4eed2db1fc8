"""``create_study`` and ``load_study``: how a study comes to be, and comes back."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from onebit.errors import InvalidInputError
from onebit.log.events import Created, Event, SelectorName
from onebit.randomness import given_or_fresh
from onebit.records import AskingProtocol, Population, Setting
from onebit.store.store import Block, Entry, Store
from onebit.study.about import (
    About,
    about_from_json,
    about_to_json,
    check_gold,
    check_raters,
    described,
    gold_of,
)
from onebit.study.items import check_images, facts_of, to_blocks
from onebit.study.learners import build_selection
from onebit.study.seal import Seal, about_digest, check_about
from onebit.study.seeds import check_new_seed
from onebit.study.study import Study
from onebit.study.tasks import build_task
from onebit.tables.record import ModelTable, make_table, narrow

#: Where studies are kept if nobody says.
DEFAULT_STORAGE = "sqlite:///onebit.db"


def storage_url(storage: str | None) -> str:
    """The URL given, else that of ONEBIT_STORAGE, else a file in the current folder."""
    return storage or os.environ.get("ONEBIT_STORAGE") or DEFAULT_STORAGE


def create_study(
    table: ModelTable | ArrayLike,
    name: str,
    *,
    storage: str | None = None,
    eps: float,
    delta: float = 0.05,
    protocol: AskingProtocol = "one-shot",
    population: Population = "pool",
    learner: SelectorName = "certified",
    budget: int | None = None,
    seed: int | None = None,
    f_no: float = 0.0,
    f_yes: float = 0.0,
    exhaustive: bool = False,
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
    """Make a study of which of N models is the best, and open it.

    ``table`` is what ``onebit.tables.read_table`` gives, or predictions (N, n) of labels 0 to K - 1, negative where a
    model abstains. ``overlap`` raters answer each question. ``gold`` says for some rows of the table which label is
    right, or which labels are; ``gold_share`` of the questions are about those, ``repeat_share`` are repeated, and
    neither enters the estimate. ``descriptions`` explains labels to raters. ``exhaustive`` (follow-up): the right label
    of every item is one of the labels, so the last need not be asked. ``seed`` is for replay and simulation; without it
    one is drawn from the operating system and recorded. Everything is checked before anything is written.

    ``study.ask(rater)`` gives a question, ``study.tell(question, answer)`` takes its answer, ``study.result`` says what
    is known; ``load_study`` opens it again.
    """
    models = table if isinstance(table, ModelTable) else _table_of(table)
    number, is_given = given_or_fresh(seed)
    setting = Setting(
        eps, delta, protocol, population, False, budget, number, f_no, f_yes, exhaustive, seed_given=is_given
    )
    about = About(
        models=models.models,
        labels=described(models.labels, descriptions or {}),
        instructions=instructions,
        lease_seconds=lease_seconds,
        gold=gold_of(gold),
        gold_share=gold_share,
        repeat_share=repeat_share,
        image=image,
        image_root=None if image_root is None else str(Path(image_root).resolve()),
    )
    check_raters(setting, about, overlap)
    check_gold(about, models.n_items)
    check_images(models, about)
    # It refuses what cannot be run, before anything is written.
    build_selection(setting, learner, models.predictions, models.n_labels)
    created = Created(setting, learner, facts_of(models), overlap)
    store = Store(storage_url(storage))
    try:
        check_new_seed(store, setting)
        return open_study(store, create_sealed(store, name, created, about, to_blocks(models, progress)))
    except BaseException:
        store.close()
        raise


def create_sealed(store: Store, name: str, created: Created, about: About, blocks: Iterable[Block]) -> Entry:
    """Make a study whose first event has the digests of what raters are told and shown."""
    told, seal = about_to_json(about), Seal()

    def log() -> Iterator[Event]:
        yield replace(created, about=about_digest(told), shown=seal.hexdigest())

    return store.create(name, told, log(), seal.watch(blocks))


def load_study(name: str, *, storage: str | None = None, read_only: bool = False) -> Study:
    """Open a study where it was left: its log is replayed, and checked on the way.

    One process at a time may write to a study; InUseError says that another one does. ``read_only`` looks on.
    """
    store = Store(storage_url(storage))
    try:
        return open_study(store, store.entry(name), read_only)
    except BaseException:
        store.close()
        raise


def open_study(store: Store, entry: Entry, read_only: bool = False) -> Study:
    """Open a study of a store, which the study then closes."""
    lock = None if read_only else store.lock(entry)
    try:
        log = store.log(entry.id)
        if not log.events or not isinstance(log.events[0], Created):
            raise InvalidInputError(f"the study {entry.name!r} was deleted meanwhile")
        check_about(entry, log.events[0])
        about = about_from_json(entry.about)
        task, snapshots = build_task(store, entry.id, log.events, about)
        return Study(store, entry, log, about, task, lock, snapshots)
    except BaseException:
        if lock is not None:
            lock.release()
        raise


def _table_of(predictions: ArrayLike) -> ModelTable:
    array = np.asarray(predictions)
    if array.ndim != 2 or array.dtype.kind not in "iu" or 0 in array.shape:
        raise InvalidInputError(
            f"the predictions have shape {array.shape} and type {array.dtype}; give whole numbers, one row a model"
        )
    n_labels = int(array.max()) + 1
    names = tuple(f"model {h}" for h in range(array.shape[0]))
    labels = tuple(str(label) for label in range(n_labels))
    compact = np.maximum(array, -1).astype(narrow(n_labels))
    return make_table(compact, names, labels, None, "the predictions")
