"""The classifier that a study trained, as ``onebit learn`` writes it and ``onebit predict`` reads it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from onebit.classifier import YesNoClassifier
from onebit.errors import InvalidInputError
from onebit.model_file import SavedModel, check_new, save_model
from onebit.records import TrainingSetting
from onebit.store.store import Store
from onebit.study.opening import open_study
from onebit.study.training import Training, read_transformer


def export_classifier(storage: str, name: str, path: str | Path) -> None:
    """Write the classifier of a study, as it is now, to a new file; InvalidInputError if the study trains none."""
    file = Path(path)
    check_new("the file", file)
    store = Store(storage)
    with open_study(store, store.entry(name), read_only=True) as study:
        task, setting = study.task, study.created.setting
        if not isinstance(task, Training) or not isinstance(setting, TrainingSetting):
            raise InvalidInputError(f"the study {name!r} selects a model and trains none; export .csv or .jsonl")
        classifier = YesNoClassifier.trained(
            read_transformer(store, store.entry(name).id),
            task.model,
            np.array([label.name for label in study.about.labels]),
            study.result,
            protocol=setting.protocol,
            budget=setting.budget,
            target=setting.target,
            audit=setting.audit,
            delta=setting.delta,
            seed=setting.seed,
        )
        save_model(file, SavedModel(classifier, study.about.columns, study.about.is_text))
