"""Where a gate stands: what is shown of each candidate beside the baseline.

The same wealth as for the best model, of two pairs per candidate: the baseline against the candidate, and the candidate
against the baseline. docs/certificate.md, step 17.
"""

from __future__ import annotations

import math

import numpy as np

from onebit.estimate.delta import failure_at_zero, failure_per_candidate
from onebit.learners.certified import constants
from onebit.learners.certified.evidence import Evidence
from onebit.learners.certified.outputs import Bools, Floats, Ints
from onebit.learners.certified.standing import Known, Standing
from onebit.records import Comparison, GateVerdict


class GateStanding(Standing):
    """A gate as it stands: the leader is the baseline, and the survivors are it and the candidates not yet decided.

    A candidate that is decided is asked about no more, so what is shown of it stays as it was then. ``differs`` (N,) is
    the share of the pool's items on which each row says something else than the baseline; 1 on a stream.
    """

    def __init__(
        self,
        evidence: Evidence,
        *,
        baseline: int,
        margin: float,
        delta: float,
        differs: Floats,
        transfer: float = 1.0,
    ) -> None:
        share = failure_per_candidate(differs.size - 1, delta)
        super().__init__(evidence, eps=margin, delta=delta, transfer=transfer, failure=np.full(differs.size, share))
        #: What "better" and "worse" need of log-wealth beside all others, which need ``threshold``.
        self._more_at_zero = math.log(share / failure_at_zero(share))
        # A little less, so that rounding does not let a candidate pass that is worse by exactly the margin.
        self.margin = margin - constants.MARGIN_ROUNDING
        self.leader, self._differs = baseline, differs
        self._decided: dict[int, Comparison] = {}
        #: Where on the ladder stands how far each candidate may be behind.
        self._places = dict.fromkeys(self._candidates().tolist(), len(self._ladder) - 1)
        self._told: dict[int, Comparison] | None = None
        self.update(None)

    def _candidates(self) -> Ints:
        """Those that are not decided."""
        undecided: Ints = self.survivors[self.survivors != self.leader]
        return undecided

    def frozen(self) -> Standing:
        same = super().frozen()
        if isinstance(same, GateStanding):
            same._decided = self._decided.copy()
        return same

    @property
    def is_shown(self) -> bool:
        return not self.is_suspended and self._candidates().size == 0

    @property
    def certified_eps(self) -> float:
        behind = [self._ladder[self._places[b]] for b in self._candidates().tolist()]
        return max([*behind, *(each.behind_at_most for each in self._decided.values())], default=0.0)

    def update(self, known: Known | None, score: Floats | None = None) -> None:
        self._ahead = self._frozen = self._told = None
        self._known = known
        for candidate in self._candidates().tolist():
            self._climb_of(candidate)
            verdict = self._verdict(candidate)
            if verdict != "not yet":
                behind, ahead = self._behind(candidate), self._ahead_of_baseline(np.array([candidate]))
                self._decided[candidate] = Comparison(candidate, verdict, behind, float(ahead[0]))
        self.survivors = np.array([h for h in self.survivors.tolist() if h not in self._decided], dtype=np.int64)
        self.is_exact = known is not None or self.is_shown or self.n_left() == 0

    def suspend(self) -> None:
        super().suspend()
        self._decided, self._told = {}, None
        self._places = dict.fromkeys(self._candidates().tolist(), len(self._ladder) - 1)

    def _verdict(self, candidate: int) -> GateVerdict:
        """The strongest that is shown; what passes comes before what does not, since both may hold."""
        if self._is_behind(self.leader, candidate, 0.0, keep=True):
            return "better"
        if self._is_behind(self.leader, candidate, self.margin, keep=True):
            return "not worse"
        return "worse" if self._is_behind(candidate, self.leader, 0.0, keep=True) else "not yet"

    def _is_behind(self, rival: int, leader: int, c: float, keep: bool = False) -> bool:
        return bool(self._are_behind(leader, c, keep)[rival])

    def _are_behind(self, leader: int, c: float, keep: bool = False) -> Bools:
        """Of whom it is shown that it is ahead of ``leader`` by less than c; at 0, that it is behind. Shape (N,)."""
        # Two models differ in accuracy by no more than the share of items on which they say different things.
        differ = self._differs if leader == self.leader else np.full_like(self._differs, self._differs[leader])
        if self._known is not None:
            shown: Bools = self._known.ahead(leader) < c
        else:
            needed = self.threshold[leader] + (self._more_at_zero if c == 0 else 0.0)
            shown = self._evidence.wealth.log_wealth(leader, self._transfer * c, keep) >= needed
        everything: Bools = shown | (differ < c) | (c >= 1)
        return everything

    def _climb_of(self, candidate: int) -> None:
        """Find on the ladder how far a candidate may be behind, from where it was."""
        place = self._places[candidate]
        while place > 0 and self._is_behind(self.leader, candidate, self._ladder[place - 1], keep=True):
            self._evidence.wealth.forget(self._transfer * self._ladder[place])
            place -= 1
        # Wealth may fall again.
        while place < len(self._ladder) - 1 and not self._is_behind(self.leader, candidate, self._ladder[place], True):
            place += 1
        self._places[candidate] = place

    def _behind(self, candidate: int) -> float:
        """How far a candidate may be behind the baseline, more finely than on the ladder."""
        bound = self._ladder[self._places[candidate]]
        for c in np.linspace(0, bound, constants.FINE_STEPS, endpoint=False)[::-1].tolist():
            if not self._is_behind(self.leader, candidate, c):
                break
            bound = c
        return float(bound)

    def _ahead_of_baseline(self, candidates: Ints) -> Floats:
        """How far candidates may be ahead of the baseline; shape (n_candidates,)."""
        bound = np.ones(candidates.size)
        for c in constants.AHEAD_STEPS:
            shown = self._are_behind(self.leader, c)[candidates]
            bound[shown] = c
            if not shown.any():
                break
        return bound

    def not_shown(self, c: float) -> Ints:
        """The candidates that are not decided, whatever c is."""
        return self._candidates()

    def ahead_at_most(self) -> Floats:
        told = self.comparisons()
        return np.array([0.0 if h == self.leader else told[h].ahead_at_most for h in self.survivors.tolist()])

    def told_eps(self) -> float:
        return max((each.behind_at_most for each in self.comparisons().values()), default=0.0)

    def comparisons(self) -> dict[int, Comparison]:
        if self._told is None:
            candidates = self._candidates()
            behind, ahead = np.ones(candidates.size), np.ones(candidates.size)
            if not self.is_suspended:
                behind = np.array([self._behind(b) for b in candidates.tolist()])
                ahead = self._ahead_of_baseline(candidates)
            undecided = {
                b: Comparison(b, "not yet", *bounds)
                for b, *bounds in zip(candidates.tolist(), behind.tolist(), ahead.tolist(), strict=True)
            }
            self._told = {**self._decided, **undecided}
        return self._told
