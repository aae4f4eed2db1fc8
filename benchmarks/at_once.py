"""What it costs in answers that many raters answer at once: epochs then have more questions, so that few raters wait.

The runs of ``selection.py`` on a pool, with seeds 0 to 9, at eps = .01 and delta = .05: with one rater, as at the
terminal, and with ten and a hundred. Everything that an epoch asks is answered before the next begins, so the figures
are what a study takes however fast its raters are.
"""

from __future__ import annotations

import numpy as np
from benchmarks.harness import Case, data_file, run_cases
from benchmarks.selection import problem

from onebit.learners.certified import CertifiedLearner
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.raters import SimulatedRater
from onebit.records import RunStatus

EPS, DELTA = 0.01, 0.05
N_SEEDS = 10
TABLES = ("letter_models.npz", "mmlu_pro.npz")


def answers_and_epochs(case: Case, seed: int) -> tuple[int, int]:
    """The answers and epochs of one run."""
    on = problem(case["table"])
    learner = CertifiedLearner(
        on.hypotheses, Pool(np.arange(on.truth.size)), eps=EPS, delta=DELTA, protocol=case["protocol"], seed=seed
    )
    learner.expect(case["raters"])
    result = run(learner, SimulatedRater(on.truth))
    if result.status is not RunStatus.COMPLETE:
        raise RuntimeError(f"seed {seed} was not certified: {result.status.value}")
    return result.n_answers, len(learner.epochs)


def measure(case: Case) -> Case:
    runs = np.array([answers_and_epochs(case, seed) for seed in range(N_SEEDS)])
    answers = runs[:, 0]
    return {
        "answers": float(answers.mean()),
        "standard error": float(answers.std(ddof=1) / np.sqrt(N_SEEDS)),
        "epochs": float(runs[:, 1].mean()),
    }


if __name__ == "__main__":
    run_cases(
        "at_once",
        [
            {"table": table, "protocol": protocol, "raters": n_raters}
            for table in TABLES
            if data_file(table) is not None
            for protocol in ("one-shot", "follow-up")
            for n_raters in (1, 10, 100)
        ],
        measure,
    )
