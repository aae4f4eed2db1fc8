"""Rivals of the training learner: other ways to train a classifier from yes/no answers.

Each is a function of the data, the checkpoints, a seed and one setting out of a small grid, and returns its test
accuracy at every checkpoint. One-shot rivals meet the training rows in the given order, again and again, and ask one
label about each. Vowpal Wabbit and contextualbandits come with the extra ``bench``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression

from onebit.randomness import generator

N_TREES, BOOSTING_ROUNDS = 100, 20
#: Random features of LinUCB: as many as time allows, since each label keeps their matrix.
N_RANDOM_FEATURES = 300
#: Rows for which LinUCB computes the widths of all labels at once. For time; what is computed is the same.
ROWS_AT_ONCE = 64
#: Rivals that refit do so after so many answers, and whenever the answers have grown by this factor.
FIRST_REFIT, REFIT_GROWTH = 50, 1.1
#: Iterations of a refit of the softmax, which starts where the last ended, and its ridge.
SOFTMAX_ITERATIONS, SOFTMAX_RIDGE = 40, 0.1
#: The weight of names in its scores before the first answer.
FIRST_NAME_WEIGHT = 7.0

Setting = dict[str, Any]


class Data(NamedTuple):
    """Features and truth to train on, in the order of the stream, then to test on, and the number of labels.

    ``names`` (K, d) are the names of the labels in the same features, where these are of texts.
    """

    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    n_labels: int
    names: np.ndarray | None = None


Rival = Callable[[Data, tuple[int, ...], int, Setting], list[float]]


def accuracy(predicted: np.ndarray, on: Data) -> float:
    return float((predicted == on.y_test).mean())


def with_squares(on: Data) -> Data:
    """The features and all products of two of them."""
    first, second = np.triu_indices(on.x.shape[1])

    def grown(x: np.ndarray) -> np.ndarray:
        return np.hstack([x, x[:, first] * x[:, second]])

    x, x_test = grown(on.x), grown(on.x_test)
    spread = np.where(x.std(axis=0) > 0, x.std(axis=0), 1)
    mean = x.mean(axis=0)
    return on._replace(x=(x - mean) / spread, x_test=(x_test - mean) / spread)


def with_random_features(on: Data, seed: int, width: float) -> Data:
    """Random Fourier features (Rahimi and Recht 2007): their inner products are about those of a Gaussian kernel."""
    made = RBFSampler(gamma=width / on.x.shape[1], n_components=N_RANDOM_FEATURES, random_state=seed).fit(on.x)
    # Of about unit variance, as the features of all others are.
    x, x_test = (np.sqrt(N_RANDOM_FEATURES) * made.transform(of) for of in (on.x, on.x_test))
    return on._replace(x=x, x_test=x_test)


def refit_times(checkpoints: tuple[int, ...]) -> list[int]:
    """0, the numbers of answers at which to refit, and every checkpoint."""
    times = [FIRST_REFIT]
    while times[-1] < checkpoints[-1]:
        times.append(int(REFIT_GROWTH * times[-1]))
    return sorted({0, *(time for time in times if time < checkpoints[-1]), *checkpoints})


def trees(x: np.ndarray, y: np.ndarray, x_test: np.ndarray, seed: int) -> np.ndarray:
    predicted: np.ndarray = ExtraTreesClassifier(N_TREES, random_state=seed).fit(x, y).predict(x_test)
    return predicted


def uniform(on: Data, checkpoints: tuple[int, ...], seed: int, _: Setting) -> list[float]:
    """Guess uniformly, keep the yes rows, fit trees to them."""
    rows = np.arange(checkpoints[-1]) % len(on.y)
    yes = generator(seed, "uniform").integers(0, on.n_labels, rows.size) == on.y[rows]
    kept = [rows[:n][yes[:n]] for n in checkpoints]
    return [accuracy(trees(on.x[each], on.y[each], on.x_test, seed), on) for each in kept]


def ask_until_yes(on: Data, checkpoints: tuple[int, ...], seed: int, _: Setting) -> list[float]:
    """Random items, labels in random order until a yes; trees on the labels found."""
    cost = generator(seed, "ask until yes").integers(1, on.n_labels + 1, len(on.y)).cumsum()
    found = [max(2, int(np.searchsorted(cost, n, side="right"))) for n in checkpoints]
    return [accuracy(trees(on.x[:n], on.y[:n], on.x_test, seed), on) for n in found]


def plain_loop(on: Data, checkpoints: tuple[int, ...], seed: int, setting: Setting) -> list[float]:
    """What anyone would write: fit to what is confirmed, items by margin, labels best guess first until a yes.

    Labels that the estimator has not met come last, in random order; so do all before there are two.
    """
    loop, found, n_answers = MarginLoop(on, seed, setting["estimator"]), list[float](), 0
    for stop in refit_times(checkpoints)[1:]:
        while n_answers < stop and loop.order:
            n_answers += loop.ask_next(stop - n_answers)
        loop.refit()
        if stop in checkpoints:
            found.append(accuracy(loop.said(on.x_test).argmax(axis=1), on))
    return found


def labels_by_margin(on: Data, checkpoints: tuple[int, ...], seed: int, setting: Setting) -> list[float]:
    """Every answer is the label of the item with the least margin: what no yes/no learner can be expected to reach."""
    loop, found = MarginLoop(on, seed, setting["estimator"]), list[float]()
    for stop in refit_times(checkpoints)[1:]:
        loop.confirmed += [loop.order.pop() for _ in range(min(stop - len(loop.confirmed), len(loop.order)))]
        loop.refit()
        if stop in checkpoints:
            found.append(accuracy(loop.said(on.x_test).argmax(axis=1), on))
    return found


class MarginLoop:
    """An estimator, the rows whose label is confirmed, and the ``order`` of the others; the last is the next."""

    def __init__(self, on: Data, seed: int, estimator: str) -> None:
        self._on, self._estimator, self._rng = on, estimator, generator(seed, "plain loop")
        self._seed = seed
        self.confirmed: list[int] = []
        self.order = self._rng.permutation(len(on.y)).tolist()
        self._fitted: Any = None
        self._n_fitted = 0
        #: What the estimator says of each row of which the label is not known.
        self._belief = np.zeros((len(on.y), on.n_labels))
        #: The item that is asked about, and the labels not asked yet.
        self._asking: tuple[int, list[int]] | None = None

    def ask_next(self, n_most: int) -> int:
        """Ask about one item until a yes, or so many times; the number of questions."""
        item, labels = self._asking or self._next()
        for n_asked, label in enumerate(labels[:n_most], 1):
            if label == self._on.y[item]:
                self.confirmed.append(item)
                self._asking = None
                return n_asked
        self._asking = item, labels[n_most:]
        return min(n_most, len(labels))

    def _next(self) -> tuple[int, list[int]]:
        item = self.order.pop()
        unmet = self._rng.random(self._on.n_labels) * 1e-9
        return item, np.argsort(-(self._belief[item] + unmet), kind="stable").tolist()

    def refit(self) -> None:
        rows = np.array(self.confirmed, dtype=np.int64)
        if np.unique(self._on.y[rows]).size < 2 or rows.size == self._n_fitted:
            return
        self._n_fitted = rows.size
        self._fitted = estimators(self._seed)[self._estimator].fit(self._on.x[rows], self._on.y[rows])
        left = np.array(self.order, dtype=np.int64)
        if left.size:
            self._belief[left] = self.said(self._on.x[left])
            two = np.partition(self._belief[left], -2, axis=1)[:, -2:]
            self.order = left[np.argsort(-(two[:, 1] - two[:, 0]), kind="stable")].tolist()

    def said(self, x: np.ndarray) -> np.ndarray:
        belief = np.zeros((len(x), self._on.n_labels))
        if self._fitted is not None:
            belief[:, self._fitted.classes_] = self._fitted.predict_proba(x)
        return belief


def estimators(seed: int) -> dict[str, Any]:
    """Those that are tried, in YesNoClassifier and in the plain loop."""
    return {
        "logistic": LogisticRegression(max_iter=300),
        "trees": ExtraTreesClassifier(N_TREES, random_state=seed),
        # Fewer rounds than its 100, for time.
        "boosting": HistGradientBoostingClassifier(max_iter=BOOSTING_ROUNDS, random_state=seed),
    }


def full_information(on: Data, checkpoints: tuple[int, ...], seed: int, _: Setting) -> list[float]:
    """Every answer is a label: what no yes/no learner can be expected to reach. Trees, or logistic regression.

    The better of the two at each checkpoint, so that the bar is high.
    """
    found = []
    for n in checkpoints:
        x, y = on.x[:n], on.y[:n]
        linear = LogisticRegression(max_iter=200).fit(x, y).predict(on.x_test)
        found.append(max(accuracy(trees(x, y, on.x_test, seed), on), accuracy(linear, on)))
    return found


def banditron(on: Data, checkpoints: tuple[int, ...], seed: int, setting: Setting) -> list[float]:
    """Kakade, Shalev-Shwartz and Tewari 2008, with the averaged matrix."""
    gamma, rng, found = setting["gamma"], generator(seed, "banditron"), []
    U = np.zeros((on.n_labels, on.x.shape[1] + 1))
    total = np.zeros_like(U)
    for t in range(checkpoints[-1]):
        row = np.append(on.x[t % len(on.y)], 1.0)
        guess = int((U @ row).argmax())
        asked = int(rng.integers(on.n_labels)) if rng.random() < gamma else guess
        if asked == on.y[t % len(on.y)]:
            U[asked] += row / ((1 - gamma) * (asked == guess) + gamma / on.n_labels)
        U[guess] -= row
        total += U
        if t + 1 in checkpoints:
            found.append(accuracy((on.x_test @ total[:, :-1].T + total[:, -1]).argmax(axis=1), on))
    return found


def linucb(on: Data, checkpoints: tuple[int, ...], seed: int, setting: Setting) -> list[float]:
    """A ridge regression for each label, the most hopeful label asked; updated with every answer.

    The squared widths x' A^-1 x of some rows are computed ahead for all labels, and those of the label asked follow
    with every answer, by the formula of Sherman and Morrison: the same numbers, in a tenth of the time.
    """
    d, found = on.x.shape[1] + 1, []
    inverse = np.tile(np.eye(d, dtype=np.float32), (on.n_labels, 1, 1))
    b, theta = (np.zeros((on.n_labels, d), dtype=np.float32) for _ in range(2))
    x = np.hstack([on.x, np.ones((len(on.x), 1))]).astype(np.float32)
    for t in range(checkpoints[-1]):
        at = t % ROWS_AT_ONCE
        if at == 0:
            rows = x[np.arange(t, t + ROWS_AT_ONCE) % len(on.y)]
            squares = np.einsum("knd,nd->nk", np.matmul(rows, inverse), rows)
        row = rows[at]
        asked = int((theta @ row + setting["width"] * np.sqrt(np.maximum(squares[at], 0))).argmax())
        reach = inverse[asked] @ row
        along = rows @ reach
        squares[:, asked] -= along**2 / (1 + along[at])
        inverse[asked] -= np.outer(reach, reach / (1 + along[at]))
        b[asked] += row * (asked == on.y[t % len(on.y)])
        theta[asked] = inverse[asked] @ b[asked]
        if t + 1 in checkpoints:
            found.append(accuracy((on.x_test @ theta[:, :-1].T + theta[:, -1]).argmax(axis=1), on))
    return found


def linucb_random(on: Data, checkpoints: tuple[int, ...], seed: int, setting: Setting) -> list[float]:
    """LinUCB on random features, by which it learns what no line separates."""
    grown = with_random_features(on, seed, setting["kernel"])
    return linucb(grown, checkpoints, seed, setting)


def softmax(on: Data, checkpoints: tuple[int, ...], seed: int, setting: Setting) -> list[float]:
    """A linear softmax by the exact likelihood, p after a yes and 1 - p after a no; epsilon-greedy, refit often.

    With ``names``, what they say is added to the scores, with a weight that is fitted along with the others.
    """
    reads = setting.get("names", False)
    x, x_test = (np.hstack([of, np.ones((len(of), 1))]).astype(np.float32) for of in (on.x, on.x_test))
    near, near_test = (
        near_names(of, on) if reads else np.zeros((len(of), on.n_labels), np.float32) for of in (on.x, on.x_test)
    )
    rng, W, weight = generator(seed, "softmax"), np.zeros((x.shape[1], on.n_labels)), FIRST_NAME_WEIGHT
    asked, found = np.empty(0, dtype=np.int64), []
    for before, stop in pairwise(refit_times(checkpoints)):
        rows = np.arange(before, stop) % len(on.y)
        if before or reads:
            guess = (x[rows] @ W + weight * near[rows]).argmax(axis=1)
        else:
            guess = rng.integers(0, on.n_labels, rows.size)
        other = rng.integers(0, on.n_labels, rows.size)
        asked = np.concatenate([asked, np.where(rng.random(rows.size) < setting["eps_greedy"], other, guess)])
        rows = np.arange(stop) % len(on.y)
        told = (x[rows], near[rows], asked, asked == on.y[rows])
        options = {"maxiter": SOFTMAX_ITERATIONS}
        solved = minimize(_yes_no_loss, np.append(W, weight), told, jac=True, method="L-BFGS-B", options=options)
        W, weight = solved.x[:-1].reshape(W.shape), solved.x[-1]
        if stop in checkpoints:
            found.append(accuracy((x_test @ W + weight * near_test).argmax(axis=1), on))
    return found


def _yes_no_loss(
    flat: np.ndarray, x: np.ndarray, near: np.ndarray, asked: np.ndarray, yes: np.ndarray
) -> tuple[float, np.ndarray]:
    """-log likelihood of the answers with a ridge, and its slope; ``flat`` is the matrix, then the weight of names."""
    W, at = flat[:-1].reshape(x.shape[1], -1), np.arange(len(x))
    logits = x @ W.astype(np.float32)
    logits += np.float32(flat[-1]) * near
    logits -= logits.max(axis=1, keepdims=True)
    of_asked = logits[at, asked]
    slope = np.exp(logits, out=logits)
    total = slope.sum(axis=1)
    logs = of_asked - np.log(total)
    p = np.minimum(np.exp(logs), 1 - 1e-6)
    value = -np.where(yes, logs, np.log1p(-p)).sum() + SOFTMAX_RIDGE * (W**2).sum() / 2
    scale = np.where(yes, 1.0, -p / (1 - p)).astype(np.float32)
    slope *= (scale / total)[:, None]
    slope[at, asked] -= scale
    of_names = np.einsum("nk,nk->", slope, near)
    return float(value), np.append(x.T @ slope + SOFTMAX_RIDGE * W, of_names)


def near_names(x: np.ndarray, on: Data) -> np.ndarray:
    """The cosine of each row and the name of each label."""
    assert on.names is not None
    long, names = (np.linalg.norm(of, axis=1, keepdims=True) for of in (x, on.names))
    return (x @ on.names.T) / np.maximum(long * names.T, np.finfo(np.float32).tiny)


def names_alone(on: Data, checkpoints: tuple[int, ...], seed: int, _: Setting) -> list[float]:
    """The label whose name is nearest, without any answer."""
    return [accuracy(near_names(on.x_test, on).argmax(axis=1), on)] * len(checkpoints)


def vowpal_wabbit(on: Data, checkpoints: tuple[int, ...], seed: int, setting: Setting) -> list[float]:
    """Vowpal Wabbit with features of the row crossed with the label (``--cb_explore_adf``, cost -1 for a yes)."""
    vowpalwabbit: Any = import_module("vowpalwabbit")
    crossed = "-q sa --interactions ssa" if setting["quadratic"] else "-q sa"
    options = f"{setting['explore']} -l {setting['rate']} {crossed} --ignore_linear s"
    learner = vowpalwabbit.Workspace(f"--cb_explore_adf {options} --quiet --random_seed {seed + 1}")
    labels = [f"|a l{label}" for label in range(on.n_labels)]

    def chances(row: np.ndarray) -> tuple[str, np.ndarray]:
        shared = "shared |s " + " ".join(f"{i}:{value:.4g}" for i, value in enumerate(row))
        return shared, np.array(learner.predict([shared, *labels]))

    draws, found = generator(seed, "vowpal wabbit").random(checkpoints[-1]), []
    for t in range(checkpoints[-1]):
        shared, law = chances(on.x[t % len(on.y)])
        asked = int(min(np.searchsorted(law.cumsum() / law.sum(), draws[t], side="right"), on.n_labels - 1))
        told = list(labels)
        told[asked] = f"{asked}:{-float(asked == on.y[t % len(on.y)])}:{law[asked]} {labels[asked]}"
        learner.learn([shared, *told])
        if t + 1 in checkpoints:
            found.append(accuracy(np.array([chances(row)[1].argmax() for row in on.x_test]), on))
    learner.finish()
    return found


def contextual_bandits(on: Data, checkpoints: tuple[int, ...], seed: int, setting: Setting) -> list[float]:
    """contextualbandits' EpsilonGreedy, a classifier for each label, refit often."""
    online: Any = import_module("contextualbandits.online")
    base = ExtraTreesClassifier(N_TREES, random_state=seed)
    if setting["base"] == "logistic":
        base = LogisticRegression(C=setting["C"], max_iter=100)
    policy = online.EpsilonGreedy(
        base,
        on.n_labels,
        explore_prob=setting["eps_greedy"],
        assume_unique_reward=True,
        random_state=seed + 1,
        njobs=1,
    )
    rng, asked, found = generator(seed, "first guesses"), np.empty(0, dtype=np.int64), []
    for before, stop in pairwise(refit_times(checkpoints)):
        rows = np.arange(before, stop) % len(on.y)
        with warnings.catch_warnings():
            # It complains of labels with few answers, and scikit-learn of fits that were cut short.
            warnings.simplefilter("ignore")
            new = policy.predict(on.x[rows]) if before else rng.integers(0, on.n_labels, rows.size)
            asked = np.concatenate([asked, new])
            rows = np.arange(stop) % len(on.y)
            policy.fit(on.x[rows], asked, (asked == on.y[rows]).astype(np.float64))
            if stop in checkpoints:
                found.append(accuracy(policy.predict(on.x_test, exploit=True), on))
    return found
