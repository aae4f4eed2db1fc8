"""How many answers a study will take, before anybody is asked: for the models of a table, by rehearsal on it.

Raters err in it as often as the study allows for, and a judge says what it says. The training of a classifier takes its
budget: nothing is rehearsed.
"""

from __future__ import annotations

from onebit.records import StudySpec
from onebit.study.kinds import making
from onebit.study.needed import Needed
from onebit.tables import ModelTable
from onebit.tables.data import Data


def foresee(spec: StudySpec, source: ModelTable | Data, seconds: float | None = None) -> Needed:
    """The answers of raters that the study will take; what is rehearsed takes so many ``seconds`` at most.

    Each question is answered by the raters of ``overlap``, or as many of them as settle it; what only checks raters
    comes besides.
    """
    needed: Needed = making(spec.kind).needed(spec, source, seconds)
    return needed.by_raters(spec.overlap, spec.check_share)
