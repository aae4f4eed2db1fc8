"""From a spec and a table to a study in a store. Everything is checked before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from msgspec import structs

from onebit.errors import InvalidInputError, OptionError
from onebit.log.events import Created, Event, TableFacts
from onebit.records import SelectionSpec, StudySpec, TrainingSpec
from onebit.store.store import Block, Entry, Store
from onebit.study.about import About, about_to_json, check_gold, described, gold_of
from onebit.study.items import Shows, check_images, facts_of, to_blocks
from onebit.study.kinds.selectors import build_selection
from onebit.study.seal import Seal, about_digest
from onebit.study.seeds import check_new_seed
from onebit.tables.data import Data
from onebit.tables.record import ModelTable

#: Told how many items are written, and of how many.
Progress = Callable[[int, int], None]
Spec = TypeVar("Spec", SelectionSpec, TrainingSpec)


def create(
    store: Store,
    name: str,
    spec: StudySpec,
    source: ModelTable | Data,
    *,
    simulated: bool = False,
    progress: Progress | None = None,
) -> Entry:
    """Make a study in a store: of models from a SelectionSpec and their table, of a classifier from a TrainingSpec and
    examples. ``simulated``: answers will come from known right labels, not from people."""
    return prepare(spec, source, simulated=simulated).write(store, name, progress)


@dataclass(frozen=True)
class NewStudy:
    """A study that has passed all checks and is written nowhere yet.

    ``created`` is its first event, but for the digests; ``blocks`` gives its data, as often as it is called.
    """

    created: Created
    about: About
    blocks: Callable[[Progress | None], Iterator[Block]]

    def sealed(self, made: Mapping[str, bytes]) -> Created:
        """The first event, with the digests of what raters are told and shown.

        ``made`` are blocks, by kind, that stand in place of these: those that come out otherwise in each process.
        """
        seal = Seal()
        for _ in seal.watch((kind, n, made.get(kind, data)) for kind, n, data in self.blocks(None)):
            pass
        return self._with(seal)

    def write(self, store: Store, name: str, progress: Progress | None = None) -> Entry:
        """Make it in a store, all at once or not at all."""
        check_new_seed(store, self.created.setting)
        seal = Seal()

        def log() -> Iterator[Event]:
            # The store comes to it after the blocks, so it knows what they hold.
            yield self._with(seal)

        return store.create(name, about_to_json(self.about), log(), seal.watch(self.blocks(progress)))

    def _with(self, seal: Seal) -> Created:
        told = about_digest(about_to_json(self.about))
        return structs.replace(self.created, about=told, shown=seal.hexdigest())


def prepare(spec: StudySpec, source: ModelTable | Data, *, simulated: bool = False) -> NewStudy:
    """All checks of a study that need its table; OptionError or InvalidInputError where something cannot be.

    ``simulated``: answers will come from the right labels that the source has, and not from people.
    """
    if isinstance(spec, SelectionSpec) and isinstance(source, ModelTable):
        return _selection(spec, source, simulated)
    if isinstance(spec, TrainingSpec) and isinstance(source, Data):
        return _training(spec, source, simulated)
    raise InvalidInputError(
        f"a {type(spec).__name__} was given with a {type(source).__name__}; models are selected from a ModelTable, "
        "and a classifier is trained from Data"
    )


def spec_at_hand(kind: type[Spec], given: Mapping[str, Any]) -> Spec:
    """The spec of a study whose table is at hand, and not a file with columns to be named."""
    for name in ("id", "truth", "show", "text"):
        if name in given:
            raise OptionError(name, f"{name} names a column of a file, and this table is read already; leave it out")
    return kind(**given)


def _selection(spec: SelectionSpec, table: ModelTable, simulated: bool) -> NewStudy:
    if spec.labels not in (None, table.labels):
        raise OptionError("labels", "the labels given are not those of the table; read it with them")
    setting, facts = spec.setting(), facts_of(table)
    about = _about(spec, table, table.labels, models=table.models)
    # It refuses what cannot be run.
    build_selection(setting, spec.learner, table.predictions, facts.n_labels)
    created = Created(setting, spec.learner, facts, spec.overlap, simulated=simulated)
    return NewStudy(created, about, partial(to_blocks, table if simulated else replace(table, truth=None)))


def _training(spec: TrainingSpec, data: Data, simulated: bool) -> NewStudy:
    # Imported here: what trains takes a second to load.
    from onebit.study.kinds.examples import features_digest, training_blocks
    from onebit.study.kinds.training import build_training

    if data.n_items < 2:
        raise InvalidInputError(f"there is {data.n_items} example; one is asked about and one more is needed")
    setting, labels = spec.setting(data.n_items), spec.labels or ()
    about = _about(spec, data, labels, models=(), columns=data.columns, is_text=data.is_text)
    transformer = _transformer(data, setting.seed)
    features = transformer(data.x)
    names = transformer.of_names([f"{label.name} {label.description}" for label in about.labels])
    # It refuses what cannot be run.
    build_training(setting, features, names, len(labels))
    facts = TableFacts(features_digest(features), 0, data.n_items, len(labels))
    created = Created(setting, "networks", facts, spec.overlap, "learning", simulated=simulated)
    truth = None
    if simulated and data.labels is not None:
        numbers = {label: number for number, label in enumerate(labels)}
        truth = np.array([numbers[str(label)] for label in data.labels])
    return NewStudy(created, about, partial(training_blocks, features, names, transformer, data, truth))


def _about(spec: StudySpec, shows: Shows, labels: tuple[str, ...], **more: Any) -> About:
    """What raters are told and shown, checked against the items."""
    if isinstance(spec.gold, str):
        raise OptionError("gold", f"gold is {spec.gold!r}; of a table at hand, give the right labels by row")
    about = About(
        labels=described(labels, spec.descriptions or {}),
        instructions=spec.instructions,
        lease_seconds=spec.lease_seconds,
        gold=gold_of(spec.gold),
        gold_share=spec.planted_share,
        repeat_share=spec.repeat_share,
        image=spec.image,
        image_root=None if spec.image_root is None else str(Path(spec.image_root).resolve()),
        **more,
    )
    check_gold(about, shows.n_items)
    check_images(shows, about)
    return about


def _transformer(data: Data, seed: int) -> Any:
    # Imported here: scikit-learn takes a second.
    from onebit.learners.training.features import Features

    try:
        return Features(data.x, seed)
    except ValueError as error:
        # scikit-learn's, such as texts without a word.
        raise InvalidInputError(f"the data cannot be learned from: {str(error).splitlines()[0]}") from error
