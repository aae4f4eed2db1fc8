"""A budget that is spent: the law of its questions against the document, what is believed, and how such a run ends."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.problems import models_of_accuracy

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner, PanelLearner, constants
from onebit.learners.certified.choosing import ChoiceLaw, Chooser, Lead, _slopes_of_lead
from onebit.learners.certified.epoch import KnownAnswers
from onebit.learners.certified.guesses import Experience, Guess
from onebit.learners.certified.outputs import Outputs
from onebit.learners.certified.planning import Plan
from onebit.learners.contract import run
from onebit.learners.items import Pool, Stream
from onebit.raters import SimulatedRater
from onebit.records import Answer, RunStatus

Ints = NDArray[np.int64]
N_LABELS, N_ITEMS = 4, 80
TABLE, TRUTH = models_of_accuracy(np.random.default_rng(3), np.array([0.4, 0.75, 0.6, 0.85, 0.5]), N_ITEMS, N_LABELS)
TABLE[0, ::7] = -1


def spending(budget: int, table: Ints = TABLE, **options: Any) -> CertifiedLearner:
    items = Pool(np.arange(table.shape[1]))
    return CertifiedLearner(
        PredictionTable(table, N_LABELS), items, **{"eps": 0.1, "seed": 4, "budget": budget, "spends": True, **options}
    )


def test_the_law_is_that_of_the_document() -> None:
    said = np.array([[0, 1], [0, 2], [1, 2], [3, 2]])
    outputs, guess = Outputs.of(said), np.array([0.5, 0.2, 0.1, 0.0, 0.6])
    law = ChoiceLaw(0, np.array([0, 1, 3]), np.array([0.5, 0.25, 0.25]), 0.1, 0.5)
    unknown = np.array([True, True, True, False, True])
    # Weights on the labels: 0 has .75, 1 none, 3 a quarter; then 1 has a half, and 2 a half. A yes to 1 is a no to 0.
    apart = np.array([1 + 0.1 / 0.5, (0.5 - 0.1) / 0.8, 1 + 0.5 / 0.9, 0.0, 1.0]) ** 2
    expected = np.array([0.1875, 0.1875, 0.1875, 0.0, 0.25]) * apart * (guess * (1 - guess) + 0.02)
    assert law.scores(outputs, unknown, guess) == pytest.approx(expected)
    label, example = law.of(outputs, unknown, guess)
    total = expected[:3].sum()
    assert label[:3] == pytest.approx(0.9 * expected[:3] / total + 0.1 / 3)
    assert example == pytest.approx([total / 0.5, expected[4] / 0.5])


def test_scores_are_raised_to_a_power() -> None:
    """So a label that tells half as much is asked about a quarter as often; the least probability stays."""
    said = np.array([[0, 1, 0], [1, 2, 0], [1, 2, 1], [3, 2, 0]])
    outputs, guess = Outputs.of(said), np.array([0.5, 0.2, 0.1, 0.3, 0.6, 0.04, 0.01])
    plain = ChoiceLaw(0, np.arange(4), np.array([0.5, 0.25, 0.01, 0.25]), 0.1, 0.05)
    unknown, sharp = np.ones(7, dtype=np.bool_), replace(plain, sharpness=2.0)
    assert sharp.scores(outputs, unknown, guess) == pytest.approx(plain.scores(outputs, unknown, guess) ** 2)
    label, example = sharp.of(outputs, unknown, guess)
    assert label.min() >= constants.CHOICE_GAMMA / 3
    assert example.min() == constants.CHOICE_LEAST_ASKED


def test_where_contenders_agree_a_label_is_asked_seldom_but_asked() -> None:
    """Exactly 0, whatever rounding leaves of a sum of weights."""
    said = np.array([[0], [0], [0], [1]])
    law = ChoiceLaw(0, np.array([0, 1, 2]), np.array([0.1, 0.2, 0.7]), 0.1, 0.05)
    outputs, both = Outputs.of(said), np.ones(2, dtype=np.bool_)
    assert law.scores(outputs, both, np.array([0.5, 0.5])).tolist() == [0, 0]
    label, example = law.of(outputs, both, np.array([0.5, 0.5]))
    assert label.tolist() == [0.5, 0.5]
    assert example.tolist() == [constants.CHOICE_LEAST_ASKED]


def test_where_a_right_label_is_known_the_others_decide_nothing() -> None:
    """They are asked seldom: several may be right, and the certificate is about verdicts."""
    outputs, others = Outputs.of(np.array([[0], [1], [2]])), np.array([False, True, True])
    law = ChoiceLaw(0, np.arange(3), np.array([0.4, 0.3, 0.3]), 0.1, 0.05)
    label, example = law.of(outputs, others, np.zeros(3))
    assert label.tolist() == [0, 0.5, 0.5]
    assert example.tolist() == [constants.CHOICE_LEAST_ASKED]


def test_many_labels_are_told_apart_as_the_variance_says() -> None:
    rng = np.random.default_rng(5)
    said, m = rng.permutation(np.arange(12) % 6)[:, None], rng.dirichlet(np.ones(6)) * 0.9
    weight = rng.random(12)
    law = ChoiceLaw(0, np.arange(12), weight, 0.1, 0.05)
    found = law.scores(Outputs.of(said), np.ones(6, dtype=np.bool_), m)
    share = np.bincount(said[:, 0], weights=weight) / weight.sum()
    for a in range(6):
        rise = np.where(np.arange(6) == a, 1.0, -m / (1 - m[a]))
        variance = share @ (rise - share @ rise) ** 2
        assert found[a] == pytest.approx(variance * (m[a] * (1 - m[a]) + 0.02))


def test_weights_fall_with_the_lag() -> None:
    lead = Lead(np.array([0.0, -1.0, -4.0, -40.0]), np.array([1.0, 1.0, 2.0, 4.0]))
    weights = lead.weights()
    assert weights[0] == 0.5
    assert (np.diff(weights) < 0).all()
    assert weights[1] == pytest.approx((0.158655 + 0.1 * 0.369441) / 1.1, abs=1e-5)


def test_who_was_right_more_often_than_believed_is_ahead() -> None:
    """Two models that the votes do not tell apart: the answers about one are yes, about the other no."""
    said = np.array([[0] * 40, [1] * 40, [2] * 40])
    survivors, known = np.arange(3), KnownAnswers()
    chooser, votes = Chooser(said, seed=0), Experience(np.full(3, 1 / 3), names_leader=False).guess()
    even = chooser.lead(chooser.view(survivors, chooser.guess(votes), known), survivors, 0)
    assert even.ahead == pytest.approx([0, 0, 0])
    chooser._merits.add(np.arange(4), np.array([1, 1, 1, 0]), np.array([True, True, True, False]))
    lead = chooser.lead(chooser.view(survivors, chooser.guess(votes), known), survivors, 0)
    assert int(lead.ahead.argmax()) == 1
    assert lead.ahead[0] == 0
    assert lead.ahead[2] > 0
    assert (lead.deviation[1:] < even.deviation[1:]).all()
    known.add(5, 1, Answer.NO)
    chooser._viewed = None
    after = chooser.lead(chooser.view(survivors, chooser.guess(votes), known), survivors, 0)
    assert after.ahead[1] < lead.ahead[1]


def test_the_slope_of_a_lead_is_what_merit_moves() -> None:
    """Against finite differences: merit moves beliefs as ``Guess.weighed`` says."""
    rng = np.random.default_rng(2)
    said = rng.integers(0, 3, (4, 30))
    outputs = Outputs.of(said)
    votes = rng.uniform(0.05, 0.3, outputs.label.size)
    unknown = np.ones(votes.size, dtype=np.bool_)

    def leads(merit: NDArray[np.float64]) -> NDArray[np.float64]:
        m = Guess(np.ones(4), np.zeros(4), merit).weighed(votes, outputs, said, unknown)
        sums = m[outputs.code + outputs.first[:-1]].sum(axis=1)
        return np.asarray(sums - sums[2])

    merit, rows = rng.normal(0, 0.3, 4), np.array([3, 0, 1])
    m = Guess(np.ones(4), np.zeros(4), merit).weighed(votes, outputs, said, unknown)
    found = _slopes_of_lead(outputs.code, outputs.first[:-1], m, rows, 2)
    for place, row in enumerate(rows):
        step = 1e-3 * np.eye(4)[row]
        expected = (leads(merit + step) - leads(merit - step)) / 2e-3
        assert found[:, place] == pytest.approx(expected[rows], abs=0.02)


def test_what_is_believed_is_recorded() -> None:
    learner = spending(60)
    run(learner, SimulatedRater(TRUTH), 1)
    assert set(learner.epochs[0].merit) == {0.0}
    assert all(len(epoch.merit) == len(TABLE) for epoch in learner.epochs)
    assert 0 < np.abs(learner.epochs[-1].merit).max() < constants.MOST_MERIT
    assert {epoch.sharpness for epoch in learner.epochs} == {constants.CHOICE_SHARPNESS}


def test_a_record_has_merit_for_all_that_vote() -> None:
    learner = spending(20)
    run(learner, SimulatedRater(TRUTH), 1)
    record = replace(learner.epochs[0], merit=(0.0, 0.1))
    with pytest.raises(InvalidInputError, match="merit for 2 models and trust for 5"):
        Plan.of_record(record, np.arange(5), 0, ChoiceLaw)


def test_votes_are_fitted_to_the_first_answer_about_an_item() -> None:
    """Once another label of the item had a no, a yes is likelier than the votes say."""
    learner = spending(60)
    run(learner, SimulatedRater(TRUTH), 1)
    first_of_items = len({question.item for question in learner._ledger.questions})
    assert learner._learned is not None
    assert 0 < learner._learned._n_latest < learner._ledger.n_answered
    # Two labels of an item that were drawn in one epoch are both first ones.
    assert learner._learned._n_latest >= first_of_items


def test_guesses_do_not_favour_who_leads() -> None:
    learner = spending(60)
    run(learner, SimulatedRater(TRUTH), 1)
    assert len(learner.epochs) > 5
    assert {epoch.guess[3] for epoch in learner.epochs} == {0.0}


def test_of_a_large_pool_a_part_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.tile(TABLE, 40)
    assert Chooser(table, seed=1).n_viewed == table.shape[1]
    monkeypatch.setattr(constants, "MOST_VIEWED", 2500 * table.shape[0])
    chooser = Chooser(table, seed=1)
    assert chooser.n_viewed == np.unique(chooser._pool.items).size == 2500
    assert (chooser._pool.said == table[:, chooser._pool.items]).all()
    assert (Chooser(table, seed=2)._pool.items != chooser._pool.items).any()
    monkeypatch.setattr(constants, "MOST_VIEWED", 1)
    assert Chooser(table, seed=1).n_viewed == constants.LEAST_VIEWED


def test_a_log_is_read_with_as_many_items_as_it_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise another model may lead, and the log would be refused; it goes on as it began."""
    rng = np.random.default_rng(5)
    table, truth = models_of_accuracy(rng, np.array([0.6, 0.61, 0.6, 0.59]), 3000, N_LABELS)
    items = np.arange(3000)
    monkeypatch.setattr(constants, "MOST_VIEWED", 1)
    learner = spending(40, table)
    run(learner, SimulatedRater(truth), 1)
    assert {epoch.n_viewed for epoch in learner.epochs} == {constants.LEAST_VIEWED}
    monkeypatch.undo()
    # The last closing was that of a budget that was used.
    as_it_was, leaders = [each.leader for each in learner.closings[:-1]], {}
    for n_viewed in (0, 2000, items.size):
        again = spending(60, table)
        for epoch in learner.epochs:
            again.adopt(replace(epoch, n_viewed=n_viewed))
        run(again, SimulatedRater(truth), 1)
        leaders[n_viewed] = [each.leader for each in again.closings[: len(as_it_was)]]
        assert again.epochs[-1].n_viewed == (n_viewed or constants.LEAST_VIEWED)
    assert leaders[0] == leaders[2000] == as_it_was
    assert leaders[items.size] != as_it_was


