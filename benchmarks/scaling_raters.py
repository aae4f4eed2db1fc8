"""What one server holds: 100, 300 and 1,000 raters who think two seconds, and where it breaks first.

They do what the page does (``page_raters.py``), a study in SQLite with many answers, each for ONEBIT_CROWD_SECONDS (60
here). "Breaks" names the first of these that is so: *errors*, requests that were refused or lost; *server*, whose one
process is at its limit when it uses nearly a whole core; *raters*, who run on the same machine in one process, and may
be at their limit before the server is; *slow*, a 99th percentile of answers above a second. A server that is at its
limit takes as many answers as it can, and raters wait longer: "of what was meant" is the share of the answers that they
would have given if nothing took any time.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from pathlib import Path

from benchmarks.crowds import N_BEFORE, N_ITEMS, crowd, knows
from benchmarks.harness import Case, run_cases
from benchmarks.running_server import served
from benchmarks.serving import make_study
from benchmarks.study import THINKING

SECONDS = float(os.environ.get("ONEBIT_CROWD_SECONDS", "60"))
N_RATERS = (100, 300, 1000)
#: Of a core, from where on whoever has one process is at its limit; and seconds from which on an answer is slow.
FULL, SLOW = 0.9, 1.0


def measure(case: Case) -> Case:
    with tempfile.TemporaryDirectory() as place:
        storage = f"sqlite:///{place}/studies.db"
        right = knows(make_study(storage, Path(place), N_ITEMS, N_BEFORE))
        with served(storage, Path(place), [f"rater {i}" for i in range(case["raters"])]) as server:
            clock, worked = time.perf_counter(), time.process_time()
            felt = asyncio.run(crowd(server, right, case["seconds"], THINKING))
            by_raters = (time.process_time() - worked) / (time.perf_counter() - clock)
    meant = felt["tells/s"] * THINKING / case["raters"]
    return {**felt, "raters cores": by_raters, "of what was meant": meant, "breaks": breaks(felt, by_raters)}


def breaks(felt: Case, by_raters: float) -> str:
    """What is at its limit, if anything is."""
    found = {
        "errors": felt["errors"] > 0,
        "server": felt["server cores"] > FULL,
        "raters": by_raters > FULL,
        "slow": (felt["tell p99 ms"] or 0) > 1000 * SLOW,
    }
    return ", ".join(name for name, is_so in found.items() if is_so) or "nothing"


def main() -> None:
    run_cases("scaling_raters", [{"raters": n, "seconds": SECONDS} for n in N_RATERS], measure)


if __name__ == "__main__":
    main()
