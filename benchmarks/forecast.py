"""How good ``onebit plan TABLE`` forecasts what a selection costs: the ratio of actual to forecast answers.

The forecast sees the models' predictions alone. The actual cost is the mean over seeds 0 to 4 of the certified learner
with raters who know the truth, on the pool, delta = .05. How truths are imagined was chosen after looking at these same
tables, so the ratios are in-sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from benchmarks.harness import Case, data_file, prediction_table, run_cases
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.raters import SimulatedRater
from onebit.records import AskingProtocol
from onebit.study.kinds.selection.rehearsal import Cost, rehearse

TABLES = ("letter_models.npz", "clinc150_models.npz", "imagenetv2.npz", "mmlu_pro.npz")
PROTOCOLS: tuple[AskingProtocol, ...] = ("one-shot", "follow-up")
ALL_EPS = (0.05, 0.02, 0.01)
DELTA, N_SEEDS = 0.05, 5


@lru_cache(maxsize=1)
def loaded(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    table = prediction_table(name)
    if table is None:
        raise FileNotFoundError(name)
    return table[0].astype(np.int64), table[1].astype(np.int64), table[2]


@lru_cache(maxsize=1)
def forecasts(name: str, protocol: AskingProtocol) -> tuple[Cost, ...]:
    predictions, _, n_labels = loaded(name)
    return rehearse(predictions, n_labels, protocol=protocol, all_eps=ALL_EPS, delta=DELTA)


def actual(name: str, protocol: AskingProtocol, eps: float) -> float:
    predictions, truth, n_labels = loaded(name)
    hypotheses, pool = PredictionTable(predictions, n_labels), Pool(np.arange(truth.size))
    answers = []
    for seed in range(N_SEEDS):
        learner = CertifiedLearner(hypotheses, pool, eps=eps, delta=DELTA, protocol=protocol, seed=seed)
        answers.append(run(learner, SimulatedRater(truth)).n_answers)
    return float(np.mean(answers))


def cases() -> Iterator[Case]:
    for name in TABLES:
        if data_file(name) is not None:
            for protocol in PROTOCOLS:
                for eps in ALL_EPS:
                    yield {"table": name, "protocol": protocol, "eps": eps}


def measure(case: Case) -> Case:
    with threadpool_limits(1):
        cost = forecasts(case["table"], case["protocol"])[ALL_EPS.index(case["eps"])]
        needed = actual(case["table"], case["protocol"], case["eps"])
    return {
        "actual": round(needed),
        "forecast": cost.middle,
        "low": cost.low,
        "high": cost.high,
        "actual / forecast": None if cost.middle is None else needed / cost.middle,
    }


def report(rows: list[Case]) -> None:
    """How many forecasts are within a factor of two."""
    ratios = [row["actual / forecast"] for row in rows if row["actual / forecast"] is not None]
    near = sum(0.5 <= ratio <= 2 for ratio in ratios)
    inside = sum(row["low"] <= row["actual"] <= (row["high"] or np.inf) for row in rows if row["low"] is not None)
    print(f"within a factor 2: {near} of {len(rows)}; inside the range: {inside} of {len(rows)}")


if __name__ == "__main__":
    report(run_cases("forecast", cases(), measure))
