"""How a run of the certified learner ends, and what it says on the way and then."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from tests.unit.learners.certified.certified_kinds import (
    ACCURACY,
    BEST,
    CLASS,
    EXAMPLES,
    KINDS,
    N_ITEMS,
    N_LABELS,
    N_LOOKED_AT,
    ONE_SHOT_POOL,
    PROTOCOLS,
    TABLE,
    TRUTH,
    Kind,
    every_kind,
    everything,
    follow_up,
    one_shot,
    run_telling,
    run_until,
    streams,
)

from onebit.errors import InvalidInputError
from onebit.estimate.betting import BETS, stakes
from onebit.hypotheses.finite import ModelList, PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.certified.constants import FINE_STEPS
from onebit.learners.certified.epoch import Epoch
from onebit.learners.certified.evidence import IndependentEvidence, PoolEvidence
from onebit.learners.contract import run
from onebit.learners.items import Pool, Stream
from onebit.raters import SimulatedRater
from onebit.records import Answer, AskingProtocol, Question, RunStatus, Status

every_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)


@every_kind
@pytest.mark.parametrize("seed", range(4))
def test_complete_means_certified(kind: Kind, seed: int) -> None:
    """delta is so small that a wrong certificate in these few runs would be a mistake of the code."""
    learner = kind.learner(seed=seed, delta=1e-6, eps=0.15)
    run_telling(kind, learner)
    result = learner.result
    assert result.status is RunStatus.COMPLETE
    assert result.achieved_eps is not None
    assert 0 <= result.achieved_eps <= result.eps == 0.15
    # Streams are drawn uniformly from the same items.
    assert ACCURACY[BEST] - ACCURACY[result.chosen] <= result.achieved_eps
    assert BEST in result.survivors
    assert result.n_answers == len(learner._ledger.questions)


@every_kind
def test_what_is_certified_on_the_way_holds(kind: Kind) -> None:
    """At every closing: the certified eps is never below the leader's true excess, and the best is still there."""
    for seed in range(3):
        learner = kind.learner(seed=seed, delta=1e-6, eps=0.05)
        run_telling(kind, learner)
        for closing in learner.closings:
            assert ACCURACY[BEST] - ACCURACY[closing.leader] <= closing.certified_eps
            assert BEST in closing.survivors
        assert learner.closings[-1].certified_eps <= 0.05 < learner.closings[0].certified_eps


@every_kind
def test_ahead_by_at_most_on_the_way(kind: Kind) -> None:
    """Read after every epoch: the largest is the achieved eps, at most the certified one, and it holds for the best.

    Each is the least that is shown, up to a step; the leader's own is 0.
    """
    learner = kind.learner(delta=1e-6, eps=0.05)
    n_read = 0
    while isinstance(questions := learner.ask(10_000), tuple):
        for question in questions:
            learner.tell(question.id, kind.answer(question))
        result, standing = learner.result, learner._standing
        if not learner.closings or standing is None:
            continue
        certified = learner.closings[-1].certified_eps
        bounds = dict(zip(result.survivors, result.ahead_at_most, strict=True))
        assert max(bounds.values()) == result.achieved_eps
        assert max(bounds.values()) <= certified
        assert bounds[result.chosen] == 0
        assert ACCURACY[BEST] - ACCURACY[result.chosen] <= bounds[BEST]
        for h, bound in bounds.items():
            if h == result.chosen or certified in (0, 1):
                continue
            n_read += 1
            threshold, step = standing.threshold[result.chosen], certified / FINE_STEPS
            assert standing.log_wealth(bound)[h] >= threshold
            assert standing.log_wealth(max(bound - step, 0.0))[h] < threshold
    assert n_read > 2


