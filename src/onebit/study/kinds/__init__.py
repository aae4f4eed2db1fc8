"""Kinds of studies: everything that differs between selecting a model, training one and watching a choice.

A further kind is a package here and a line in ``KINDS``. Its module ``kind`` has ``open_it``, which gives a
:class:`~onebit.study.kinds.kind.Kind`; its module ``making`` has ``read``, ``prepare`` and ``needed``. Two
templates of the page are named after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from onebit.log.events import Created, Event
from onebit.store.store import Entry, Store
from onebit.study.about import About
from onebit.study.kinds.kind import Kind

__all__ = ["KINDS", "Kind", "making", "open_kind"]

#: The package of each kind.
KINDS = {
    "selection": "onebit.study.kinds.selection",
    "training": "onebit.study.kinds.training",
    "watch": "onebit.study.kinds.watch",
}


def open_kind(store: Store, entry: Entry, log: Sequence[Event], created: Created, about: About) -> Kind:
    """The kind of a study, with a fresh learner that its log can be replayed into."""
    # Imported when it is needed: what trains takes seconds to load.
    kind: Kind = import_module(f"{KINDS[created.kind]}.kind").open_it(store, entry, log, created, about)
    return kind


def making(kind: str) -> Any:
    """How studies of a kind are made: a module with ``read``, ``prepare`` and ``needed``."""
    return import_module(f"{KINDS[kind]}.making")
