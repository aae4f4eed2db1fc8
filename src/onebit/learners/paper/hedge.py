"""The sequel's Algorithm 2: guess uniformly, let Hedge draw hypotheses that cover the right labels, explore with them.

The sequel is Erez, Chen, Cohen, Koren, Mansour, Moran, Rakhlin, "The Sample Complexity of Multiclass and Sparse
Contextual Bandits", COLT 2026. It closes the gap of the paper: order (s / eps^2 + K / eps) log(N / delta) rounds, where
s is the largest number of right labels of an example. ``docs/sequel.md`` has the constants.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.estimate.importance import importance_weights
from onebit.explore.hedge import draw_by, hedge_draws
from onebit.explore.mixture import Mixture
from onebit.explore.potential import W_gamma
from onebit.hypotheses.base import Examples, Labels
from onebit.hypotheses.finite import FiniteClass
from onebit.kernels.bits import PackedTable
from onebit.kernels.mass import label_mass
from onebit.learners.contract import EpochLearner
from onebit.learners.items import ItemSource
from onebit.learners.paper.final import Conclusion, ErmResult, after_the_fact, conclude
from onebit.learners.paper.sequel_sizes import HedgePlan, hedge_rate, largest_weight
from onebit.records import Answer, Question

#: Examples whose predictions are held at a time: those of all N hypotheses.
AT_A_TIME = 256
#: Which of the uniform numbers of a round draws its hypothesis in phase I; those before draw the example and the label.
DRAWS_HYPOTHESIS = 2


@dataclass(frozen=True, eq=False)
class Coverage:
    """What phase I found: the uniform mixture of the hypotheses that Hedge drew, from ``n_confirmed`` yeses."""

    mixture: Mixture
    n_confirmed: int


@dataclass(frozen=True, eq=False)
class HedgeResult(ErmResult):
    """The result of Algorithm 2 or 3 of the sequel, with its plan and the rounds of each phase."""

    plan: HedgePlan
    rounds_phase_1: int
    rounds_phase_2: int
    coverage: Coverage | None


class HedgeLearner(EpochLearner[HedgeResult]):
    """Algorithm 2 of the sequel on the learner contract, for any finite class.

    Sequel: Algorithm 2. Phase I is epoch 0, phase II epoch 1. The questions of phase I are uniform guesses, so they can
    be asked in batches of any size; Hedge goes over the answers in the order of the rounds when all have come. "Can't
    tell" counts as no. Where a hypothesis drawn from the mixture abstains, a label is drawn uniformly.

    With a plan of ``hedge_plan`` for such a class the excess error is at most eps with probability 1 - delta, if no
    example has more than ``plan.sparsity`` right labels (raters may accept several). With any plan, the result states
    the excess error that phase II achieved, as for ``PaperLearner``; that needs no assumption about s.

    >>> from onebit import Pool, PredictionTable, SimulatedRater, run
    >>> models = PredictionTable([[0, 1, 2, 0], [0, 1, 1, 1]], n_labels=3)
    >>> learner = HedgeLearner(models, Pool(np.arange(4)), HedgePlan(60, 600), seed=0)
    >>> run(learner, SimulatedRater([0, 1, 2, 2])).chosen
    0
    """

    def __init__(self, hypotheses: FiniteClass, items: ItemSource, plan: HedgePlan, *, seed: int | None = None) -> None:
        super().__init__(hypotheses, items, seed)
        finite = self._hypotheses.uncounted
        if not isinstance(finite, FiniteClass):
            raise InvalidInputError(
                f"Hedge keeps a weight for each hypothesis, and {type(finite).__name__} does not list them; cover the "
                "class first (NatarajanLearner), or use PaperLearner, which needs an oracle only"
            )
        if plan.list_size != 1:
            raise InvalidInputError(f"the plan is for lists of {plan.list_size}; ListLearner asks about lists")
        self._finite = finite
        self._plan = plan
        self._coverage: Coverage | None = None
        self._probability = np.zeros(0)
        self._conclusion: Conclusion | None = None

    @property
    def result(self) -> HedgeResult:
        self._settle()
        end = self._conclusion
        return HedgeResult(
            status=self._status(complete=end is not None),
            promise=self._promise(),
            n_rounds=self._ledger.n_answered,
            chosen=end.chosen if end else None,
            oracle_calls=self._hypotheses.n_calls,
            intervals=end.intervals if end else None,
            achieved_eps=end.achieved_eps if end else None,
            plan=self._plan,
            rounds_phase_1=self._n_answered_in(0),
            rounds_phase_2=self._n_answered_in(1),
            coverage=self._coverage,
        )

    def _n_wanted(self) -> int:
        planned = (self._plan.n_hedge, self._plan.n_final)
        return planned[self._epoch] - self._n_asked(self._epoch) if self._epoch < len(planned) else 0

    def _choose(self, x: Examples, uniform: NDArray[np.float64]) -> tuple[Labels, NDArray[np.float64]]:
        guess = (uniform[:, 0] * self._n_labels).astype(np.int64)
        if self._coverage is None:
            return guess, np.full(guess.size, 1 / self._n_labels)
        parts = [
            self._from_mixture(x[i : i + AT_A_TIME], guess[i : i + AT_A_TIME], uniform[i : i + AT_A_TIME])
            for i in range(0, guess.size, AT_A_TIME)
        ]
        return np.concatenate([label for label, _ in parts]), np.concatenate([q for _, q in parts])

    def _from_mixture(
        self, x: Examples, guess: Labels, uniform: NDArray[np.float64]
    ) -> tuple[Labels, NDArray[np.float64]]:
        """With probability gamma the guess, otherwise what a hypothesis of the mixture says; and the propensities."""
        said = self._finite.predictions(x)
        edges = self._probability.cumsum()
        drawn = np.searchsorted(edges[:-1], uniform[:, 1] * edges[-1], side="right")
        label = said[drawn, np.arange(guess.size)].astype(np.int64)
        label = np.where((uniform[:, 2] < self._plan.gamma) | (label < 0), guess, label)
        # The mass of those who abstain is spread evenly, as the draw spreads it.
        mass = label_mass(said[:, :, np.newaxis], label[:, np.newaxis], self._probability, self._n_labels)
        return label, W_gamma(mass[:, 0], self._plan.gamma, self._n_labels)

    def _close_epoch(self) -> bool:
        if self._n_wanted() > 0 or self._epoch > 1:
            return False
        if self._epoch == 0:
            self._cover()
        else:
            self._conclusion = self._conclude()
        return True

    def _cover(self) -> None:
        """Phase I of Algorithm 2: Hedge over the rounds that got a yes, in the order in which they were drawn."""
        questions, answers = self._rounds(0)
        yes = np.flatnonzero([answer is Answer.YES for answer in answers])
        confirmed = [questions[i] for i in yes]
        gamma, n_labels = self._plan.gamma, self._n_labels
        drawn = hedge_draws(
            packed(self._finite, self._examples(confirmed), _labels(confirmed)),
            yes,
            self._plan.n_hedge,
            floor=gamma / n_labels,
            gamma=gamma,
            rate=hedge_rate(n_labels, gamma),
            draw=draw_by(self._uniforms.uniforms(0, self._plan.n_hedge)[:, DRAWS_HYPOTHESIS]),
        )
        self._probability = drawn / self._plan.n_hedge
        support = np.flatnonzero(drawn)
        self._coverage = Coverage(Mixture(tuple(support.tolist()), self._probability[support]), yes.size)

    def _conclude(self) -> Conclusion:
        questions, answers = self._rounds(1)
        yes = np.array([answer is Answer.YES for answer in answers])
        weight = importance_weights(yes, np.array([q.propensity for q in questions]))
        largest = largest_weight(self._n_labels, self._plan.gamma)
        return conclude(
            self._hypotheses, self._examples(questions), _labels(questions), weight, largest, self._plan.delta
        )

    def _promise(self) -> str:
        holds = self._plan.guarantee
        if holds and self._n_labels == holds.n_labels and self._finite.n_hypotheses <= holds.n_hypotheses:
            return (
                f"Theorem 3 of the sequel: the excess error is at most {holds.eps:g} with probability at least "
                f"{1 - self._plan.delta:g}, if no example has more than {self._plan.sparsity} right labels"
            )
        return after_the_fact(self._hypotheses, self._plan.delta)


def packed(finite: FiniteClass, x: Examples, y: Labels) -> PackedTable:
    """Which hypothesis gives label y[i] to x[i], as bits: sample i of the table."""
    table = PackedTable(finite.n_hypotheses)
    for i in range(0, y.size, AT_A_TIME):
        part = y[i : i + AT_A_TIME]
        table.append(finite.predictions(x[i : i + AT_A_TIME]), np.arange(part.size), part)
    return table


def _labels(questions: list[Question]) -> Labels:
    return np.array([q.label for q in questions], dtype=np.int64)
