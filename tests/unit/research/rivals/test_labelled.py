"""Rivals that ask for labels: what they compute against the formula written out, and that they find a clear best."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.problems import models_of_accuracy

from onebit.research.rivals.coda import Coda, _Row
from onebit.research.rivals.labelled import LabelledRival, RandomLabels
from onebit.research.rivals.model_picker import ModelPicker
from onebit.research.rivals.model_selector import ModelSelector, _expected_entropy

N_LABELS = 4
SAID, TRUTH = models_of_accuracy(np.random.default_rng(5), np.array([0.3, 0.4, 0.9, 0.35, 0.4]), 120, N_LABELS)
SAID[1, ::9] = -1
RIVALS: tuple[type[LabelledRival], ...] = (RandomLabels, ModelSelector, ModelPicker, Coda)
every_rival = pytest.mark.parametrize("rival", RIVALS)


@every_rival
def test_a_clear_best_is_named_and_no_item_is_labelled_twice(rival: type[LabelledRival]) -> None:
    asking = rival(SAID, N_LABELS, np.random.default_rng(1))
    seen: list[int] = []
    while len(seen) < 60 and (item := asking.next()) is not None:
        seen.append(item)
        asking.tell(item, int(TRUTH[item]))
    assert len(seen) == len(set(seen)) == 60
    assert asking.leader() == 2


@every_rival
def test_the_end_of_the_pool_is_said(rival: type[LabelledRival]) -> None:
    asking = rival(SAID[:, :6], N_LABELS, np.random.default_rng(1))
    n = 0
    while (item := asking.next()) is not None:
        asking.tell(item, int(TRUTH[item]))
        n += 1
    assert 0 < n <= 6


def test_model_selector_takes_every_label_for_equally_likely() -> None:
    posterior = np.array([0.4, 0.1, 0.2, 0.25, 0.05])
    found = _expected_entropy(np.ascontiguousarray(SAID.T), np.arange(30), posterior, 1.5, N_LABELS)
    for item in range(30):
        entropies = []
        for label in range(N_LABELS):
            after = posterior * np.where(SAID[:, item] == label, 1.5, 1.0)
            after /= after.sum()
            entropies.append(-(after * np.log(after)).sum())
        assert found[item] == pytest.approx(np.mean(entropies))


def test_model_picker_weighs_losses_by_their_probability() -> None:
    asking = ModelPicker(SAID, N_LABELS, np.random.default_rng(3))
    item = asking.next()
    assert item is not None
    eta = math.sqrt(math.log(5) / 2)
    # At first all weigh the same, and the least probability is above what the models' difference gives.
    assert asking._asked_with == min(eta, 1.0)
    asking.tell(item, int(TRUTH[item]))
    assert asking._loss == pytest.approx((SAID[:, item] != TRUTH[item]) / min(eta, 1.0))


def test_coda_integrates_who_is_the_best() -> None:
    """Against sampling: who has the largest of independent Beta variables; the tolerance is five standard errors."""
    alpha, beta = np.array([3.0, 2.0, 4.0]), np.array([2.0, 2.5, 3.0])
    row, rng = _Row(alpha, beta, np.linspace(1e-6, 1 - 1e-6, 256)), np.random.default_rng(0)
    says = np.array([[True, False, False], [False, True, True]])
    for found, (a, b) in (
        (row.best, (alpha, beta)),
        (row.if_denied, (alpha, beta + 1)),
        (row.after(says)[0], (alpha + says[0], beta + ~says[0])),
        (row.after(says)[1], (alpha + says[1], beta + ~says[1])),
    ):
        best = rng.beta(a, b, (100_000, 3)).argmax(axis=1)
        assert found == pytest.approx(np.bincount(best) / 100_000, abs=0.008)


def test_coda_moves_the_row_of_the_label() -> None:
    asking = Coda(SAID, N_LABELS, np.random.default_rng(1))
    alpha, beta = asking._alpha.copy(), asking._beta.copy()
    asking.tell(4, 3)
    right = SAID[:, 4] == 3
    assert asking._alpha[:, 3] - alpha[:, 3] == pytest.approx(0.01 * right)
    assert asking._beta[:, 3] - beta[:, 3] == pytest.approx(0.01 * (~right & (SAID[:, 4] >= 0)))
    assert (asking._alpha[:, :3] == alpha[:, :3]).all()
