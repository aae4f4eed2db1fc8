"""How many answers are needed, as a range: what forecasts give, for every kind of study."""

from __future__ import annotations

import math
from dataclasses import dataclass

from onebit.study.constants import DISSENT


@dataclass(frozen=True, slots=True)
class Needed:
    """Answers that are needed: likely between ``low`` and ``high``, about ``middle``.

    ``at_least``: what the forecast rests on was given up before its end, so that it may be more.
    """

    low: int
    middle: int
    high: int
    at_least: bool = False

    def by_raters(self, overlap: int, check_share: float) -> Needed:
        """The same in answers of raters, where ``overlap`` of them answer a question, and a share of all only checks.

        Raters are asked until most agree: more than half of them are asked at least, and all of them at most.

        >>> Needed(100, 200, 300).by_raters(overlap=3, check_share=0.0)
        Needed(low=200, middle=436, high=900, at_least=False)
        """
        checks = check_share / (1 - check_share)
        per_question = (overlap + 1) // 2, votes_until_most_agree(overlap), overlap
        low, middle, high = (
            # Rounded first: a product such as 3 * 1.25 may come out a little above a whole number.
            math.ceil(round(n * (votes + checks), 6))
            for n, votes in zip((self.low, self.middle, self.high), per_question, strict=True)
        )
        return Needed(low, middle, high, self.at_least)

    def at_most(self, most: int | None) -> Needed:
        """The same where no more than ``most`` answers are taken."""
        if most is None:
            return self
        return Needed(min(self.low, most), min(self.middle, most), min(self.high, most), self.at_least)


def votes_until_most_agree(overlap: int) -> float:
    """How many of ``overlap`` raters are asked on average until more than half agree, each dissenting now and then.

    >>> votes_until_most_agree(1), round(votes_until_most_agree(3), 2)
    (1.0, 2.18)
    """
    most = (overlap + 1) // 2
    # The last of n votes is the one that makes a majority, of those who follow the rest or of those who dissent.
    return sum(
        n
        * math.comb(n - 1, most - 1)
        * ((1 - DISSENT) ** most * DISSENT ** (n - most) + DISSENT**most * (1 - DISSENT) ** (n - most))
        for n in range(most, overlap + 1)
    )
