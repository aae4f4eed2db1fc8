"""The networks' gradient, and that a no teaches."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from onebit.learners.training import constants, network
from onebit.learners.training.model import Known, mean_belief
from onebit.learners.training.network import NetworkEnsemble


def clusters(rng: np.random.Generator, n: int, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, n_labels, n)
    x = 3 * rng.standard_normal((n_labels, 6))[y] + rng.standard_normal((n, 6))
    return x.astype(np.float32), y


def test_beliefs_are_probabilities() -> None:
    rng = np.random.default_rng(0)
    model = NetworkEnsemble(6, 4, rng)
    belief = model.beliefs(rng.standard_normal((2 * constants.CHUNK + 3, 6)).astype(np.float32))
    assert belief.shape == (constants.N_NETWORKS, 2 * constants.CHUNK + 3, 4)
    np.testing.assert_allclose(belief.sum(axis=2), 1.0, rtol=1e-5)


def test_it_learns_from_denials_alone() -> None:
    """Every example has two of its three wrong labels denied, never the same; no label is ever confirmed."""
    rng = np.random.default_rng(1)
    x, y = clusters(rng, 600, 4)
    possible = np.ones((600, 4), dtype=np.bool_)
    for _ in range(2):
        possible[np.arange(600), (y + rng.integers(1, 4, 600)) % 4] = False
    model = NetworkEnsemble(6, 4, rng)
    model.learn(Known(x[:400], possible[:400], n_answers=250), rng)
    assert (mean_belief(model, x[400:]).argmax(axis=1) == y[400:]).mean() > 0.9


def loss(params: list[np.ndarray], known: Known, rows: np.ndarray, kept: np.ndarray) -> float:
    """The sum over members of the mean of -log(probability of the possible labels), in double precision."""
    total = 0.0
    for m in range(len(rows)):
        into, offset, out, last = (param[m].astype(np.float64) for param in params)
        hidden = np.maximum(0, known.x[rows[m]] @ into + offset) * kept[m]
        belief = softmax(hidden @ out + last, axis=1)
        total -= np.log((belief * known.possible[rows[m]]).sum(axis=1)).mean()
    return total


def test_the_slopes_are_those_of_the_exact_likelihood() -> None:
    """Against differences of the loss, at random places of every parameter; a yes, a no and two noes among the rows.

    At logits of about 1: where the possible labels have a probability near 1e-7, the slopes are damped on purpose.
    """
    rng = np.random.default_rng(3)
    x, y = clusters(rng, 40, 4)
    possible = np.eye(4, dtype=np.bool_)[y]
    possible[:15] = ~np.eye(4, dtype=np.bool_)[(y[:15] + 1) % 4]
    possible[15:25] = possible[15:25] | np.eye(4, dtype=np.bool_)[(y[15:25] + 2) % 4]
    known = Known(x, possible, n_answers=50)
    params = NetworkEnsemble(6, 4, rng)._params
    params[2] /= np.float32(constants.FIRST_GUESSES)
    rows = rng.integers(0, 40, (constants.N_NETWORKS, constants.BATCH))
    kept = ((rng.random((constants.N_NETWORKS, constants.N_HIDDEN)) < 0.8) / 0.8).astype(np.float32)
    slopes = network.Batch([param.shape for param in params]).slopes(params, known, rows, kept)
    step = 1e-5
    for i, slope in enumerate(slopes):
        for _ in range(5):
            place = tuple(int(rng.integers(size)) for size in slope.shape)
            moved = [[param.astype(np.float64) for param in params] for _ in range(2)]
            moved[0][i][place] += step
            moved[1][i][place] -= step
            expected = (loss(moved[0], known, rows, kept) - loss(moved[1], known, rows, kept)) / (2 * step)
            assert slope[place] == pytest.approx(expected, rel=1e-3, abs=1e-5)


def test_members_begin_with_guesses_of_their_own() -> None:
    """A member is sure of some label from the start, so that a no can change its mind; together they know nothing."""
    rng = np.random.default_rng(4)
    beliefs = NetworkEnsemble(6, 10, rng).beliefs(rng.standard_normal((200, 6)).astype(np.float32))
    assert np.median(beliefs.max(axis=2)) > 0.8
    assert np.median(beliefs.mean(axis=0).max(axis=1)) < 0.5


def test_the_same_seed_gives_the_same_model() -> None:
    rng = np.random.default_rng(2)
    x, y = clusters(rng, 100, 3)
    known = Known(x, np.eye(3, dtype=np.bool_)[y], n_answers=20)
    beliefs = []
    for _ in range(2):
        model = NetworkEnsemble(6, 3, np.random.default_rng(5))
        model.learn(known, np.random.default_rng(6))
        beliefs.append(model.beliefs(x))
    np.testing.assert_array_equal(beliefs[0], beliefs[1])


@pytest.mark.parametrize(("n_yes", "share"), [(0, 0.0), (2, 0.5), (80, 0.8), (100, 1.0)])
def test_half_of_a_batch_has_a_known_label_if_any_has(n_yes: int, share: float) -> None:
    possible = np.ones((100, 4), dtype=np.bool_)
    possible[:n_yes, 1:] = False
    draw = network._drawing(Known(np.zeros((100, 6), dtype=np.float32), possible, n_answers=100))
    rows = draw(np.random.default_rng(0))
    assert rows.shape == (constants.N_NETWORKS, constants.BATCH)
    assert (rows < n_yes).mean() == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize(("n_labels", "n_steps"), [(5, 96), (75, 96), (1200, 12)])
def test_many_labels_take_fewer_steps(n_labels: int, n_steps: int) -> None:
    """1.2 for each answer, and (75 / 1200)^.75 = 1 / 8 of them with 1,200 labels."""
    rng = np.random.default_rng(0)
    possible = np.arange(n_labels) != rng.integers(0, n_labels, 400)[:, None]
    network = NetworkEnsemble(2, n_labels, rng)
    x = rng.standard_normal((400, 2)).astype(np.float32)
    network.learn(Known(x, possible, 80), rng)
    assert network._n_steps == n_steps
