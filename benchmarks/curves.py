"""Forecasts of the accuracy: what was said after n answers of 2 n and 4 n, and what came.

The package's settings. What came is the accuracy on test rows, which the learner never sees. A range is meant to have
it in eight of ten cases; it is a forecast, and nothing is promised. The form of the curve was mended by what came of
letter and digits (seeds 0 to 4) and clinc150 (seeds 0 and 1); here are other seeds, and clinc50.
"""

from __future__ import annotations

import time

import numpy as np
from benchmarks.harness import Case, run_cases
from benchmarks.learning_data import data
from benchmarks.rival_classifiers import accuracy
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.model import mean_belief
from onebit.learners.training.pooled import built_in
from onebit.randomness import generator
from onebit.records import Answer

SEEDS = range(5, 8)
#: On texts a case takes a minute.
SEEDS_OF_TEXTS = range(5, 7)
#: The first number of answers at which something is forecast.
FIRST = {"digits": 125, "letter": 750, "clinc50": 750, "clinc150": 750}
PROTOCOLS = {"one-shot": ("digits", "letter"), "follow-up": tuple(FIRST)}


def measure(case: Case) -> Case:
    on = data(case["data"], case["seed"])
    if on is None:
        return {}
    n, seed, start = FIRST[case["data"]], case["seed"], time.process_time()
    model = built_in(on.x.shape[1], on.n_labels, on.names, generator(seed, "networks"))
    learner = TrainingLearner(
        model,
        on.x,
        on.n_labels,
        budget=8 * n,
        protocol=case["protocol"],
        audit=0,
        near_are_alike=True,
        names=on.names,
        seed=seed,
    )
    figures: Case = {}
    with threadpool_limits(1):
        n_answers = 0
        for times in (1, 2, 4, 8):
            while n_answers < times * n and isinstance(asked := learner.ask(times * n - n_answers), tuple):
                for question in asked:
                    learner.tell(question.id, Answer.YES if on.y[question.item] == question.label else Answer.NO)
                n_answers += len(asked)
            result = learner.result
            figures[f"came at {times * n}"] = accuracy(mean_belief(model, on.x_test).argmax(axis=1), on)
            for point in result.forecast:
                if point.n_answers <= 8 * n and point.n_answers % n == 0:
                    figures[f"{times * n} said of {point.n_answers}"] = (point.low, point.middle, point.high)
    return figures | {"seconds": time.process_time() - start}


def report(rows: list[Case]) -> None:
    """A table in Markdown, one line for each forecast; means over the seeds."""
    print("| data | said after | of | said | range | came | in range |")
    print("|---|---|---|---|---|---|---|")
    n_in = n_all = 0
    for protocol, name in ((protocol, name) for protocol, names in PROTOCOLS.items() for name in names):
        first, of = FIRST[name], [row for row in rows if (row["data"], row["protocol"]) == (name, protocol)]
        for now in (1, 2, 4):
            for then in (2 * now, 4 * now):
                key = f"{now * first} said of {then * first}"
                pairs = [(row[key], row[f"came at {then * first}"]) for row in of if key in row]
                if then > 8 or not pairs:
                    continue
                said = np.array([each for each, _ in pairs])
                came = np.array([each for _, each in pairs])
                inside = int(((said[:, 0] <= came) & (came <= said[:, 2])).sum())
                n_in, n_all = n_in + inside, n_all + len(pairs)
                low, middle, high = said.mean(axis=0)
                print(
                    f"| {name}, {protocol} | {now * first:,} | {then * first:,} | {middle:.2f} "
                    f"| {low:.2f} to {high:.2f} | {came.mean():.2f} | {inside} of {len(pairs)} |"
                )
    print(f"\n{n_in} of {n_all} were in the range.")


if __name__ == "__main__":
    cases = [
        {"data": name, "protocol": protocol, "seed": seed}
        for protocol, names in PROTOCOLS.items()
        for name in names
        for seed in (SEEDS_OF_TEXTS if name.startswith("clinc") else SEEDS)
    ]
    report([row for row in run_cases("curves", cases, measure, prints=False) if "seconds" in row])
