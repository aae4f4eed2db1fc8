"""Importance weights: by hand, and unbiased over what can be asked."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.estimate.importance import importance_weights


def test_a_yes_counts_one_over_its_probability() -> None:
    weights = importance_weights(np.array([True, False, True]), np.array([0.25, 0.5, 1.0]))
    assert weights.tolist() == [4.0, 0.0, 1.0]


def test_the_mean_over_what_is_asked_is_whether_the_label_is_right() -> None:
    """For each label, whichever is right: asked with its probability, it adds 1 on average if right and else 0."""
    propensity = np.array([0.7, 0.2, 0.1])
    for right in range(3):
        weights = importance_weights(np.arange(3) == right, propensity)
        assert propensity * weights == pytest.approx(np.eye(3)[right])
