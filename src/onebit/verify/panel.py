"""Checks a panel: which verdicts had to be asked for, and what they are worth.

Written from step 15 of ``docs/certificate.md``; it shares nothing with the learner. The items come in an order that the
seed fixes. An epoch names the contenders and how far it goes along the order, and asks for every output of theirs, on
every item up to there on which they differ, that has no verdict yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from onebit.randomness import generator
from onebit.records import Answer, EpochRecord, Question
from onebit.verify.audit import Audit
from onebit.verify.contest import Contest
from onebit.verify.intervals import Order, Sights
from onebit.verify.recount import BETS, USUAL_EXACT, bet_weights
from onebit.verify.redraw import UNJUDGED
from onebit.verify.settle import Given

#: Step 15: how much of the judge's scores is taken off the verdicts, and the share of the wealth that is bet so.
JUDGE_WEIGHT, JUDGE_SHARE = 0.7, 0.4

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class PanelAudit(Audit):
    """A panel gone through again: its verdicts by item and output."""

    def __init__(self, scene: Contest) -> None:
        super().__init__(scene)
        self._weights = bet_weights(self._setting.eps, USUAL_EXACT)
        self._is_pool = self._setting.population == "pool"
        # The items of a stream are in their order already.
        self._order = np.arange(scene.n_items)
        if self._is_pool:
            self._order = generator(self._setting.seed, "panel order").permutation(scene.n_items)
        #: What models say, in the order of the items, and whether that is accepted: 1 or 0, and NaN while unknown.
        self._said = scene.said[:, self._order]
        self._z = np.where(self._said < 0, 0.0, np.nan)
        #: What a judge says about them; on a stream it is not heeded.
        self._scores: Floats | None = None
        if self._is_pool and scene.judge is not None:
            self._scores = _shared(self._said, scene.judge[:, self._order])

    def _record_faults(self, number: int, epoch: EpochRecord) -> Iterator[str]:
        if epoch.n_open:
            yield f"it began while {epoch.n_open} were open, which panels do not"
        if epoch.n_rounds < 0 or epoch.first_round + epoch.n_rounds > self._scene.n_items:
            yield f"it has {epoch.n_rounds} items from {epoch.first_round}, but the table has {self._scene.n_items}"
        if epoch.leader in (model for model, _ in epoch.mixture):
            yield f"its leader {epoch.leader} is among its own rivals"

    def _settle(
        self, number: int, epoch: EpochRecord, asked: list[tuple[Question, Given]], closes: bool, may_be_cut: bool
    ) -> bool:
        n_drawn = self._n_rounds + epoch.n_rounds
        wanted = self._wanted([epoch.leader, *(rival for rival, _ in epoch.mixture)], n_drawn)
        answers: dict[tuple[int, int], Given] = {}
        self.tell(self._question_faults(epoch, asked, wanted, answers))
        if not closes:
            return False
        missing = [cell for cell in sorted(wanted) if answers.get(cell) is None]
        if missing and not may_be_cut:
            place, label = missing[0]
            self.tell(
                [
                    f"epoch {number} was closed, but output {label} of item {self._order[place]} lacks a verdict; only "
                    "where the budget ran out may some be left"
                ]
            )
            return False
        self._n_free += epoch.n_rounds - len({place for place, _ in wanted if place >= self._n_rounds})
        self._n_rounds = n_drawn
        self._n_answers += sum(answer is not None for _, answer in asked)
        for (place, label), answer in answers.items():
            if answer is not None:
                self._z[self._said[:, place] == label, place] = answer is Answer.YES
        return True

    def _sights(self) -> Sights:
        said, z = self._said[list(self._scene.distinct)], self._z[list(self._scene.distinct)]
        order = Order(said.shape[0], said if self._is_pool else None, all_count=False)
        for place in range(self._n_rounds):
            order.add(said[:, place], z[:, place])
        return order

    def _wanted(self, contenders: Sequence[int], n_drawn: int) -> set[tuple[int, int]]:
        """The (place, output) that an epoch has to ask for."""
        said, z = self._said[contenders, :n_drawn], self._z[contenders, :n_drawn]
        places = np.flatnonzero((said != said[0]).any(axis=0) & np.isnan(z).any(axis=0))
        return {
            (place, label)
            for place in places.tolist()
            for label, known in zip(said[:, place].tolist(), z[:, place].tolist(), strict=True)
            if np.isnan(known)
        }

    def _question_faults(
        self,
        epoch: EpochRecord,
        asked: list[tuple[Question, Given]],
        wanted: set[tuple[int, int]],
        answers: dict[tuple[int, int], Given],
    ) -> Iterator[str]:
        """What is wrong with the questions of an epoch; the ``answers`` to the others are written down."""
        place_of = {item: place for place, item in enumerate(self._order.tolist())}
        for question, answer in asked:
            cell = place_of.get(question.item, -1), -1 if question.label is None else question.label
            if cell not in wanted or cell in answers:
                yield (
                    f"question {question.id} (item {question.item}, output {question.label}) is none that epoch "
                    f"{epoch.number} wants"
                )
                continue
            if question.propensity != 1.0:
                yield (
                    f"question {question.id} says that it was asked with probability {question.propensity!r}; a panel "
                    "leaves nothing to chance"
                )
            answers[cell] = answer

    def _differences(self, rival: int, leader: int) -> tuple[Floats, bool]:
        """D of the pair on the items drawn, in order, up to the first that is not known; and whether that is all."""
        drawn = slice(self._n_rounds)
        is_same = self._said[rival, drawn] == self._said[leader, drawn]
        D = np.where(is_same, 0.0, self._z[rival, drawn] - self._z[leader, drawn])
        unknown = np.flatnonzero(np.isnan(D))
        return (D, True) if unknown.size == 0 else (D[: unknown[0]], False)

    def _log_wealth(self, rivals: Sequence[int], leader: int, c: float) -> Floats:
        plain = np.array([self._pair(rival, leader, c, 0.0) for rival in rivals])
        if self._scores is None:
            return plain
        judged = np.array([self._pair(rival, leader, c, JUDGE_WEIGHT) for rival in rivals])
        both: Floats = np.logaddexp(plain + np.log(1 - JUDGE_SHARE), judged + np.log(JUDGE_SHARE))
        return both

    def _pair(self, rival: int, leader: int, c: float, weight: float) -> float:
        """The log-wealth of one pair, of bets on the verdicts less ``weight`` of what the judge says."""
        D, _ = self._differences(rival, leader)
        if not self._is_pool:
            return self._mean(np.log1p(-BETS * (D[:, None] - c)).sum(axis=0))
        differ = self._said[rival] != self._said[leader]
        J = np.zeros(self._scene.n_items)
        if self._scores is not None:
            J = weight * (self._scores[rival] - self._scores[leader])
        J = J[differ]
        D = D[differ[: D.size]]
        n_left = int(differ.sum()) - np.arange(D.size + 1)
        before = np.concatenate([[0.0], np.cumsum(D)])
        least = self._scene.n_items * c - before
        if (least > n_left).any():
            return np.inf
        before, n_left, least = before[:-1], n_left[:-1], least[:-1]
        J_left = J.sum() - np.concatenate([[0.0], np.cumsum(J)])[: D.size]
        # What can be lost at c = 0. Where that is not positive, only D = 1 from here on could save the claim: any bet
        # will do.
        room = 1 + weight + (before + J_left) / n_left
        bet = BETS / np.where(room > 0, room, 1.0)[:, None]
        return self._mean(np.log1p(-bet * (D - J[: D.size] - (least - J_left) / n_left)[:, None]).sum(axis=0))

    def _mean(self, log_products: Floats) -> float:
        """log of the mean over the bets, by their weights."""
        return float(logsumexp(log_products, b=self._weights))

    def _known_gap(self, leader: int) -> float | None:
        if self._survivors == (leader,):
            return 0.0
        if not self._is_pool:
            return None
        ahead = []
        for rival in self._survivors:
            D, is_all = self._differences(rival, leader)
            undrawn = slice(self._n_rounds, None)
            if not is_all or (self._said[rival, undrawn] != self._said[leader, undrawn]).any():
                return None
            ahead.append(float(D.sum()))
        return max(ahead) / self._scene.n_items


def _shared(said: Ints, scores: Floats) -> Floats:
    """The scores (N, n), of equal outputs their mean, 1/2 where all are missing; 0 for an abstention."""
    shared = np.zeros(said.shape)
    for place in range(said.shape[1]):
        for a in set(said[:, place].tolist()) - {-1}:
            says = said[:, place] == a
            known = scores[says & ~np.isnan(scores[:, place]), place]
            shared[says, place] = known.mean() if known.size else UNJUDGED
    return shared
