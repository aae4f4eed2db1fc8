"""The verdicts of a pool: who is accepted how often once all are known, and what the luck of errors may hide."""

from __future__ import annotations

import math
from functools import cached_property, partial

import numpy as np

from onebit.estimate.delta import (
    failure_at_zero,
    failure_of_luck,
    failure_of_top,
    failure_per_candidate,
    failure_per_leader,
    failure_per_pair,
    ranks,
)
from onebit.estimate.rater_errors import slack
from onebit.learners.certified.epoch import KnownAnswers
from onebit.learners.certified.outputs import Floats, Ints, Predictions, agreement, contested
from onebit.learners.certified.standing import Known
from onebit.records import Setting


class PoolVerdicts:
    """What hypotheses say on a pool, ``said`` (N, n), judged by raters who err at most as often as the setting says.

    docs/certificate.md, steps 9, 14 and, for other aims than the best model, 17 and 20.
    """

    def __init__(self, said: Predictions, setting: Setting) -> None:
        self._said, self._setting = said, setting
        self._f_no, self._f_yes = setting.f_no, setting.f_yes
        #: Of each leader so far.
        self._slacks: dict[int, Floats] = {}

    @property
    def may_mislead(self) -> bool:
        """Whether errors may favour one hypothesis, which does not go away by asking more."""
        return self._f_no + self._f_yes > 0

    def all_known(self, known: KnownAnswers, survivors: Ints) -> Known | None:
        """Who is accepted how often, if all labels of survivors have their verdict where they differ.

        Drawing with replacement would go on for long, although nothing is left to be asked.
        """
        accepted = known.score(self._said, survivors)
        if accepted is None:
            return None
        # An abstention gets what a wrong label gets, so that all are measured alike.
        n_silent = (self._said[:, contested(self._said[survivors])] < 0).sum(axis=1)
        return Known(accepted + self._f_yes * n_silent, partial(self._ahead, accepted))

    def _ahead(self, accepted: Floats, leader: int) -> Floats:
        """By how much each hypothesis can be ahead of the leader, given how often each is ``accepted``; shape (N,)."""
        n_silent = ((self._said < 0) & (self._said[leader] >= 0)).sum(axis=1)
        ahead = (accepted - accepted[leader] + self._f_yes * n_silent) / self._said.shape[1]
        bound: Floats = (ahead + self.slack(leader)) / (1 - self._f_no - self._f_yes)
        return bound

    def slack(self, leader: int) -> Floats:
        """By how much the verdicts may favour the leader against each hypothesis by luck; shape (N,)."""
        if not self.may_mislead:
            return np.zeros(self._said.shape[0])
        if leader not in self._slacks:
            share = self._failure_of_luck(leader)
            n_differ = (self._said != self._said[leader]).sum(axis=1)
            self._slacks[leader] = slack(n_differ, -math.log(share), self._f_no, self._f_yes) / self._said.shape[1]
        return self._slacks[leader]

    def _failure_of_luck(self, leader: int) -> float:
        """What of delta luck may use up that favours this leader against one rival."""
        of_luck, n, setting = failure_of_luck(self._setting.delta), self._said.shape[0], self._setting
        if setting.baseline is not None:
            return failure_at_zero(failure_per_candidate(n - 1, of_luck))
        if setting.tiers:
            return failure_at_zero(failure_per_pair(n, of_luck))
        if setting.top is not None:
            return float(failure_of_top(ranks(self._agreement), n, setting.top, of_luck)[leader])
        return float(failure_per_leader(self._agreement, of_luck)[leader])

    @cached_property
    def _agreement(self) -> Ints:
        """With the vote, as in the standing: shares of delta go by it."""
        return agreement(self._said)
