"""What a panel knows: the outputs of all models on the items drawn so far, and which of them raters accept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy

import numpy as np

from onebit.estimate.panels import JudgeScores, PanelWealth, Verdicts
from onebit.estimate.shares import UNKNOWN, Intervals, differences_of, shares_of
from onebit.learners.certified.evidence import Evidence
from onebit.learners.certified.outputs import Floats, Ints, Predictions, contested


class PanelEvidence(Evidence):
    """Outputs ``said`` (N, m) of items in the order drawn, of which the first ``n_drawn`` count.

    Of a pool, ``said`` has all items from the start, in their random order; of a stream it grows. A hypothesis that
    abstains is not accepted, so nothing is asked about that. On a pool, ``judge`` has scores in the same order.
    ``usual_bet`` is that of the wealth.
    """

    def __init__(
        self, said: Predictions, is_pool: bool, judge: JudgeScores | None = None, usual_bet: float | None = None
    ) -> None:
        self._said, self._is_pool, self._judge, self._usual_bet = said, is_pool, judge, usual_bet
        self._verdict = np.where(said < 0, 0, UNKNOWN).astype(np.int8)
        #: After how many updates each verdict was given.
        self._given_after = np.zeros(said.shape, dtype=np.int32)
        self._n_updates = 0
        #: On how many items of the pool each hypothesis differs from a leader, of each leader so far.
        self._n_differ: dict[int, Ints] = {}
        self.n_drawn = 0
        self.score = np.zeros(said.shape[0])
        self._update_wealth()

    def _differ_from(self, leader: int) -> Ints:
        if leader not in self._n_differ:
            self._n_differ[leader] = (self._said != self._said[leader]).sum(axis=1)
        return self._n_differ[leader]

    @property
    def n_seen(self) -> int:
        """How many items there are in ``said``."""
        return int(self._said.shape[1])

    def extend(self, said: Predictions) -> None:
        """More items of a stream, (N, k)."""
        self._said = np.concatenate([self._said, said], axis=1)
        self._verdict = np.concatenate([self._verdict, np.where(said < 0, 0, UNKNOWN).astype(np.int8)], axis=1)
        self._given_after = np.concatenate([self._given_after, np.zeros(said.shape, dtype=np.int32)], axis=1)

    def places_until(self, n_contested: int, contenders: Ints) -> int:
        """How many items come next until the contenders differ on so many of them; all that are left if they do not."""
        places = np.flatnonzero(contested(self._said[np.ix_(contenders, np.arange(self.n_drawn, self.n_seen))]))
        if places.size < n_contested:
            return self.n_seen - self.n_drawn
        return int(places[n_contested - 1]) + 1

    def missing(self, contenders: Ints, n_drawn: int) -> tuple[Ints, Ints]:
        """The (place, output) among the first ``n_drawn`` items whose verdicts tell contenders apart and are unknown.

        Two arrays, by place; each output once.
        """
        said = self._said[np.ix_(contenders, np.arange(n_drawn))]
        unknown = (self._verdict[np.ix_(contenders, np.arange(n_drawn))] == UNKNOWN) & contested(said)
        rows, places = np.nonzero(unknown)
        pairs = np.unique(np.stack([places, said[rows, places]]), axis=1)
        return pairs[0], pairs[1]

    def judge(self, place: int, label: int, accepted: bool) -> None:
        """Raters accept this output of an item, or do not."""
        who = self._said[:, place] == label
        self._verdict[who, place], self._given_after[who, place] = accepted, self._n_updates

    def update(self, n_drawn: int, leader: int, unsettled: Iterable[int] = ()) -> None:
        """So many items count from now on. Those who can be compared with ``leader`` on all of them have a score.

        Where a budget ended an epoch, items at the places ``unsettled`` lack a verdict, and scores are of the others.
        """
        self.n_drawn = n_drawn
        self._n_updates += 1
        self._update_wealth()
        ahead, _, is_known = self._wealth.differences(leader, unsettled)
        self.score = np.where(is_known, ahead + self._foretold(leader), -np.inf)

    def _foretold(self, leader: int) -> Floats:
        """What a judge adds to the sums of D: how much less it gives on the items drawn than on all of the pool.

        As far as the verdicts so far bear it out: times the slope of D by the difference J of its scores, from 0 to 1.
        """
        judge = self._judge
        if judge is None or self.n_drawn == 0:
            return np.zeros(self.score.size)
        J = judge.scores[:, : self.n_drawn] - judge.scores[leader, : self.n_drawn]
        slope = (self._wealth.known_differences(leader) * J).sum() / max(float((J**2).sum()), 1e-9)
        expected = judge.left(leader) * self.n_drawn / self.n_seen
        added: Floats = min(max(slope, 0.0), 1.0) * (expected - J.sum(axis=1))
        return added

    def _update_wealth(self) -> None:
        self.wealth = self._wealth = self._wealth_of(self.n_drawn, self._verdict)

    def _wealth_of(self, n: int, verdict: Verdicts) -> PanelWealth:
        """The wealth of the first n items."""
        n_items = self._said.shape[1] if self._is_pool else None
        said, verdict = self._said[:, :n], verdict[:, :n]
        return PanelWealth(said, verdict, n_items, self._differ_from, self._judge, self._usual_bet)

    def course(self, leader: int, c: float, n_rounds: Sequence[int]) -> Floats:
        course = np.empty((len(n_rounds), self.score.size))
        for update, n in enumerate(n_rounds):
            # Who was judged later on what it had missed was not known then.
            verdict = np.where(self._given_after[:, :n] <= update, self._verdict[:, :n], UNKNOWN).astype(np.int8)
            course[update] = self._wealth_of(n, verdict).log_wealth(leader, c)
        return course

    def look(self) -> Predictions:
        # Texts agree by chance at most: no vote.
        return self._said[:, :0]

    def frozen(self) -> PanelEvidence:
        same = copy(self)
        same._said, same._verdict, same.score = self._said.copy(), self._verdict.copy(), self.score.copy()
        same._given_after = self._given_after.copy()
        same._update_wealth()
        return same

    def moments(self, leader: int) -> tuple[Floats, Floats]:
        total, squares, _ = self._wealth.differences(leader)
        return total, squares

    def shares(self, failure: float) -> Intervals:
        said, verdict = self._said[:, : self.n_drawn], self._verdict[:, : self.n_drawn]
        return shares_of(said, verdict, contested(said), self.n_counted, failure)

    def differences(self, leader: int, failure: float) -> Intervals:
        said, verdict = self._said[:, : self.n_drawn], self._verdict[:, : self.n_drawn]
        if not self._is_pool:
            return differences_of(said, verdict, leader, None, None, failure)
        return differences_of(said, verdict, leader, self._differ_from(leader), self.n_seen, failure)

    @property
    def n_counted(self) -> int | None:
        return int(contested(self._said).sum()) if self._is_pool else None

    @property
    def all_count(self) -> bool:
        return self.n_counted == self.n_seen

    def n_left(self, survivors: Ints) -> int | None:
        if not self._is_pool:
            return None
        unknown = (self._verdict[survivors] == UNKNOWN).any(axis=0)
        return int((unknown & contested(self._said[survivors])).sum())
