"""Merit: what it makes of the votes, and that it is what the likelihood of the answers and the prior say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from onebit.learners.certified import constants
from onebit.learners.certified.epoch import Choices, Drawn, KnownAnswers
from onebit.learners.certified.guesses import Guess
from onebit.learners.certified.merits import Merits
from onebit.learners.certified.outputs import Floats, Ints, Outputs
from onebit.records import Answer

N_LABELS = 4
VOTES = Guess(np.ones(6), np.array([-0.2, 1.2, -0.2, 0.0]))


def table(n_models: int, n_items: int, seed: int = 1) -> tuple[Ints, Ints]:
    """What models say, who are the better the higher their number, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, N_LABELS, n_items)
    right = rng.random((n_models, n_items)) < np.linspace(0.2, 0.9, n_models)[:, None]
    said = np.where(right, truth, (truth + rng.integers(1, N_LABELS, right.shape)) % N_LABELS)
    said[0, ::5] = -1
    return said, truth


def no_judge(items: Ints) -> None:
    return None


def asked_about(merits: Merits, truth: Ints, said: Ints, n: int) -> None:
    """What model 0 or the last one says about the first ``n`` items, then what another says about a part of them."""
    items = np.arange(n)
    for row in (said.shape[0] - 1, 0):
        speaks = items[said[row, items] >= 0][:: 1 if row else 3]
        merits.add(speaks, said[row, speaks], said[row, speaks] == truth[speaks])


def log_posterior(merit: Floats, merits: Merits, votes: Guess, said: Ints) -> float:
    """By the document: the log-likelihood of all answers, each given the noes before it, and the normal prior."""
    total = -constants.MERIT_PRIOR / 2 * float(merit @ merit)
    for (item, label), (is_right, before) in merits._answers.items():
        of = Choices(Drawn(np.array([item]), said[:, [item]]), np.arange(len(said)), 0, votes, KnownAnswers())
        part = {
            int(a): m * math.exp(float(merit[said[:, item] == a].sum()))
            for a, m in zip(of.outputs.label, of.guess, strict=True)
            if a >= 0 and a not in before
        }
        p = part[label] / (sum(part.values()) + 1 - of.guess.sum())
        total += math.log(p if is_right else 1 - p)
    return total


@pytest.mark.parametrize(("n_models", "n"), [(6, 40), (40, 12)])
def test_no_other_merit_is_likelier(n_models: int, n: int) -> None:
    """With more answers than models and with fewer, which are solved for differently."""
    said, truth = table(n_models, 60)
    votes = Guess(np.ones(n_models), VOTES.coefficients)
    merits = Merits(said, no_judge)
    asked_about(merits, truth, said, n)
    merit, _ = merits.fit(votes)
    slope = [
        (log_posterior(merit + h, merits, votes, said) - log_posterior(merit - h, merits, votes, said)) / 2e-4
        for h in 1e-4 * np.eye(n_models)
    ]
    assert np.abs(slope).max() < 0.02
    assert merit[-1] == pytest.approx(merit.max(), abs=1e-3)


def test_a_guess_weighed_by_merit() -> None:
    said = np.array([[0, 0], [0, 1], [1, 1], [2, -1]])
    outputs, unknown = Outputs.of(said), np.array([True, True, False, False, True, True])
    guess = np.array([0.5, 0.2, 0.1, 0.0, 0.3, 0.4])
    weighed = Guess(np.ones(4), VOTES.coefficients, np.array([0.1, 0.2, -0.4, 1.0])).weighed(
        guess, outputs, said, unknown
    )
    part = np.array([0.5 * math.exp(0.3), 0.2 * math.exp(-0.4)])
    assert weighed[:2] == pytest.approx(part / (part.sum() + 0.2), abs=1e-6)
    assert weighed[2:4].tolist() == [0, 0]
    part = np.array([0.3 * math.exp(0.1), 0.4 * math.exp(-0.2)])
    assert weighed[4:] == pytest.approx(part / (part.sum() + 0.3), abs=1e-6)


def test_no_merit_is_so_large_that_it_overflows() -> None:
    said = np.array([[0], [1]])
    sure = Guess(np.ones(2), VOTES.coefficients, np.array([1e4, -1e4]))
    both = np.ones(2, dtype=np.bool_)
    assert sure.weighed(np.array([0.4, 0.4]), Outputs.of(said), said, both).tolist() == [0.97, 0.005]


def test_without_answers_votes_are_as_they_were() -> None:
    said, _ = table(6, 60)
    merit, information = Merits(said, no_judge).fit(VOTES)
    assert (merit == 0).all()
    assert (information == 0).all()


@pytest.mark.parametrize(("n_models", "n"), [(6, 40), (40, 12), (6, 0)])
def test_the_variance_is_that_of_the_information(n_models: int, n: int) -> None:
    """Its inverse is the second derivative of the log-posterior, but for what the answers differ from expectation."""
    said, truth = table(n_models, 60)
    votes, merits = Guess(np.ones(n_models), VOTES.coefficients), Merits(said, no_judge)
    asked_about(merits, truth, said, n)
    merits.fit(votes)
    slope, held = merits._precision._slope, merits._precision._held
    precision = constants.MERIT_PRIOR * np.eye(n_models) + sum(
        v * np.outer(s, s) for s, v in zip(slope, held, strict=True)
    )
    models, along = np.array([4, 1, 2]), np.array([[1.0, 0.0, 0.0], [1.0, -1.0, 0.5]])
    covariance = np.linalg.inv(precision)[np.ix_(models, models)]
    expected = [covariance[0, 0], along[1] @ covariance @ along[1]]
    assert merits.variance(models, along) == pytest.approx(expected)
    assert (n > 0) == (expected[0] < 1 / constants.MERIT_PRIOR)


def test_an_answer_counts_once() -> None:
    said, truth = table(6, 60)
    once, twice = Merits(said, no_judge), Merits(said, no_judge)
    for merits in (once, twice, twice):
        asked_about(merits, truth, said, 20)
    assert once.fit(VOTES)[0] == pytest.approx(twice.fit(VOTES)[0])


def test_where_nobody_contradicts_information_is_that_of_the_beliefs() -> None:
    said, _ = table(6, 60)
    merits = Merits(said, no_judge)
    merits.add(np.array([3]), said[5, [3]], np.array([True]))
    merit, information = merits.fit(VOTES)
    believed = Guess(VOTES.trust, VOTES.coefficients, merit)
    of = Choices(Drawn(np.array([3]), said[:, [3]]), np.arange(6), 0, believed, KnownAnswers())
    m = of.guess[of.outputs.code[:, 0]]
    assert information == pytest.approx(m * (1 - m), abs=1e-2)


def test_belief_after_a_no_is_exclusion() -> None:
    """Of the labels left each is likelier, in the same proportions, and so is that none of them is right."""
    said = np.array([[0], [0], [1], [2]])
    guess = Guess(np.ones(4), VOTES.coefficients, np.zeros(4))
    drawn, known = Drawn(np.array([7]), said), KnownAnswers()
    before = Choices(drawn, np.arange(4), 0, guess, known).guess
    known.add(7, 0, Answer.NO)
    after = Choices(drawn, np.arange(4), 0, guess, known).guess
    assert after == pytest.approx([0, before[1] / (1 - before[0]), before[2] / (1 - before[0])], abs=2e-6)
