"""The best K models, and tiers: how often what they say is wrong, and what they cost beside the choice of one model.

First, 300 runs of each population of ``tests/statistical/tiers_populations.py`` at delta .2 (ONEBIT_RUNS sets another
number), and twins that must fail. Then the answers that the best 1, 3 and 10 and all pairs take on real tables, found
by ONEBIT_DATA: the four of ``selection.py`` by one-shot and follow-up, and five models' free texts (EVOUNA) by panel.
Of tables with many models, tiers are of the first 20 in the table. docs/decisions.md has what this prints.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from benchmarks.harness import Case, data_file, prediction_table, run_cases
from benchmarks.populations import score
from numpy.typing import NDArray
from tests.statistical.tiers_populations import CASES, TWINS

from onebit.learners.contract import run
from onebit.raters import Rater, SimulatedRater, VerdictRater
from onebit.records import RunStatus, Setting
from onebit.study.kinds.selection.selectors import build_selection
from onebit.tables import read_table

TABLES = ("letter_models.npz", "clinc150_models.npz", "imagenetv2.npz", "mmlu_pro.npz")
TEXTS = "evouna_nq.parquet"
DELTA, EPS = 0.05, 0.02
#: Runs of each; models whose tiers are looked for.
SEEDS, TIERS_SEEDS, MOST_IN_TIERS = 5, 2, 20


@lru_cache(maxsize=1)
def table(name: str) -> tuple[NDArray[np.int64], int, NDArray[np.float64], Rater]:
    """What the models say, the number of labels, how often each is right, and a rater who knows."""
    if name == TEXTS:
        texts = read_table(
            data_file(name), models="answer_*", verdicts="right_*", show=["question"], equal="normalised"
        )
        rater: Rater = VerdictRater(texts.predictions, texts.verdicts)  # type: ignore[arg-type]
        return texts.predictions, texts.n_labels, texts.accuracy(), rater
    found = prediction_table(name)
    assert found is not None
    said, truth, n_labels = found
    return said.astype(np.int64), n_labels, (said == truth).mean(axis=1), SimulatedRater(truth.astype(np.int64))


def costs() -> Iterator[Case]:
    for name in (TEXTS, *TABLES):
        if data_file(name) is None:
            continue
        for protocol in ("panel",) if name == TEXTS else ("follow-up", "one-shot"):
            aims: tuple[Case, ...] = ({}, {"top": 3}, {"top": 10}, {"tiers": True})
            for aim in aims if name != TEXTS else ({}, {"top": 2}, {"top": 3}, {"tiers": True}):
                for n_models in {None, MOST_IN_TIERS if name != TEXTS else None} if "top" not in aim else {None}:
                    if aim.get("tiers") and n_models is None and name != TEXTS:
                        continue
                    yield {"table": name, "protocol": protocol, "aim": aim, "first": n_models, "eps": EPS}


def cost(case: Case) -> Case:
    said, n_labels, accuracy, rater = table(case["table"])
    said, accuracy = said[: case["first"]], accuracy[: case["first"]]
    aim: dict[str, Any] = case["aim"]
    needed, wrong, start = [], 0, time.perf_counter()
    n_tiers = 0
    for seed in range(TIERS_SEEDS if aim.get("tiers") else SEEDS):
        setting = Setting(case["eps"], DELTA, case["protocol"], seed=seed, **aim)
        result = run(build_selection(setting, "certified", said, n_labels).learner, rater)
        needed.append(result.n_answers)
        others = np.setdiff1d(np.arange(accuracy.size), result.names)
        wrong += result.status is not RunStatus.COMPLETE or bool(
            accuracy[others].max() - accuracy[list(result.names)].min() > case["eps"] + 1e-12
        )
        for each in result.placings:
            ahead = accuracy - accuracy[each.model]
            wrong += any(ahead[h] >= 0 for h in each.better_than)
            wrong += any(abs(ahead[h]) > case["eps"] for h in each.tied_with)
            n_tiers = max(n_tiers, each.tier)
    return {
        "models": said.shape[0],
        "items": said.shape[1],
        "answers": float(np.mean(needed)),
        "spread": float(np.std(needed)),
        "runs": len(needed),
        "wrong": wrong,
        "tiers": n_tiers,
        "seconds": time.perf_counter() - start,
    }


if __name__ == "__main__":
    score("tiers", CASES, TWINS)
    run_cases("tiers_cost", costs(), cost)
