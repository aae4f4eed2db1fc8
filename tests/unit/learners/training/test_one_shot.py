"""One-shot questions: what is sure is passed over, and labels that are known by few items are searched for first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from onebit.errors import InvalidInputError
from onebit.learners.training import one_shot, planning
from onebit.learners.training.earlier import EarlierAnswer
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.model import Floats, Known
from onebit.learners.training.network import NetworkEnsemble
from onebit.records import Answer

N_ITEMS, N_LABELS, N_CONFIRMED = 400, 5, 40


def share_of_the_known_label(seed: int) -> float:
    """How often label 0 is asked about, where 40 items have it and nothing is known of other labels."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((N_ITEMS, 30)).astype(np.float32)
    earlier = [EarlierAnswer(item, 0, Answer.YES) for item in range(N_CONFIRMED)]
    model = NetworkEnsemble(30, N_LABELS, np.random.default_rng(seed))
    learner = TrainingLearner(
        model, x, N_LABELS, budget=200, audit=0, near_are_alike=True, earlier=earlier, takes_none=False, seed=seed
    )
    asked: list[bool] = []
    while len(asked) < 60 and isinstance(questions := learner.ask(4), tuple):
        for question in questions:
            asked.append(question.label == 0)
            learner.tell(question.id, Answer.NO)
    return float(np.mean(asked))


def test_a_label_that_is_known_by_many_items_is_searched_for_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every yes is worth the same, the label that seems most frequent is asked about on and on."""
    with_worth = np.mean([share_of_the_known_label(seed) for seed in range(3)])
    monkeypatch.setattr(one_shot, "WORTH_FALLS", 0.0)
    assert np.mean([share_of_the_known_label(seed) for seed in range(3)]) > with_worth + 0.1


SURE, UNSURE = 0, 1


class HalfSure:
    """A model that is sure of the label of items of one kind, and torn between two labels at the others."""

    gamma = 0.0
    weights = np.ones(1)

    def beliefs(self, x: np.ndarray) -> Floats:
        belief = np.where(x[:, :1] == SURE, [0.98, 0.01, 0.01], [0.34, 0.33, 0.33])
        return belief[None]

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        pass


def shares_of_the_unsure(n_answers: int) -> tuple[float, float]:
    """How many of the items asked about are unsure ones, of those drawn at random and of the others."""
    x = (np.arange(4000) % 2)[:, None].astype(np.float32)
    learner = TrainingLearner(HalfSure(), x, 3, budget=n_answers, audit=0, takes_none=False)
    while isinstance(questions := learner.ask(50), tuple):
        for question in questions:
            learner.tell(question.id, Answer.NO)
    found = [(x[item, 0], fresh) for plan in learner.epochs for item, fresh in zip(plan.items, plan.fresh, strict=True)]
    is_unsure, fresh = np.array(found).T
    return float(is_unsure[fresh == 1].mean()), float(is_unsure[fresh == 0].mean())


def test_what_the_model_is_sure_of_is_passed_over_and_those_at_random_are_not() -> None:
    """Of the sure ones .03 is not passed over; of 100 at random 50 are unsure, with a standard deviation of 5."""
    at_random, others = shares_of_the_unsure(1000)
    assert others > 0.9
    assert abs(at_random - 0.5) < 0.2


def test_nothing_is_passed_over_where_margins_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_shot, "margins", lambda belief: np.zeros(len(belief)))
    _, others = shares_of_the_unsure(1000)
    assert abs(others - 0.5) < 0.1


def test_where_all_is_sure_as_much_is_asked_as_is_wanted() -> None:
    x = np.full((500, 1), SURE, dtype=np.float32)
    learner = TrainingLearner(HalfSure(), x, 3, budget=200, audit=0, takes_none=False)
    n_asked = 0
    while isinstance(questions := learner.ask(50), tuple):
        n_asked += len(questions)
        for question in questions:
            learner.tell(question.id, Answer.YES if question.label == 0 else Answer.NO)
    assert n_asked == 200
    assert min(len(plan.items) for plan in learner.epochs[:-1]) >= 4


def test_a_log_whose_items_come_in_another_order_is_refused() -> None:
    x = (np.arange(400) % 2)[:, None].astype(np.float32)
    made = [TrainingLearner(HalfSure(), x, 3, budget=100, audit=0) for _ in range(3)]
    made[0].ask(1)
    plan = made[0].epochs[0]
    first = sum(plan.fresh)
    other = replace(plan, items=(*plan.items[:first], *plan.items[:first:-1], plan.items[first]))
    with pytest.raises(InvalidInputError, match="could not come then"):
        made[1].adopt(other)
    made[2].adopt(plan)
    assert made[2].epochs == [plan]


def test_a_log_that_asks_other_than_the_guess_at_an_item_drawn_at_random_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else whoever edits a log could make the classifier look better, or worse, than it was."""
    monkeypatch.setattr(planning, "RANDOM_SHARE", 0.5)
    x = (np.arange(400) % 2)[:, None].astype(np.float32)
    made = [TrainingLearner(HalfSure(), x, 3, budget=100, audit=0) for _ in range(2)]
    made[0].ask(1)
    plan = made[0].epochs[0]
    assert plan.fresh[0]
    other = replace(plan, labels=((plan.labels[0] + 1) % 3, *plan.labels[1:]))
    with pytest.raises(InvalidInputError, match="does not ask about the guess"):
        made[1].adopt(other)