class Recorded:
    """(items, outcomes, propensities) of all rounds that enter the wealth."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rounds: list[tuple[int, int, float]] = []
        for evidence in (IndependentEvidence, PoolEvidence):

            def spying(of: Any, epoch: Epoch, survivors: Any, add: Any = evidence.add) -> None:
                outcome = epoch.settled_prefix().tolist()
                n = len(outcome)
                self.rounds += zip(epoch.drawn.items.tolist()[:n], outcome, epoch.propensity.tolist()[:n], strict=True)
                add(of, epoch, survivors)

            monkeypatch.setattr(evidence, "add", spying)


@every_kind
@pytest.mark.parametrize("budget", [1, 10, 30])
def test_a_budget_ends_the_run_without_success(kind: Kind, budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What enters the wealth is a beginning of what would have, in the order drawn; never a selection."""
    recorded = Recorded(monkeypatch)
    learner = kind.learner(eps=0.001, delta=0.001, budget=budget)
    told = run_telling(kind, learner, at_a_time=4)
    result = learner.result
    assert len(told) == result.n_answers == budget
    assert result.status is RunStatus.BUDGET
    assert learner.ask() is Status.DONE
    assert result.achieved_eps is not None
    assert result.achieved_eps > result.eps
    cut = list(recorded.rounds)
    assert result.n_rounds == len(cut) == learner.closings[-1].n_rounds
    recorded.rounds.clear()
    run_until(kind, kind.learner(eps=0.001, delta=0.001), len(learner.epochs) + 1)
    assert cut == recorded.rounds[: len(cut)]
    assert len(cut) < len(recorded.rounds)


