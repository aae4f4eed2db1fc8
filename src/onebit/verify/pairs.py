"""Checks what is said of several best models, or of all pairs, from the wealth that was counted again.

Written from step 20 of ``docs/certificate.md``; it shares nothing with the learner. A pair (h, g) is *behind* once it
is shown that h is less often accepted than g; what follows from two such pairs is shown as well.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onebit.records import Closing, Placing
from onebit.verify.contest import Contest
from onebit.verify.recount import EPS_STEP, LOG_TOLERANCE
from onebit.verify.settle import TOLERANCE

#: "Within eps" is tested at so much less, so that rounding takes nobody for tied who is ahead by exactly eps.
TIE_ROUNDING = 1e-9
#: Where all is known a difference of 0 is shown as one below this.
KNOWN_ROUNDING = 1e-9

#: The log-wealth of rivals against one leader at threshold c, in accuracies.
Wealth = Callable[[Sequence[int], int, float], NDArray[np.float64]]
#: By how much the rival is ahead of the leader at most, where all verdicts are known; otherwise None.
KnownAhead = Callable[[int, int], float | None]
Pair = tuple[int, int]


class PairsCheck(ABC):
    """What the answers so far show of pairs; ``delta`` gives what of delta the wealth may use up."""

    def __init__(self, scene: Contest, wealth: Wealth, known_ahead: KnownAhead, delta: Callable[[], float]) -> None:
        self._scene, self._wealth, self._known_ahead, self._delta = scene, wealth, known_ahead, delta
        self._eps = scene.setting.eps
        #: Who is shown to be behind whom.
        self._behind: frozenset[Pair] = frozenset()
        #: The survivors after the last closing, and the models that it names.
        self.left = scene.distinct
        self.named = self._first_named()

    @abstractmethod
    def _first_named(self) -> tuple[int, ...]:
        """Who is named before the first closing."""

    @abstractmethod
    def _found(self, survivors: Sequence[int], beyond: float) -> tuple[Any, tuple[int, ...]]:
        """What is shown by log-wealth that exceeds what is needed by more than ``beyond``; and who is left."""

    @abstractmethod
    def _take(self, found: Any) -> None:
        """Keep what was found."""

    @abstractmethod
    def _named_faults(self, named: tuple[int, ...]) -> Iterator[str]:
        """What is wrong with the models that a closing names."""

    @abstractmethod
    def _may_be_ahead(self) -> Iterator[Pair]:
        """The pairs (h, g) of which the certified eps bounds by how much h is ahead of g."""

    @abstractmethod
    def placings(self, suspended: bool) -> tuple[Placing, ...]:
        """What is shown of every distinct model."""

    def first_survivors(self) -> tuple[int, ...]:
        """Who is left by the table alone."""
        found, self.left = self._found(self._scene.distinct, -LOG_TOLERANCE)
        self._take(found)
        return self.left

    def closing_faults(self, closing: Closing, survivors: tuple[int, ...]) -> Iterator[str]:
        """What is wrong with a closing; afterwards ``left`` are the survivors."""
        # Rounding may decide about pairs at the threshold, and where all is known a learner may look an epoch later:
        # there the log is believed.
        for beyond in (LOG_TOLERANCE, -LOG_TOLERANCE):
            found, self.left = self._found(survivors, beyond)
            if self.left == closing.survivors:
                break
        self._take(found)
        if closing.survivors != self.left:
            yield f"its survivors are {closing.survivors}, but the answers leave {self.left}"
        faults = list(self._named_faults(closing.top))
        yield from faults
        if faults:
            return
        self.named = closing.top
        if not self._is_within(closing.certified_eps):
            least = self.least_eps()
            yield f"it certifies eps {closing.certified_eps!r}, but the answers show no less than {least:.4f}"

    def suspend(self, closing: Closing) -> None:
        """Nothing is shown any more; everybody is left."""
        self._behind, self.left = frozenset(), self._scene.distinct
        if set(closing.top) <= set(self._scene.distinct) and len(closing.top) == len(self.named):
            self.named = closing.top

    def least_eps(self) -> float:
        """The least that is shown, up to EPS_STEP."""
        if self._is_within(0.0):
            return 0.0
        low, high = 0.0, 1.0
        while high - low > EPS_STEP:
            middle = (low + high) / 2
            low, high = (low, middle) if self._is_within(middle) else (middle, high)
        return high

    def _is_within(self, c: float) -> bool:
        # Written so that NaN shows nothing.
        if not c >= 0:
            return False
        return c >= 1 or all(self._bounded(h, g, c) for h, g in self._may_be_ahead())

    def _bounded(self, h: int, g: int, c: float) -> bool:
        """Whether it is shown that h is ahead of g by no more than c."""
        if (h, g) in self._behind:
            return True
        if h not in self.left or g not in self.left:
            return False
        known = self._known_ahead(h, g)
        if known is not None and known <= c + TOLERANCE:
            return True
        return self._shows([h], g, c + KNOWN_ROUNDING, -LOG_TOLERANCE) == {h}

    def _share(self, g: int, c: float) -> float:
        """What of delta a statement about a pair with g may use up."""
        return float(self._scene.shares[g]) * self._delta()

    def _shows(self, rivals: Iterable[int], g: int, c: float, beyond: float) -> set[int]:
        """Of which rivals it is shown that they are ahead of g by less than c; at 0, that they are behind."""
        asked, setting = [h for h in rivals if h != g], self._scene.setting
        shown: set[int] = set()
        if setting.population == "pool":
            for h in asked:
                known = self._known_ahead(h, g) if beyond <= 0 else None
                few = (self._scene.said[h] != self._scene.said[g]).mean() < c
                if few or (known is not None and known < c):
                    shown.add(h)
        rest = [h for h in asked if h not in shown]
        if rest:
            above = self._wealth(rest, g, c) - math.log(1 / self._share(g, c))
            shown |= {h for h, each in zip(rest, above.tolist(), strict=True) if each > beyond}
        return shown

    def _behind_now(self, survivors: Sequence[int], beyond: float) -> frozenset[Pair]:
        """Who is behind whom, with what follows from it."""
        pairs = set(self._behind)
        for g in survivors:
            rivals = [h for h in survivors if (h, g) not in pairs]
            pairs |= {(h, g) for h in self._shows(rivals, g, 0.0, beyond)}
        above: dict[int, set[int]] = {h: set() for h in self._scene.distinct}
        for h, g in pairs:
            above[h].add(g)
        for through in self._scene.distinct:
            for h in self._scene.distinct:
                if through in above[h]:
                    above[h] |= above[through]
        return frozenset((h, g) for h, all_above in above.items() for g in all_above if g != h)


class TopCheck(PairsCheck):
    """The ``top`` best models."""

    def __init__(self, scene: Contest, wealth: Wealth, known_ahead: KnownAhead, delta: Callable[[], float]) -> None:
        super().__init__(scene, wealth, known_ahead, delta)
        self._members: frozenset[int] = frozenset()
        self._others: frozenset[int] = frozenset()

    @property
    def _n_named(self) -> int:
        return min(self._scene.setting.top or 0, len(self._scene.distinct))

    def _first_named(self) -> tuple[int, ...]:
        return self._scene.ranked[: self._n_named]

    def _found(self, survivors: Sequence[int], beyond: float) -> tuple[Any, tuple[int, ...]]:
        behind = self._behind_now(survivors, beyond)
        models = self._scene.distinct
        members, others = set(self._members), set(self._others)
        while True:
            places = (self._scene.setting.top or 0) - len(members)
            not_in = [h for h in models if h not in members]
            out = {h for h in not_in if sum((h, g) in behind for g in not_in) >= places}
            to_beat = len(models) - (self._scene.setting.top or 0) - len(others | out)
            left = [h for h in models if h not in others | out]
            inside = {g for g in left if sum((h, g) in behind for h in left) >= to_beat}
            if inside <= members and out <= others:
                break
            members |= inside
            others |= out
        return (behind, members, others), tuple(h for h in models if h not in members | others)

    def _take(self, found: Any) -> None:
        behind, members, others = found
        self._behind, self._members, self._others = behind, frozenset(members), frozenset(others)

    def suspend(self, closing: Closing) -> None:
        super().suspend(closing)
        self._members = self._others = frozenset()

    def _named_faults(self, named: tuple[int, ...]) -> Iterator[str]:
        if len(set(named)) != len(named) or len(named) != self._n_named or not set(named) <= set(self._scene.distinct):
            yield f"it names {named}; these must be {self._n_named} distinct models"
        elif not self._members <= set(named):
            yield f"it names {named}, but {sorted(self._members)} are shown to be among the best"
        elif self._others & set(named):
            yield f"it names {named}, but {sorted(self._others & set(named))} are shown not to be among the best"

    def _may_be_ahead(self) -> Iterator[Pair]:
        for g in self.named:
            if g not in self._members:
                yield from ((h, g) for h in self.left if h not in self.named)

    def placings(self, suspended: bool) -> tuple[Placing, ...]:
        n, k = len(self._scene.distinct), self._scene.setting.top or 0
        return tuple(
            Placing(
                h,
                1 if h in self.named and not suspended else 2,
                k + 1 if h in self._others else 1,
                k if h in self._members else n,
            )
            for h in self._scene.distinct
        )


class TiersCheck(PairsCheck):
    """All pairs."""

    def __init__(self, scene: Contest, wealth: Wealth, known_ahead: KnownAhead, delta: Callable[[], float]) -> None:
        super().__init__(scene, wealth, known_ahead, delta)
        #: Who is ahead of whom by less than eps, if at all.
        self._within: frozenset[Pair] = frozenset()

    def _first_named(self) -> tuple[int, ...]:
        return self._scene.ranked[:1]

    def _share(self, g: int, c: float) -> float:
        # Step 20: as in a gate, "behind" has half of a pair's share, all other statements the whole.
        return super()._share(g, c) / (2 if c == 0 else 1)

    def _found(self, survivors: Sequence[int], beyond: float) -> tuple[Any, tuple[int, ...]]:
        behind, within = self._behind_now(survivors, beyond), set(self._within)
        for g in survivors:
            rivals = [h for h in survivors if (h, g) not in within and (g, h) not in behind]
            within |= {(h, g) for h in self._shows(rivals, g, self._eps - TIE_ROUNDING, beyond)}
        models = self._scene.distinct
        settled = behind | {(g, h) for h, g in behind} | {(h, g) for h, g in within if (g, h) in within}
        left = tuple(h for h in models if any(h != g and (h, g) not in settled for g in models))
        return (behind, within), left

    def _take(self, found: Any) -> None:
        behind, within = found
        self._behind, self._within = behind, frozenset(within)

    def suspend(self, closing: Closing) -> None:
        super().suspend(closing)
        self._within = frozenset()

    def _named_faults(self, named: tuple[int, ...]) -> Iterator[str]:
        if len(named) != 1 or named[0] not in self._scene.distinct:
            yield f"it names {named} as the best; this must be one model"

    def _may_be_ahead(self) -> Iterator[Pair]:
        (g,) = self.named
        yield from ((h, g) for h in self._scene.distinct if h != g and (h, g) not in self._behind)

    def _bounded(self, h: int, g: int, c: float) -> bool:
        return (c >= self._eps - TOLERANCE and (h, g) in self._within) or super()._bounded(h, g, c)

    def placings(self, suspended: bool) -> tuple[Placing, ...]:
        models, behind = self._scene.distinct, self._behind
        above = {h: {g for g in models if (h, g) in behind} for h in models}
        below = {g: {h for h in models if (h, g) in behind} for g in models}
        # A tier ends where everybody is shown to be better than everybody who comes after.
        order = sorted(models, key=lambda h: (len(above[h]), h))
        tier, number = {}, 1
        for place, h in enumerate(order):
            if place and all(set(order[:place]) <= above[each] for each in order[place:]):
                number += 1
            tier[h] = number
        return tuple(
            Placing(
                h,
                tier[h],
                len(above[h]) + 1,
                len(models) - len(below[h]),
                tuple(sorted(below[h])),
                tuple(g for g in models if {(h, g), (g, h)} <= self._within and not {(h, g), (g, h)} & behind),
            )
            for h in models
        )
