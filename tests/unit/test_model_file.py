"""Saving a classifier from Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from onebit.classifier import YesNoClassifier
from onebit.errors import InvalidInputError
from onebit.model_file import SavedModel, load_model, save_model

X, Y = load_iris(return_X_y=True)


def test_a_classifier_is_saved_with_its_history(tmp_path: Path) -> None:
    model = YesNoClassifier(protocol="follow-up", budget=80, audit=10, seed=0).fit(X, Y)
    save_model(tmp_path / "model.skops", SavedModel(model, columns=(), is_text=False))
    loaded = load_model(tmp_path / "model.skops").classifier
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.history_ == model.history_
    again = YesNoClassifier(protocol="follow-up", budget=100, seed=1).fit(X, Y, answers=loaded.history_)
    assert again.history_[:80] == model.history_
    assert again.accuracy_interval_ is not None


def test_one_with_an_estimator_is_refused_at_saving(tmp_path: Path) -> None:
    model = YesNoClassifier(GaussianNB(), budget=80, seed=0).fit(X, Y)
    with pytest.raises(InvalidInputError, match="has the estimator GaussianNB, and a model file"):
        save_model(tmp_path / "model.skops", SavedModel(model, columns=(), is_text=False))
    assert not list(tmp_path.iterdir())
