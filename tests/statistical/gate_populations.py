"""Populations on which what a gate says is scored by simulation, the scoring, and twins that must fail.

Each is small, so that a run takes milliseconds. They are what a gate could go wrong on: equal models, a candidate that
is barely ahead or behind, one that is worse by exactly the margin, rows in an order that favours it, many candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.statistical.panel_twins import TakesTheTablesOrder
from tests.statistical.scored import ROUNDING, AskedCase, Ints, LooksAgainAndAgain, standing_as

from onebit.learners.certified.run import CertifiedRun
from onebit.records import Comparison

#: The baseline's row.
BASELINE = 0


@dataclass(frozen=True, eq=False)
class GateCase(AskedCase):
    """A table whose row 0 is the baseline; ``eps`` is the margin."""

    @property
    def aim(self) -> dict[str, Any]:
        return {"baseline": BASELINE}

    def says_wrong(self, learner: CertifiedRun) -> bool:
        d = self.accuracy - self.accuracy[BASELINE]
        wrong = any(self.is_wrong(each, float(d[each.candidate])) for each in learner.result.gate)
        return wrong or any(closing.certified_eps < -d.min() - ROUNDING for closing in learner.closings)

    def is_wrong(self, told: Comparison, d: float) -> bool:
        """Whether something that is said of a candidate is not so; ``d`` is its accuracy less the baseline's."""
        claims = {"better": d > ROUNDING, "not worse": d > -self.eps + ROUNDING, "worse": d < -ROUNDING}
        is_so = claims.get(told.verdict, True)
        return not is_so or told.behind_at_most < -d - ROUNDING or told.ahead_at_most < d - ROUNDING


def beside(n_won: int, n_lost: int, n_neither: int, n_same: int) -> tuple[Ints, Ints]:
    """A baseline and a candidate that wins and loses so many items; the rows stand with the candidate's wins first."""
    of_candidate = np.repeat([0, 1, 2, 0], [n_won, n_lost, n_neither, n_same])
    of_baseline = np.repeat([1, 0, 1, 0], [n_won, n_lost, n_neither, n_same])
    return np.stack([of_baseline, of_candidate]), np.zeros(of_baseline.size, dtype=np.int64)


def many(n_candidates: int, n_each: int, n_items: int, n_more_lost: int = 0) -> tuple[Ints, Ints]:
    """Candidates that win ``n_each`` items against the baseline and lose as many, or so many more; others elsewhere."""
    rng = np.random.default_rng(5)
    half = n_items // 2
    truth = np.repeat([0, 1], half)
    said = np.zeros((n_candidates + 1, n_items), dtype=np.int64)
    for row in said[1:]:
        row[rng.permutation(half)[: n_each + n_more_lost]] = 1
        row[half + rng.permutation(half)[:n_each]] = 1
    return said, truth


EQUAL, AT_MARGIN, BARELY_AHEAD = beside(30, 30, 10, 30), beside(15, 25, 10, 50), beside(31, 30, 9, 30)
FAR_AHEAD, ORDERED = beside(50, 5, 5, 40), beside(25, 45, 0, 30)

CASES = {
    "equal models": GateCase(*EQUAL),
    "equal models, one-shot": GateCase(*EQUAL, protocol="one-shot"),
    "equal models, follow-up": GateCase(*EQUAL, protocol="follow-up"),
    "equal models, stream": GateCase(*EQUAL, eps=0.2, stream=True),
    "equal models, can't tell": GateCase(*EQUAL, eps=0.2, stream=True, unsure=0.2),
    "barely ahead": GateCase(*BARELY_AHEAD, eps=0.05),
    "barely behind, labels": GateCase(*beside(30, 31, 9, 30), eps=0.05, protocol="labels"),
    "far ahead": GateCase(*FAR_AHEAD, protocol="one-shot"),
    "far behind, follow-up": GateCase(FAR_AHEAD[0][::-1], FAR_AHEAD[1], protocol="follow-up"),
    "worse by exactly the margin": GateCase(*AT_MARGIN),
    "worse by exactly the margin, one-shot": GateCase(*AT_MARGIN, protocol="one-shot"),
    "worse by exactly the margin, one-shot, stream": GateCase(*AT_MARGIN, protocol="one-shot", stream=True),
    "worse by exactly the margin, follow-up": GateCase(*AT_MARGIN, protocol="follow-up"),
    "rows in an order that favours it": GateCase(*ORDERED, eps=0.2),
    "twelve equal candidates": GateCase(*many(12, 10, 60), eps=0.3),
    "five candidates at the margin": GateCase(*many(5, 8, 80, 8), eps=0.1, protocol="one-shot"),
    "raters who err": GateCase(*beside(40, 40, 20, 100), eps=0.3, protocol="one-shot", f_no=0.05, f_yes=0.05),
    "raters who err, stream": GateCase(*AT_MARGIN, eps=0.1, protocol="one-shot", f_no=0.1, f_yes=0.05, stream=True),
}


TWINS = {
    "a test of fixed size, looked at again and again": GateCase(
        *beside(50, 50, 0, 0), eps=0.05, stream=True, kind=standing_as(LooksAgainAndAgain)
    ),
    "the table's own order": CASES["rows in an order that favours it"].by(TakesTheTablesOrder),
}
