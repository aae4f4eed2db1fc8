"""How few passes the default solver takes: fully corrective Frank-Wolfe against its rivals, side by side.

Each row is one rival on one problem, with our solver run in the same minute: the gap that each reached, its passes over
the class (for Clarabel: its iterations), its seconds on one thread, and the ratios to ours. Those of the Frank-Wolfe
family use the same packed oracle, so packing is charged to nobody and shown by itself; only against Clarabel our
seconds include it. Rivals are given MAX_SECONDS; what has not reached the tolerance by then shows in its gap. Clarabel
runs at its own tolerances, and ours then goes to a gap of 1e-8 or Clarabel's, whichever is less.

Synthetic classes are those of ``clusters.py``: mixed (accuracy 5-90%) and weak (5-30%). Letter is found in ONEBIT_DATA;
its linear models are ridge classifiers fitted to small samples of few features, as a finite table.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np
from benchmarks.clusters import MIXED, WEAK, empty_words, fill_clusters
from benchmarks.harness import Case, best_seconds, data_file, run_cases
from benchmarks.rival_solvers import Problem, Run, clarabel, em, frank_wolfe, pairwise_frank_wolfe, spider
from numpy.typing import NDArray
from sklearn.linear_model import RidgeClassifier
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.explore.corrective import Barrier, corrective_frank_wolfe
from onebit.explore.potential import W_gamma
from onebit.hypotheses.base import Examples, HypothesisClass, Labels
from onebit.hypotheses.finite import PredictionTable
from onebit.hypotheses.stumps import StumpClass
from onebit.hypotheses.trees import TreeClass
from onebit.kernels.bits import PackedTable

TOLERANCE, CLARABEL_TOLERANCE = 1e-4, 1e-8
MAX_SECONDS = 20.0
#: SPIDER is slow, and the point of its case is that it gets there.
SPIDER_SECONDS = 1800.0
REPEATS = 5
N_LETTERS, N_LETTER_FEATURES = 26, 16
N_LINEAR, LINEAR_EXAMPLES, LINEAR_FEATURES = 300, 400, 8

#: A class, and its sample.
Instance = tuple[HypothesisClass, Examples, Labels]


def cases() -> Iterator[Case]:
    finite = ["plain FW", "line-search FW", "pairwise FW", "EM"]
    has_cvxpy = importlib.util.find_spec("cvxpy") is not None
    if not has_cvxpy:
        print("cvxpy is not installed, so Clarabel is skipped; `make bench-solver` installs it")
    easy = {"problem": "mixed", "N": 100, "m": 200, "K": 2, "gamma": 0.5}
    yield {**easy, "rival": "SPIDER"}
    for problem in ("mixed", "weak"):
        small = {"problem": problem, "N": 1000, "m": 2000, "K": 10, "gamma": 0.1}
        for rival in finite + ["Clarabel"] * has_cvxpy:
            yield {**small, "rival": rival}
        for rival in finite:
            yield {**small, "N": 20_000, "rival": rival}
        for gamma, n_labels in ((0.5, 26), (0.02, 100)):
            yield {**small, "N": 20_000, "K": n_labels, "gamma": gamma, "rival": None}
    if data_file("letter.csv") is None:
        return
    letter = {"m": 2000, "K": N_LETTERS, "gamma": 0.5}
    for rival in finite + ["Clarabel"] * has_cvxpy:
        yield {**letter, "problem": "linear", "N": N_LINEAR, "rival": rival}
    for problem in ("stumps", "trees"):
        for rival in finite[:3]:
            yield {**letter, "problem": problem, "N": None, "rival": rival}
        for columns in (1, N_LETTER_FEATURES):
            for n_samples in (2000, 20_000):
                yield {**letter, "problem": problem, "N": None, "m": n_samples, "columns": columns, "rival": None}


def load(case: Case) -> Instance:
    problem, n_samples = case["problem"], case["m"]
    if problem in ("mixed", "weak"):
        words = empty_words(case["N"], n_samples)
        fill_clusters(words, MIXED if problem == "mixed" else WEAK, seed=0)
        right = PackedTable.from_words(words, case["N"], n_samples).right(np.arange(case["N"]))
        truth = np.zeros(n_samples, dtype=np.int64)
        return PredictionTable(np.where(right, 0, 1), case["K"]), np.arange(n_samples), truth
    x, y = letter()
    if problem == "linear":
        return PredictionTable(linear_predictions(x, y, n_samples), N_LETTERS), np.arange(n_samples), y[:n_samples]
    kind = StumpClass if problem == "stumps" else TreeClass
    return kind(N_LETTER_FEATURES, N_LETTERS), x[:n_samples], y[:n_samples]


@cache
def letter() -> tuple[NDArray[np.float64], Labels]:
    """The examples of letter in a random order, and their labels."""
    path = data_file("letter.csv")
    if path is None:
        raise FileNotFoundError("letter.csv")
    rows = np.loadtxt(path, delimiter=",", skiprows=1, dtype=str)
    rows = np.random.default_rng(0).permutation(rows)
    return rows[:, 1:].astype(np.float64), np.unique(rows[:, 0], return_inverse=True)[1].astype(np.int64)


def linear_predictions(x: NDArray[np.float64], y: Labels, n_samples: int) -> Labels:
    """What linear models, fitted to other examples, say on the first ``n_samples``."""
    rng = np.random.default_rng(1)
    predictions = []
    for _ in range(N_LINEAR):
        examples = rng.integers(n_samples, y.size, LINEAR_EXAMPLES)
        features = rng.permutation(N_LETTER_FEATURES)[:LINEAR_FEATURES]
        model = RidgeClassifier().fit(x[np.ix_(examples, features)], y[examples])
        predictions.append(model.predict(x[:n_samples, features]))
    return np.array(predictions)


def measure(case: Case) -> Case:
    with threadpool_limits(1):
        return _measured(case)


def _measured(case: Case) -> Case:
    hypotheses, x, y = load(case)
    barrier = Barrier.of_paper(y.size, case["gamma"], case["K"])
    limit = SPIDER_SECONDS if case["rival"] == "SPIDER" else MAX_SECONDS
    problem = Problem(hypotheses.on_sample(x, y), barrier, TOLERANCE, limit)
    if case["rival"] is None:
        return ours(hypotheses, x, y, barrier, TOLERANCE, case.get("columns"))
    start = time.perf_counter()
    found = rival(case["rival"], problem, hypotheses, x, y)()
    seconds = found.seconds or time.perf_counter() - start
    is_general = case["rival"] == "Clarabel"
    own = ours(hypotheses, x, y, barrier, min(found.gap, CLARABEL_TOLERANCE) if is_general else TOLERANCE, None)
    return {
        "gap": found.gap,
        "calls": found.n_calls,
        "seconds": seconds,
        **own,
        "calls / ours": found.n_calls / own["our calls"],
        "seconds / ours": seconds / (own["our seconds"] + is_general * own["packing"]),
        "objective - ours": found.objective - own["our objective"],
    }


def rival(name: str, problem: Problem, hypotheses: HypothesisClass, x: Examples, y: Labels) -> Callable[[], Run]:
    if name == "SPIDER":
        return partial(spider, problem, hypotheses, x, y)
    if name in ("EM", "Clarabel"):
        n_hypotheses = hypotheses.n_hypotheses or 0
        right = np.array([problem.oracle.right(h) for h in range(n_hypotheses)])
        return partial(em if name == "EM" else clarabel, problem, right)
    if name == "pairwise FW":
        return partial(pairwise_frank_wolfe, problem)
    return partial(frank_wolfe, problem, name == "line-search FW")


def ours(
    hypotheses: HypothesisClass, x: Examples, y: Labels, barrier: Barrier, tolerance: float, n_columns: int | None
) -> Case:
    oracle = hypotheses.on_sample(x, y)
    solve = partial(corrective_frank_wolfe, oracle, barrier, tolerance, n_columns=n_columns)
    found = solve()
    Q = W_gamma(found.mixture.W(hypotheses, x, y), barrier.gamma, hypotheses.n_labels)
    return {
        "our gap": found.gap,
        "our calls": found.n_passes,
        "our seconds": best_seconds(solve, REPEATS),
        "packing": best_seconds(partial(hypotheses.on_sample, x, y), REPEATS),
        "our objective": float(-(barrier.weight @ np.log(Q))),
        "support": len(found.mixture.hypotheses),
    }


if __name__ == "__main__":
    run_cases("solver", cases(), measure)
