"""The intervals of one-shot, where an output of a drawn item is asked about with a known probability, worked out again.

Written from step 16 of ``docs/certificate.md``; it shares nothing with the learner.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from onebit.verify.contest import Contest
from onebit.verify.intervals import Sights, Spans, differing
from onebit.verify.recount import BETS, estimates, numbered
from onebit.verify.redraw import Places
from onebit.verify.settle import Settled

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: The bets: every fourth, halved.
SPARSE = slice(3, None, 4)
#: Halvings of the range of a threshold; ends are rounded outwards.
HALVINGS = 9
#: Models whose wealth is worked out at once, for memory.
AT_ONCE = 128


@dataclass(frozen=True, eq=False)
class _Epoch:
    """``models`` (V,), rising, are those that survived, and ``given`` (V, m) the outputs they gave.

    ``as_rival`` and ``as_leader`` (n_outputs, n_bets) are X; ``plain`` (n_outputs,) is X without the bend of step 3.
    """

    models: Ints
    given: Places
    as_rival: Floats
    as_leader: Floats
    plain: Floats
    n_skipped: int
    n_agreed: int

    def row_of(self, model: int) -> int | None:
        """Where a model stands among those that survived; None if it did not."""
        row = int(np.searchsorted(self.models, model))
        return row if row < self.models.size and self.models[row] == model else None


class Weighted(Sights):
    """One-shot: one output of each drawn item was asked about, with a known probability."""

    def __init__(self, scene: Contest) -> None:
        self._said, self._models = scene.said_by_distinct, scene.rows
        self._abstaining, self._epochs = scene.setting.f_yes, list[_Epoch]()

    def add(self, survivors: Sequence[int], settled: Sequence[Settled]) -> None:
        """The settled rounds of an epoch."""
        differ = int(differing(self._said[:, [each.round.item for each in settled]]).sum()) if settled else 0
        rounds = [each for each in settled if not each.round.is_nil]
        given: Places = np.zeros((len(survivors), 0), dtype=np.uint8)
        plain = [self._plain(each) for each in rounds]
        if rounds:
            given = numbered(rounds)
            as_rival, as_leader = (each[:, SPARSE] for each in estimates(rounds, self._abstaining))
        else:
            as_rival = as_leader = np.zeros((0, BETS[SPARSE].size))
        models = np.searchsorted(self._models, survivors)
        every = np.concatenate(plain) if plain else np.zeros(0)
        n_skipped, n_agreed = differ - len(rounds), len(settled) - differ
        self._epochs.append(_Epoch(models, given, as_rival, as_leader, every, n_skipped, n_agreed))

    def _plain(self, each: Settled) -> Floats:
        """Step 2: X of every output of a round."""
        drawn = each.round
        X = np.where(drawn.q > 0, drawn.guess, drawn.known)
        for place, label in enumerate(drawn.outputs.tolist()):
            if label in drawn.to_ask:
                X[place] += ((label == each.found) - X[place]) / drawn.q[place]
        X[drawn.outputs < 0] = self._abstaining
        return X

    def shares(self, failure: float) -> Spans:
        if not self._epochs:
            return nothing_known(len(self._models), 0.0)
        high = self._refuted(None, True, failure / 2, 0.0, 1.0)
        low = -self._refuted(None, False, failure / 2, -1.0, 0.0)
        return self._with_mean(low, high, None)

    def differences(self, leader: int, failure: float) -> Spans:
        if not self._epochs:
            found = nothing_known(len(self._models), -1.0)
        else:
            high = self._refuted(leader, True, failure / 2, -1.0, 1.0)
            found = self._with_mean(-self._refuted(leader, False, failure / 2, -1.0, 1.0), high, leader)
        for each in (found.estimate, found.low, found.high):
            each[leader] = 0.0
        return found

    def _with_mean(self, low: Floats, high: Floats, leader: int | None) -> Spans:
        estimate = np.full(low.size, np.nan)
        for model in range(low.size):
            total, n_rounds = 0.0, 0
            for epoch in self._epochs:
                if (row := epoch.row_of(model)) is None:
                    continue
                X = epoch.plain[epoch.given[row]]
                n_rounds += X.size
                if leader is not None:
                    X = X - epoch.plain[epoch.given[epoch.row_of(leader)]]
                    n_rounds += epoch.n_skipped + epoch.n_agreed
                total += float(X.sum())
            if n_rounds > 0:
                ends = sorted((low[model], high[model]))
                estimate[model] = np.clip(total / n_rounds, *ends)
        return Spans(estimate, low, high)

    def _refuted(self, leader: int | None, is_rival: bool, failure: float, least: float, most: float) -> Floats:
        """The lowest threshold, to 1/512 of the range, that was ever refuted; ``most`` where none was.

        The claim is that the model is ahead of the leader by that much or, unless ``is_rival``, the leader of it.
        """
        found = []
        for first in range(0, len(self._models), AT_ONCE):
            models = range(first, min(first + AT_ONCE, len(self._models)))
            D = list(self._D(models, leader, is_rival))
            low, high = np.full(len(models), least), np.full(len(models), most)
            for _ in range(HALVINGS):
                c = (low + high) / 2
                out = self._most_wealth(D, c, leader, is_rival) >= math.log(1 / failure)
                low, high = np.where(out, low, c), np.where(out, c, high)
            found.append(high)
        return np.concatenate(found)

    def _D(self, models: range, leader: int | None, is_rival: bool) -> Iterator[tuple[Ints, Floats]]:
        """Of every epoch, which of the ``models`` took part, and D of each in each round, (k, m, n_bets)."""
        for epoch in self._epochs:
            rows = [epoch.row_of(model) for model in models]
            took_part = [place for place, row in enumerate(rows) if row is not None]
            of_h = epoch.given[[row for row in rows if row is not None]]
            D: Floats
            if leader is None:
                D = epoch.as_rival[of_h] if is_rival else -epoch.as_leader[of_h]
            else:
                of_g = epoch.given[epoch.row_of(leader)]
                rival, behind = (of_h, of_g) if is_rival else (of_g, of_h)
                D = epoch.as_rival[rival] - epoch.as_leader[behind]
                D[of_h == of_g] = 0.0
            yield np.array(took_part, dtype=np.int64), D

    def _most_wealth(self, all_D: list[tuple[Ints, Floats]], c: Floats, leader: int | None, is_rival: bool) -> Floats:
        """The most log-wealth at the end of an epoch, at a threshold of each model's own; shape (k,)."""
        bet = BETS[SPARSE] / 2
        total, most = np.zeros((c.size, bet.size)), np.zeros(c.size)
        for epoch, (models, D) in zip(self._epochs, all_D, strict=True):
            mine = c[models][:, None]
            total[models] += np.log1p(-bet * (D - mine[:, None])).sum(axis=1)
            if leader is None:
                # Nobody was asked, though models differ: the worse for the bettor.
                total[models] += epoch.n_skipped * np.log1p(-bet * ((1.0 if is_rival else 0.0) - mine))
            else:
                total[models] += (epoch.n_skipped + epoch.n_agreed) * np.log1p(bet * mine)
            wealth = logsumexp(total[models], axis=1) - math.log(bet.size)
            most[models] = np.maximum(most[models], wealth)
        return most


def nothing_known(n_models: int, low: float) -> Spans:
    """Where nothing was seen yet."""
    return Spans(np.full(n_models, np.nan), np.full(n_models, low), np.ones(n_models))
