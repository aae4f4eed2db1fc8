"""Algorithm 1: explore uniformly, find a mixture of low variance, explore with it, return the weighted ERM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.estimate.importance import importance_weights
from onebit.explore.corrective import solve_paper_potential
from onebit.explore.frank_wolfe import frank_wolfe
from onebit.explore.mixture import Mixture
from onebit.explore.potential import W_gamma, frank_wolfe_gap, potential, slope, variance_bound
from onebit.explore.solution import Iteration
from onebit.explore.spider import MixturePoint, PotentialOnSamples, SignedSample, SpiderStep, spider_frank_wolfe
from onebit.hypotheses.base import Examples, Hypothesis, HypothesisClass, Labels
from onebit.learners.contract import EpochLearner
from onebit.learners.items import ItemSource
from onebit.learners.paper.constants import GAP, PLAIN_GAP
from onebit.learners.paper.final import Conclusion, ErmResult, after_the_fact, conclude
from onebit.learners.paper.schedule import Plan, collecting_rounds, reset_ratio
from onebit.randomness import generator
from onebit.records import Answer, Question

Solver = Literal["spider", "corrective", "frank-wolfe"]
#: A solver of one's own: the mixture for confirmed samples (x, y) and gamma. The class counts its oracle calls.
OwnSolver = Callable[[HypothesisClass, Examples, Labels, float], Mixture]
#: Told each iteration of phase 1's solver.
Observe = Callable[[Iteration], None]


@dataclass(frozen=True, eq=False)
class Exploration:
    """What phase 1 found: the mixture, and how good it is on the ``n_confirmed`` samples it was made from.

    ``variance_bound`` is max_h of the mean of [h(x) = y] / W_gamma (at most 3 after the theorem's phase 1), ``gap`` the
    Frank-Wolfe gap; both are certain only if ``certified``, that is, if the oracle is exact.
    """

    mixture: Mixture
    n_confirmed: int
    variance_bound: float
    gap: float
    certified: bool


@dataclass(frozen=True, eq=False)
class PaperResult(ErmResult):
    """The result of Algorithm 1, with its plan, the rounds of each phase and what was measured."""

    plan: Plan
    rounds_phase_1: int
    rounds_phase_2: int
    exploration: Exploration | None


class PaperLearner(EpochLearner[PaperResult]):
    """Algorithm 1 on the learner contract.

    Paper: Algorithm 1. Phase 1 is epoch 0, phase 2 epoch 1. S is the first M1 confirmed samples in the order in which
    they were drawn, whenever they were answered. "Can't tell" counts as no. Where a hypothesis drawn from the mixture
    abstains, a label is drawn uniformly. Phase 1 gives up after 4 K M1 rounds (status BUDGET).

    A plan with ``n_steps`` is solved by SPIDER, any other by fully corrective Frank-Wolfe, unless ``solver`` says
    otherwise; it may be a function of one's own. ``observe`` is called at each iteration of the solvers here. The
    guarantee is Theorem 1's only for the plan that ``theorem_plan`` makes for such a class, SPIDER and an exact oracle.
    For a finite class and any plan, the result states the excess error that phase 2 achieved, valid with probability
    1 - delta whatever phase 1 did, since it uses the propensities as they were and the variance as it was seen.
    """

    def __init__(
        self,
        hypotheses: HypothesisClass,
        items: ItemSource,
        plan: Plan,
        *,
        solver: Solver | OwnSolver | None = None,
        observe: Observe | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(hypotheses, items, seed)
        self._plan = plan
        self._solver = solver if callable(solver) else _checked_solver(solver, plan, hypotheses)
        self._observe = observe
        self._max_collecting = collecting_rounds(plan.n_confirmed, self._n_labels, plan.delta)
        self._n_yes = 0
        self._exploration: Exploration | None = None
        self._conclusion: Conclusion | None = None

    @property
    def result(self) -> PaperResult:
        self._settle()
        end = self._conclusion
        return PaperResult(
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
            exploration=self._exploration,
        )

    def tell(self, question_id: int, answer: Answer | int) -> None:
        super().tell(question_id, answer)
        self._n_yes += answer is Answer.YES and self._ledger.questions[question_id].epoch == 0

    def _n_wanted(self) -> int:
        if self._epoch == 0:
            return 0 if self._n_yes >= self._plan.n_confirmed else self._max_collecting - self._n_asked(0)
        return self._plan.n_final - self._n_asked(1) if self._epoch == 1 else 0

    def _choose(self, x: Examples, uniform: NDArray[np.float64]) -> tuple[Labels, NDArray[np.float64]]:
        n, n_labels = uniform.shape[0], self._n_labels
        guess = (uniform[:, 0] * n_labels).astype(np.int64)
        if self._exploration is None:
            return guess, np.full(n, 1 / n_labels)
        mixture = self._exploration.mixture
        said = mixture.predictions(self._hypotheses, x)
        drawn = np.searchsorted(mixture.probabilities.cumsum()[:-1], uniform[:, 1], side="right")
        label = said[drawn, np.arange(n)]
        label = np.where((uniform[:, 2] < self._plan.gamma) | (label < 0), guess, label)
        # The mass of those who abstain is spread evenly, as the draw spreads it.
        W = mixture.probabilities @ (said == label) + mixture.probabilities @ (said < 0) / n_labels
        return label, W_gamma(W, self._plan.gamma, n_labels)

    def _close_epoch(self) -> bool:
        if self._epoch == 0 and self._n_yes >= self._plan.n_confirmed:
            self._exploration = self._explore()
            return True
        if self._epoch == 1 and self._n_asked(1) == self._plan.n_final:
            self._conclusion = self._conclude()
            return True
        return False

    def _explore(self) -> Exploration:
        """Solve for the mixture over S.

        Answers that come quicker for some examples than for others must not change what S looks like, so S is the
        beginning of the sequence that was drawn, up to the M1-th yes; what was confirmed beyond it is not used.
        """
        questions, answers = self._rounds(0)
        confirmed = [q for q, answer in zip(questions, answers, strict=True) if answer is Answer.YES]
        confirmed = confirmed[: self._plan.n_confirmed]
        x, y = self._examples(confirmed), _labels(confirmed)
        mixture = self._solve(x, y)
        # Measuring asks the class itself, so that only the algorithm's own calls are counted.
        inner, gamma, n_labels = self._hypotheses.uncounted, self._plan.gamma, self._n_labels
        W = mixture.W(inner, x, y)
        right = inner.predict(inner.erm(x, y, slope(W, gamma, n_labels)), x) == y
        return Exploration(
            mixture,
            y.size,
            variance_bound(right, W, gamma, n_labels),
            frank_wolfe_gap(right, W, gamma, n_labels),
            inner.exact,
        )

    def _solve(self, x: Examples, y: Labels) -> Mixture:
        gamma, observe = self._plan.gamma, self._observe
        if callable(self._solver):
            return self._solver(self._hypotheses, x, y, gamma)
        if self._solver == "spider" and self._plan.n_steps is not None:
            problem = PotentialOnSamples(self._hypotheses, x, y, gamma, generator(self.seed, "spider"))
            ratio = reset_ratio(self._n_labels, gamma)
            seen = None if observe is None else self._seen_by(observe)
            return spider_frank_wolfe(problem, problem.start(), self._plan.n_steps, ratio, seen).mixture
        if self._solver == "corrective":
            return solve_paper_potential(self._hypotheses, x, y, gamma, GAP, observe=observe).mixture
        return frank_wolfe(self._hypotheses, x, y, gamma, PLAIN_GAP, observe=observe).mixture

    def _seen_by(self, observe: Observe) -> Callable[[SpiderStep[MixturePoint, SignedSample, Hypothesis]], None]:
        """Steps of SPIDER as iterations; it sees no gap, since its gradient is an estimate."""

        def seen(step: SpiderStep[MixturePoint, SignedSample, Hypothesis]) -> None:
            value = potential(step.point.W, self._plan.gamma, self._n_labels)
            observe(Iteration(step.t, value, None, len(step.point.mixture.hypotheses)))

        return seen

    def _conclude(self) -> Conclusion:
        questions, answers = self._rounds(1)
        yes = np.array([answer is Answer.YES for answer in answers])
        weight = importance_weights(yes, np.array([q.propensity for q in questions]))
        largest = self._n_labels / self._plan.gamma
        return conclude(
            self._hypotheses, self._examples(questions), _labels(questions), weight, largest, self._plan.delta
        )

    def _promise(self) -> str:
        holds, n = self._plan.guarantee, self._hypotheses.n_hypotheses
        fits = holds is not None and n is not None and n <= holds.n_hypotheses and self._n_labels == holds.n_labels
        if holds is not None and fits and self._solver == "spider" and self._hypotheses.exact:
            probability = 1 - self._plan.delta
            return f"Theorem 1: the excess error is at most {holds.eps:g} with probability at least {probability:g}"
        return after_the_fact(self._hypotheses, self._plan.delta)


def _checked_solver(solver: Solver | None, plan: Plan, hypotheses: HypothesisClass) -> Solver:
    if solver is None:
        solver = "corrective" if plan.n_steps is None else "spider"
    if solver not in get_args(Solver):
        raise InvalidInputError(f"solver is {solver!r}; it must be one of {', '.join(get_args(Solver))}")
    if solver == "spider" and plan.n_steps is None:
        raise InvalidInputError("SPIDER needs a number of steps; give the plan n_steps")
    if solver == "spider" and not hypotheses.takes_negative_weights:
        raise InvalidInputError(
            f"SPIDER gives the oracle negative weights, and {type(hypotheses).__name__} takes none; wrap it in "
            "CostSensitiveClass, or leave n_steps out of the plan, and phase 1 is solved with positive weights"
        )
    return solver


def _labels(questions: list[Question]) -> Labels:
    return np.array([q.label for q in questions], dtype=np.int64)
