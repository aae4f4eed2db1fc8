"""One-shot questions that search: labels that are known by few items come first."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.learners.training import planning
from onebit.learners.training.earlier import EarlierAnswer
from onebit.learners.training.learner import TrainingLearner
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
    monkeypatch.setattr(planning, "WORTH_FALLS", 0.0)
    assert np.mean([share_of_the_known_label(seed) for seed in range(3)]) > with_worth + 0.1
