"""How often the certified learner's promise fails, in 2,000 seeded runs of each population, and how often twins' do.

Wrong certificates and eliminations of the best are counted at every closing, with delta as the most that is promised
and ``allowed`` as the count that a learner failing with probability delta exceeds with probability 1e-6. A twin breaks
one rule, and must exceed it. ONEBIT_RUNS sets another number of runs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from benchmarks.harness import Case, run_cases
from tests.statistical.certified_populations import POPULATIONS, tally
from tests.statistical.certified_twins import TWINS
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

RUNS = int(os.environ.get("ONEBIT_RUNS", "2000"))
HOLDS, FAILS = "must hold", "must fail"


def cases() -> Iterator[Case]:
    for name in POPULATIONS:
        yield {"population": name, "promise": HOLDS, "runs": RUNS}
    for name, twin in TWINS.items():
        if twin.honest is not None:
            yield {"population": f"rule kept: {name}", "promise": HOLDS, "runs": RUNS}
    for name in TWINS:
        yield {"population": f"twin: {name}", "promise": FAILS, "runs": RUNS}


def measure(case: Case) -> Case:
    kind, _, name = case["population"].rpartition(": ")
    population = TWINS[name].population if kind else POPULATIONS[name]
    start = time.perf_counter()
    with threadpool_limits(1):
        if not kind:
            found = tally(population, case["runs"])
        elif kind == "twin":
            found = TWINS[name].tally(case["runs"])
        else:
            honest = TWINS[name].honest
            assert honest is not None
            found = honest(case["runs"])
    allowed = found.most(population.delta)
    return {
        "delta": population.delta,
        "wrong": found.wrong,
        "best eliminated": found.lost,
        "either": found.failed,
        "allowed": allowed,
        "as it must": "yes" if (found.failed <= allowed) == (case["promise"] == HOLDS) else "NO",
        "answers": found.answers / found.runs,
        "seconds": time.perf_counter() - start,
    }


if __name__ == "__main__":
    rows = run_cases("certificates", cases(), measure)
    others = [row["population"] for row in rows if row["as it must"] != "yes"]
    print(f"not as it must be: {', '.join(others)}" if others else "all as they must be")
