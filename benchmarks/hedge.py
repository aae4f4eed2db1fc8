"""What the sequel's learner costs in time: phase I, which Hedge goes over at once, and a question of phase II.

Models err at random (accuracy .3 to .9) on 2,000 items; raters are simulated. Only a yes changes a weight, so phase I
costs a few passes over N numbers for each of about T / K yeses, however long it is.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator

import numpy as np
from benchmarks.harness import Case, run_cases

from onebit import HedgeLearner, HedgePlan, Pool, PredictionTable, SimulatedRater, Status

N_ITEMS, N_FINAL, AT_A_TIME = 2000, 4096, 2048


def cases() -> Iterator[Case]:
    for n_hypotheses in (1000, 10_000, 100_000):
        yield {"N": n_hypotheses, "K": 1000, "T": 200_000}


def models(n_hypotheses: int, n_labels: int) -> tuple[PredictionTable, np.ndarray]:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, n_labels, N_ITEMS)
    table = np.empty((n_hypotheses, N_ITEMS), dtype=np.int16)
    for row, accuracy in zip(table, np.linspace(0.3, 0.9, n_hypotheses), strict=True):
        row[:] = np.where(rng.random(N_ITEMS) < accuracy, truth, rng.integers(0, n_labels, N_ITEMS))
    return PredictionTable(table, n_labels), truth


def measure(case: Case) -> Case:
    """Seconds to close phase I when all its answers are there, milliseconds for a question of phase II, and all."""
    started = time.process_time()
    hypotheses, truth = models(case["N"], case["K"])
    learner = HedgeLearner(hypotheses, Pool(np.arange(N_ITEMS)), HedgePlan(case["T"], N_FINAL), seed=0)
    rater = SimulatedRater(truth)
    asking, closing, n_told = [0.0, 0.0], 0.0, 0
    while True:
        start = time.perf_counter()
        questions = learner.ask(AT_A_TIME)
        if isinstance(questions, Status):
            break
        asking[questions[0].epoch] += time.perf_counter() - start
        for question in questions:
            learner.tell(question.id, rater(question))
        n_told += len(questions)
        if n_told == case["T"]:
            # Reading the result closes a phase whose last answer has come.
            start = time.perf_counter()
            _ = learner.result
            closing = time.perf_counter() - start
    result = learner.result
    if result.coverage is None:
        raise RuntimeError("phase I did not close")
    return {
        "yeses": result.coverage.n_confirmed,
        "phase I closed, s": closing,
        "question of phase I, ms": 1000 * asking[0] / case["T"],
        "question of phase II, ms": 1000 * asking[1] / N_FINAL,
        "in the mixture": len(result.coverage.mixture.hypotheses),
        "processor time of all, s": time.process_time() - started,
        # The cases grow, so the most that the process has held is the last one's.
        "memory, GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
    }


if __name__ == "__main__":
    run_cases("hedge", cases(), measure)
