"""What a study needs to know of its kind: the learner, which row an item is, which labels are worth asking about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from onebit.learners.contract import Learner
from onebit.log.events import Created, Event, LogError
from onebit.records import TrainingSetting
from onebit.store.store import Store
from onebit.study.about import About
from onebit.study.items import read_predictions
from onebit.study.learners import build_selection
from onebit.study.training import Snapshots, build_training, read_features, read_names, read_snapshot


class Task(Protocol):
    """A selection (``learners``) or the training of a classifier (``training``)."""

    @property
    def learner(self) -> Learner[Any]:
        """Asks, and is told."""

    def row(self, item: int) -> int:
        """The table's row (counted from 0) of the learner's item."""

    def plausible_labels(self, row: int) -> list[int]:
        """The labels that a rater might be asked about at a row."""


def build_task(store: Store, study_id: int, log: Sequence[Event], about: About) -> tuple[Task, Snapshots | None]:
    """The task of a study, with a learner that a log can be replayed into; and where snapshots of its model go."""
    created = log[0]
    if not isinstance(created, Created):
        raise LogError("the log does not begin with the creation of the study; restore a backup")
    facts = created.table
    if isinstance(created.setting, TrainingSetting):
        snapshot = read_snapshot(store, study_id, log)
        features = read_features(store, study_id, facts)
        names = read_names(store, study_id, facts.n_labels, features.shape[1])
        training = build_training(created.setting, features, names, facts.n_labels, snapshot)
        return training, Snapshots(store, study_id, training, 0 if snapshot is None else snapshot.n_answers)
    predictions = read_predictions(store, study_id, facts, about)
    return build_selection(created.setting, created.learner, predictions, facts.n_labels), None
