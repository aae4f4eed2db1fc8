"""How low the variance of exploration gets: phase 1 against uniform guesses, on the population.

For each problem: max_h E[[h(x)=y] / W_gamma] of the mixture found from a number of confirmed samples, of the best
mixture for the whole population, and of uniform guesses; gamma = 1/2. Synthetic models err at random (accuracy .3 to
.9); the real tables are found in ONEBIT_DATA.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from benchmarks.harness import Case, prediction_table, run_cases

from onebit.explore.frank_wolfe import frank_wolfe
from onebit.explore.potential import W_gamma
from onebit.hypotheses.finite import PredictionTable

TABLES = ("mmlu_pro.npz", "letter_models.npz", "clinc150_models.npz", "imagenetv2.npz")
GAMMA, SEEDS = 0.5, 3


def problems() -> Iterator[Case]:
    for n_labels in (2, 10, 50, 200, 1000):
        yield {"problem": "synthetic", "K": n_labels, "N": 500}
    for name in TABLES:
        if (table := prediction_table(name)) is not None:
            yield {"problem": name, "K": table[2], "N": table[0].shape[0]}


def load(case: Case) -> tuple[np.ndarray, np.ndarray]:
    if case["problem"] != "synthetic":
        table = prediction_table(case["problem"])
        if table is None:
            raise FileNotFoundError(case["problem"])
        return table[0], table[1]
    rng = np.random.default_rng(0)
    truth = rng.integers(0, case["K"], 10_000)
    shape = (case["N"], truth.size)
    wrong = (truth + rng.integers(1, case["K"], shape)) % case["K"]
    return np.where(rng.random(shape) < np.linspace(0.3, 0.9, case["N"])[:, None], truth, wrong), truth


def measure(case: Case) -> Case:
    predictions, truth = load(case)
    n_labels, items = case["K"], np.arange(truth.size)
    hypotheses = PredictionTable(predictions, n_labels)
    right = predictions == truth

    def variance(sample: np.ndarray) -> float:
        found = frank_wolfe(hypotheses, sample, truth[sample], GAMMA, tolerance=0.01)
        W = W_gamma(found.mixture.W(hypotheses, items, truth), GAMMA, n_labels)
        return float((right / W).mean(axis=1).max())

    def from_confirmed(n_confirmed: int) -> float:
        rngs = [np.random.default_rng(seed) for seed in range(SEEDS)]
        return float(np.mean([variance(rng.integers(0, truth.size, n_confirmed)) for rng in rngs]))

    return {
        "uniform": float(n_labels * right.mean(axis=1).max()),
        "5K confirmed": from_confirmed(5 * n_labels),
        "20K confirmed": from_confirmed(20 * n_labels),
        "whole population": variance(items),
    }


if __name__ == "__main__":
    run_cases("exploration", problems(), measure)
