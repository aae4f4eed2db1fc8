"""Audits: is the classifier, as it is now, right? Asked on items set aside at random and never trained on."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onebit.errors import InvalidInputError, check_count, check_fraction
from onebit.estimate.accuracy import AccuracyInterval, accuracy_interval, exact_interval, with_errors
from onebit.estimate.delta import failure_of_whole_audit, failure_per_audit
from onebit.learners.training.constants import (
    AUDIT_GROWTH,
    AUDIT_SHARE,
    MOST_ASIDE,
    MOST_AUDITS,
    MOST_OF_BUDGET,
)
from onebit.learners.training.earlier import EarlierAnswer
from onebit.learners.training.history import Sample
from onebit.learners.training.model import Bools, Ints
from onebit.records import Answer


class Audits:
    """The items set aside, and the interval of the audit that is under way or was the last.

    Without a target there is one audit, at the end, whose size is known from the start: once all its answers are there,
    the interval is the exact one for that number. With a target there may be ``MOST_AUDITS``; the intervals of all, at
    every moment, hold at once with probability at least 1 - delta, so it does no harm to stop at the first that shows
    the target. Raters err at most with the rates ``f_no`` and ``f_yes``.
    """

    def __init__(
        self, aside: Sequence[int], delta: float, target: float | None, f_no: float = 0.0, f_yes: float = 0.0
    ) -> None:
        self.target, self._f_no, self._f_yes = target, f_no, f_yes
        n_audits = n_useful = 1
        if target is not None:
            # One that is too small to show the target, even if every answer is yes, would be of no use.
            least = fewest_that_show(target, delta, (f_no, f_yes))
            n_audits, n_useful = MOST_AUDITS, min(MOST_AUDITS, max(1, len(aside) // least))
        self._delta, self._n_aside = delta, len(aside)
        self._per_audit = math.ceil(len(aside) / n_useful)
        self.aside: deque[int] = deque(aside)
        self._n_left = n_audits
        self._allotted = self._n_yes = self._n_cant_tell = self._n_answers = 0
        self._not_before = 0.0

    @property
    def interval(self) -> AccuracyInterval:
        return audited_interval(
            (self._n_yes, self._n_cant_tell, self._n_answers),
            None if self.target is not None else self._n_aside,
            self._delta,
            (self._f_no, self._f_yes),
        )

    @property
    def reached(self) -> bool:
        """Whether the target, if there is one, is shown."""
        return self.target is None or self.interval.low >= self.target

    @property
    def over(self) -> bool:
        """Whether no training follows the audit: the target is shown, or it was the last audit."""
        return self._n_left == 0 or (self.target is not None and self.reached)

    def due(self, recent_accuracy: float | None, n_answers: int, logged: bool = False) -> bool:
        """Whether to audit in the midst of training: the target seems to be reached. One audit is left for the end.

        ``logged``: an audit comes next by a log; those of earlier versions were as small as four of them have to be.
        """
        hopeful = self.target is not None and recent_accuracy is not None and recent_accuracy >= self.target
        can_be = self._n_left > 1 and (logged or len(self.aside) > self._per_audit)
        return hopeful and can_be and n_answers >= self._not_before

    def begin(self, n_answers: int, last: bool) -> None:
        """Begin an audit of the classifier as it is now; ``last``: no training follows."""
        self._n_yes = self._n_cant_tell = self._n_answers = 0
        self._n_left = 0 if last else self._n_left - 1
        self._allotted = len(self.aside) if last else min(self._per_audit, len(self.aside))
        self._not_before = AUDIT_GROWTH * n_answers

    def take(self, n_most: int) -> list[int]:
        """The next items of this audit; none if it is over.

        It is over when its items are used up, when the target is shown, or when the target is shown to be missed and
        training can go on.
        """
        interval = self.interval
        shown = self.target is not None and interval.low >= self.target
        missed = self.target is not None and interval.high < self.target and self._n_left > 0
        n_items = 0 if shown or missed else min(n_most, self._allotted - self._n_answers)
        return [self.aside.popleft() for _ in range(n_items)]

    def record(self, answer: Answer) -> None:
        self._n_answers += 1
        self._n_yes += answer is Answer.YES
        self._n_cant_tell += answer is Answer.CANT_TELL


def audited_interval(
    answers: tuple[int, int, int], n_fixed: int | None, delta: float, error_rates: tuple[float, float] = (0.0, 0.0)
) -> AccuracyInterval:
    """The interval from an audit: of ``answers`` so many are yes, so many can't tell, and so many came in all.

    ``n_fixed``: that many were to come, and no other audit is; None where there may be several.
    """
    n_yes, n_cant_tell, n_answers = answers
    if n_fixed is None:
        found = accuracy_interval(n_yes, n_answers, failure_per_audit(MOST_AUDITS, delta), n_cant_tell)
    elif n_answers == n_fixed:
        found = exact_interval(n_yes, n_answers, failure_of_whole_audit(delta), n_cant_tell)
    else:
        found = accuracy_interval(n_yes, n_answers, delta - failure_of_whole_audit(delta), n_cant_tell)
    return with_errors(found, *error_rates)


@dataclass(frozen=True, eq=False)
class Division:
    """The items of a pool in random order: first those ``aside``, of which the first ``n_audited`` are audited, then
    those that are a random sample as well (``is_sample`` (n,)), then the others.
    """

    order: Ints
    n_aside: int
    n_audited: int
    is_sample: Bools

    @property
    def audited(self) -> list[int]:
        audited: list[int] = self.order[: self.n_audited].tolist()
        return audited

    @property
    def to_train(self) -> Ints:
        """The items that are trained on, in order."""
        return self.order[self.n_aside :]


def set_aside(
    shuffled: Ints,
    earlier: Sequence[EarlierAnswer],
    sample: Sample,
    audit: int | None,
    budget: int,
    target: float | None,
) -> Division:
    """Divide the items: those that are audited are drawn from all, or from the ``sample`` that earlier answers left.

    What was set aside earlier stays aside; where that is not enough, more of the sample is set aside.
    """
    audited, asked = ({each.item for each in earlier if each.audited is of} for of in (True, False))
    if both := (audited | set(sample.aside)) & asked:
        raise InvalidInputError(f"item {min(both)} has earlier answers to audit and to train on; say which")
    touched = np.zeros(shuffled.size, dtype=np.bool_)
    touched[slice(None) if sample.chosen_from is None else sample.chosen_from] = True
    is_aside = np.zeros_like(touched)
    is_aside[list(sample.aside)] = True
    touched[sorted(asked)] = True
    is_sample: Bools = is_aside | ~touched
    fresh = shuffled[is_sample[shuffled] & ~is_aside[shuffled]]
    order = np.concatenate([np.array(sample.aside, dtype=np.int64), fresh, shuffled[~is_sample[shuffled]]])
    n_sample = len(sample.aside) + fresh.size
    if not earlier and not sample.aside:
        n_audited = items_aside(audit, n_sample, budget, target)
    else:
        n_audited = _items_aside_again(audit, len(sample.aside), n_sample, budget, target)
    return Division(order, max(n_audited, len(sample.aside)), n_audited, is_sample)


def _items_aside_again(audit: int | None, n_aside: int, n_sample: int, budget: int, target: float | None) -> int:
    """How many items are audited by a run that goes on: ``n_aside`` were set aside before, ``n_sample`` can be."""
    if audit is None:
        audit = min(max(n_aside, items_aside(None, n_sample, budget, target)), n_sample, budget - 1)
    if audit > n_sample:
        raise InvalidInputError(
            f"audit is {audit}, and after the earlier answers only {n_sample} items can be audited: others were chosen "
            "to train on or passed over, and are no random sample. Give at most that many, or leave audit out, and "
            "give history_ itself, not a list made of it, which does not say what was set aside"
        )
    if audit == 0 and target is not None:
        raise InvalidInputError(
            f"target is {target}, and after the earlier answers no item is left that is a random sample, so nothing "
            "can show that it is reached. Give history_ itself, not a list made of it, or leave target out"
        )
    check_count("audit", audit, least=0)
    if audit >= budget:
        raise InvalidInputError(
            f"audit is {audit}, and {budget} answers of the budget are left; some must be left to train on, so give a "
            "larger budget, or a smaller audit"
        )
    return audit


def fewest_that_show(target: float, delta: float, error_rates: tuple[float, float] = (0.0, 0.0)) -> int:
    """How many answers, if all are yes, show an accuracy of ``target`` in one of several audits.

    >>> fewest_that_show(0.95, 0.05)
    146
    """
    few, enough = 0, 1
    while audited_interval((enough, 0, enough), None, delta, error_rates).low < target:
        few, enough = enough, 2 * enough
    while enough - few > 1:
        middle = (few + enough) // 2
        shows = audited_interval((middle, 0, middle), None, delta, error_rates).low >= target
        few, enough = (few, middle) if shows else (middle, enough)
    return enough


def audit_for_target(
    target: float,
    audit: int | None,
    budget: int,
    n_items: int,
    sample: tuple[int, int],
    delta: float,
    error_rates: tuple[float, float] = (0.0, 0.0),
) -> int:
    """How many of ``n_items`` items to audit so that ``target`` can be shown; InvalidInputError if it cannot be.

    ``sample``: how many are set aside already, and how many can be. Without ``audit``: as many as ``MOST_AUDITS`` take,
    as far as the items and half of the ``budget`` go.
    """
    n_aside, n_sample = sample
    least = fewest_that_show(check_fraction("target", target), check_fraction("delta", delta), error_rates)
    n_most = min(int(MOST_ASIDE * n_items), int(MOST_OF_BUDGET * budget))
    n_audited = min(max(n_aside, min(MOST_AUDITS * least, n_most)), n_sample) if audit is None else audit
    if n_audited < least:
        shares = (
            f"of {budget:,} answers and {n_items:,} items, {n_sample:,} of them a random sample, it has {n_audited:,}"
        )
        if audit is None:
            # The size of the audit is an option in Python alone.
            needed = f"{math.ceil(least / MOST_OF_BUDGET):,} answers and {math.ceil(least / MOST_ASIDE):,} items"
            given, advice = shares, f"From {needed} on it has that: give more of what is short, audit={least} in Python"
        else:
            given, advice = f"audit is {audit:,}", f"Give audit={least:,} or more"
        raise InvalidInputError(
            f"target is {target:g}, and takes an audit of {least:,} answers to be shown, even if all are yes; {given}. "
            f"{advice}, or a lower target"
        )
    return n_audited


def items_aside(audit: int | None, n_items: int, budget: int, target: float | None) -> int:
    """How many items, each good for one question, are set aside."""
    if audit is None:
        return min(math.ceil(AUDIT_SHARE * budget), int(MOST_ASIDE * n_items), budget - 1)
    check_count("audit", audit, least=0)
    if audit >= min(n_items, budget):
        raise InvalidInputError(
            f"audit is {audit} for {n_items} items and a budget of {budget}; some of each must be left to train on"
        )
    if audit == 0 and target is not None:
        raise InvalidInputError(f"audit is 0 and target {target}; without an audit nothing shows that it is reached")
    return audit
