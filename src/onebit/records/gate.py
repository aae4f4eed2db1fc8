"""What a gate says of a candidate beside its baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: With d = accuracy of the candidate - accuracy of the baseline. "better": d > 0. "not worse": d > -margin, so it is
#: worse by less than the margin, if at all. "worse": d < 0, by however little. "not yet": none of them is shown.
GateVerdict = Literal["better", "not worse", "worse", "not yet"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A ``candidate``, its number in the table, beside the baseline, as far as it is shown.

    It is behind the baseline by at most ``behind_at_most``, and ahead of it by at most ``ahead_at_most``; 1 says
    nothing. Of a candidate that is decided, all of it is as when that was shown.
    """

    candidate: int
    verdict: GateVerdict
    behind_at_most: float
    ahead_at_most: float


def passes(verdict: GateVerdict) -> bool:
    """Whether a candidate may take the baseline's place."""
    return verdict in ("better", "not worse")
