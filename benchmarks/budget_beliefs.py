"""Is what a spent budget believes honest? By how many items the best is believed to be ahead of the next, and is.

On the whole tables of ``budgets.py``, whose pools of 1,000 items decide less: after 50, 100, 200 and 500 answers, the
mean over the runs of what is believed, of the standard deviation that goes with it, and the root of the mean square of
the error in such deviations. That is about 1 where belief is as unsure as it should be, and more where it is too sure;
there is one truth for all runs of a table, so errors of a table go together. docs/decisions.md has what this prints.

``python -m benchmarks.budget_beliefs [TABLE ...]``; seeds are from 100 on, those of ``budgets.py`` are below.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from benchmarks.budget_tables import MADE, REAL, Table, table
from benchmarks.budgets import BUDGETS
from benchmarks.harness import Case, run_cases
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.certified.choosing import Chooser
from onebit.learners.certified.planning import Plan
from onebit.learners.certified.standing import Standing
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.raters import SimulatedRater
from onebit.records.selection_spec import eps_of_budget

FIRST_SEED, SEEDS = 100, 5


class Believer(CertifiedLearner):
    """Notes at every plan what is believed of the model ``best`` beside the model ``next_best``, and how surely."""

    best: int
    next_best: int
    believed: list[tuple[int, float, float]]

    def _chosen_plan(self, chooser: Chooser, standing: Standing) -> tuple[int, Plan]:
        planned, plan = super()._chosen_plan(chooser, standing)
        names = self._first[standing.survivors].tolist()
        if self.best in names and self.next_best in names:
            view = chooser.view(standing.survivors, plan.guess, self._known)
            lead = chooser.lead(view, standing.survivors, names.index(self.next_best))
            row = names.index(self.best)
            self.believed.append((self._ledger.n_answered, float(lead.ahead[row]), float(lead.deviation[row])))
        return planned, plan


def best_two(on: Table) -> tuple[int, int]:
    """The best model, and the next that says something else; of equals the first."""
    order = np.argsort(-on.accuracy, kind="stable").tolist()
    return order[0], next(h for h in order if (on.said[h] != on.said[order[0]]).any())


def measure(case: Case) -> Case:
    on = table(case["table"])
    assert on is not None
    best, next_best = best_two(on)
    true = int((on.said[best] == on.truth).sum() - (on.said[next_best] == on.truth).sum())
    believed = []
    with threadpool_limits(1):
        for seed in range(FIRST_SEED, FIRST_SEED + case["seeds"]):
            learner = Believer(
                PredictionTable(on.said, on.n_labels),
                Pool(np.arange(on.truth.size)),
                eps=eps_of_budget(max(BUDGETS)),
                budget=max(BUDGETS),
                seed=seed,
                spends=True,
            )
            learner.best, learner.next_best, learner.believed = best, next_best, []
            run(learner, SimulatedRater(on.truth), 1)
            believed.append([[each for each in learner.believed if each[0] <= n][-1][1:] for n in BUDGETS])
    ahead, deviation = np.moveaxis(np.array(believed), 2, 0)
    error = np.sqrt((((ahead - true) / deviation) ** 2).mean(axis=0))
    told: Case = {"differ on": int((on.said[best] != on.said[next_best]).sum()), "ahead": true}
    for i, n in enumerate(BUDGETS):
        told[f"believed {n}"] = f"{ahead[:, i].mean():+.0f} ± {deviation[:, i].mean():.0f}"
        told[f"error {n}"] = round(float(error[i]), 2)
    return told


def cases(tables: list[str]) -> Iterator[Case]:
    for name in tables:
        if table(name) is not None:
            yield {"table": name, "seeds": SEEDS}


if __name__ == "__main__":
    if unknown := set(sys.argv[1:]) - {*REAL, *MADE}:
        sys.exit(f"not a table: {', '.join(sorted(unknown))}")
    run_cases("budget_beliefs", cases(sys.argv[1:] or [*REAL, *MADE]), measure)
