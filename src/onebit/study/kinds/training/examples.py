"""The examples that a classifier is trained on, cut into blocks that a store keeps."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onebit.log.events import TableFacts
from onebit.model_file import from_bytes, to_bytes
from onebit.store.blocks import FEATURES, NAMES, TRANSFORMER, TRUTH, Block
from onebit.store.database import StoreError
from onebit.store.store import Store
from onebit.study.constants import PER_BLOCK
from onebit.study.items import STORED_TRUTH, Shows, shown_block

STORED = np.dtype("<f4")


def training_blocks(
    features: NDArray[np.float32],
    names: NDArray[np.float32] | None,
    transformer: Any,
    shows: Shows,
    truth: NDArray[np.int64] | None,
    progress: Callable[[int, int], None] | None,
) -> Iterator[Block]:
    """The blocks of a pool: what makes features of new examples, the features, and what raters are shown.

    With ``truth``, raters are simulated, and that is kept too.
    """
    if truth is not None:
        yield TRUTH, 0, truth.astype(STORED_TRUTH).tobytes()
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
