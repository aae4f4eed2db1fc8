"""Where a run stands that says more than which model is the best: which k are (*top*), or all pairs (*tiers*).

Both rest on one relation, "h is shown to be behind g", which only grows, and on what is shown about the pairs that are
left. The wealth is that of the certificate. docs/certificate.md, step 20.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from onebit.estimate.delta import failure_at_zero, failure_of_top, failure_per_pair, ranks
from onebit.learners.certified import constants
from onebit.learners.certified.evidence import Evidence
from onebit.learners.certified.outputs import Bools, Floats, Ints, Predictions
from onebit.learners.certified.standing import Known, Standing
from onebit.records import Placing, Setting

#: Of each row, the share of items on which it says something else than row g.
Differs = Callable[[int], Floats]


class PairsStanding(Standing):
    """What is shown of pairs; the survivors are those of whom a pair is open, and the leader is one of these.

    ``differs(g)`` (N,) is the share of the pool's items on which each row says something else than row g; 1 on a
    stream.
    """

    def __init__(
        self,
        evidence: Evidence,
        *,
        eps: float,
        delta: float,
        differs: Differs,
        failure: Floats | None = None,
        transfer: float = 1.0,
    ) -> None:
        super().__init__(evidence, eps=eps, delta=delta, transfer=transfer, failure=failure)
        n = self.threshold.size
        self._differs = differs
        #: What a statement at 0 needs of log-wealth beside others.
        self._more_at_zero = 0.0
        #: Whether h is shown to be behind g, [h, g]. As truth is, it is transitive.
        self._behind = np.zeros((n, n), dtype=np.bool_)

    @abstractmethod
    def _conclude(self, score: Floats) -> None:
        """Draw all conclusions from ``_behind``; ``score`` (N,) is how good the survivors seem."""

    @abstractmethod
    def _required(self) -> Iterator[tuple[int, Ints]]:
        """Rows g, each with the rows that may be ahead of it by no more than the certified eps."""

    @abstractmethod
    def open_pairs(self) -> Bools:
        """The pairs that are still to be settled, both ways; shape (N, N)."""

    @abstractmethod
    def _effect(self, d: Floats, error: Floats) -> Floats:
        """What a round shows of pairs on average, with estimated differences and their errors; shape (N, N)."""

    def update(self, known: Known | None) -> None:
        self._ahead = self._frozen = self._accuracies = None
        self._known = known
        left, behind = self.survivors, self._behind.copy()
        for g in left.tolist():
            behind[left, g] |= self._are_behind(g, 0.0, keep=True)[left]
        np.fill_diagonal(behind, False)
        self._behind = closure(behind)
        self._conclude(self._evidence.score if known is None else known.score)
        self._evidence.wealth.count_only(self.survivors)
        self.is_exact = known is not None or self.survivors.size < 2 or self.n_left() == 0
        if not self.is_exact:
            self._climb()

    def suspend(self) -> None:
        super().suspend()
        self._behind = np.zeros_like(self._behind)

    @property
    def certified_eps(self) -> float:
        if self.is_suspended:
            return 1.0
        pairs = list(self._required())
        if not any(rivals.size for _, rivals in pairs):
            return 0.0
        if self.is_exact:
            return self._exact_bound(pairs)
        return self._ladder[self._place]

    def _exact_bound(self, pairs: Sequence[tuple[int, Ints]]) -> float:
        if self._known is None:
            return 0.0
        ahead = max(float(self._known.ahead(g)[rivals].max(initial=0.0)) for g, rivals in pairs)
        return min(ahead, 1.0)

    def _are_behind(self, g: int, c: float, keep: bool = False) -> Bools:
        """Of whom it is shown that it is ahead of g by less than c; at 0, that it is behind. For survivors; (N,)."""
        needed = self.threshold[g] + (self._more_at_zero if c == 0 else 0.0)
        shown: Bools = self._evidence.wealth.log_wealth(g, self._transfer * c, keep) >= needed
        if self._known is not None:
            shown = shown | (self._known.ahead(g) < c)
        return shown | (self._differs(g) < c) | (c >= 1)

    def _is_shown(self, c: float, keep: bool = False) -> bool:
        return all(
            bool((self._behind[rivals, g] | self._are_behind(g, c, keep)[rivals]).all())
            for g, rivals in self._required()
        )

    def not_shown(self, c: float) -> Ints:
        """The rows of open pairs, whatever c is."""
        rows: Ints = np.flatnonzero(self.open_pairs().any(axis=1))
        return rows

    def told_eps(self) -> float:
        bound = self.certified_eps
        if self.is_exact or self.is_suspended:
            return bound
        for c in np.linspace(0, bound, constants.FINE_STEPS, endpoint=False)[::-1].tolist():
            if not self._is_shown(c):
                break
            bound = c
        return float(bound)

    def ahead_at_most(self) -> Floats:
        if self._ahead is None:
            named = np.isin(self.survivors, self.chosen_rows())
            self._ahead = np.where(named, 0.0, self.told_eps())
        return self._ahead

    def needed_rounds(self, n_rounds: int) -> Floats:
        """Rounds until all pairs of each survivor are settled, roughly; shape (V,)."""
        is_open = self.open_pairs()
        if n_rounds == 0:
            everybody: Floats = np.isin(self.survivors, np.nonzero(is_open)[0]).astype(np.float64)
            return everybody
        total, squares = self._evidence.pair_moments()
        d, V = total / n_rounds, np.maximum(squares, 1) / n_rounds
        needed = self.threshold * 2 * V / self._effect(d, np.sqrt(V / n_rounds)) ** 2
        most: Floats = np.where(is_open, np.maximum(needed, needed.T), 0.0).max(axis=1)[self.survivors]
        return most

    def _lead(self, score: Floats, rows: Ints) -> None:
        """Let the one of ``rows`` lead that seems to be the best, of equals the one that agrees more with the vote."""
        if rows.size:
            self.leader = int(rows[np.lexsort((rows, -self.agreement[rows], -score[rows]))[0]])


class TopStanding(PairsStanding):
    """Which ``top`` models are the best: the survivors are neither shown to be among them nor shown not to be.

    ``votes``: shares of delta go by a vote; otherwise all have the same.
    """

    def __init__(
        self,
        evidence: Evidence,
        *,
        top: int,
        eps: float,
        delta: float,
        differs: Differs,
        votes: bool,
        transfer: float = 1.0,
    ) -> None:
        super().__init__(evidence, eps=eps, delta=delta, differs=differs, transfer=transfer)
        n = self.threshold.size
        self._top = top
        self.threshold = -np.log(failure_of_top(ranks(self.agreement) if votes else None, n, top, delta))
        self._is_in = self._is_out = np.zeros(n, dtype=np.bool_)
        #: Who is named, the best first; and for each of these that is open, who may be ahead by more than eps.
        self._named: Ints = np.arange(min(top, n))
        self._unsettled: dict[int, Ints] = {}
        self.update(None)

    def suspend(self) -> None:
        super().suspend()
        self._is_in = self._is_out = np.zeros_like(self._is_in)

    def chosen_rows(self) -> Ints:
        return self._named

    def _conclude(self, score: Floats) -> None:
        self._is_in, self._is_out = self._decided()
        is_open = ~(self._is_in | self._is_out)
        number = np.arange(is_open.size)
        order = np.lexsort((number, -self.agreement, -score, self._is_out, ~self._is_in))
        self._named = order[: self._top]
        self.survivors = np.flatnonzero(is_open)
        self._unsettled = {}
        for g, rivals in self._required():
            shown = self._behind[rivals, g] | self._are_behind(g, self._eps, keep=True)[rivals]
            self._unsettled[g] = rivals[~shown]
        self._lead(score, np.flatnonzero(self.open_pairs().any(axis=1)))

    def _decided(self) -> tuple[Bools, Bools]:
        """Who is shown to be among the best, and who not to be: as many as are needed are shown behind it, or ahead."""
        is_in, is_out = self._is_in, self._is_out
        n, found = is_in.size, -1
        while found < int(is_in.sum() + is_out.sum()):
            found = int(is_in.sum() + is_out.sum())
            # Who is in takes one of the places, so of the others fewer need to be ahead.
            n_ahead = (self._behind & ~is_in).sum(axis=1)
            is_out = is_out | (~is_in & (n_ahead >= self._top - is_in.sum()))
            n_behind = (self._behind & ~is_out[:, None]).sum(axis=0)
            is_in = is_in | (~is_out & (n_behind >= n - self._top - is_out.sum()))
        return is_in, is_out

    def _required(self) -> Iterator[tuple[int, Ints]]:
        rivals: Ints = np.setdiff1d(self.survivors, self._named)
        for g in self._named.tolist():
            if not self._is_in[g]:
                yield g, rivals

    def open_pairs(self) -> Bools:
        pairs = np.zeros_like(self._behind)
        for g, rivals in self._unsettled.items():
            pairs[rivals, g] = pairs[g, rivals] = True
        return pairs

    def not_shown(self, c: float) -> Ints:
        """With who is named: how good they seem is to be known on the same items."""
        named = [g for g, _ in self._required()]
        return np.union1d(super().not_shown(c), named).astype(np.int64)

    def _effect(self, d: Floats, error: Floats) -> Floats:
        effect: Floats = self._eps + np.maximum(-d - constants.TOO_LOW * error, 0)
        return effect

    def placings(self) -> tuple[Placing, ...]:
        n, k = self._is_in.size, self._top
        named = set() if self.is_suspended else set(self._named.tolist())
        return tuple(
            Placing(h, 1 if h in named else 2, k + 1 if self._is_out[h] else 1, k if self._is_in[h] else n)
            for h in range(n)
        )


class TiersStanding(PairsStanding):
    """How all pairs compare: h is better, or worse, or the two are within eps of each other.

    A pair is settled by one of these; a row all of whose pairs are settled is asked about no more.
    """

    def __init__(
        self, evidence: Evidence, *, eps: float, delta: float, differs: Differs, n_rows: int, transfer: float = 1.0
    ) -> None:
        share = failure_per_pair(n_rows, delta)
        failure = np.full(n_rows, share)
        super().__init__(evidence, eps=eps, delta=delta, differs=differs, failure=failure, transfer=transfer)
        self._more_at_zero = math.log(share / failure_at_zero(share))
        #: Whether h is ahead of g by less than eps, if at all, [h, g].
        self._within = np.zeros_like(self._behind)
        # A little less, so that rounding takes nobody for tied who is ahead by exactly eps.
        self._tie = eps - constants.MARGIN_ROUNDING
        #: Nobody is ahead of this row by more than the certified eps.
        self._best = self.leader
        self.update(None)

    def suspend(self) -> None:
        super().suspend()
        self._within = np.zeros_like(self._within)

    @property
    def is_shown(self) -> bool:
        return not self.is_suspended and self.survivors.size == 0

    def chosen_rows(self) -> Ints:
        return np.array([self._best])

    def _conclude(self, score: Floats) -> None:
        left, within = self.survivors, self._within.copy()
        for g in left.tolist():
            within[left, g] |= self._are_behind(g, self._tie, keep=True)[left]
        self._within = within
        self.survivors = np.flatnonzero(self.open_pairs().any(axis=1))
        self._lead(score, self.survivors)
        # Nobody is shown to be ahead of them.
        first = np.flatnonzero(~self._behind.any(axis=1))
        rows = np.intersect1d(first, left)
        if rows.size:
            self._best = int(rows[np.lexsort((rows, -self.agreement[rows], -score[rows]))[0]])
        elif self._best not in first and first.size:
            self._best = int(first[0])

    def _required(self) -> Iterator[tuple[int, Ints]]:
        g = self._best
        rivals: Ints = np.flatnonzero(~self._behind[:, g] & (np.arange(self._behind.shape[0]) != g))
        yield g, rivals

    def _is_shown(self, c: float, keep: bool = False) -> bool:
        ((g, rivals),) = self._required()
        # Of pairs that are settled no more is known than when they were.
        shown = self._within[rivals, g] & (c >= self._eps)
        if g in self.survivors:
            shown |= self._are_behind(g, c, keep)[rivals] & np.isin(rivals, self.survivors)
        return bool(shown.all()) or c >= 1

    def _exact_bound(self, pairs: Sequence[tuple[int, Ints]]) -> float:
        return self._eps if self._is_shown(self._eps) else 1.0

    def open_pairs(self) -> Bools:
        tied = self._within & self._within.T
        is_open: Bools = ~(self._behind | self._behind.T | tied)
        np.fill_diagonal(is_open, False)
        return is_open

    def _effect(self, d: Floats, error: Floats) -> Floats:
        effect: Floats = np.maximum(np.abs(d), self._eps - np.abs(d))
        return effect

    def placings(self) -> tuple[Placing, ...]:
        behind = self._behind
        n = behind.shape[0]
        tied = self._within & self._within.T & ~(behind | behind.T) & ~np.eye(n, dtype=np.bool_)
        n_ahead, n_behind = behind.sum(axis=1), behind.sum(axis=0)
        tier = tiers_of(behind)
        return tuple(
            Placing(
                h,
                int(tier[h]),
                int(n_ahead[h]) + 1,
                n - int(n_behind[h]),
                tuple(np.flatnonzero(behind[:, h]).tolist()),
                tuple(np.flatnonzero(tied[h]).tolist()),
            )
            for h in range(n)
        )


def closure(behind: Bools) -> Bools:
    """The relation (N, N) made transitive: who is behind one that is behind g is behind g."""
    while True:
        steps = behind.astype(np.float32)
        wider: Bools = behind | (steps @ steps > 0)
        np.fill_diagonal(wider, False)
        if (wider == behind).all():
            return wider
        behind = wider


def tiers_of(behind: Bools) -> Ints:
    """The tier of each row, from 1: as many as there can be, so that all rows of one are behind all of those above."""
    order = np.argsort(behind.sum(axis=1), kind="stable")
    tier = np.ones(order.size, dtype=np.int64)
    for place in range(1, order.size):
        if behind[np.ix_(order[place:], order[:place])].all():
            tier[order[place:]] += 1
    return tier


def pairs_standing(
    setting: Setting, evidence: Evidence, said: Predictions | None, n_rows: int, delta: float, transfer: float = 1.0
) -> PairsStanding | None:
    """Where a run of *top* or *tiers* stands before the first answer; None for another aim.

    ``said`` (N, n) is what rows say on a pool, ``delta`` what the wealth may use up.
    """
    shares: dict[int, Floats] = {}

    def differs(g: int) -> Floats:
        if g not in shares:
            shares[g] = np.ones(n_rows) if said is None else (said != said[g]).mean(axis=1)
        return shares[g]

    if setting.tiers:
        return TiersStanding(evidence, eps=setting.eps, delta=delta, differs=differs, n_rows=n_rows, transfer=transfer)
    if setting.top is None:
        return None
    return TopStanding(
        evidence,
        top=setting.top,
        eps=setting.eps,
        delta=delta,
        differs=differs,
        votes=setting.protocol != "panel",
        transfer=transfer,
    )
