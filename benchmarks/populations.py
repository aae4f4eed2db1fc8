"""What the benchmarks of decisions share: many runs of populations on which a promise must hold, and of twins.

A population is run in parts of a few runs, each kept at once, so that a benchmark that was stopped goes on where it
was. ONEBIT_RUNS sets another number of runs than 300; a larger number, a multiple of 20, goes on from a smaller one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.harness import Case, print_rows, run_cases
from tests.statistical.scored import Scored, Tally
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

RUNS = int(os.environ.get("ONEBIT_RUNS", "300"))
#: Runs of one part: some seconds, a minute for the slowest.
PART = 20
HOLDS, FAILS = "must hold", "must fail"
COUNTS = ("wrong", "complete", "answers", "asked")


def score(name: str, populations: Mapping[str, Scored], twins: Mapping[str, Scored], wrong: str = "wrong") -> None:
    """Run all of them, and print how often what was said is wrong (``wrong`` is what that is called)."""
    of = {HOLDS: populations, FAILS: twins}

    def parts() -> Iterator[Case]:
        # A part of each, then another of each: whoever stops early has as many runs of all.
        for first in range(0, RUNS, PART):
            part = {"first": first, "runs": min(PART, RUNS - first)}
            for promise, named in of.items():
                for population in named:
                    yield {"population": population, "promise": promise, **part}

    def measure(case: Case) -> Case:
        start = time.process_time()
        with threadpool_limits(1):
            found = of[case["promise"]][case["population"]].tally(case["runs"], case["first"])
        return {count: getattr(found, count) for count in COUNTS} | {"seconds": time.process_time() - start}

    kept = run_cases(name, parts(), measure, prints=False)
    rows = [
        _row(kept, promise, each, population.delta, wrong)
        for promise, named in of.items()
        for each, population in named.items()
    ]
    print_rows(name, rows)
    others = [row["population"] for row in rows if row["as it must"] != "yes"]
    print(f"not as it must be: {', '.join(others)}" if others else "all as they must be")


def _row(kept: list[Case], promise: str, population: str, delta: float, wrong: str) -> dict[str, Any]:
    """All parts of a population together."""
    parts = [part for part in kept if (part["promise"], part["population"]) == (promise, population)]
    found = Tally(sum(part["runs"] for part in parts), *(sum(part[count] for part in parts) for count in COUNTS))
    allowed = found.most(delta)
    return {
        "population": population,
        "promise": promise,
        "runs": found.runs,
        "delta": delta,
        wrong: found.wrong,
        "allowed": allowed,
        "as it must": "yes" if (found.wrong <= allowed) == (promise == HOLDS) else "NO",
        "complete": found.complete,
        "answers": found.answers / found.runs,
        "new ones": found.asked / found.runs or None,
        "seconds": sum(part["seconds"] for part in parts),
    }
