"""How often each label counts as met before the first answer, and what comes of it: the choice of ``ITEMS_BEFORE``.

Accuracy after 1,000 answers on a fifth of the training rows, which are kept aside; no test row is looked at. letter has
equal labels, clinc50 unequal ones.
"""

from __future__ import annotations

from unittest.mock import patch

from benchmarks.harness import Case, run_cases
from benchmarks.learning import data, ours, validation
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.learners.training import learner

N_ANSWERS = 1000
SEEDS = {"letter": (0, 1), "digits": (0, 1), "clinc50": (0,)}


def measure(case: Case) -> Case:
    on = data(case["data"], case["seed"])
    if on is None:
        return {}
    counted = {case["protocol"]: case["items before"]}
    with threadpool_limits(1), patch.object(learner, "ITEMS_BEFORE", counted):
        found = ours(validation(on), (N_ANSWERS,), case["seed"], {"protocol": case["protocol"], "names": False})
    return {"accuracy": found[0]}


if __name__ == "__main__":
    run_cases(
        "label_shares",
        [
            {"data": of, "protocol": protocol, "items before": items, "seed": seed}
            for of, seeds in SEEDS.items()
            for protocol in ("one-shot", "follow-up")
            for items in (1.0, 30.0)
            for seed in seeds
        ],
        measure,
    )
