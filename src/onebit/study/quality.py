"""How often raters err, from planted and repeated questions: exact intervals, and warnings.

None of this enters a certificate. The bounds on error rates are fixed when a study is created; evidence against them
may only warn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from onebit.log.events import Answered, Event, Voted
from onebit.log.fold import Course
from onebit.records import Answer
from onebit.study.constants import CONFIDENCE


@dataclass(frozen=True, slots=True)
class Rate:
    """``n_wrong`` of ``n`` checks failed; the rate is from ``low`` to ``high`` (Clopper-Pearson, 95%)."""

    n_wrong: int
    n: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RaterQuality:
    """One rater: answers given (those taken back too), can't-tells, late ones, and error rates.

    ``f_no`` is no to a right label, ``f_yes`` yes to a wrong one, on planted questions; ``changed`` is how often a
    repeated question got the other answer. Checks that were answered with can't tell are not counted.
    """

    rater: str
    n_answers: int
    n_cant_tell: int
    n_late: int
    f_no: Rate
    f_yes: Rate
    changed: Rate


@dataclass(slots=True)
class _Counts:
    n_answers: int = 0
    n_cant_tell: int = 0
    n_late: int = 0
    #: Of checks of each kind, whether each was failed.
    right: list[bool] = field(default_factory=list)
    wrong: list[bool] = field(default_factory=list)
    repeated: list[bool] = field(default_factory=list)


class Quality:
    """What every rater did, kept up event by event; answers to checks are those in force of the ``course``."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._counts: dict[str, _Counts] = {}

    def take(self, event: Event) -> None:
        if isinstance(event, Voted | Answered) and event.rater is not None:
            counts = self._counts.setdefault(event.rater, _Counts())
            counts.n_answers += 1
            counts.n_cant_tell += event.answer is Answer.CANT_TELL
            counts.n_late += event.late

    def raters(self) -> tuple[RaterQuality, ...]:
        """Every rater with a name, in the order of their first answers."""
        counts = {name: replace(each, right=[], wrong=[], repeated=[]) for name, each in self._counts.items()}
        for rater, checks in self._course.checks_of.items():
            for check in checks:
                answer = self._course.votes[check.question_id].get(rater)
                if answer is None or answer is Answer.CANT_TELL:
                    continue
                of_rater = counts.setdefault(rater, _Counts())
                if check.repeats is not None:
                    kind = of_rater.repeated
                else:
                    kind = of_rater.right if check.expected is Answer.YES else of_rater.wrong
                # Who says that no label is right says no to this one.
                kind.append((answer is Answer.YES) != (check.expected is Answer.YES))
        return tuple(
            RaterQuality(
                name,
                each.n_answers,
                each.n_cant_tell,
                each.n_late,
                rate(sum(each.right), len(each.right)),
                rate(sum(each.wrong), len(each.wrong)),
                rate(sum(each.repeated), len(each.repeated)),
            )
            for name, each in counts.items()
        )


def rate(n_wrong: int, n: int) -> Rate:
    """The exact interval for a rate, from counts.

    >>> rate(0, 10).high < 0.31
    True
    """
    # Imported here: the first page of a server does not need it.
    from scipy.special import betaincinv

    tail = (1 - CONFIDENCE) / 2
    low = float(betaincinv(n_wrong, n - n_wrong + 1, tail)) if n_wrong > 0 else 0.0
    high = float(betaincinv(n_wrong + 1, n - n_wrong, 1 - tail)) if n_wrong < n else 1.0
    return Rate(n_wrong, n, low, high)


def majority_rate(rate_of_one: float, overlap: int) -> float:
    """How often most of ``overlap`` raters err, if each errs at this rate, independently.

    >>> round(majority_rate(0.1, 3), 3)
    0.028
    """
    # Imported here: the first page of a server does not need it.
    from scipy.special import bdtrc

    return float(bdtrc(overlap // 2, overlap, rate_of_one))


def warnings(raters: Iterable[RaterQuality], f_no: float, f_yes: float, overlap: int = 1) -> list[str]:
    """Where raters like this one would surely err more often than the study was created to allow for.

    The bounds are those of the answer that counts: with ``overlap``, the majority's.
    """
    found = []
    for each in raters:
        for what, seen, bound in (
            ("says no to right labels", each.f_no, f_no),
            ("says yes to wrong labels", each.f_yes, f_yes),
        ):
            least = majority_rate(seen.low, overlap)
            if least > bound:
                so = "" if overlap == 1 else f", so a majority of {overlap} like this one would in at least {least:.3f}"
                found.append(
                    f"{each.rater} {what} in {seen.n_wrong} of {seen.n} checks, a rate of at least {seen.low:.3f}{so}; "
                    f"the study was created for at most {bound:.3f}, and what it promises rests on that"
                )
        found += _changed(each, max(_most_for_one(f, overlap) for f in (f_no, f_yes)))
    return found


def _most_for_one(bound: float, overlap: int) -> float:
    """The largest rate of single raters at which most of ``overlap`` err at most at ``bound``."""
    from scipy.optimize import brentq

    if overlap == 1 or bound in (0.0, 1.0):
        return bound
    return float(brentq(lambda rate_of_one: majority_rate(rate_of_one, overlap) - bound, 0.0, 1.0))


def _changed(rater: RaterQuality, most: float) -> list[str]:
    """The warning about repeated questions, for raters who may err at the rate ``most``."""
    # Two answers to one question differ with probability 2 f (1 - f), if the second does not know of the first.
    f, seen = min(most, 0.5), rater.changed
    if seen.low <= 2 * f * (1 - f):
        return []
    return [
        f"{rater.rater} answers repeated questions otherwise in {seen.n_wrong} of {seen.n} checks, a rate of at least "
        f"{seen.low:.3f}; raters as the study was created for would at most in {2 * f * (1 - f):.3f}"
    ]
