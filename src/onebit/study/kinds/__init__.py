"""Kinds of studies: everything that differs between selecting a model and training one.

A further kind is a module here with a class of :class:`~onebit.study.kinds.kind.Kind`, an entry in ``open_kind``, and
two templates of the page.
"""

from __future__ import annotations

from collections.abc import Sequence

from onebit.log.events import Created, Event
from onebit.store.store import Entry, Store
from onebit.study.about import About
from onebit.study.items import read_predictions, read_truth
from onebit.study.kinds.kind import Kind

__all__ = ["Kind", "open_kind"]


def open_kind(store: Store, entry: Entry, log: Sequence[Event], created: Created, about: About) -> Kind:
    """The kind of a study, with a fresh learner that its log can be replayed into."""
    facts, truth = created.table, read_truth(store, entry.id)
    if created.kind == "learning":
        from onebit.study.kinds.examples import read_features, read_names, read_transformer
        from onebit.study.kinds.snapshots import read_snapshot
        from onebit.study.kinds.training import Training

        features = read_features(store, entry.id, facts)
        names = read_names(store, entry.id, facts.n_labels, features.shape[1])
        snapshot = read_snapshot(store, entry.id, log)
        return Training(
            entry.name, created, about, features, names, lambda: read_transformer(store, entry.id), snapshot, truth
        )
    from onebit.study.kinds.selection import Selection

    return Selection(entry.name, created, about, read_predictions(store, entry.id, facts, about), truth)
