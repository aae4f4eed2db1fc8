"""Watches: how often an alarm is false, and how soon a change of known size is found.

First, 300 runs of each population of ``tests/statistical/watch_populations.py`` in which no rival is ahead by more
than eps (ONEBIT_RUNS sets another number): in how many an alarm rings within ten batches, where a false alarm may come
once in 50 batches; and twins that must fail. Then two models that say different things on a fifth of 1,000 items per
batch and are equal until the rival is ahead by so many points: after how many batches and answers the alarm rings.
docs/decisions.md has what this prints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from benchmarks.harness import Case, run_cases
from benchmarks.populations import score
from tests.statistical.watch_populations import QUIET, TWINS, NeverBeginsAnew, change

#: How far the rival is ahead after the change, and the batch of the change; 40 runs of each.
AHEAD, CHANGES = (0.05, 0.1, 0.15), (1, 31, 101)
ANSWERS = (20, 60)
SEEDS = 40


def changes() -> Iterator[Case]:
    for ahead in AHEAD:
        for answers in ANSWERS:
            yield {"ahead": ahead, "answers per batch": answers, "from batch": 31, "begins": "anew", "runs": SEEDS}
    for at in CHANGES:
        for begins in ("anew", "once"):
            yield {"ahead": 0.1, "answers per batch": 20, "from batch": at, "begins": begins, "runs": SEEDS}


def delay(case: Case) -> Case:
    watch = change(case["ahead"], case["from batch"], case["answers per batch"])
    if case["begins"] == "once":
        watch = replace(watch, learner=NeverBeginsAnew)
    waited, early, missed = [], 0, 0
    for seed in range(case["runs"]):
        rang, _ = watch.run(seed)
        missed += rang is None
        early += rang is not None and rang < case["from batch"]
        if rang is not None and rang >= case["from batch"]:
            waited.append(rang - case["from batch"] + 1)
    half, most = (float(np.quantile(waited, q)) if waited else None for q in (0.5, 0.95))
    return {
        "before it": early,
        "never": missed,
        "batches, half within": half,
        "95% within": most,
        "answers, half within": None if half is None else half * case["answers per batch"],
    }


if __name__ == "__main__":
    score("watches", QUIET, TWINS, wrong="alarms")
    run_cases("watches_changed", changes(), delay)
