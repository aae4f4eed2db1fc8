"""What the certified learner states: its result, and in words what that rests on."""

from __future__ import annotations

from dataclasses import dataclass

from onebit.learners.base import Result
from onebit.learners.certified.forecast import Forecast
from onebit.records import AskingProtocol


@dataclass(frozen=True, eq=False)
class CertifiedResult(Result):
    """What is known so far; it all holds at once with probability at least 1 - delta, whenever the run is stopped.

    ``chosen`` is the leader, ``names`` the models that predict exactly as it does on the pool, ``survivors`` those that
    may be the best: if one of them is, it is ahead of the leader by at most its entry in ``ahead_at_most``. So no model
    is ahead of the leader by more than ``achieved_eps``, the certified eps. ``forecast`` says how many answers are
    still needed, None while too little is known. Of ``n_rounds`` examples drawn all survivors agreed on
    ``n_free_rounds``; ``n_answers`` were given by the rater. In follow-up, ``n_checks`` rounds asked one more label to
    test what the protocol assumes, and ``n_contradicted`` of these contradicted it.
    """

    eps: float
    delta: float
    names: tuple[int, ...]
    survivors: tuple[int, ...]
    ahead_at_most: tuple[float, ...]
    forecast: Forecast | None
    n_answers: int
    n_free_rounds: int
    n_cant_tell: int
    n_checks: int
    n_contradicted: int


def promise(protocol: AskingProtocol, is_pool: bool, raters_err: bool, exhaustive: bool, delta: float) -> str:
    """What is guaranteed, and under which assumptions, in one sentence."""
    where = "on the pool" if is_pool else "on the population that the stream is drawn from"
    means, rests_on = _stated(protocol, raters_err, exhaustive)
    sample = "" if is_pool else "; examples are independent draws"
    return (
        f"no model {means} more often than the chosen one, {where}, by more than achieved_eps, and the best is among "
        f"the survivors, with probability at least {1 - delta:g}, whenever the run is stopped; assumed: "
        f"{rests_on}{sample}; the seed was chosen after the table was fixed, by nobody who made it"
    )


def _stated(protocol: AskingProtocol, raters_err: bool, exhaustive: bool) -> tuple[str, str]:
    """What models are compared by, and what must be so."""
    verdicts = "a verdict does not depend on when it is asked, nor who is asked on how the run stands"
    if raters_err:
        return "is right", "verdicts err independently, at the same rates for every item and label, within the bounds"
    if protocol == "one-shot":
        return "gives a label that raters accept", verdicts
    if protocol == "labels":
        return "gives the label that raters give", verdicts
    if exhaustive:
        return "is right", "the labels hold the one right label of every item, and no yes or no is wrong"
    return "gives a label that raters accept", f"raters accept at most one label per item; {verdicts}"


SUSPENDED = (
    "none: follow-up takes raters to accept one label per item at most (exhaustive: exactly one), and checks "
    "contradicted that too often. Ask one-shot, which allows several right labels, or none"
)
