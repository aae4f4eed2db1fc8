"""Budgets that are spent: how often what they certify is wrong.

300 runs of each population of ``tests/statistical/budget_populations.py`` at delta .2 (ONEBIT_RUNS sets another
number), and twins that must fail. docs/decisions.md has what this prints.
"""

from __future__ import annotations

from benchmarks.populations import score
from tests.statistical.budget_populations import POPULATIONS, TWINS, SpentRuns

if __name__ == "__main__":
    populations = {name: SpentRuns(population) for name, population in POPULATIONS.items()}
    twins = {name: SpentRuns(population, kind) for name, (population, kind) in TWINS.items()}
    score("budget_promises", populations, twins)
