"""Studies that go on from others: how often what they say is wrong, and how many answers need not be asked again.

300 runs of each population of ``tests/statistical/sequel_populations.py`` (ONEBIT_RUNS sets another number), and twins
that must fail. docs/decisions.md has what this prints.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from benchmarks.harness import Case, run_cases
from tests.statistical.sequel_populations import CASES, TWINS
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

RUNS = int(os.environ.get("ONEBIT_RUNS", "300"))
HOLDS, FAILS = "must hold", "must fail"


def cases() -> Iterator[Case]:
    for name in CASES:
        yield {"population": name, "promise": HOLDS, "runs": RUNS}
    for name in TWINS:
        yield {"population": name, "promise": FAILS, "runs": RUNS}


def measure(case: Case) -> Case:
    sequel, start = (CASES | TWINS)[case["population"]], time.perf_counter()
    with threadpool_limits(1):
        found = sequel.tally(case["runs"])
    allowed = found.most(sequel.delta)
    return {
        "delta": sequel.delta,
        "wrong": found.wrong,
        "allowed": allowed,
        "as it must": "yes" if (found.wrong <= allowed) == (case["promise"] == HOLDS) else "NO",
        "answers": found.answers / found.runs,
        "new ones": found.asked / found.runs,
        "seconds": time.perf_counter() - start,
    }


if __name__ == "__main__":
    rows = run_cases("sequels", cases(), measure)
    others = [row["population"] for row in rows if row["as it must"] != "yes"]
    print(f"not as it must be: {', '.join(others)}" if others else "all as they must be")
