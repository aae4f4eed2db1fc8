"""How often the certified learner's promise fails, in 2,000 seeded runs of each population, and how often twins' do.

Wrong certificates and eliminations of the best are counted at every closing, with delta as the most that is promised
and ``allowed`` as the count that a learner failing with probability delta exceeds with probability 1e-6. A twin breaks
one rule, and must exceed it. ONEBIT_RUNS sets another number of runs. Ways around a certificate that once worked have
300 runs each, at delta .05 and .2; their twins are the behaviour that let them. ONEBIT_WORKERS sets how many processes
measure at a time, or the address of a Dask scheduler whose workers have this folder as theirs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from benchmarks.harness import Case, run_cases
from tests.statistical.certified_leaks import LEAKS, SOUND
from tests.statistical.certified_populations import POPULATIONS, Tally, tally
from tests.statistical.certified_twins import TWINS
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.passes import open_workers

RUNS = int(os.environ.get("ONEBIT_RUNS", "2000"))
LEAK_RUNS = min(RUNS, 300)
HOLDS, FAILS = "must hold", "must fail"


def cases() -> Iterator[Case]:
    for delta in (0.05, 0.2):
        for name in LEAKS | SOUND:
            yield {"population": f"leak: {name}", "promise": HOLDS, "runs": LEAK_RUNS, "delta": delta}
        for name in LEAKS:
            yield {"population": f"leak's twin: {name}", "promise": FAILS, "runs": LEAK_RUNS, "delta": delta}
    for name in POPULATIONS:
        yield {"population": name, "promise": HOLDS, "runs": RUNS}
    for name, twin in TWINS.items():
        if twin.honest is not None:
            yield {"population": f"rule kept: {name}", "promise": HOLDS, "runs": RUNS}
    for name in TWINS:
        yield {"population": f"twin: {name}", "promise": FAILS, "runs": RUNS}


def measure(case: Case) -> Case:
    kind, _, name = case["population"].rpartition(": ")
    start = time.perf_counter()
    with threadpool_limits(1):
        found, delta = _leak(kind, name, case) if kind.startswith("leak") else _population(kind, name, case["runs"])
    allowed = found.most(delta)
    return {
        "delta": delta,
        "wrong": found.wrong,
        "best eliminated": found.lost,
        "either": found.failed,
        "allowed": allowed,
        "as it must": "yes" if (found.failed <= allowed) == (case["promise"] == HOLDS) else "NO",
        "answers": found.answers / found.runs,
        "seconds": time.perf_counter() - start,
    }


def _leak(kind: str, name: str, case: Case) -> tuple[Tally, float]:
    leak, delta = (LEAKS | SOUND)[name], case["delta"]
    return (leak.tally if kind == "leak" else leak.of_twin)(case["runs"], delta), delta


def _population(kind: str, name: str, runs: int) -> tuple[Tally, float]:
    if not kind:
        return tally(POPULATIONS[name], runs), POPULATIONS[name].delta
    twin = TWINS[name]
    if kind == "twin":
        return twin.tally(runs), twin.population.delta
    assert twin.honest is not None
    return twin.honest(runs), twin.population.delta


if __name__ == "__main__":
    with open_workers(os.environ.get("ONEBIT_WORKERS", "1")) as executor:
        rows = run_cases("certificates", cases(), measure, executor=executor)
    others = [row["population"] for row in rows if row["as it must"] != "yes"]
    print(f"not as it must be: {', '.join(others)}" if others else "all as they must be")
