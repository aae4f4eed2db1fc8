"""From the setting of a selection to its learner."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner, PanelLearner
from onebit.learners.certified.run import CertifiedRun
from onebit.learners.contract import Learner
from onebit.learners.items import ItemSource, Pool, Stream
from onebit.learners.paper.algorithm1 import PaperLearner
from onebit.learners.paper.schedule import Plan, collecting_rounds, final_rounds, uniform_rounds
from onebit.learners.paper.uniform import UniformLearner
from onebit.log.events import AnySetting, LearnerName, SelectorName
from onebit.randomness import generator
from onebit.records import Setting
from onebit.study.constants import CONFIRMED_PER_LABEL


@dataclass(frozen=True, eq=False)
class Selected:
    """A learner over a table, and which row of the table each of its items is."""

    learner: Learner[Any]
    rows: NDArray[np.int64]
    predictions: NDArray[np.integer]
    judge: NDArray[np.float32] | None = None

    def row(self, item: int) -> int:
        """The table's row (counted from 0) of the learner's item."""
        return int(self.rows[item])

    def plausible_labels(self, row: int) -> list[int]:
        """The labels that models predict for a row."""
        said = np.unique(self.predictions[:, row])
        labels: list[int] = said[said >= 0].tolist()
        return labels


def build_selection(
    setting: Setting,
    learner: LearnerName,
    predictions: NDArray[np.integer],
    n_labels: int,
    judge: NDArray[np.float32] | None = None,
) -> Selected:
    """A fresh learner for a table of ``predictions`` (N, n), negative where a model abstains; ``judge`` scores them.

    On a pool, the learner's items are the rows of the table. On a stream each row is drawn once, in an order that the
    seed fixes: the learner's item k is the k-th of that order. A budget bounds the number of answers for every learner.
    """
    if learner not in get_args(SelectorName):
        raise InvalidInputError(f"the learner is {learner!r}; it must be one of {', '.join(get_args(SelectorName))}")
    hypotheses = PredictionTable(predictions, n_labels)
    rows = table_rows(setting, hypotheses.n_items)
    items: ItemSource = Stream(rows.tolist()) if setting.population == "stream" else Pool(rows)
    if learner == "certified":
        return Selected(_certified(setting, hypotheses, items, judge), rows, predictions, judge)
    _refuse_what_only_certified_has(setting, learner)
    if learner == "paper":
        paper = PaperLearner(hypotheses, items, paper_plan(setting, hypotheses), seed=setting.seed)
        return Selected(paper, rows, predictions)
    n_rounds = setting.budget or uniform_rounds(n_labels, hypotheses.n_hypotheses, setting.eps, setting.delta)
    uniform = UniformLearner(hypotheses, items, n_rounds, delta=setting.delta, seed=setting.seed)
    return Selected(uniform, rows, predictions)


def table_rows(setting: AnySetting, n_items: int) -> NDArray[np.int64]:
    """Which row of the table each of the learner's items is; shape (n_items,)."""
    if isinstance(setting, Setting) and setting.population == "stream":
        return generator(setting.seed, "stream order").permutation(n_items)
    return np.arange(n_items)


def _certified(
    setting: Setting, hypotheses: PredictionTable, items: ItemSource, judge: NDArray[np.float32] | None
) -> CertifiedRun:
    if setting.protocol == "panel":
        return PanelLearner(
            hypotheses,
            items,
            eps=setting.eps,
            delta=setting.delta,
            budget=setting.budget,
            seed=setting.seed,
            judge=judge,
            baseline=setting.baseline,
            top=setting.top,
            tiers=setting.tiers,
        )
    return CertifiedLearner(
        hypotheses,
        items,
        eps=setting.eps,
        delta=setting.delta,
        protocol=setting.protocol,
        passive=setting.passive,
        budget=setting.budget,
        seed=setting.seed,
        f_no=setting.f_no,
        f_yes=setting.f_yes,
        exhaustive=setting.exhaustive,
        judge=judge,
        baseline=setting.baseline,
        top=setting.top,
        tiers=setting.tiers,
    )


def paper_plan(setting: Setting, hypotheses: PredictionTable) -> Plan:
    """Sizes for Algorithm 1 that keep within the budget even if phase 1 takes as long as it may.

    Without a budget, phase 2 has Theorem 1's size for eps. The run states the eps that it achieved, whatever the sizes.
    """
    n_labels, delta = hypotheses.n_labels, setting.delta
    n_confirmed = CONFIRMED_PER_LABEL * n_labels
    if setting.budget is None:
        n_final = final_rounds(n_labels, hypotheses.n_hypotheses, setting.eps, delta)
        return Plan(n_confirmed, n_final, delta=delta)
    least = math.ceil(math.log(1 / delta))
    n_confirmed = max(
        least, min(n_confirmed, setting.budget // (2 * collecting_rounds(least, n_labels, delta)) * least)
    )
    n_final = setting.budget - collecting_rounds(n_confirmed, n_labels, delta)
    if n_final < n_confirmed:
        raise InvalidInputError(
            f"the budget is {setting.budget}; the paper's learner may need {setting.budget - n_final} answers for its "
            f"first phase alone with {n_labels} labels. Give a larger budget, or use the certified learner"
        )
    return Plan(n_confirmed, n_final, delta=delta)


def _refuse_what_only_certified_has(setting: Setting, learner: LearnerName) -> None:
    given = {
        "the protocol " + setting.protocol: setting.protocol != "one-shot",
        "passive": setting.passive,
        "exhaustive": setting.exhaustive,
        "a gate": setting.baseline is not None,
        "several best models, or tiers": setting.ranks,
        "error rates of raters": setting.f_no > 0 or setting.f_yes > 0,
    }
    for what, is_given in given.items():
        if is_given:
            raise InvalidInputError(f"the learner {learner} does not have {what}; use the learner certified")
