"""Lines that begin at the names of labels, and mend what these get wrong."""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax, logsumexp, softmax
from sklearn.linear_model import LogisticRegression

from onebit.learners.training.constants import FIRST_NAMES, LEAST_NEW, NAMED_RIDGE
from onebit.learners.training.model import Bools, Floats, Known
from onebit.learners.training.named_lines import NamedLines, loss
from onebit.learners.training.names import cosines, of_length_one

K, N, D = 5, 600, 8
RNG = np.random.default_rng(0)
NAMES = RNG.standard_normal((K, D)).astype(np.float32)
Y = RNG.integers(0, K, N)
#: Items are near the names of their labels; but those of label 0 are where its name is not.
X = (np.where((Y == 0)[:, None], -NAMES[0], NAMES[Y]) + 0.5 * RNG.standard_normal((N, D))).astype(np.float32)
TAUGHT, KEPT = slice(300), slice(300, None)
IS_RIGHT: Bools = np.eye(K, dtype=np.bool_)[Y]


def learned(lines: NamedLines, possible: Bools, n_answers: int = 300) -> NamedLines:
    lines.learn(Known(X[TAUGHT], possible[TAUGHT], n_answers), np.random.default_rng(0))
    return lines


def share_right(lines: NamedLines, of: Bools) -> float:
    return float((lines.logs(X[KEPT]).argmax(axis=1) == Y[KEPT])[of[KEPT]].mean())


def test_before_the_first_answer_names_speak_alone() -> None:
    lines = NamedLines(NAMES)
    np.testing.assert_allclose(lines.logs(X), FIRST_NAMES * cosines(X, of_length_one(NAMES)), rtol=1e-5)
    # A few answers later, they still do.
    before = lines.logs(X)
    learned(lines, IS_RIGHT, n_answers=LEAST_NEW - 1)
    np.testing.assert_array_equal(lines.logs(X), before)


def test_what_names_get_wrong_is_mended() -> None:
    assert share_right(NamedLines(NAMES), Y == 0) < 0.1
    lines = learned(NamedLines(NAMES), IS_RIGHT)
    assert share_right(lines, Y == 0) > 0.8
    assert share_right(lines, Y != 0) > 0.9


def test_noes_teach() -> None:
    """Nothing is known but that the label which the names hold likeliest is wrong of the items of label 0."""
    guess = NamedLines(NAMES).logs(X).argmax(axis=1)
    possible: Bools = ~(np.eye(K, dtype=np.bool_)[guess] & (Y == 0)[:, None])
    before, after = (
        softmax(lines.logs(X), axis=1)[np.arange(N), guess][Y == 0].mean()
        for lines in (NamedLines(NAMES), learned(NamedLines(NAMES), possible))
    )
    assert after < 0.5 * before


def test_without_names_it_is_logistic_regression() -> None:
    """Scikit-learn's, where every label is known."""
    lines = learned(NamedLines(np.zeros((K, D), dtype=np.float32)), IS_RIGHT)
    other = LogisticRegression(C=1 / NAMED_RIDGE, fit_intercept=False).fit(X[TAUGHT], Y[TAUGHT])
    np.testing.assert_allclose(softmax(lines.logs(X[KEPT]), axis=1), other.predict_proba(X[KEPT]), atol=2e-3)


def test_the_loss_is_what_it_says_and_so_is_its_slope() -> None:
    possible = RNG.random((N, K)) < 0.5
    possible[:, 0] = True
    near = cosines(X, of_length_one(NAMES)).astype(np.float32)
    flat = np.append(0.3 * RNG.standard_normal(D * K), 5.0)

    def value(at: Floats) -> float:
        logs = log_softmax(X.astype(np.float64) @ at[:-1].reshape(D, K) + at[-1] * near, axis=1)
        prior = NAMED_RIDGE * (at[:-1] ** 2).sum() / 2 + ((at[-1] - FIRST_NAMES) / FIRST_NAMES) ** 2 / 2
        return float(prior - logsumexp(np.where(possible, logs, -np.inf), axis=1).sum())

    found, slope = loss(flat, X, near, possible)
    np.testing.assert_allclose(found, value(flat), rtol=1e-5)
    steps = 1e-4 * np.eye(flat.size)
    expected = [(value(flat + step) - value(flat - step)) / 2e-4 for step in steps]
    np.testing.assert_allclose(slope, expected, rtol=1e-3, atol=1e-2)


def test_what_rules_out_every_likely_label_is_learned_without_a_warning() -> None:
    """Warnings are errors here; names are all but sure of another label."""
    lines = NamedLines(NAMES)
    lines._beta = 500.0
    learned(lines, IS_RIGHT)
    assert np.isfinite(lines.logs(X)).all()
