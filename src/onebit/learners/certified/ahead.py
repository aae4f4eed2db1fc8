"""Epochs that begin while others are under way, so that raters need not wait for the last answers of an epoch.

Such an epoch is planned by what closed epochs have shown, and by nothing of those under way (docs/certificate.md, step
22). So the law of the questions may change much from one plan to the next: how often it will ask is not taken from what
was asked lately, but from a look at items that stand for those to come.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from onebit.learners.certified import constants
from onebit.learners.certified.epoch import Choices, Drawn, KnownAnswers
from onebit.learners.certified.outputs import Ints
from onebit.learners.certified.planning import Plan
from onebit.randomness import generator


def most_under_way(n_raters: int, n_used: int) -> int:
    """How many questions epochs under way may have, where closed ones had ``n_used`` answers."""
    known = max(constants.FIRST_PER_RATER * n_raters, constants.ANSWERS_AHEAD * n_used)
    return min(constants.QUESTIONS_PER_RATER * n_raters, known)


def rounds_ahead(n_raters: int, questions_per_round: float, n_rounds: int, needed: float) -> int:
    """Rounds of an epoch that may begin while others are under way.

    There were ``n_rounds`` in closed epochs, and ``needed`` seem to be needed still.
    """
    least = max(constants.MIN_ROUNDS, math.ceil(constants.EPOCH_SHARE * n_rounds))
    wanted = constants.QUESTIONS_AHEAD * n_raters / questions_per_round
    return max(least, math.ceil(min(wanted, constants.NEEDED_SHARE * needed)))


def items_to_look_at(seed: int, n_items: int) -> Ints:
    """Items of a pool that stand for those to come. Nothing else is drawn by them, so plans may look at them."""
    return generator(seed, "items of plans").permutation(n_items)[: constants.MOST_SCORED]


def looked_at(plan: Plan, drawn: Drawn | None, survivors: Ints, known: KnownAnswers) -> tuple[Plan, float]:
    """The plan with the score from which on items are asked about, and how many questions a round then has.

    ``drawn`` are items that stand for those to come, None where there are none: then every round may have a question.
    """
    if drawn is None:
        return plan, 1.0
    choices = Choices(drawn, survivors, plan.law.leader, plan.guess, known)
    outputs, unknown, guess = choices.outputs, choices.unknown, choices.guess
    scores = outputs.per_example(plan.law.scores(outputs, unknown, guess))[outputs.per_example(unknown) > 0]
    if plan.law.sure_from > 0 and scores.size:
        sure_from = round(float(np.quantile(scores, constants.SURE_QUANTILE)), constants.DECIMALS)
        plan = Plan(plan.guess, replace(plan.law, sure_from=sure_from))
    n_asked = float(plan.law.of(outputs, unknown, guess)[1].sum())
    return plan, max(n_asked, 1.0) / drawn.items.size
