"""Snapshots of a model that is being trained: kept in the store, they only save the time of training it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onebit import __version__
from onebit.errors import InvalidInputError
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.model import Model
from onebit.learners.training.unlisted import Unlisted
from onebit.log.events import Event, Finished, Planned
from onebit.model_file import from_bytes, to_bytes
from onebit.store.blocks import SNAPSHOT
from onebit.store.store import Store
from onebit.study.constants import SNAPSHOT_ANSWERS, SNAPSHOT_SHARE


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The model, and what was known of items without a label, when an epoch had closed, after so many answers."""

    learned_through: int
    n_answers: int
    model: Model
    unlisted: Unlisted


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
    if not usable or "unlisted" not in kept:
        return None
    return Snapshot(through, kept["n_answers"], kept["model"], Unlisted.restored(kept["unlisted"]))


def due(learner: TrainingLearner, model: Model, n_kept: int) -> bytes | None:
    """The snapshot to be kept, once what is in the log by now is durable; None if the last, of ``n_kept``, will do."""
    n_new = learner.n_learned - n_kept
    if n_new < (max(SNAPSHOT_ANSWERS, SNAPSHOT_SHARE * n_kept) if learner.is_training else 1):
        return None
    return to_bytes(
        {
            "version": __version__,
            "learned_through": learner.learned_through,
            "n_answers": learner.n_learned,
            "model": model,
            "unlisted": learner.unlisted.state(),
        }
    )
