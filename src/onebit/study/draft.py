"""A study that is not made yet: everything is checked, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.log.events import Created, Event, SelectorName, TableFacts
from onebit.records import Setting, TrainingSetting
from onebit.store.store import Block, Entry, Store
from onebit.study.about import About, about_to_json, check_gold, check_raters
from onebit.study.items import check_images, facts_of, to_blocks
from onebit.study.kinds.selectors import build_selection
from onebit.study.seal import Seal, about_digest
from onebit.tables.data import Data
from onebit.tables.record import ModelTable

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Draft:
    """``created`` is the first event, but for its digests; ``blocks`` gives the data, as often as it is called."""

    created: Created
    about: About
    blocks: Callable[[Progress | None], Iterator[Block]]

    def sealed(self, made: Mapping[str, bytes]) -> Created:
        """The first event, with the digests of what raters are told and shown.

        ``made`` are blocks, by kind, that stand in place of the draft's: those that come out otherwise in each process.
        """
        seal = Seal()
        for _ in seal.watch((kind, n, made.get(kind, data)) for kind, n, data in self.blocks(None)):
            pass
        return self._with(seal)

    def write(self, store: Store, name: str, progress: Progress | None = None) -> Entry:
        """Make the study, all at once or not at all."""
        seal = Seal()

        def log() -> Iterator[Event]:
            # The store comes to it after the blocks, so it knows what they hold.
            yield self._with(seal)

        return store.create(name, about_to_json(self.about), log(), seal.watch(self.blocks(progress)))

    def _with(self, seal: Seal) -> Created:
        return structs.replace(self.created, about=about_digest(about_to_json(self.about)), shown=seal.hexdigest())


def draft_selection(
    table: ModelTable, setting: Setting, about: About, learner: SelectorName = "certified", overlap: int = 1
) -> Draft:
    """A selection from the models of a table; with the truth in the table its raters are simulated."""
    check_raters(setting, about, overlap)
    check_gold(about, table.n_items)
    check_images(table, about)
    facts = facts_of(table)
    # It refuses what cannot be run.
    build_selection(setting, learner, table.predictions, facts.n_labels)
    created = Created(setting, learner, facts, overlap, simulated=table.truth is not None)
    return Draft(created, about, lambda progress: to_blocks(table, progress))


def draft_training(
    data: Data,
    setting: TrainingSetting,
    about: About,
    overlap: int = 1,
    truth: NDArray[np.int64] | None = None,
) -> Draft:
    """The training of a classifier on examples; with ``truth`` (n,), numbers of labels, its raters are simulated."""
    # Imported here: what trains takes a second to load.
    from onebit.study.kinds.examples import features_digest, training_blocks
    from onebit.study.kinds.training import build_training

    names = [label.name for label in about.labels]
    if len(set(names)) < max(2, len(names)):
        raise InvalidInputError(
            f"the labels are {', '.join(names) or 'none'}; there must be two or more, all different"
        )
    if data.n_items < 2:
        raise InvalidInputError(f"there is {data.n_items} example; one is asked about and one more is needed")
    check_raters(setting, about, overlap)
    check_gold(about, data.n_items)
    check_images(data, about)
    transformer = _transformer(data, setting.seed)
    features = transformer(data.x)
    in_features = transformer.of_names([f"{label.name} {label.description}" for label in about.labels])
    # It refuses what cannot be run.
    build_training(setting, features, in_features, len(names))
    facts = TableFacts(features_digest(features), 0, data.n_items, len(names))
    created = Created(setting, "networks", facts, overlap, "learning", simulated=truth is not None)
    return Draft(
        created, about, lambda progress: training_blocks(features, in_features, transformer, data, truth, progress)
    )


def _transformer(data: Data, seed: int) -> Any:
    from onebit.learners.training.features import Features

    try:
        return Features(data.x, seed)
    except ValueError as error:
        # scikit-learn's, such as texts without a word.
        raise InvalidInputError(f"the data cannot be learned from: {str(error).splitlines()[0]}") from error
