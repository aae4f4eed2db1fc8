"""How many yes/no answers labels by margin would take: what an estimator is told label by label, asked label by label.

``labels by margin`` of ``learning.py`` is told the labels of the items of which its estimator is least sure. Here each
of these labels is found by asking instead, the estimator's best guess first, labels it has not met last: the place of
the right label in that order is the number of answers. So it says what so many labels of these items cost in yes and
no, while the estimator is as good as with labels.
"""

from __future__ import annotations

import numpy as np
from benchmarks.harness import Case, run_cases
from benchmarks.learning_data import data
from benchmarks.rival_classifiers import MarginLoop, refit_times
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

LABELS, SEEDS = (500, 1500), 3


def measure(case: Case) -> Case:
    on = data(case["data"], case["seed"])
    if on is None:
        return {}
    loop, n_answers, found = MarginLoop(on, case["seed"], case["estimator"]), 0, dict[str, int]()
    with threadpool_limits(1):
        for stop in refit_times(LABELS)[1:]:
            while len(loop.confirmed) < stop and loop.order:
                n_answers += loop.ask_next(on.n_labels)
            loop.refit()
            if stop in LABELS:
                found[f"answers for {stop} labels"] = n_answers
    return dict(found)


if __name__ == "__main__":
    rows = run_cases(
        "label_prices",
        [
            {"data": of, "estimator": estimator, "seed": seed}
            for of in ("letter", "digits")
            for estimator in ("logistic", "trees", "boosting")
            for seed in range(SEEDS)
        ],
        measure,
    )
    for of, estimator in dict.fromkeys((row["data"], row["estimator"]) for row in rows):
        own = [row for row in rows if (row["data"], row["estimator"]) == (of, estimator) and len(row) > 3]
        for n in LABELS if own else ():
            mean = np.mean([row[f"answers for {n} labels"] for row in own])
            print(f"{of}, {estimator}: {n:,} labels take {mean:,.0f} answers")
