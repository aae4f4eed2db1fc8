"""Guesses: what they are made of, that they learn what is so, and that they stay guesses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from onebit.learners.certified import constants
from onebit.learners.certified.guesses import Experience, Guess, logistic
from onebit.learners.certified.outputs import Outputs

Floats = NDArray[np.float64]
PRIOR = np.array(constants.PRIOR_COEFFICIENTS)


def test_features_by_hand() -> None:
    """Trust 2, 1, 1, 4; the last model does not survive and says a label that no survivor gives."""
    said = np.array([[0], [1], [1], [7]])
    outputs = Outputs.of(said[:3])
    guess = Guess(np.array([2.0, 1.0, 1.0, 4.0]), PRIOR)
    odds = np.log(0.26 / 0.76)
    features = guess.features(outputs, said, 0, np.ones(2, dtype=np.bool_))
    assert features == pytest.approx(np.array([[1, odds, odds, 1], [1, odds, odds, 0]]))
    # Once label 0 is denied, its votes are for nobody: label 1 has a third of what is left.
    odds = np.log((1 / 3 + 0.01) / (2 / 3 + 0.01))
    features = guess.features(outputs, said, 0, np.array([False, True]))
    assert features[1] == pytest.approx([1, odds, odds, 0])


@given(st.integers(0, 10**6))
def test_a_guess_is_a_probability_and_all_of_an_item_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    said = rng.integers(-1, 4, (6, 9))
    outputs = Outputs.of(said[:4])
    unknown = (outputs.label >= 0) & (rng.random(outputs.label.size) < 0.8)
    guess = Guess(rng.uniform(0, 3, 6), rng.normal(0, 20, 4))
    found = guess.of(guess.features(outputs, said, 0, unknown), outputs, unknown)
    assert ((found > 0) == unknown).all()
    assert (found <= constants.MOST_GUESS).all()
    assert (outputs.per_example(found) <= constants.MOST_TOGETHER + 1e-5).all()
    assert (found.round(constants.DECIMALS) == found).all()


def test_the_fit_is_a_minimum() -> None:
    """No small step in any direction has a smaller loss; with no answers it is the prior."""
    rng = np.random.default_rng(0)
    features = np.column_stack([np.ones(300), rng.normal(size=(300, 3))])
    right = rng.random(300) < 1 / (1 + np.exp(-features @ [-1.0, 2.0, 0.0, 0.5]))

    def loss(b: Floats) -> float:
        score = features @ b
        fit = (np.logaddexp(0, score) - right * score).sum()
        return float(fit + constants.PRIOR_WEIGHT / 2 * ((b - PRIOR) ** 2).sum())

    b = logistic(features, right, PRIOR)
    for direction in rng.normal(size=(20, 4)):
        assert loss(b) <= loss(b + 1e-3 * direction)
    assert logistic(features[:0], right[:0], PRIOR) == pytest.approx(PRIOR)


def test_a_fit_ends_where_all_answers_are_alike() -> None:
    features = np.column_stack([np.ones(5000), np.full(5000, 40.0), np.zeros((5000, 2))])
    assert np.isfinite(logistic(features, np.ones(5000, dtype=np.bool_), PRIOR)).all()


def test_experience_learns_whom_to_trust_and_how_far() -> None:
    """Model 0 gives the labels that are confirmed, model 1 those that are not; before, both agreed with the vote."""
    experience = Experience(np.array([0.5, 0.5]))
    before = experience.guess()
    assert before.trust[0] == before.trust[1]
    assert before.coefficients.tolist() == PRIOR.tolist()
    rng = np.random.default_rng(1)
    right = rng.random(400) < 0.5
    features = np.column_stack([np.ones(400), rng.normal(size=(400, 2)), right])
    experience.add(features, right, np.stack([right, ~right]))
    after = experience.guess()
    assert after.trust[0] > before.trust[0] > after.trust[1] >= constants.LEAST_TRUST
    assert after.coefficients[3] > PRIOR[3] + 1


def test_only_the_latest_answers_are_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "MOST_FITTED", 50)
    told, fresh = Experience(np.array([0.5])), Experience(np.array([0.5]))
    rng = np.random.default_rng(2)
    for each in range(6):
        features, right = rng.normal(size=(25, 4)), rng.random(25) < 0.5
        told.add(features, right, right[None])
        if each >= 4:
            fresh.add(features, right, right[None])
    assert told.guess().coefficients.tolist() == fresh.guess().coefficients.tolist()
