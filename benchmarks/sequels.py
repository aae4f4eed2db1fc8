"""Studies that go on from others: how often what they say is wrong, and how many answers need not be asked again.

300 runs of each population of ``tests/statistical/sequel_populations.py`` (ONEBIT_RUNS sets another number), and twins
that must fail. docs/decisions.md has what this prints.
"""

from __future__ import annotations

from benchmarks.populations import score
from tests.statistical.sequel_populations import CASES, TWINS

if __name__ == "__main__":
    score("sequels", CASES, TWINS)
