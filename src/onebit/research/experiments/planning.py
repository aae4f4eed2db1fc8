"""(k) By what should the certified learner plan its questions: what rivals still need, the potential, or Hedge?

All three say with which probability each label of an item is asked, from the answers so far; the certificate holds for
any of them. *needs* is the learner as it is: it asks what tells the leader from the rivals that need most, and passes
over items that tell little. *potential* asks label a of x with probability (1 - gamma) W(x, a) + gamma / n, n labels
being left, for the mixture of the survivors that minimises the paper's potential over the yeses so far. *Hedge* does so
for the average of Hedge's laws over the rounds so far (the sequel's phase I); since the guesses are not uniform, a yes
counts for 1 / (K q), q being its propensity. Neither of these passes over items, nor does *needs, every item*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onebit.explore.corrective import solve_paper_potential
from onebit.explore.hedge import proportions
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.certified.law import Law
from onebit.learners.certified.outputs import Bools, Outputs
from onebit.learners.certified.planning import Plan, row_of_leader
from onebit.learners.certified.standing import Standing
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.learners.paper.sequel_sizes import hedge_rate
from onebit.raters import SimulatedRater
from onebit.records import Answer
from onebit.research.experiments.families import Problem, real_table, spread
from onebit.research.experiments.pictures import BARS, LOOK, name_axes
from onebit.research.experiments.piece import Experiment, Piece, Row, column, seed_of, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

NEEDS, EVERY_ITEM, POTENTIAL, HEDGE = "needs", "needs, every item", "potential", "Hedge"
PLANS = (NEEDS, EVERY_ITEM, POTENTIAL, HEDGE)
EPS, DELTA, GAMMA = 0.05, 0.05, 0.5
#: The potential is minimised up to this gap, in every epoch anew.
GAP = 1e-2
#: Items of the tables that are used, at most.
N_ITEMS = 3000
TABLES = ("digits", "letter_models", "mmlu_pro", "clinc150_models")


class MixtureLaw(Law):
    """A label is asked in proportion to the mass of those who give it; ``needs`` are the masses of ``rivals``."""

    def scores(self, outputs: Outputs, unknown: Bools, guess: Floats) -> Floats:
        mass: Floats = np.where(unknown, outputs.mass(self.rivals, self.needs), 0.0)
        return mass


class PlannedLearner(CertifiedLearner):
    """The one-shot certified learner on a pool, planned otherwise."""

    def __init__(self, problem: Problem, planned_by: str, **options: Any) -> None:
        self._planned_by, self._n_labels = planned_by, problem.n_labels
        hypotheses = PredictionTable(problem.predictions, problem.n_labels)
        super().__init__(hypotheses, Pool(np.arange(problem.truth.size)), **options)

    def _plan(self, standing: Standing) -> Plan:
        plan = super()._plan(standing)
        law = plan.law
        if self._planned_by == NEEDS:
            return plan
        if self._planned_by == EVERY_ITEM:
            return Plan(plan.guess, Law(law.leader, law.rivals, law.needs, law.gamma, 0.0))
        mass = self._mass(standing)
        rows = np.arange(standing.survivors.size)
        return Plan(plan.guess, MixtureLaw(row_of_leader(standing), rows, mass, GAMMA, 0.0))

    def _mass(self, standing: Standing) -> Floats:
        """The mixture of the survivors by the yeses so far; even while there are none."""
        assert self._pool_said is not None
        said = self._pool_said[standing.survivors]
        asked = zip(self._ledger.questions, self._ledger.answers, strict=True)
        yeses = [question for question, answer in asked if answer is Answer.YES]
        if not yeses:
            return np.full(len(said), 1 / len(said))
        items = np.array([question.item for question in yeses])
        labels = np.array([question.label for question in yeses])
        n_labels = self._n_labels
        if self._planned_by == POTENTIAL:
            mixture = solve_paper_potential(PredictionTable(said, n_labels), items, labels, GAMMA, GAP).mixture
            mass = np.zeros(len(said))
            mass[list(mixture.hypotheses)] = mixture.probabilities
            return mass
        weight = 1 / (n_labels * np.array([question.propensity for question in yeses]))
        rounds = np.array([question.id for question in yeses])
        return hedge_average(said[:, items] == labels, weight, rounds, len(self._ledger.questions), n_labels)


def hedge_average(right: Bools, weight: Floats, rounds: NDArray[np.int64], n_rounds: int, n_labels: int) -> Floats:
    """The average over T = ``n_rounds`` rounds of Hedge's laws, for yeses of these ``rounds``; shape (N,).

    Sequel: phase I of Algorithm 2, with the laws themselves in place of draws from them. ``right`` (N, k) says who gave
    the label of each yes, and ``weight`` (k,) what it counts for.
    """
    rate = hedge_rate(n_labels, GAMMA)
    log_weight, total, done = np.zeros(len(right)), np.zeros(len(right)), 0
    for i, t in enumerate(rounds.tolist()):
        law = proportions(log_weight)
        total += (t - done) * law
        covered = float(total @ right[:, i]) / n_rounds
        log_weight += rate * weight[i] * right[:, i] / (GAMMA / n_labels + (1 - GAMMA) * covered)
        total += law
        done = t + 1
    return (total + (n_rounds - done) * proportions(log_weight)) / n_rounds


def pieces(full: bool) -> list[Piece]:
    there = [name for name in TABLES if name == "digits" or real_table(name, 1) is not None]
    names, seeds = ("spread", *(there if full else there[:3])), 40 if full else 6
    return [{"problem": name, "plan": plan, "eps": EPS, "seeds": seeds} for name in names for plan in PLANS]


def problem_of(name: str) -> Problem:
    found = spread(10, 50, 2000) if name == "spread" else real_table(name, N_ITEMS)
    if found is None:
        raise FileNotFoundError(name)
    return found


def measure(piece: Piece) -> Row:
    """Answers up to the certificate, for each seed, and how many certificates were wrong."""
    problem = problem_of(piece["problem"])
    answers, n_wrong = [], 0
    for seed in range(piece["seeds"]):
        number = seed_of({"problem": piece["problem"], "seed": seed})
        learner = PlannedLearner(problem, piece["plan"], eps=piece["eps"], delta=DELTA, seed=number)
        result = run(learner, SimulatedRater(problem.truth))
        answers.append(result.n_answers)
        n_wrong += bool(problem.accuracy.max() - problem.accuracy[result.chosen] > piece["eps"])
    return {"K": problem.n_labels, "N": problem.predictions.shape[0], "answers": answers, "wrong": n_wrong}


def summary(rows: list[Row]) -> list[Row]:
    out = []
    for name in dict.fromkeys(row["problem"] for row in rows):
        mine = where(rows, problem=name)
        found: Row = {"problem": name, "K": mine[0]["K"], "N": mine[0]["N"]}
        for row in mine:
            values = np.array(row["answers"])
            found[row["plan"]] = float(values.mean())
            found[f"±, {row['plan']}"] = float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else 0.0
        out.append(found | {"wrong": sum(row["wrong"] for row in mine)})
    return out


def draw(rows: list[Row], figure: Figure) -> None:
    table = summary(rows)
    axes = figure.subplots()
    place = np.arange(len(table))
    colours = dict(zip(PLANS, (LOOK[name][0] for name in ("certified", "full labels", "paper", "sequel")), strict=True))
    for i, plan in enumerate(PLANS):
        height, error = column(table, plan), column(table, f"±, {plan}")
        axes.bar(place + 0.2 * (i - 1.5), height, 0.19, yerr=error, color=colours[plan], label=plan, error_kw=BARS)
    axes.set_xticks(place, labels=[f"{row['problem']}\nK = {row['K']}, N = {row['N']}" for row in table])
    name_axes(axes, "", "answers up to the certificate")
    axes.legend()


def findings(rows: list[Row]) -> list[str]:
    table = summary(rows)

    def against(other: str, one: str) -> str:
        ratio = column(table, other) / column(table, one)
        return f"{ratio.min():.2f} to {ratio.max():.2f}"

    return [
        f"Answers of planning by Hedge over those by the potential: {against(HEDGE, POTENTIAL)}; over those by needs "
        f"when every item is asked about: {against(HEDGE, EVERY_ITEM)}; over those of the learner as it is: "
        f"{against(HEDGE, NEEDS)}. Potential over the learner as it is: {against(POTENTIAL, NEEDS)}.",
        f"{sum(row['wrong'] for row in rows)} of {sum(row['seeds'] for row in rows)} certificates were wrong (delta = "
        f"{DELTA:g} each): any plan keeps the promise.",
        "Decided: the certified learner keeps its plan by needs. A mixture that covers every survivor's right labels "
        "serves all of them alike, and most of them are ruled out early; what is left to ask is what tells the leader "
        "from the few rivals that are close.",
    ]


def made(rows: list[Row]) -> str:
    return (
        f"The certified learner, one-shot on a pool, run as it is but for its plan; eps = {rows[0]['eps']:g}, delta = "
        f"{DELTA:g}; means of {rows[0]['seeds']} runs, the same seeds for all plans; bars: one standard error. "
        f"potential: corrective solver to a gap of {GAP:g}. Tables: their first {N_ITEMS:,} items; spread: 2,000."
    )


EXPERIMENT = Experiment(
    name="planning",
    title="(k) The certified learner planned by needs, by the potential and by Hedge",
    headline="The certified learner asks least when it plans by what its rivals still need",
    claim=(
        "Not the paper's: low variance for every hypothesis, which the potential and Hedge find, is more than a "
        "certificate for one leader needs."
    ),
    pieces=pieces,
    measure=measure,
    summary=summary,
    draw=draw,
    findings=findings,
    made=made,
    size=(11.0, 5.5),
)
