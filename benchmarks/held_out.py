"""Answers on tables that decided no setting of the certified learner: looked at once, when all settings stood.

The settings were chosen on the tables of ``benchmarks/selection.py``. These are others: classifiers of digits that are
trained here, and parts of the real tables without their best models and with half of their items, so that other models
lead by other gaps. eps = .01, delta = .05; means of ten seeds and the standard error. Who changes a setting after a
look at these figures needs new tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from benchmarks.harness import Case, data_file, prediction_table, run_cases
from benchmarks.selection import METHODS, Problem
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.digits import N_LABELS, train_models
from onebit.hypotheses.finite import PredictionTable

N_SEEDS = 10
WAYS = ("one-shot, pool", "one-shot, stream", "follow-up, pool")
#: The file of a table, how many of its best models are left out, and the first of every second item.
PARTS = {
    "MMLU-Pro without its best 3, odd items": ("mmlu_pro.npz", 3, 1),
    "ImageNetV2 without its best 10, even items": ("imagenetv2.npz", 10, 0),
}
DIGITS = "digits"


@lru_cache(maxsize=1)
def problem(name: str) -> Problem:
    if name == DIGITS:
        contest = train_models(lambda *_: None)
        return as_problem(contest.predictions, contest.truth, N_LABELS)
    file, n_best, first = PARTS[name]
    table = prediction_table(file)
    if table is None:
        raise FileNotFoundError(file)
    predictions, truth, n_labels = table
    accuracy = (predictions == truth).mean(axis=1)
    rest = np.sort(np.argsort(-accuracy, kind="stable")[n_best:])
    return as_problem(predictions[rest, first::2], truth[first::2], n_labels)


def as_problem(predictions: np.ndarray, truth: np.ndarray, n_labels: int) -> Problem:
    said = predictions.astype(np.int64)
    return Problem(PredictionTable(said, n_labels), said, said == truth, truth.astype(np.int64))


def cases() -> Iterator[Case]:
    for name in (DIGITS, *(name for name, (file, *_) in PARTS.items() if data_file(file) is not None)):
        for method in WAYS:
            yield {"table": name, "method": method, "seeds": N_SEEDS}


def measure(case: Case) -> Case:
    on = problem(case["table"])
    with threadpool_limits(1):
        outcomes = [METHODS[case["method"]](on, seed) for seed in range(case["seeds"])]
    answers = np.array([each.n_answers for each in outcomes])
    return {
        "models": on.said.shape[0],
        "items": on.truth.size,
        "answers": round(float(answers.mean())),
        "standard error": round(float(answers.std(ddof=1)) / math.sqrt(answers.size)),
        "largest excess": float(max(each.excess for each in outcomes)),
    }


if __name__ == "__main__":
    run_cases("held_out", cases(), measure)
