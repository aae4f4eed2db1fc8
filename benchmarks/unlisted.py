"""Rows that have none of the labels: what share of the answers they take, and which of them are noticed.

About a tenth of the labels, drawn by the seed, are missing from the list; raters deny every label of their rows. With
`stops` False nothing is ever left, as if every row had one of the labels. `nothing missing` is the same without a row
that has none: whatever is left there is left wrongly. Accuracy is on the test rows whose label is on the list.

How sure one must be to leave a row was chosen on digits (seeds 0 to 2); letter and clinc150 were not looked at before.
"""

from __future__ import annotations

import sys
import time
from itertools import product
from unittest.mock import patch

import numpy as np
from benchmarks.harness import Case, run_cases
from benchmarks.learning_data import data
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.learners.contract import run
from onebit.learners.training import unlisted
from onebit.learners.training.constants import NONE_LIKELIER, NONE_LIKELY
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.model import mean_belief
from onebit.learners.training.pooled import built_in
from onebit.randomness import generator
from onebit.records import Answer, Question

N_SEEDS = 3
#: Labels that are missing.
MISSING = {"digits": 1, "letter": 2, "clinc150": 14}
#: Numbers of answers; in one-shot more than there are rows, since the first pass asks once about each.
BUDGETS: dict[str, dict[str, tuple[int, ...]]] = {
    "digits": {"one-shot": (3000,), "follow-up": (300, 1000)},
    "letter": {"follow-up": (1000, 3000)},
    "clinc150": {"follow-up": (3000,)},
}
WAYS = ("stops", "never stops", "nothing missing")


def measure(case: Case) -> Case:
    on = data(case["data"], case["seed"])
    if on is None:
        return {}
    rng = generator(case["seed"], "missing labels")
    missing = np.sort(rng.choice(on.n_labels, MISSING[case["data"]], replace=False))
    number = np.full(on.n_labels, -1)
    listed = np.setdiff1d(np.arange(on.n_labels), missing)
    number[listed] = np.arange(listed.size)
    truth, truth_test = number[on.y], number[on.y_test]
    x, names = on.x, None if on.names is None else on.names[listed]
    if case["way"] == "nothing missing":
        x, truth = x[truth >= 0], truth[truth >= 0]
    likely, likelier = (2.0, 2.0) if case["way"] == "never stops" else (NONE_LIKELY, NONE_LIKELIER)
    with patch.multiple(unlisted, NONE_LIKELY=likely, NONE_LIKELIER=likelier):
        return _measure(case, x, truth, on.x_test[truth_test >= 0], truth_test[truth_test >= 0], names)


def _measure(
    case: Case, x: np.ndarray, truth: np.ndarray, x_test: np.ndarray, y_test: np.ndarray, names: np.ndarray | None
) -> Case:
    n_labels, start, seed = int(truth.max()) + 1, time.process_time(), case["seed"]
    model = built_in(x.shape[1], n_labels, names, generator(seed, "networks"))
    learner = TrainingLearner(
        model,
        x,
        n_labels,
        budget=case["budget"],
        protocol=case["protocol"],
        audit=0,
        near_are_alike=True,
        names=names,
        seed=seed,
    )
    asked: list[int] = []

    def rater(question: Question) -> Answer:
        asked.append(question.item)
        return Answer.YES if truth[question.item] == question.label else Answer.NO

    with threadpool_limits(1):
        result = run(learner, rater)
    left = np.array(result.left, dtype=np.int64)
    items = np.unique(asked)
    unlisted = items[truth[items] < 0]
    return {
        "share of rows": float((truth < 0).mean()),
        "share of answers": float((truth[asked] < 0).mean()),
        "answers per row": float(np.isin(asked, unlisted).sum() / max(unlisted.size, 1)),
        "asked": int(items.size),
        "unlisted": int(unlisted.size),
        "for sure": len(result.without_label),
        "left": int(left.size),
        "left wrongly": int((truth[left] >= 0).sum()),
        "accuracy": float((mean_belief(model, x_test).argmax(axis=1) == y_test).mean()),
        "seconds": time.process_time() - start,
    }


def report(rows: list[Case]) -> None:
    """A table in Markdown: means over the seeds."""
    shown = list(rows[0])[list(rows[0]).index("share of rows") :]
    print("| data | protocol | answers | way | " + " | ".join(shown) + " |")
    print("|---" * (4 + len(shown)) + "|")
    kinds = dict.fromkeys((row["data"], row["protocol"], row["budget"], row["way"]) for row in rows)
    for kind in kinds:
        same = [row for row in rows if (row["data"], row["protocol"], row["budget"], row["way"]) == kind]
        means = [f"{np.mean([row[name] for row in same]):.3g}" for name in shown]
        print("| " + " | ".join(map(str, kind)) + " | " + " | ".join(means) + " |")


if __name__ == "__main__":
    names = sys.argv[1:] or list(MISSING)
    cases = [
        {"data": name, "protocol": protocol, "budget": budget, "way": way, "seed": seed}
        for name in names
        for protocol, budgets in BUDGETS[name].items()
        for budget, way, seed in product(budgets, WAYS, range(N_SEEDS))
    ]
    report([row for row in run_cases("unlisted", cases, measure) if "seconds" in row])
