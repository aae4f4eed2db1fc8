"""Panels that tests share: outputs with a verdict on each, and the wealth of step 15 written out item by item."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from operator import mul

import numpy as np
from numpy.typing import NDArray

from onebit.estimate.betting import BETS
from onebit.estimate.shares import UNKNOWN
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import PanelLearner
from onebit.learners.items import ItemSource, Pool, Stream
from onebit.records import Answer, Question

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Verdicts = NDArray[np.int8]
Judge = Callable[[Question], Answer]


@dataclass(frozen=True, eq=False)
class Panel:
    """What models say, ``said`` (N, n), -1 for an abstention, and which outputs raters accept, ``yes`` (n, K)."""

    said: Ints
    yes: Bools

    @property
    def n_items(self) -> int:
        return int(self.said.shape[1])

    @property
    def accepted(self) -> Bools:
        """Whether each model is accepted on each item, (N, n)."""
        accepted: Bools = self.yes[np.arange(self.n_items), self.said] & (self.said >= 0)
        return accepted

    @property
    def acceptance(self) -> Floats:
        """How often each model is accepted."""
        share: Floats = self.accepted.mean(axis=1)
        return share

    def learner(
        self, kind: type[PanelLearner] = PanelLearner, draws: Ints | None = None, **options: object
    ) -> PanelLearner:
        """A learner on the pool, or on a stream of ``draws``, which are numbers of its items."""
        items: ItemSource = Pool(np.arange(self.n_items)) if draws is None else Stream(draws.tolist())
        return kind(PredictionTable(self.said, self.yes.shape[1]), items, **options)  # type: ignore[arg-type]

    def judge(self, draws: Ints | None = None) -> Judge:
        """A rater who says what ``yes`` has."""

        def answer(question: Question) -> Answer:
            item = question.item if draws is None else int(draws[question.item])
            return Answer.YES if self.yes[item, question.label] else Answer.NO

        return answer


def random_panel(seed: int, n_models: int = 4, n_items: int = 60, n_outputs: int = 4) -> Panel:
    """Models that differ in how often they are accepted; some outputs are equal, some abstentions, several right."""
    rng = np.random.default_rng(seed)
    said = rng.integers(-1, n_outputs, (n_models, n_items))
    yes = rng.random((n_items, n_outputs)) < 0.4
    # The better a model, the more often it looks for an output that is accepted.
    for row, skill in zip(said, rng.uniform(0, 0.9, n_models), strict=True):
        for item in np.flatnonzero((rng.random(n_items) < skill) & yes.any(axis=1)):
            row[item] = rng.choice(np.flatnonzero(yes[item]))
    return Panel(said, yes)


def known_differences(said: Ints, verdict: Verdicts, h: int, g: int, n_drawn: int) -> list[tuple[bool, int]]:
    """Whether the two differ on each item, and D, up to the first that is not known."""
    found = []
    for place in range(n_drawn):
        differ = bool(said[h, place] != said[g, place])
        if differ and UNKNOWN in (verdict[h, place], verdict[g, place]):
            break
        found.append((differ, int(verdict[h, place]) - int(verdict[g, place]) if differ else 0))
    return found


def weights_for(eps: float | None) -> list[float]:
    """Step 4: what each bet weighs where ``eps`` is asked for and differences are exact; the same for all if None."""
    even = 1 / BETS.size
    if eps is None:
        return [even] * BETS.size
    usual = min(3.5 * math.sqrt(eps), 0.9)
    near = [math.exp(-(math.log(bet / usual) ** 2) / 2) for bet in BETS.tolist()]
    return [0.75 * each / math.fsum(near) + 0.25 * even for each in near]


def wealth_on_pool(
    said: Ints, verdict: Verdicts, h: int, g: int, n_drawn: int, c: float, eps: float | None = None
) -> float:
    """Step 15 for one pair of a pool, whose items stand in their order: the log of the wealth."""
    n = said.shape[1]
    left = int((said[h] != said[g]).sum())
    total, wealth = 0, [1.0] * BETS.size
    for differ, D in known_differences(said, verdict, h, g, n_drawn):
        if not differ:
            continue
        if n * c - total > left:
            return math.inf
        room = 1 + total / left
        for k, each in enumerate(BETS.tolist()):
            bet = each / room if room > 0 else each
            wealth[k] *= 1 - bet * (D - (n * c - total) / left)
        total, left = total + D, left - 1
    return math.inf if n * c - total > left else math.log(math.fsum(map(mul, weights_for(eps), wealth)))


def wealth_on_stream(
    said: Ints, verdict: Verdicts, h: int, g: int, n_drawn: int, c: float, eps: float | None = None
) -> float:
    """Step 15 for one pair of a stream."""
    differences = known_differences(said, verdict, h, g, n_drawn)
    products = [math.prod(1 - bet * (D - c) for _, D in differences) for bet in BETS.tolist()]
    return math.log(math.fsum(map(mul, weights_for(eps), products)))
