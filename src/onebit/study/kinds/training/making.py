"""How the training of a classifier comes to be: its examples from a file, all checks, and what it will take."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from onebit.errors import InvalidInputError, OptionError
from onebit.log.events import Created, TableFacts
from onebit.records import StudySpec, TrainingSpec
from onebit.study.creation import NewStudy, Progress, about_of
from onebit.study.needed import Needed
from onebit.study.source import columns_as_texts, without_right_labels
from onebit.tables.data import Data, Wanted, read_pool
from onebit.tables.opening import is_npz


def read(spec: TrainingSpec, path: Path, progress: Progress | None = None) -> tuple[Data, TrainingSpec]:
    """The examples, of which there must be something that raters can be shown; and the spec, as for a selection.

    Labels that were not given are those of the column of right labels.
    """
    shown = columns_as_texts(spec, has_columns=not is_npz(path))
    # By the seed is drawn which rows of a large pool are read.
    spec = spec.with_seed()
    rows = read_pool(path, Wanted(text=spec.text, id=spec.id, show=shown), spec.budget, spec.seed or 0)
    if spec.labels is None:
        right = rows._show[spec.truth].to_pylist() if spec.truth in rows._show else []
        spec = replace(spec, labels=tuple(sorted({label for label in right if label})))
    data, spec = without_right_labels(rows, spec, spec.labels or ())
    if not data.shown(0):
        raise OptionError("show", "there is nothing to show to raters; name columns as show, media or text")
    return data, spec


def prepare(spec: StudySpec, data: object, simulated: bool) -> NewStudy:
    """The training of a classifier on examples."""
    # Imported here: what trains takes a second to load.
    from onebit.study.kinds.training.examples import features_digest, training_blocks
    from onebit.study.kinds.training.kind import build_training, with_audit

    if not isinstance(spec, TrainingSpec) or not isinstance(data, Data):
        raise InvalidInputError(f"a classifier is trained from Data, and this is {type(data).__name__}")
    if data.n_items < 2:
        raise InvalidInputError(f"there is {data.n_items} example; one is asked about and one more is needed")
    setting, labels = with_audit(spec.setting(data.n_items), data.n_items), spec.labels or ()
    more = {"columns": data.columns, "is_text": data.is_text, "none_of_these": spec.none_of_these}
    about = about_of(spec, data, labels, models=(), **more)
    transformer = _transformer(data, setting.seed)
    features = transformer(data.x)
    names = transformer.of_names([f"{label.name} {label.description}" for label in about.labels])
    # It refuses what cannot be run.
    build_training(setting, features, names, len(labels))
    facts = TableFacts(features_digest(features), 0, data.n_items, len(labels))
    created = Created(setting, "networks", facts, spec.overlap, "training", simulated=simulated)
    truth = None
    if simulated and data.labels is not None:
        numbers = {label: number for number, label in enumerate(labels)}
        truth = np.array([numbers[str(label)] for label in data.labels])
    return NewStudy(created, about, partial(training_blocks, features, names, transformer, data, truth))


def needed(spec: TrainingSpec, data: Data, seconds: float | None) -> Needed:
    """Its budget: training takes what it is given, and nothing is rehearsed. OptionError if that shows no target."""
    # Imported here: what trains takes a second to load.
    from onebit.study.kinds.training.kind import with_audit

    budget = with_audit(spec.setting(data.n_items), data.n_items).budget
    return Needed(budget, budget, budget)


def _transformer(data: Data, seed: int) -> Any:
    # Imported here: scikit-learn takes a second.
    from onebit.learners.training.features import Features

    try:
        return Features(data.x, seed)
    except ValueError as error:
        # scikit-learn's, such as texts without a word.
        raise InvalidInputError(f"the data cannot be learned from: {str(error).splitlines()[0]}") from error
