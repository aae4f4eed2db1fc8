"""How often each label counts as met before the first answer, and what comes of it: the choice of ``ITEMS_BEFORE``.

Accuracy after 1,000 answers on a fifth of the training rows, which are kept aside; no test row is looked at. letter has
equal labels, clinc50 unequal ones. Where "items before" has several numbers, one of them, or one between, is learned,
which is for follow-up.
"""

from __future__ import annotations

from unittest.mock import patch

from benchmarks.harness import Case, run_cases
from benchmarks.learning import ours
from benchmarks.learning_data import data, validation
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.learners.training import beginning, strength
from onebit.learners.training.constants import MAY_COUNT

N_ANSWERS = 1000
SEEDS = {"letter": range(5), "digits": range(5), "clinc50": range(3)}
ITEMS = {"one-shot": (1.0, 30.0), "follow-up": (1.0, 30.0, MAY_COUNT)}


def measure(case: Case) -> Case:
    on = data(case["data"], case["seed"])
    if on is None:
        return {}
    items = case["items before"]
    one, several = (items, (items,)) if isinstance(items, float) else (None, tuple(items))
    with (
        threadpool_limits(1),
        patch.object(beginning, "ITEMS_BEFORE", one),
        patch.object(strength, "MAY_COUNT", several),
    ):
        found = ours(validation(on), (N_ANSWERS,), case["seed"], {"protocol": case["protocol"], "names": False})
    return {"accuracy": found[0]}


if __name__ == "__main__":
    run_cases(
        "label_shares",
        [
            {"data": of, "protocol": protocol, "items before": items, "seed": seed}
            for of, seeds in SEEDS.items()
            for protocol, counts in ITEMS.items()
            for items in counts
            for seed in seeds
        ],
        measure,
    )