@follow_up
@pytest.mark.parametrize("budget", range(9, 40, 3))
def test_every_settled_round_counts_for_who_leads(kind: Kind, budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the budget ends an epoch, rounds after an unsettled one may be settled: for the leader, not for wealth."""
    epochs: list[tuple[Epoch, Any]] = []
    for evidence in (IndependentEvidence, PoolEvidence):

        def spying(of: Any, epoch: Epoch, survivors: Any, add: Any = evidence.add) -> None:
            epochs.append((epoch, survivors))
            add(of, epoch, survivors)

        monkeypatch.setattr(evidence, "add", spying)
    learner = kind.learner(eps=0.001, delta=0.001, budget=budget)
    run_telling(kind, learner)
    result = learner.result
    right = np.zeros(len(TABLE))
    n_settled = 0
    for epoch, survivors in epochs:
        items = epoch.drawn.items if kind.pool else EXAMPLES[epoch.drawn.items]
        differ = (TABLE[survivors][:, items] != TABLE[survivors[0], items]).any(axis=0)
        counts = epoch.is_settled & differ
        right += (TABLE[:, items[counts]] == TRUTH[items[counts]]).sum(axis=1)
        n_settled += int(epoch.is_settled.sum())
    best = [h for h in result.survivors if right[h] == right[list(result.survivors)].max()]
    assert result.chosen in best
    assert n_settled >= result.n_rounds


@every_kind
def test_a_budget_is_not_over_while_questions_are_open(kind: Kind) -> None:
    learner = kind.learner(eps=0.001, budget=5)
    asked = learner.ask(100)
    assert isinstance(asked, tuple)
    assert len(asked) == 5
    assert learner.ask() is Status.WAIT
    seen = [learner.result.status]
    for question in asked:
        learner.tell(question.id, kind.answer(question))
    seen.append(learner.result.status)
    assert seen == [RunStatus.RUNNING, RunStatus.BUDGET]


@every_kind
def test_a_budget_that_is_not_needed_changes_nothing(kind: Kind) -> None:
    learner, straight = kind.learner(budget=10_000), kind.learner()
    assert run_telling(kind, learner) == run_telling(kind, straight)
    assert everything(learner) == everything(straight)


@streams
@pytest.mark.parametrize("length", [0, 1, 16, 17, 50, 80, 100, 144])
def test_a_stream_that_ends_is_not_success(kind: Kind, length: int) -> None:
    """The first are looked at for the vote, at most a tenth of all; what is left are the rounds."""
    learner = kind.learner(eps=0.001, delta=0.001, examples=EXAMPLES[:length])
    run_telling(kind, learner)
    result = learner.result
    assert result.status is RunStatus.EXHAUSTED
    assert result.n_rounds == length - min(length // 10, N_LOOKED_AT)
    assert learner.ask() is Status.DONE
    assert result.achieved_eps is not None
    assert result.achieved_eps > result.eps


def test_a_stream_of_features_ends_like_any_other() -> None:
    x = np.random.default_rng(0).random((100, 2))
    models = [DecisionTreeClassifier(max_depth=1).fit(x, (x[:, k] > 0.5).astype(np.int64)) for k in (0, 1)]
    learner = CertifiedLearner(ModelList(models, 2), Stream(list(x)), eps=0.001)
    assert run(learner, lambda q: Answer.NO).status is RunStatus.EXHAUSTED
    assert learner.result.n_rounds == 100 - 2 * N_LOOKED_AT // len(TABLE)


@pytest.mark.parametrize("kind", [k for k in KINDS.values() if k.pool], ids=[n for n in KINDS if "pool" in n])
def test_a_pool_run_to_its_end_is_exact(kind: Kind) -> None:
    learner = kind.learner(eps=1e-9, delta=1e-4)
    run_telling(kind, learner)
    result = learner.result
    assert result.status is RunStatus.COMPLETE
    assert result.chosen == BEST
    # The gap is excluded just before the last item, or known then.
    assert result.achieved_eps is not None
    assert result.achieved_eps <= 1e-9


@every_protocol
def test_ties_in_a_pool_are_known_at_its_end(protocol: AskingProtocol) -> None:
    """Two models with the same accuracy, right on different items: only the whole pool shows it."""
    hypotheses = PredictionTable([[0, 0, 1, 1, 0], [1, 1, 0, 0, 0]], 2)
    learner = CertifiedLearner(hypotheses, Pool(np.arange(5)), eps=1e-9, protocol=protocol)
    result = run(learner, SimulatedRater([0, 0, 0, 0, 0]))
    assert result.status is RunStatus.COMPLETE
    assert result.achieved_eps == 0
    assert result.survivors == (0, 1)
    assert result.n_rounds == 4 or protocol == "one-shot"


# Special populations


@every_kind
def test_one_hypothesis_is_the_best_at_once(kind: Kind) -> None:
    for table in (TABLE[:1], np.repeat(TABLE[:1], 3, axis=0))[: 1 + kind.pool]:
        learner = kind.learner(PredictionTable(table, N_LABELS))
        result = learner.result
        assert result.status is RunStatus.COMPLETE
        assert result.achieved_eps == 0
        assert result.chosen == 0
        assert result.names == tuple(range(len(table)))
        assert learner.ask() is Status.DONE
        assert result.n_answers == result.n_rounds == 0


@pytest.mark.parametrize("kind", [k for k in KINDS.values() if k.pool], ids=[n for n in KINDS if "pool" in n])
def test_duplicates_are_one_hypothesis_with_several_names(kind: Kind) -> None:
    """The same questions and answers as without them; N counts distinct rows, and each votes once."""
    order = [3, 0, 3, 1, 0, 2, 1, 3]
    alone, several = (
        kind.learner(PredictionTable(TABLE[[3, 0, 1, 2]], N_LABELS)),
        kind.learner(PredictionTable(TABLE[order], N_LABELS)),
    )
    assert run_telling(kind, alone) == run_telling(kind, several)
    name = {0: 0, 1: 1, 2: 3, 3: 5}
    one, many = alone.result, several.result
    assert many.chosen == name[one.chosen]
    assert many.survivors == tuple(name[h] for h in one.survivors)
    assert many.names == tuple(h for h, row in enumerate(order) if row == order[many.chosen])
    assert many.ahead_at_most == one.ahead_at_most
    # Records and closings have the numbers of the table, too.
    for few, all_ in zip(alone.closings, several.closings, strict=True):
        assert all_.leader == name[few.leader]
        assert all_.survivors == tuple(name[h] for h in few.survivors)
        assert all_.certified_eps == few.certified_eps
    for record, other in zip(alone.epochs, several.epochs, strict=True):
        assert other.mixture == tuple((name[h], p) for h, p in record.mixture)


@streams
def test_rows_that_are_equal_so_far_are_not_equal_on_a_stream(kind: Kind) -> None:
    """Two rows agree on all that was drawn. What free rounds show is how far ahead one of them can be, and no more."""
    learner = kind.learner(PredictionTable(TABLE[[BEST, BEST]], N_LABELS), eps=0.01)
    told = run_telling(kind, learner)
    result = learner.result
    assert learner.closings[0].certified_eps > 0.05
    assert len(told) == (result.n_rounds if kind.passive else 0)
    assert result.status is RunStatus.COMPLETE
    assert result.survivors == (0, 1)
    assert result.names == (result.chosen,)
    # By 1 + bet c a round, with the mean over all bets.
    needed = (1 + result.chosen) / 0.1
    assert stakes(0.12) @ (1 + BETS * 0.01) ** result.n_rounds >= needed
    assert stakes(0.12) @ (1 + BETS * 0.01) ** learner.closings[-2].n_rounds < needed


def test_a_short_stream_is_not_used_up_by_the_vote() -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(0, 3, (70, 250))
    learner = CertifiedLearner(PredictionTable(table, 3), Stream(range(250)), eps=0.1, seed=0)
    result = run(learner, lambda q: Answer.YES if q.label == 0 else Answer.NO)
    assert result.n_rounds == 225


@every_protocol
def test_models_that_agree_on_the_pool_are_settled_without_a_question(protocol: AskingProtocol) -> None:
    """They are told apart by nothing that could be drawn, so either is the best."""
    models = ModelList([lambda x: x % 2, lambda x: x % 2], n_labels=2)
    learner = CertifiedLearner(models, Pool(np.arange(6)), eps=0.1, protocol=protocol)
    result = run(learner, SimulatedRater(np.arange(6) % 2))
    assert result.status is RunStatus.COMPLETE
    assert result.n_answers == 0
    assert result.achieved_eps is not None
    assert result.achieved_eps <= 0.1


@every_kind
def test_cant_tell_is_counted_and_makes_nobody_right(kind: Kind) -> None:
    """A rater who never can tell: all models are equally right, never; nobody is eliminated, and the run ends."""
    learner = kind.learner(eps=0.2)
    result = run(learner, lambda q: Answer.CANT_TELL)
    assert result.status is RunStatus.COMPLETE
    assert result.survivors == (0, 1, 2, 3)
    assert result.n_cant_tell == result.n_answers > 0


@every_kind
def test_items_that_cant_be_told_stay_in_the_population(kind: Kind) -> None:
    """Half of the items can't be told: accuracies are those with nobody right there, and so is the certificate.

    A pool is run to its end.
    """
    unsure = np.arange(N_ITEMS) % 2 == 0
    accuracy = ((TABLE == TRUTH) & ~unsure).mean(axis=1)
    learner = kind.learner(eps=1e-9 if kind.pool else 0.1, delta=1e-6)
    result = run(learner, lambda q: Answer.CANT_TELL if unsure[kind.example(q)] else kind.answer(q))
    assert result.status is RunStatus.COMPLETE
    assert accuracy.max() - accuracy[result.chosen] <= result.eps
    assert int(np.argmax(accuracy)) in result.survivors


@every_kind
def test_a_model_that_always_abstains_goes_first(kind: Kind) -> None:
    table = TABLE.copy()
    table[0] = -1
    learner = kind.learner(PredictionTable(table, N_LABELS), eps=0.1, delta=0.01)
    told = run_telling(kind, learner)
    assert all(q.label != -1 for q, _ in told)
    assert 0 not in learner.result.survivors
    assert learner.result.status is RunStatus.COMPLETE


@one_shot
def test_a_best_model_that_abstains_comes_to_lead_although_raters_err(kind: Kind) -> None:
    """It says nothing on 40 of 100 items and is right on the others; wrong labels of the rest are often accepted.

    By yes-rates others would lead, and nothing could be shown about them.
    """
    truth = np.arange(100) % 3
    table = np.tile((truth + 1) % 3, (3, 1))
    table[0, :60], table[0, 60:] = truth[:60], -1
    table[1, 20:64], table[2, 45:89] = truth[20:64], truth[45:89]
    rng = np.random.default_rng(0)
    drawn = np.arange(100) if kind.pool else rng.integers(0, 100, 20_000)
    learner = CertifiedLearner(
        PredictionTable(table, 3),
        Pool(drawn) if kind.pool else Stream(drawn.tolist()),
        eps=0.15,
        f_no=0.05,
        f_yes=0.3,
        budget=10_000,
        seed=0,
    )

    def errs(q: Question) -> Answer:
        return Answer.YES if rng.random() < (0.95 if q.label == truth[drawn[q.item]] else 0.3) else Answer.NO

    result = run(learner, errs)
    # On a pool of 100 items so many errors may hide 15 points, however much is asked.
    assert result.status is (RunStatus.EXHAUSTED if kind.pool else RunStatus.COMPLETE)
    assert result.chosen == 0


@every_protocol
def test_models_that_hardly_ever_speak(protocol: AskingProtocol) -> None:
    """Both abstain on 97 of 100 items."""
    table = np.full((2, 100), -1)
    table[:, :3] = [[0, 0, 0], [1, 1, 1]]
    learner = CertifiedLearner(PredictionTable(table, 2), Pool(np.arange(100)), eps=0.5, protocol=protocol)
    result = run(learner, SimulatedRater(np.zeros(100, dtype=np.int64)))
    assert result.status is RunStatus.COMPLETE
    assert result.achieved_eps is not None
    assert result.achieved_eps <= 0.5


def test_an_item_with_a_label_from_every_model() -> None:
    """300 labels of one item, more than a byte can number, and hardly any other."""
    table = np.tile(np.arange(300)[:, None], (1, 3))
    table[1:, 1:] = 299
    table[0, 1:] = [5, 299]
    learner = CertifiedLearner(PredictionTable(table, 300), Pool(np.arange(3)), eps=1e-6, budget=100)
    result = run(learner, SimulatedRater([7, 299, 299]))
    assert result.status is RunStatus.BUDGET
    assert 7 in result.survivors


# What is refused


@pytest.mark.parametrize(
    "bad",
    [
        {"eps": 0.0},
        {"eps": 1.5},
        {"eps": float("nan")},
        {"delta": 0.0},
        {"delta": 1.0},
        {"budget": 0},
        {"budget": 2.5},
        {"seed": -1},
        {"protocol": "two-shot"},
        {"passive": True},
        {"protocol": "follow-up", "passive": True},
        {"f_no": -0.1},
        {"f_yes": -0.1},
        {"f_no": float("nan")},
        {"f_no": 0.5, "f_yes": 0.5},
        {"f_yes": 1.0},
        {"protocol": "follow-up", "f_no": 0.1},
        {"protocol": "labels", "f_yes": 0.1},
    ],
)
def test_bad_options_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        CertifiedLearner(CLASS, Pool(np.arange(N_ITEMS)), **{"eps": 0.1, **bad})


def test_a_pool_that_the_class_refuses_is_refused_at_once() -> None:
    with pytest.raises(InvalidInputError):
        CertifiedLearner(CLASS, Pool(np.arange(N_ITEMS + 1)), eps=0.1)


def test_shares_of_delta_count_distinct_models() -> None:
    """Four of the six are distinct; of them the one that agrees most with the vote has the largest share."""
    learner = ONE_SHOT_POOL.learner(PredictionTable(TABLE[[0, 1, 1, 2, 3, 3]], N_LABELS), delta=0.1)
    share = np.exp(-learner._standing_now().threshold)
    assert np.sort(share) == pytest.approx(0.1 / (1 + 1 / 2 + 1 / 3) / np.array([4, 3, 2, 1]))
    assert learner.result.chosen == [0, 1, 3, 4][int(np.argmax(share))]


# What follow-up assumes


@pytest.mark.parametrize("rounds", [(0, 1), (4, 5), (9, 10)])
@follow_up
def test_a_second_yes_is_not_outvoted_by_later_checks(kind: Kind, rounds: tuple[int, int]) -> None:
    """Two contradictions within the first checks suffice, wherever in the epoch they were."""
    table = PredictionTable(np.stack([np.zeros(60, int), np.ones(60, int)]), 2)
    learner = kind.learner(table, eps=0.01, delta=1e-6)
    asked = Counter[int]()
    order: list[int] = []

    def says(q: Question) -> Answer:
        asked[q.item] += 1
        if asked[q.item] == 1:
            order.append(q.item)
            return Answer.YES
        return Answer.YES if order.index(q.item) in rounds else Answer.NO

    result = run(learner, says)
    assert result.status is RunStatus.SUSPENDED
    assert result.n_contradicted == 2
    assert result.achieved_eps == 1.0
    assert result.survivors == (0, 1)
    assert "none" in result.promise
    assert learner.ask() is Status.DONE


@follow_up
def test_one_slip_of_a_rater_suspends_nothing(kind: Kind) -> None:
    learner = kind.learner()
    n_yes = Counter[int]()

    def slips(q: Question) -> Answer:
        answer = kind.answer(q)
        n_yes[q.item] += answer is Answer.YES
        is_check = answer is Answer.NO and n_yes[q.item] > 0
        if is_check and n_yes[-1] == 0:
            n_yes[-1] = 1
            return Answer.YES
        return Answer.YES if answer is Answer.YES else Answer.NO

    result = run(learner, slips)
    assert (result.status, result.n_contradicted) == (RunStatus.COMPLETE, 1)
