"""LightGBM and XGBoost as the estimator (extra ``onebit[boosters]``): they take gaps, frames and labels of any name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from onebit.classifier import YesNoClassifier
from onebit.records import TrainingProtocol

K, N = 5, 300
LABELS = [f"kind {label}" for label in range(K)]


def lightgbm() -> Any:
    return import_module("lightgbm").LGBMClassifier(n_estimators=10, min_child_samples=2, n_jobs=1, verbose=-1)


def xgboost() -> Any:
    return import_module("xgboost").XGBClassifier(n_estimators=10, n_jobs=1)


def booster(make: Callable[[], Any]) -> Any:
    name = make.__name__
    missing = find_spec(name) is None
    reason = f"needs {name}, of the extra onebit[boosters]"
    return pytest.param(make, id=name, marks=pytest.mark.skipif(missing, reason=reason))


BOOSTERS = [booster(lightgbm), booster(xgboost)]


def clusters() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, N)
    return 4 * rng.standard_normal((K, 4))[y] + rng.standard_normal((N, 4)), y


X, Y = clusters()


def trained(make: Callable[[], Any], x: Any, protocol: TrainingProtocol) -> YesNoClassifier:
    model = YesNoClassifier(make(), protocol=protocol, budget=150, audit=0, seed=0)
    return model.fit(x, answer=lambda row, label: bool(LABELS[Y[row]] == label), labels=LABELS)


def check_has_learned(model: YesNoClassifier, x: Any) -> None:
    """Whoever learned nothing gives one label to all rows at best; false alarm 1e-6."""
    n_right = int((model.predict(x) == np.array(LABELS)[Y]).sum())
    assert n_right > binom.isf(1e-6, N, np.bincount(Y).max() / N)
    np.testing.assert_allclose(model.predict_proba(x).sum(axis=1), 1.0, rtol=1e-5)


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
@pytest.mark.parametrize("make", BOOSTERS)
def test_they_learn_and_every_label_is_asked(make: Callable[[], Any], protocol: TrainingProtocol) -> None:
    model = trained(make, X, protocol)
    check_has_learned(model, X)
    asked = Counter(model.answered_labels_.tolist())
    assert all(asked[label] for label in LABELS)


@pytest.mark.parametrize("make", BOOSTERS)
def test_they_are_given_gaps_and_frames_as_they_are(make: Callable[[], Any]) -> None:
    gaps = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    frame = pd.DataFrame(gaps, columns=["a", "b", "c", "d"])
    model = trained(make, frame, "follow-up")
    check_has_learned(model, frame)
    # The booster itself saw the names of the columns.
    assert list(model._model._fitted.feature_names_in_) == ["a", "b", "c", "d"]  # type: ignore[attr-defined]
