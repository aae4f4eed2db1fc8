"""Populations on which what a gate says is scored by simulation, the scoring, and twins that must fail.

Each is small, so that a run takes milliseconds. They are what a gate could go wrong on: equal models, a candidate that
is barely ahead or behind, one that is worse by exactly the margin, rows in an order that favours it, many candidates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, norm
from tests.statistical.panel_twins import TakesTheTablesOrder

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner, PanelLearner
from onebit.learners.certified.gate import GateStanding
from onebit.learners.certified.outputs import Bools
from onebit.learners.certified.run import CertifiedRun
from onebit.learners.certified.standing import Standing
from onebit.learners.items import ItemSource, Pool, Stream
from onebit.raters import ErringRater, Rater, SimulatedRater, UnsureRater
from onebit.records import AskingProtocol, Comparison, RunStatus

Ints = NDArray[np.int64]

#: The chance that a learner which errs with probability delta is failed by one comparison.
FALSE_ALARM = 1e-6
#: More than any run here takes from a stream.
STREAM_LENGTH = 4000
#: The baseline's row.
BASELINE = 0
#: What makes a learner: the options of a case, and the seed.
Kind = Callable[..., CertifiedRun]


@dataclass
class GateTally:
    """What happened in ``runs`` runs: ``wrong`` have at some closing said something that is not so."""

    runs: int = 0
    wrong: int = 0
    decided: int = 0
    answers: int = 0
    verdicts: dict[str, int] = field(default_factory=dict)

    def most(self, delta: float) -> int:
        """What a probability of delta exceeds with probability at most FALSE_ALARM."""
        return int(binom.ppf(1 - FALSE_ALARM, self.runs, delta))

    def __str__(self) -> str:
        said = ", ".join(f"{n} {verdict}" for verdict, n in sorted(self.verdicts.items()))
        return f"{self.runs} runs, {self.wrong} wrong, {self.answers / self.runs:.0f} answers on average ({said})"


def is_wrong(told: Comparison, d: float, margin: float) -> bool:
    """Whether something that is said of a candidate is not so; ``d`` is its accuracy less the baseline's."""
    claims = {"better": d > 1e-12, "not worse": d > -margin + 1e-12, "worse": d < -1e-12, "not yet": True}
    return not claims[told.verdict] or told.behind_at_most < -d - 1e-12 or told.ahead_at_most < d - 1e-12