@pytest.mark.parametrize("budget", [1, 7, 40])
def test_the_budget_is_spent_whatever_is_shown(budget: int) -> None:
    learner = spending(budget, eps=0.9, delta=0.5)
    result = run(learner, SimulatedRater(TRUTH), 1)
    assert (result.status, result.n_answers) == (RunStatus.BUDGET, budget)
    assert result.achieved_eps is not None
    assert result.achieved_eps >= (TABLE == TRUTH).mean(axis=1).max() - (TABLE == TRUTH).mean(axis=1)[result.chosen]


def test_a_run_ends_when_all_is_known() -> None:
    table, truth = TABLE[:, :12], TRUTH[:12]
    result = run(spending(1000, table), SimulatedRater(truth), 1)
    right = (table == truth).sum(axis=1)
    assert result.status is RunStatus.COMPLETE
    assert result.n_answers < 12 * N_LABELS
    assert (result.achieved_eps, right[result.chosen]) == (0.0, right.max())


def test_epochs_are_short_and_grow() -> None:
    learner = spending(70)
    run(learner, SimulatedRater(TRUTH), 1)
    asked = np.bincount([question.epoch for question in learner._ledger.questions])
    assert asked[:5].sum() <= 25
    assert math.isclose(learner.epochs[0].gamma, constants.CHOICE_GAMMA)


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up", "labels"])
def test_other_protocols_and_streams_spend_too(protocol: Any) -> None:
    items = Stream(np.tile(np.arange(N_ITEMS), 30).tolist())
    learner = CertifiedLearner(
        PredictionTable(TABLE, N_LABELS), items, eps=0.9, delta=0.5, protocol=protocol, budget=30, seed=1, spends=True
    )
    result = run(learner, SimulatedRater(np.tile(TRUTH, 30)), 1)
    assert (result.status, result.n_answers) == (RunStatus.BUDGET, 30)


def test_a_panel_spends_too() -> None:
    learner = PanelLearner(
        PredictionTable(TABLE, N_LABELS),
        Pool(np.arange(N_ITEMS)),
        eps=0.9,
        delta=0.5,
        budget=60,
        seed=1,
        spends=True,
    )
    result = run(learner, SimulatedRater(TRUTH), 1)
    assert (result.status, result.n_answers) == (RunStatus.BUDGET, 60)


@pytest.mark.parametrize("options", [{"budget": None}, {"baseline": 1}])
def test_what_cannot_be_spent_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="a budget to spend on one choice"):
        spending(**{"budget": 5, **options})
