"""From a setting to its learner: the right rows, within the budget, nothing that the learner does not have."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.study.runs import N_LABELS, PREDICTIONS, RUNS, STREAM, TRUTH, fresh, truth_of

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.contract import run
from onebit.learners.paper.schedule import collecting_rounds
from onebit.records import Answer, Setting
from onebit.study.kinds.selection.selectors import build_selection, paper_plan


@pytest.mark.parametrize("name", RUNS)
def test_every_learner_finds_a_good_model(name: str) -> None:
    learner, setting = RUNS[name]
    selection = fresh(setting, learner)
    result = run(selection.learner, lambda question: truth_of(selection, question))
    accuracy = (PREDICTIONS == TRUTH).mean(axis=1)
    if result.chosen is not None:
        assert accuracy.max() - accuracy[result.chosen] <= 0.2


def test_a_stream_draws_every_row_once_in_an_order_of_its_seed() -> None:
    rows = fresh(STREAM).rows
    assert sorted(rows.tolist()) == list(range(TRUTH.size))
    assert rows.tolist() != list(range(TRUTH.size))
    assert (rows == fresh(STREAM).rows).all()
    other = build_selection(Setting(eps=0.05, seed=4, population="stream"), "certified", PREDICTIONS, N_LABELS)
    assert (rows != other.rows).any()


@pytest.mark.parametrize("learner", ["paper", "uniform"])
def test_a_budget_is_kept_even_if_nobody_ever_says_yes(learner: str) -> None:
    setting = Setting(eps=0.1, budget=500)
    selection = build_selection(setting, "paper" if learner == "paper" else "uniform", PREDICTIONS, N_LABELS)
    n = 0

    def no(_: object) -> Answer:
        nonlocal n
        n += 1
        return Answer.NO

    run(selection.learner, no)
    assert 0 < n <= 500


@pytest.mark.parametrize("budget", [200, 500, 3000, 100_000])
def test_the_papers_sizes_fit_the_budget(budget: int) -> None:
    plan = paper_plan(Setting(eps=0.1, budget=budget), PredictionTable(PREDICTIONS, N_LABELS))
    assert collecting_rounds(plan.n_confirmed, N_LABELS, plan.delta) + plan.n_final <= budget
    assert plan.n_final >= plan.n_confirmed


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (Setting(eps=0.1, protocol="follow-up"), "follow-up"),
        (Setting(eps=0.1, f_no=0.1), "error rates"),
        (Setting(eps=0.1, budget=10), "budget is 10"),
    ],
)
def test_what_the_paper_does_not_have_is_refused(setting: Setting, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        build_selection(setting, "paper", np.asarray(PREDICTIONS), N_LABELS)
