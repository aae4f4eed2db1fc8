"""The reference that asks about all labels: it finds the best, at a price that grows with K."""

from __future__ import annotations

import numpy as np
import pytest
from tests.problems import models_of_accuracy

from onebit.study.kinds.selection import all_labels
from onebit.study.kinds.selection.all_labels import AllLabels


@pytest.mark.parametrize("mixes", [False, True])
def test_the_best_is_found_and_more_labels_cost_more(mixes: bool) -> None:
    costs = []
    for n_labels in (3, 30):
        table, truth = models_of_accuracy(np.random.default_rng(0), np.array([0.4, 0.6, 0.9]), 500, n_labels)
        table = np.concatenate([table, table[:1]])
        cost = AllLabels(table, truth, n_labels, eps=0.1, delta=0.05).run(mixes)
        assert cost.chosen == int((table == truth).mean(axis=1).argmax())
        assert not cost.given_up
        costs.append(cost.n_answers)
    assert costs[1] > 2 * costs[0]


def test_it_is_given_up_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_labels, "MOST_COMPARED", 200)
    table, truth = models_of_accuracy(np.random.default_rng(0), np.array([0.5, 0.51]), 500, 5)
    cost = AllLabels(table, truth, 5, eps=0.001, delta=0.05).run(mixes=False)
    assert cost.given_up
    assert cost.n_answers == 200
