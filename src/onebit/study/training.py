"""The training of a classifier as a study: its examples in a store, its learner, and snapshots of its model.

Raters' answers and the plans of epochs are in the log; with these the course of training is gone through again without
training. The model itself is kept as a snapshot, which only saves the time of training it again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onebit import __version__
from onebit.errors import InvalidInputError
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.model import Model
from onebit.learners.training.network import NetworkEnsemble
from onebit.log.events import Event, Finished, Planned, TableFacts
from onebit.log.journal import NotWrittenError
from onebit.model_file import from_bytes, to_bytes
from onebit.randomness import generator
from onebit.records import TrainingSetting
from onebit.store.database import StoreError
from onebit.store.store import Block, Store
from onebit.study.items import PER_BLOCK, Shows, shown_block

FEATURES, NAMES, TRANSFORMER, SNAPSHOT = "features", "names", "transformer", "snapshot"
STORED = np.dtype("<f4")
#: A snapshot is made when so many answers, or this share of all, were learned from since the last.
SNAPSHOT_ANSWERS, SNAPSHOT_SHARE = 200, 0.05


@dataclass(frozen=True, eq=False)
class Training:
    """A training learner over a pool, and its model."""

    learner: TrainingLearner
    model: Model
    n_labels: int

    def row(self, item: int) -> int:
        return item

    def plausible_labels(self, row: int) -> list[int]:
        return list(range(self.n_labels))


def build_training(
    setting: TrainingSetting,
    features: NDArray[np.float32],
    names: NDArray[np.float32] | None,
    n_labels: int,
    snapshot: Snapshot | None = None,
) -> Training:
    """A fresh learner; its model too, or the one of a snapshot, for a log that is replayed.

    ``names`` are those of the labels in the same features, if these are of texts.
    """
    fresh = NetworkEnsemble(features.shape[1], n_labels, generator(setting.seed, "networks"))
    model = fresh if snapshot is None else snapshot.model
    learner = TrainingLearner(
        model,
        features,
        n_labels,
        budget=setting.budget,
        protocol=setting.protocol,
        target=setting.target,
        audit=setting.audit,
        delta=setting.delta,
        near_are_alike=True,
        names=names,
        seed=setting.seed,
    )
    if snapshot is not None:
        learner.restore(snapshot.learned_through)
    return Training(learner, model, n_labels)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The model as it was when an epoch had closed, after so many answers."""

    learned_through: int
    n_answers: int
    model: Model


def read_snapshot(store: Store, study_id: int, log: Sequence[Event]) -> Snapshot | None:
    """The last snapshot, if this version of onebit wrote it and the log goes on after it."""
    blocks = list(store.blocks(study_id, SNAPSHOT))
    if not blocks:
        return None
    try:
        kept: Any = from_bytes(blocks[0], "the snapshot of the model")
    except InvalidInputError:
        # Written by another version of a library, say; training again gives the model too.
        return None
    n_plans = sum(isinstance(event, Planned) for event in log)
    is_over = any(isinstance(event, Finished) for event in log)
    through = kept["learned_through"]
    # A later epoch has begun, so the answers that it was made from can no longer be taken back.
    usable = kept["version"] == __version__ and (through + 1 < n_plans or (is_over and through < n_plans))
    return Snapshot(through, kept["n_answers"], kept["model"]) if usable else None


class Snapshots:
    """Keeps the model in the store, now and then; ``n_answers`` went into the last snapshot."""

    def __init__(self, store: Store, study_id: int, training: Training, n_answers: int) -> None:
        self._store, self._study_id, self._training, self._n_answers = store, study_id, training, n_answers

    def due(self) -> bytes | None:
        """The snapshot to be kept, once what is in the log by now is durable; None if the last will do."""
        learner = self._training.learner
        n_new = learner.n_learned - self._n_answers
        if n_new < (max(SNAPSHOT_ANSWERS, SNAPSHOT_SHARE * self._n_answers) if learner.is_training else 1):
            return None
        self._n_answers = learner.n_learned
        return to_bytes(
            {
                "version": __version__,
                "learned_through": learner.learned_through,
                "n_answers": learner.n_learned,
                "model": self._training.model,
            }
        )

    def keep(self, snapshot: bytes) -> None:
        # It only saves time: on a full disk the study goes on without.
        with suppress(NotWrittenError):
            self._store.replace_block(self._study_id, (SNAPSHOT, 0, snapshot))


def training_blocks(
    features: NDArray[np.float32],
    names: NDArray[np.float32] | None,
    transformer: Any,
    shows: Shows,
    progress: Callable[[int, int], None] | None,
) -> Iterator[Block]:
    """The blocks of a pool: what makes features of new examples, the features, and what raters are shown."""
    yield TRANSFORMER, 0, to_bytes(transformer)
    if names is not None:
        yield NAMES, 0, names.astype(STORED).tobytes()
    for number, first in enumerate(range(0, len(features), PER_BLOCK)):
        rows = range(first, min(first + PER_BLOCK, len(features)))
        yield FEATURES, number, features[first : rows.stop].astype(STORED).tobytes()
        yield shown_block(shows, number, rows)
        if progress is not None:
            progress(rows.stop, len(features))


def read_features(store: Store, study_id: int, facts: TableFacts) -> NDArray[np.float32]:
    """The features (n, d) of a study; StoreError unless they are what it was created with."""
    data = b"".join(store.blocks(study_id, FEATURES))
    features = np.frombuffer(data, dtype=STORED).astype(np.float32)
    if features.size == 0 or features.size % facts.n_items:
        raise StoreError("the features of the examples have the wrong size; restore the store from a backup")
    features = features.reshape(facts.n_items, -1)
    if features_digest(features) != facts.digest:
        raise StoreError("the features are not those that the study was created with; restore the store from a backup")
    return features


def read_names(store: Store, study_id: int, n_labels: int, n_columns: int) -> NDArray[np.float32] | None:
    """The names of the labels in the features of a study; None unless these are of texts."""
    names = np.frombuffer(b"".join(store.blocks(study_id, NAMES)), dtype=STORED).astype(np.float32)
    if names.size not in (0, n_labels * n_columns):
        raise StoreError("the names of the labels have the wrong size; restore the store from a backup")
    return names.reshape(n_labels, -1) if names.size else None


def read_transformer(store: Store, study_id: int) -> Any:
    """What makes features of new examples."""
    return from_bytes(store.block(study_id, TRANSFORMER, 0), "the features of the study")


def features_digest(features: NDArray[np.float32]) -> str:
    """A hash (sha256, hex) that stands for the examples."""
    return hashlib.sha256(repr(features.shape).encode() + features.astype(STORED).tobytes()).hexdigest()
