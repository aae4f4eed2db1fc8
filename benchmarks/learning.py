"""Test accuracy of classifiers trained from n yes/no answers, ours and the rivals', on real data.

One-shot: the training rows come in one random order, again and again, and every learner asks one label about each row
that comes; ours passes over rows whose label it knows, so from the second pass on it sees more of them for the same
number of answers, and ends once all are known. Follow-up: the items are ours to choose, and "ask until yes" takes them
at random.
Rivals: uniform guesses that keep the yes rows (extremely randomised trees); Banditron; LinUCB for each answer.
Seeds 0 to 4 shuffle the rows; means and standard errors. Seconds are CPU seconds of one core and noisy.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet
from benchmarks.harness import Case, data_file, run_cases
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.learners.training.features import Features
from onebit.learners.training.learner import TrainingLearner, TrainingProtocol
from onebit.learners.training.model import mean_belief
from onebit.learners.training.network import NetworkEnsemble
from onebit.randomness import generator
from onebit.records import Answer

N_SEEDS = 5
CHECKPOINTS = {"letter": (1000, 3000, 10_000, 30_000), "digits": (300, 1000, 3000), "clinc150": (3000, 10_000, 30_000)}
N_TRAIN = {"letter": 15_000, "digits": 1200}
BANDITRON_GAMMA, LINUCB_WIDTH = 0.05, 0.5
N_TREES = 100

#: Features and truth to train on, then to test on, and the number of labels.
Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]


@lru_cache(maxsize=1)
def data(name: str, seed: int) -> Data | None:
    """The rows in the order of ``seed``; None if the file is missing."""
    rng = generator(seed, "order of rows")
    if name == "clinc150":
        path = data_file("clinc150.parquet")
        if path is None:
            return None
        table = pyarrow.parquet.read_table(path)
        text, label, split = (np.array(table[name].to_pylist(), dtype=object) for name in ("text", "label", "split"))
        known = label != "oos"
        text, split = text[known], split[known]
        labels, y = np.unique(label[known].astype(str), return_inverse=True)
        train, test = rng.permutation(np.flatnonzero(split == "train")), np.flatnonzero(split == "test")
        features = Features(text[train], seed=0)
        return features(text[train]), y[train], features(text[test]), y[test], labels.size
    if name == "letter":
        path = data_file("letter.csv")
        if path is None:
            return None
        letters, *columns = (np.array(column.to_pylist()) for column in pyarrow.csv.read_csv(path).columns)
        x, y = np.stack(columns, axis=1), np.unique(letters, return_inverse=True)[1]
    else:
        x, y = load_digits(return_X_y=True)
    order = rng.permutation(len(y))
    train, test = order[: N_TRAIN[name]], order[N_TRAIN[name] :]
    features = Features(x[train], seed=0)
    return features(x[train]), y[train], features(x[test]), y[test], int(y.max()) + 1


def ours(protocol: TrainingProtocol, on: Data, checkpoints: tuple[int, ...], seed: int) -> list[float]:
    x, y, x_test, y_test, n_labels = on
    model = NetworkEnsemble(x.shape[1], n_labels, generator(seed, "networks"))
    learner = TrainingLearner(model, x, n_labels, budget=checkpoints[-1], protocol=protocol, audit=0, seed=seed)
    found = []
    for before, checkpoint in pairwise((0, *checkpoints)):
        n_left = checkpoint - before
        while n_left and isinstance(questions := learner.ask(n_left), tuple):
            for question in questions:
                learner.tell(question.id, Answer.YES if y[question.item] == question.label else Answer.NO)
            n_left -= len(questions)
        _ = learner.result
        found.append(float((mean_belief(model, x_test).argmax(axis=1) == y_test).mean()))
    return found


def trees(x: np.ndarray, y: np.ndarray, x_test: np.ndarray, seed: int) -> np.ndarray:
    predicted: np.ndarray = ExtraTreesClassifier(N_TREES, random_state=seed).fit(x, y).predict(x_test)
    return predicted


def uniform(on: Data, checkpoints: tuple[int, ...], seed: int) -> list[float]:
    """Guess uniformly, keep the yes rows, fit trees to them."""
    x, y, x_test, y_test, n_labels = on
    rows = np.arange(checkpoints[-1]) % len(y)
    yes = generator(seed, "uniform").integers(0, n_labels, rows.size) == y[rows]
    kept = [rows[:n][yes[:n]] for n in checkpoints]
    return [float((trees(x[each], y[each], x_test, seed) == y_test).mean()) for each in kept]


def ask_until_yes(on: Data, checkpoints: tuple[int, ...], seed: int) -> list[float]:
    """Random items, labels in random order until a yes; trees on the labels found."""
    x, y, x_test, y_test, n_labels = on
    cost = generator(seed, "ask until yes").integers(1, n_labels + 1, len(y)).cumsum()
    found = [max(2, int(np.searchsorted(cost, n, side="right"))) for n in checkpoints]
    return [float((trees(x[:n], y[:n], x_test, seed) == y_test).mean()) for n in found]


def full_information(on: Data, checkpoints: tuple[int, ...], seed: int) -> list[float]:
    """Every answer is a label: what no yes/no learner can be expected to reach."""
    x, y, x_test, y_test, _ = on
    return [float((trees(x[:n], y[:n], x_test, seed) == y_test).mean()) for n in checkpoints]


def banditron(on: Data, checkpoints: tuple[int, ...], seed: int) -> list[float]:
    """Kakade, Shalev-Shwartz and Tewari 2008, with the averaged matrix."""
    x, y, x_test, y_test, n_labels = on
    rng, found = generator(seed, "banditron"), []
    U = np.zeros((n_labels, x.shape[1] + 1))
    total = np.zeros_like(U)
    for t in range(checkpoints[-1]):
        row = np.append(x[t % len(y)], 1.0)
        guess = int((U @ row).argmax())
        asked = int(rng.integers(n_labels)) if rng.random() < BANDITRON_GAMMA else guess
        if asked == y[t % len(y)]:
            chance = (1 - BANDITRON_GAMMA) * (asked == guess) + BANDITRON_GAMMA / n_labels
            U[asked] += row / chance
        U[guess] -= row
        total += U
        if t + 1 in checkpoints:
            scores = x_test @ total[:, :-1].T + total[:, -1]
            found.append(float((scores.argmax(axis=1) == y_test).mean()))
    return found


def linucb(on: Data, checkpoints: tuple[int, ...], seed: int) -> list[float]:
    """A ridge regression for each label, the most hopeful label asked; updated with every answer."""
    x, y, x_test, y_test, n_labels = on
    d, found = x.shape[1] + 1, []
    inverse, b = np.tile(np.eye(d), (n_labels, 1, 1)), np.zeros((n_labels, d))
    theta = np.zeros((n_labels, d))
    for t in range(checkpoints[-1]):
        row = np.append(x[t % len(y)], 1.0)
        reach = inverse @ row
        asked = int((theta @ row + LINUCB_WIDTH * np.sqrt(reach @ row)).argmax())
        inverse[asked] -= np.outer(reach[asked], reach[asked]) / (1 + reach[asked] @ row)
        b[asked] += row * (asked == y[t % len(y)])
        theta[asked] = inverse[asked] @ b[asked]
        if t + 1 in checkpoints:
            scores = x_test @ theta[:, :-1].T + theta[:, -1]
            found.append(float((scores.argmax(axis=1) == y_test).mean()))
    return found


METHODS: dict[str, Callable[[Data, tuple[int, ...], int], list[float]]] = {
    "ours, one-shot": lambda *args: ours("one-shot", *args),
    "uniform, yes rows": uniform,
    "Banditron": banditron,
    "LinUCB": linucb,
    "ours, follow-up": lambda *args: ours("follow-up", *args),
    "ask until yes": ask_until_yes,
    "full information": full_information,
}
#: LinUCB keeps a matrix for each label: on 150 labels with 300 features it would run for hours.
LEFT_OUT = {("LinUCB", "clinc150")}


def measure(case: Case) -> Case:
    on = data(case["data"], case["seed"])
    if on is None:
        return {}
    start = time.process_time()
    with threadpool_limits(1):
        found = METHODS[case["method"]](on, CHECKPOINTS[case["data"]], case["seed"])
    figures: dict[str, Any] = {str(n): accuracy for n, accuracy in zip(CHECKPOINTS[case["data"]], found, strict=True)}
    return figures | {"seconds": time.process_time() - start}


def report(rows: list[Case]) -> None:
    """Mean and standard error over the seeds."""
    for name, checkpoints in CHECKPOINTS.items():
        print(f"\n{name:20} " + " ".join(f"{n:>14,}" for n in checkpoints))
        for method in METHODS:
            of = [row for row in rows if row["data"] == name and row["method"] == method]
            values = np.array([[row[str(n)] for n in checkpoints] for row in of if str(checkpoints[0]) in row])
            if len(values):
                error = values.std(axis=0, ddof=min(1, len(values) - 1)) / np.sqrt(len(values))
                shown = (f"{m:.3f} +- {e:.3f}" for m, e in zip(values.mean(axis=0), error, strict=True))
                print(f"{method:20} " + " ".join(f"{each:>14}" for each in shown))


if __name__ == "__main__":
    every = [
        {"data": name, "method": method, "seed": seed}
        for name in CHECKPOINTS
        for seed in range(N_SEEDS)
        for method in METHODS
        if (method, name) not in LEFT_OUT
    ]
    report(run_cases("learning", every, measure))