@dataclass(frozen=True, eq=False)
class GateCase:
    """A table (N, n) whose row 0 is the baseline, its truth (n,), and how it is asked about."""

    said: Ints
    truth: Ints
    margin: float = 0.1
    delta: float = 0.2
    protocol: AskingProtocol = "panel"
    stream: bool = False
    f_no: float = 0.0
    f_yes: float = 0.0
    unsure: float = 0.0
    kind: Kind | None = None

    @property
    def differences(self) -> NDArray[np.float64]:
        """The accuracy of every model less that of the baseline; can't tell at random scales it."""
        right = (self.said == self.truth).mean(axis=1)
        ahead: NDArray[np.float64] = (1 - self.unsure) * (right - right[BASELINE])
        return ahead

    def learner(self, seed: int) -> tuple[CertifiedRun, Ints]:
        """A learner, and what the numbers in its questions stand for."""
        n = self.truth.size
        numbers = np.random.default_rng([seed, 2]).integers(0, n, STREAM_LENGTH) if self.stream else np.arange(n)
        items: ItemSource = Stream(numbers.tolist()) if self.stream else Pool(numbers)
        given: dict[str, Any] = {"eps": self.margin, "delta": self.delta, "seed": seed, "baseline": BASELINE}
        if self.protocol != "panel":
            given |= {"protocol": self.protocol, "f_no": self.f_no, "f_yes": self.f_yes}
        kind: Kind = self.kind or (PanelLearner if self.protocol == "panel" else CertifiedLearner)
        n_labels = int(max(self.said.max(), self.truth.max())) + 1
        return kind(PredictionTable(self.said, n_labels), items, **given), numbers

    def rater(self, seed: int) -> Rater:
        if self.f_no + self.f_yes > 0:
            return ErringRater(self.truth, f_no=self.f_no, f_yes=self.f_yes, seed=seed, anew=True)
        rater = SimulatedRater(self.truth)
        return rater if self.unsure == 0 else UnsureRater(rater, self.unsure, seed=seed)

    def tally(self, runs: int) -> GateTally:
        found = GateTally()
        d = self.differences
        for seed in range(runs):
            learner, numbers = self.learner(seed)
            rater = self.rater(seed)
            while isinstance(questions := learner.ask(10_000), tuple):
                for question in questions:
                    learner.tell(question.id, rater(replace(question, item=int(numbers[question.item]))))
            # A verdict stays what it was when it was shown, so the last result has all that were ever said.
            result = learner.result
            wrong = any(is_wrong(each, d[each.candidate], self.margin) for each in result.gate)
            wrong |= any(closing.certified_eps < -d.min() - 1e-12 for closing in learner.closings)
            found.runs, found.wrong = found.runs + 1, found.wrong + wrong
            found.decided += result.status is RunStatus.COMPLETE
            found.answers += result.n_answers
            for each in result.gate:
                found.verdicts[each.verdict] = found.verdicts.get(each.verdict, 0) + 1
        return found


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
    "equal models, stream": GateCase(*EQUAL, margin=0.2, stream=True),
    "equal models, can't tell": GateCase(*EQUAL, margin=0.2, stream=True, unsure=0.2),
    "barely ahead": GateCase(*BARELY_AHEAD, margin=0.05),
    "barely behind, labels": GateCase(*beside(30, 31, 9, 30), margin=0.05, protocol="labels"),
    "far ahead": GateCase(*FAR_AHEAD, protocol="one-shot"),
    "far behind, follow-up": GateCase(FAR_AHEAD[0][::-1], FAR_AHEAD[1], protocol="follow-up"),
    "worse by exactly the margin": GateCase(*AT_MARGIN),
    "worse by exactly the margin, one-shot": GateCase(*AT_MARGIN, protocol="one-shot"),
    "worse by exactly the margin, one-shot, stream": GateCase(*AT_MARGIN, protocol="one-shot", stream=True),
    "worse by exactly the margin, follow-up": GateCase(*AT_MARGIN, protocol="follow-up"),
    "rows in an order that favours it": GateCase(*ORDERED, margin=0.2),
    "twelve equal candidates": GateCase(*many(12, 10, 60), margin=0.3),
    "five candidates at the margin": GateCase(*many(5, 8, 80, 8), margin=0.1, protocol="one-shot"),
    "raters who err": GateCase(*beside(40, 40, 20, 100), margin=0.3, protocol="one-shot", f_no=0.05, f_yes=0.05),
    "raters who err, stream": GateCase(*AT_MARGIN, margin=0.1, protocol="one-shot", f_no=0.1, f_yes=0.05, stream=True),
}


class LooksAfterEveryEpoch(GateStanding):
    """Takes a test of fixed size (McNemar's, in its normal form) for one that may be looked at again and again."""

    def _are_behind(self, leader: int, c: float, keep: bool = False) -> Bools:
        total, squares = self._evidence.moments(leader)
        n_drawn = self._evidence.n_drawn  # type: ignore[attr-defined]
        z = (c * n_drawn - total) / np.sqrt(np.maximum(squares, 1))
        enough: Bools = z >= norm.isf(math.exp(-self.threshold[leader]) / 2)
        return enough | (c >= 1)


def with_standing(kind: type[GateStanding]) -> Kind:
    """A panel whose gate stands in another way."""

    class Twin(PanelLearner):
        def _first_standing(self) -> Standing:
            standing = super()._first_standing()
            standing.__class__ = kind
            return standing

    return Twin


TWINS = {
    "a test of fixed size, looked at again and again": GateCase(
        *beside(50, 50, 0, 0), margin=0.05, delta=0.2, stream=True, kind=with_standing(LooksAfterEveryEpoch)
    ),
    "the table's own order": replace(CASES["rows in an order that favours it"], kind=TakesTheTablesOrder),
}
