"""Checks a gate: which candidates were decided, and how, from the wealth that was counted again.

Written from step 17 of ``docs/certificate.md``; it shares nothing with the learner. The leader of every epoch is the
baseline, and a candidate that is decided leaves the survivors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from onebit.records import Closing, Comparison, GateVerdict
from onebit.verify.contest import Contest
from onebit.verify.recount import EPS_STEP, LOG_TOLERANCE
from onebit.verify.settle import TOLERANCE

#: By so much less than the margin is tested, so that rounding lets nobody pass who is worse by exactly the margin.
MARGIN_ROUNDING = 1e-9

#: The log-wealth of (rival, leader) at threshold c, in accuracies.
Wealth = Callable[[int, int, float], float]
#: By how much the rival is ahead of the leader at most, where all verdicts are known; otherwise None.
KnownAhead = Callable[[int, int], float | None]


class GateCheck:
    """What the answers so far show of each candidate; ``delta`` gives what of delta the wealth may use up."""

    def __init__(self, scene: Contest, wealth: Wealth, known_ahead: KnownAhead, delta: Callable[[], float]) -> None:
        self._scene, self._wealth, self._known_ahead, self._delta = scene, wealth, known_ahead, delta
        #: The row that stands for all that say what the baseline says.
        self.baseline = scene.stands_for(scene.setting.baseline or 0)
        self._margin = scene.setting.eps - MARGIN_ROUNDING
        #: What is shown of those who are decided, as when that was shown.
        self._decided: dict[int, Comparison] = {}
        #: The survivors after the last closing.
        self.left = scene.distinct

    def first_survivors(self) -> tuple[int, ...]:
        """The baseline, and who is not decided by the table alone."""
        return self._decide(self._scene.distinct)

    def _decide(self, survivors: tuple[int, ...], gone: Callable[[int], bool] = lambda _: True) -> tuple[int, ...]:
        """Take out who is decided, and of whom the log says so; those who are left."""
        for candidate in survivors:
            if candidate != self.baseline and gone(candidate):
                verdict = self._verdict(candidate)
                if verdict != "not yet":
                    self._decided[candidate] = self._told(candidate, verdict)
        return tuple(h for h in survivors if h not in self._decided)

    def closing_faults(self, closing: Closing, survivors: tuple[int, ...]) -> Iterator[str]:
        """What is wrong with a closing; afterwards ``left`` are the survivors."""
        if closing.leader != self.baseline:
            yield f"its leader is {closing.leader}, and the baseline is {self.baseline}"
        clearly = {h for h in survivors if h != self.baseline and self._verdict(h, LOG_TOLERANCE) != "not yet"}
        # Rounding may decide about those at the threshold, and where all is known a learner may look an epoch later:
        # there the log is believed.
        self.left = self._decide(survivors, lambda h: h in clearly or h not in closing.survivors)
        if closing.survivors != self.left:
            yield f"its survivors are {closing.survivors}, but the answers leave {self.left}"
        behind = max((self._least_behind(h, closing.certified_eps) for h in self._scene.distinct), default=0.0)
        if not closing.certified_eps >= behind - TOLERANCE:
            yield f"it certifies eps {closing.certified_eps!r}, but a candidate may be behind by {behind:.4f}"

    def suspend(self) -> None:
        """Nothing is shown any more; everybody is left."""
        self._decided, self.left = {}, self._scene.distinct

    def comparisons(self, suspended: bool) -> tuple[Comparison, ...]:
        """What is shown of every candidate of the table."""
        told = []
        for h in range(self._scene.said.shape[0]):
            row = self._scene.stands_for(h)
            if h == self._scene.setting.baseline:
                continue
            if row == self.baseline:
                told.append(Comparison(h, "not worse", 0.0, 0.0))
            elif suspended:
                told.append(Comparison(h, "not yet", 1.0, 1.0))
            else:
                told.append(replace(self._decided.get(row) or self._told(row, "not yet"), candidate=h))
        return tuple(told)

    def _verdict(self, candidate: int, beyond: float = -LOG_TOLERANCE) -> GateVerdict:
        """The strongest that is shown, by log-wealth that exceeds what is needed by more than ``beyond``."""
        if self._shows(self.baseline, candidate, 0.0, beyond):
            return "better"
        if self._shows(self.baseline, candidate, self._margin, beyond):
            return "not worse"
        return "worse" if self._shows(candidate, self.baseline, 0.0, beyond) else "not yet"

    def _shows(self, rival: int, leader: int, c: float, beyond: float = -LOG_TOLERANCE) -> bool:
        """Whether it is shown that the rival is ahead of the leader by less than c; at 0, that it is behind."""
        setting = self._scene.setting
        if setting.population == "pool":
            if (self._scene.said[rival] != self._scene.said[leader]).mean() < c:
                return True
            known = self._known_ahead(rival, leader) if beyond <= 0 else None
            if known is not None and known < c:
                return True
        n_candidates = max(len(self._scene.distinct) - 1, 1)
        # Step 17: "better" and "worse" have half of a candidate's share each, all other statements the whole.
        share = self._delta() / n_candidates / (2 if c == 0 else 1)
        return self._wealth(rival, leader, c) - math.log(1 / share) > beyond

    def _told(self, candidate: int, verdict: GateVerdict) -> Comparison:
        return Comparison(
            candidate, verdict, self._least(self.baseline, candidate), self._least(candidate, self.baseline)
        )

    def _least_behind(self, candidate: int, certified: float) -> float:
        """How far a candidate may be behind: no more than is ``certified``, if that is shown."""
        if candidate == self.baseline:
            return 0.0
        if candidate in self._decided:
            return self._decided[candidate].behind_at_most
        return certified if certified >= 1 or self._shows(self.baseline, candidate, certified) else 1.0

    def _least(self, rival: int, leader: int) -> float:
        """By how much the rival is ahead at most, up to EPS_STEP."""
        if self._shows(rival, leader, 0.0):
            return 0.0
        low, high = 0.0, 1.0
        while high - low > EPS_STEP:
            middle = (low + high) / 2
            low, high = (low, middle) if self._shows(rival, leader, middle) else (middle, high)
        return high
