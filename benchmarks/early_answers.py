"""One-shot training after 300 and 1,000 answers, by twenty seeds that ``learning.py`` does not use.

So early it hangs on luck which labels are found, and the five seeds of ``learning.py`` leave a standard error as large
as what is between the methods. Settings of rivals are those that ``learning.py`` chose; of ours, how far networks are
heeded at first was chosen on the training rows of seeds 0 to 19, so the last five alone are untouched.
"""

from __future__ import annotations

import numpy as np
from benchmarks.harness import Case, run_cases
from benchmarks.learning import METHODS, chosen_setting
from benchmarks.learning_data import N_SEEDS, data
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

CHECKPOINTS, SEEDS = (300, 1000), range(N_SEEDS, N_SEEDS + 20)
NAMES = ("ours, one-shot", "LinUCB", "LinUCB, random features", "uniform, yes rows")


def measure(case: Case) -> Case:
    on = data(case["data"], case["seed"])
    if on is None:
        return {}
    with threadpool_limits(1):
        found = METHODS[case["method"]].run(on, CHECKPOINTS, case["seed"], case["setting"])
    return {str(n): reached for n, reached in zip(CHECKPOINTS, found, strict=True)}


if __name__ == "__main__":
    for of in ("letter", "letter95"):
        for name in NAMES:
            setting = chosen_setting(name, of)
            cases = [{"data": of, "method": name, "seed": seed, "setting": setting} for seed in SEEDS]
            rows = [row for row in run_cases("early_answers", cases, measure, prints=False) if len(row) > len(cases[0])]
            for n in CHECKPOINTS if rows else ():
                reached = np.array([row[str(n)] for row in rows])
                error = reached.std(ddof=1) / np.sqrt(reached.size)
                print(f"{of}, {name}: {reached.mean():.3f} ± {error:.3f} after {n:,} answers")
