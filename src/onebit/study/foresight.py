"""How many answers a study will take, before anybody is asked: rehearsed on the table itself, as ``onebit plan`` does.

Raters err in it as often as the study allows for. The training of a classifier takes its budget: nothing is rehearsed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from onebit.records import StudySpec
from onebit.study.kinds import making
from onebit.tables import ModelTable
from onebit.tables.data import Data


@dataclass(frozen=True)
class Foresight:
    """Answers that are likely needed, ``low`` to ``high``; ``at_least`` where a simulation was cut off."""

    low: int
    high: int
    at_least: bool
    seconds_per_answer: float

    @property
    def hours(self) -> tuple[float, float]:
        return self.low * self.seconds_per_answer / 3600, self.high * self.seconds_per_answer / 3600


def foresee(spec: StudySpec, source: ModelTable | Data) -> Foresight:
    """What the study will take. Of models, it is simulated with right labels that the models' votes make likely.

    Each question is answered by the raters of ``overlap``, or as many of them as settle it; what only checks raters
    comes besides.
    """
    runs = making(spec.kind).n_questions(spec, source)
    n_questions = [n for n, _ in runs]
    checks = spec.check_share / (1 - spec.check_share)
    low = min(n_questions) * ((spec.overlap + 1) // 2 + checks)
    high = max(n_questions) * (spec.overlap + checks)
    at_least = not all(was_all for _, was_all in runs)
    return Foresight(math.ceil(low), math.ceil(high), at_least, spec.seconds_per_answer)
