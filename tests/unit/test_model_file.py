"""Saving a classifier from Python."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from onebit.classifier import YesNoClassifier
from onebit.errors import InvalidInputError
from onebit.learners.training.forest import Forest
from onebit.learners.training.pooled import PooledModel
from onebit.model_file import FORMAT, SavedModel, load_model, save_model, to_bytes

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


def claims_numbers(shape: str) -> bytes:
    """An array that has a header, and no numbers."""
    told = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + len(told).to_bytes(2, "little") + told


def edited(path: Path, edit: Callable[[dict[str, bytes], str], None]) -> None:
    """The model file again, after ``edit`` of its members, one of which is an array of this name."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    edit(members, next(name for name in members if name.endswith(".npy")))
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def without(part: str) -> Callable[[dict[str, bytes], str], None]:
    def edit(members: dict[str, bytes], _: str) -> None:
        schema: dict[str, Any] = json.loads(members["schema.json"])
        del schema["content"][part]
        members["schema.json"] = json.dumps(schema).encode()

    return edit


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda members, name: members.update({name: claims_numbers(f"({10**13},)")}), "or damaged"),
        (lambda members, name: members.update({name: claims_numbers("(3,")}), "or damaged"),
        (lambda members, name: members.update({name: b""}), "or damaged"),
        (without("columns"), "no model that onebit wrote"),
        (without("is_text"), "no model that onebit wrote"),
    ],
)
def test_a_damaged_model_is_one_clear_error(
    edit: Callable[[dict[str, bytes], str], None], says: str, tmp_path: Path
) -> None:
    model = YesNoClassifier(protocol="follow-up", budget=40, audit=5, seed=0).fit(X, Y)
    save_model(tmp_path / "model.skops", SavedModel(model, columns=("a", "b", "c", "d"), is_text=False))
    edited(tmp_path / "model.skops", edit)
    with pytest.raises(InvalidInputError, match=says):
        load_model(tmp_path / "model.skops")


def test_a_forest_that_would_write_outside_of_its_votes_is_refused(tmp_path: Path) -> None:
    model = YesNoClassifier(protocol="follow-up", budget=120, audit=5, seed=0).fit(X, Y)
    assert isinstance(model._model, PooledModel)
    forest = model._model._beside[-1]
    assert isinstance(forest, Forest)
    forest._label = forest._label + np.int32(50_000_000)
    kept = {"format": FORMAT, "columns": [], "is_text": False, "classifier": model}
    (tmp_path / "model.skops").write_bytes(to_bytes(kept))
    with pytest.raises(InvalidInputError, match="lead nowhere, or labels"):
        load_model(tmp_path / "model.skops")


def test_a_file_larger_than_any_model_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onebit.model_file.MOST_UNPACKED", 1000)
    (tmp_path / "model.skops").write_bytes(bytes(2000))
    with pytest.raises(InvalidInputError, match="has 2,000 bytes; a model has at most 1,000"):
        load_model(tmp_path / "model.skops")
