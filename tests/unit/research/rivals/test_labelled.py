"""Rivals that ask for labels: what they compute against the formula written out, and that they find a clear best."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta as beta_law
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


@pytest.mark.parametrize("rival", [ModelSelector, ModelPicker, Coda])
def test_a_single_model_is_named_without_a_label(rival: type[LabelledRival]) -> None:
    asking = rival(SAID[:1], N_LABELS, np.random.default_rng(1))
    assert asking.next() is None
    assert asking.leader() == 0


def test_model_selector_multiplies_who_is_right_with_the_odds() -> None:
    """gamma = (1 - eps) / eps: with eps = .2 who is right is .8 / .2 = 4 times as likely the best as before."""
    asking = ModelSelector(SAID, N_LABELS, np.random.default_rng(1), eps=0.2)
    for item, label in ((4, 3), (7, 0), (8, 2)):
        asking.tell(item, label)
    assert np.exp(asking._log_posterior) == pytest.approx(4.0 ** (SAID[:, [4, 7, 8]] == [3, 0, 2]).sum(axis=1))


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


def test_model_picker_asks_with_the_probability_of_its_round() -> None:
    """max(v, eta_t), at most 1, with weights exp(-eta_t L): written out at each label, for the losses so far."""
    asking = ModelPicker(SAID, N_LABELS, np.random.default_rng(3))
    rounds, loss = [], np.zeros(5)
    for _ in range(25):
        item = asking.next()
        assert item is not None
        rounds.append(asking._t)
        eta = math.sqrt(math.log(5) / (2 * asking._t))
        weight = np.exp(-eta * loss) / np.exp(-eta * loss).sum()
        l_c = np.array([weight[SAID[:, item] != c].sum() for c in range(N_LABELS)])
        probability = min(1.0, max(float((l_c * (1 - l_c)).max()), eta))
        assert asking._asked_with == pytest.approx(probability)
        asking.tell(item, int(TRUTH[item]))
        loss += (SAID[:, item] != TRUTH[item]) / probability
    # Rounds are the items that came, not the labels: some were passed over.
    assert rounds == sorted(set(rounds))
    assert rounds[-1] > 25


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


def test_coda_integrates_by_trapezoids() -> None:
    points = np.linspace(1e-6, 1 - 1e-6, 7)
    row, values = _Row(np.array([3.0, 2.0]), np.array([2.0, 2.5]), points), np.array([5.0, 1, 4, 2, 8, 3, 9])
    assert row._end_weights @ values == pytest.approx(np.trapezoid(values, points))


def likely_the_best(alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """How likely each of independent Beta variables is the largest."""
    points = (np.arange(2000) + 0.5) / 2000
    pdf, cdf = (f(points, alpha[:, None], beta[:, None]) for f in (beta_law.pdf, beta_law.cdf))
    share = np.array([(pdf[h] * np.delete(cdf, h, axis=0).prod(axis=0)).mean() for h in range(alpha.size)])
    return np.asarray(share / share.sum())


def expected_entropy(asking: Coda, item: int) -> float:
    """Of who is the best after the label of ``item``, on average over its labels."""
    of_item = asking._weight / asking._weight.sum(axis=1, keepdims=True)
    frequency, expected = of_item.mean(axis=0), 0.0
    for label in range(asking.n_labels):
        best = np.zeros(asking.said.shape[0])
        for row in range(asking.n_labels):
            right = asking.said[:, item] == label
            more = (right, ~right) if row == label else (0, 0)
            best += frequency[row] * likely_the_best(asking._alpha[:, row] + more[0], asking._beta[:, row] + more[1])
        expected -= of_item[item, label] * float((best * np.log2(best)).sum())
    return expected


def test_coda_asks_for_the_least_expected_entropy() -> None:
    """Against all of it written out, with the distribution functions of scipy; one of equal items is as good."""
    for seed in range(4):
        said, truth = models_of_accuracy(np.random.default_rng(seed), np.array([0.5, 0.6, 0.8]), 6, 3)
        asking = Coda(said, 3, np.random.default_rng(0))
        asking.tell(0, int(truth[0]))
        items = [i for i in range(1, 6) if np.ptp(said[:, i]) > 0]
        expected = np.array([expected_entropy(asking, i) for i in items])
        chosen = asking.next()
        assert chosen is not None
        assert expected[items.index(chosen)] == pytest.approx(expected.min(), abs=1e-6)
        # The others are not as good.
        assert np.ptp(expected) > 1e-3


def test_coda_starts_from_the_vote_by_hand() -> None:
    """The vote is 0, 0, 1 (a tie goes to 0). The second model says 1 on half of the items that are 0 by the vote.

    Rows start as 2 (1 + .1 * share) on the diagonal and 2 (1 / (K - 1) + .1 * share) elsewhere.
    """
    asking = Coda(np.array([[0, 0, 1], [0, 1, 1]]), 2, np.random.default_rng(0))
    assert asking._alpha == pytest.approx(np.array([[2.2, 2.2], [2.1, 2.2]]))
    assert asking._beta == pytest.approx(np.array([[2.0, 2.0], [2.1, 2.0]]))


def test_coda_moves_the_row_of_the_label() -> None:
    asking = Coda(SAID, N_LABELS, np.random.default_rng(1))
    alpha, beta = asking._alpha.copy(), asking._beta.copy()
    asking.tell(4, 3)
    right = SAID[:, 4] == 3
    assert asking._alpha[:, 3] - alpha[:, 3] == pytest.approx(0.01 * right)
    assert asking._beta[:, 3] - beta[:, 3] == pytest.approx(0.01 * (~right & (SAID[:, 4] >= 0)))
    assert (asking._alpha[:, :3] == alpha[:, :3]).all()
