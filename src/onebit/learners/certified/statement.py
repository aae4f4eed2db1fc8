"""What the certified learner states. ``promise.py`` says it in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from onebit.learners.certified.standing import Accuracies, Approach
from onebit.learners.contract import BoundedResult
from onebit.records import Comparison, Placing


@dataclass(frozen=True, eq=False)
class CertifiedResult(BoundedResult):
    """What is known so far; it all holds at once with probability at least 1 - delta, whenever the run is stopped.

    ``chosen`` is the leader, ``names`` the models that predict exactly as it does on the pool, ``survivors`` those that
    may be the best: if one of them is, it is ahead of the leader by at most its entry in ``ahead_at_most``. So no model
    is ahead of the leader by more than ``achieved_eps``, the certified eps. Of ``n_rounds`` examples drawn all
    survivors agreed on ``n_free_rounds``; ``n_answers`` were given by the rater. In follow-up, ``n_checks`` rounds
    asked one more label to test what the protocol assumes, and ``n_contradicted`` of these contradicted it.

    ``measure`` says how often every model is accepted, in intervals with a delta of their own: they all hold together,
    at every moment, with probability at least 1 - delta. ``approach`` says how far the run is from its end. Both are
    called when somebody looks, as they may take a second; None where nothing can be said.

    Of a gate, ``chosen`` is the baseline, ``survivors`` are the baseline and the candidates that are not decided,
    ``ahead_at_most`` holds for each of them, best or not, and no candidate is behind the baseline by more than
    ``achieved_eps``. ``gate`` has what is shown of each candidate.

    Where several best models are looked for (top), ``names`` are all of these, the best first: no other model is ahead
    of any of them by more than ``achieved_eps``, and ``survivors`` are neither shown to be among the best nor shown not
    to be. Where all pairs are compared (tiers), ``survivors`` are models with a pair that is not settled. In both,
    ``placings`` has what is shown of each model.
    """

    eps: float
    delta: float
    names: tuple[int, ...]
    survivors: tuple[int, ...]
    ahead_at_most: tuple[float, ...]
    n_answers: int
    n_free_rounds: int
    n_cant_tell: int
    n_checks: int
    n_contradicted: int
    measure: Callable[[], Accuracies] | None = None
    approach: Callable[[], Approach] | None = None
    gate: tuple[Comparison, ...] = ()
    placings: tuple[Placing, ...] = ()
