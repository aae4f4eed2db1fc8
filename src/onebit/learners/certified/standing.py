"""Where the certified learner stands: who leads, who may still be the best, and what is shown about the gap.

Everything here follows from the evidence by docs/certificate.md, steps 4 to 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from onebit.estimate.delta import failure_per_difference, failure_per_leader, failure_per_share
from onebit.estimate.shares import Intervals
from onebit.learners.certified import constants
from onebit.learners.certified.evidence import Evidence
from onebit.learners.certified.outputs import Bools, Floats, Ints, agreement
from onebit.records import Closing, Comparison, Placing


@dataclass(frozen=True, eq=False)
class Known:
    """Where every answer is known that could tell survivors apart.

    ``score`` (N,) says who is accepted how often. ``ahead(g)`` (N,) bounds by how much each is ahead of g; errors of
    raters may leave it above 0.
    """

    score: Floats
    ahead: Callable[[int], Floats]


@dataclass(frozen=True, eq=False)
class Accuracies:
    """How often every hypothesis is accepted, and by how much more often than the leader; each of shape (N,).

    The ``shares`` are of the items on which hypotheses differ, ``n_counted`` where there is a pool of them; of all
    items if ``all_count``. The ``ahead`` of a hypothesis is of all items.
    """

    shares: Intervals
    ahead: Intervals
    all_count: bool
    n_counted: int | None


@dataclass(frozen=True)
class Approach:
    """How far a run is from its end: the evidence about the rival of the present leader that is the furthest from it.

    ``evidence`` has, for each closing, the share of what is needed to rule out that this rival is ahead by more than
    eps; the run ends when it is 1 for all rivals that may be the best. ``closest`` is that rival now, None if there is
    none.
    """

    evidence: tuple[float, ...]
    closest: int | None


class Standing:
    """The leader, the survivors and the certified eps. Rows count the distinct hypotheses.

    With raters who err, ``transfer`` is the least that a gap in yes-rates can be of the gap in accuracy. ``failure``
    (N,) is what of delta each may use up as the leader; without it, that goes by a vote. ``spends``: the run goes on
    until its budget is used, and ``eps`` is the least that is looked for.
    """

    def __init__(
        self,
        evidence: Evidence,
        *,
        eps: float,
        delta: float,
        transfer: float = 1.0,
        failure: Floats | None = None,
        spends: bool = False,
    ) -> None:
        self._evidence, self._transfer, self._spends = evidence, transfer, spends
        #: What the hypotheses say on the examples of the vote, (N, m).
        self.looked_at = evidence.look()
        #: With the vote; it decides about shares of delta, and who leads of those with equal scores.
        self.agreement = agreement(self.looked_at)
        #: The log-wealth that shows something against each leader.
        self.threshold = -np.log(failure_per_leader(self.agreement, delta) if failure is None else failure)
        self.survivors = np.arange(self.agreement.size)
        self.leader = self._led_before = int(np.argmax(self.agreement))
        #: Whether nothing is left to be found out.
        self.is_exact = self.survivors.size == 1
        self._known: Known | None = None
        self.is_suspended = False
        self._eps = eps
        n_steps = math.ceil(math.log(1 / eps) / math.log(constants.EPS_STEP))
        #: What the certified eps may be, and its place among them.
        self._ladder = [*(eps * constants.EPS_STEP**k for k in range(n_steps)), 1.0]
        self._place = n_steps
        self._ahead: Floats | None = None
        self._accuracies: Accuracies | None = None
        self._frozen: Standing | None = None

    def frozen(self) -> Standing:
        """The standing as it is now, whatever is updated later; what is worked out about it stays worked out."""
        if self._frozen is None:
            self._frozen = copy(self)
            self._frozen._evidence = self._evidence.frozen()
        return self._frozen

    @property
    def certified_eps(self) -> float:
        """No model is ahead of the leader by more, as of the last update."""
        if self.is_exact:
            return float(self._exact_bounds().max())
        return self._ladder[self._place]

    @property
    def is_shown(self) -> bool:
        """Whether the eps asked for is shown; where a budget is spent, that nobody is ahead of the leader."""
        return self.certified_eps <= (0.0 if self._spends else self._eps)

    @property
    def is_over(self) -> bool:
        """Whether nothing more needs to be asked, or can be."""
        return self.is_exact or self.is_suspended or self.is_shown

    def update(self, known: Known | None, score: Floats | None = None) -> None:
        """Draw all conclusions from the evidence, and from what is ``known``.

        ``score`` (N,) says who seems best, where that is not for the evidence to say.
        """
        self._ahead = self._frozen = self._accuracies = None
        self._known = known
        if known is not None:
            score = known.score
        elif score is None:
            score = self._evidence.score
        self._follow(self._first_of_equals(score))
        behind = self._shown(0.0, keep=True)
        behind[self.leader] = False
        self.survivors = self.survivors[~behind[self.survivors]]
        self._evidence.wealth.count_only(self.survivors)
        self.is_exact = known is not None or self.n_left() == 0 or self.survivors.size == 1
        if not self.is_exact:
            self._climb()

    def _follow(self, leader: int) -> None:
        """Lead goes to ``leader``: what is kept of wealth is about it and the one before, who may soon lead again."""
        if leader != self.leader:
            self.leader, self._led_before = leader, self.leader
            self._evidence.wealth.forget_leaders(but=(self.leader, self._led_before))

    def _first_of_equals(self, score: Floats) -> int:
        """The survivor with the highest score; of equals the one that agrees most with the vote, then the first."""
        survivors = self.survivors
        highest = survivors[score[survivors] == score[survivors].max()]
        return int(highest[np.argmax(self.agreement[highest])])

    def suspend(self) -> None:
        """What the evidence rests on is refuted: nothing is shown, and anybody may be the best."""
        self._ahead = self._frozen = self._known = self._accuracies = None
        self.is_suspended, self.is_exact = True, False
        self.survivors = np.arange(self.threshold.size)
        self._place = len(self._ladder) - 1

    def _exact_bounds(self) -> Floats:
        """By how much each survivor can be ahead of the leader, where nothing is left to be found out."""
        if self._known is None:
            return np.zeros(self.survivors.size)
        bound: Floats = self._known.ahead(self.leader)[self.survivors].clip(0, 1)
        bound[self.survivors == self.leader] = 0.0
        return bound

    def _climb(self) -> None:
        """Find the certified eps on the ladder, from where it was."""
        while self._place > 0 and self._is_shown(self._ladder[self._place - 1], keep=True):
            self._move(self._place - 1)
        # Another leader has other rivals, and less may be shown about them.
        while self._place < len(self._ladder) - 1 and not self._is_shown(self._ladder[self._place], True):
            self._move(self._place + 1)

    def _move(self, place: int) -> None:
        self._evidence.wealth.forget(self._transfer * self._ladder[self._place])
        self._place = place

    def log_wealth(self, c: float, keep: bool = False) -> Floats:
        """Of every hypothesis against the leader, at a gap c in accuracy."""
        return self._evidence.wealth.log_wealth(self.leader, self._transfer * c, keep)

    def approach(self, closings: Sequence[Closing], row_of: Callable[[int], int]) -> Approach:
        """How far the evidence was after each closing; ``row_of`` is the row of a name."""
        course = self._evidence.course(self.leader, self._transfer * self._eps, [each.n_rounds for each in closings])
        share = (course / self.threshold[self.leader]).clip(0, 1)
        closest, evidence = None, []
        for closing, of_all in zip(closings, share, strict=True):
            rivals = [row for row in map(row_of, closing.survivors) if row != self.leader]
            closest = min(rivals, key=lambda row: float(of_all[row])) if rivals else None
            evidence.append(1.0 if closest is None else float(of_all[closest]))
        if evidence and self.is_shown:
            evidence[-1] = 1.0
        return Approach(tuple(evidence), closest)

    def moments(self) -> tuple[Floats, Floats]:
        """The sums of D against the leader over all rounds, and of its square; each of shape (N,)."""
        return self._evidence.moments(self.leader)

    def n_left(self) -> int | None:
        """How many rounds there can be at most, where items are drawn without replacement."""
        return self._evidence.n_left(self.survivors)

    def _shown(self, c: float, keep: bool = False) -> Bools:
        """For which hypotheses it is shown that, if it is the best, it is ahead of the leader by less than c."""
        shown: Bools = self.log_wealth(c, keep) >= self.threshold[self.leader]
        return shown

    def _is_shown(self, c: float, keep: bool = False) -> bool:
        """Whether it is shown for all survivors; the leader is not ahead of itself."""
        rivals = self.survivors[self.survivors != self.leader]
        return bool(self._shown(c, keep)[rivals].all())

    def not_shown(self, c: float) -> Ints:
        """The rivals of the leader that may be ahead of it by c or more."""
        rivals = self.survivors[self.survivors != self.leader]
        not_shown: Ints = rivals[~self._shown(c)[rivals]]
        return not_shown

    def ahead_at_most(self) -> Floats:
        """For each survivor: if it is the best, it is ahead of the leader by at most this. 0 for the leader.

        The largest is the certified eps, told more finely than on the way. Goes through all rounds a few times, once
        after each update.
        """
        if self._ahead is None:
            self._ahead = self._exact_bounds() if self.is_exact else self._bounds_by_wealth()
        return self._ahead

    def accuracies(self, delta: float) -> Accuracies:
        """Intervals that all hold together, at every moment of the run, with probability at least 1 - ``delta``.

        Not part of the certificate: they have a delta of their own. Worked out once after each update.
        """
        if self._accuracies is None:
            n, evidence = self.threshold.size, self._evidence
            self._accuracies = Accuracies(
                evidence.shares(failure_per_share(n, delta)),
                evidence.differences(self.leader, failure_per_difference(n, delta)),
                evidence.all_count,
                evidence.n_counted,
            )
        return self._accuracies

    def told_eps(self) -> float:
        """The certified eps, told more finely than on the way."""
        return float(self.ahead_at_most().max())

    def chosen_rows(self) -> Ints:
        """The rows that are named as the best ones, the best first."""
        return np.array([self.leader])

    def placings(self) -> tuple[Placing, ...]:
        """Where each row stands among all, where several best models or all pairs are looked for."""
        return ()

    def comparisons(self) -> dict[int, Comparison]:
        """What a gate says of its candidates, by their rows."""
        return {}

    def _bounds_by_wealth(self) -> Floats:
        bound = np.full(self.survivors.size, self.certified_eps)
        steps = np.linspace(0, self.certified_eps, constants.FINE_STEPS, endpoint=False)[::-1]
        for c in steps if not self.is_suspended else ():
            shown = self._shown(c)[self.survivors]
            bound[shown] = np.minimum(bound[shown], c)
            if not shown.any():
                break
        bound[self.survivors == self.leader] = 0.0
        return bound
