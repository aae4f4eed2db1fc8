"""``verify`` agrees with the learner on honest logs, with hand-made numbers, and finds what was tampered with."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.problems import models_of_accuracy

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.certified.statement import CertifiedResult
from onebit.learners.items import Pool, Stream
from onebit.randomness import RoundStream, generator
from onebit.raters import ErringRater, Rater, SimulatedRater, UnsureRater
from onebit.records import Answer, Closing, EpochRecord, Question, Setting
from onebit.verify.audit import Verdict
from onebit.verify.certificate import verify
from onebit.verify.contest import contest
from onebit.verify.recount import BETS, IndependentCount, PoolCount, bet_weights, estimates
from onebit.verify.redraw import Known, Round, redraw
from onebit.verify.settle import Answers, Settled

Ints = NDArray[np.int64]
N_LABELS = 4


def stakes(usual: float) -> NDArray[np.float64]:
    """Step 4: what of the wealth each bet has, by hand."""
    near = [math.exp(-(math.log(bet / usual) ** 2) / 2) for bet in BETS.tolist()]
    return np.array([0.75 * each / math.fsum(near) + 0.0125 for each in near])


STAKES, EXACT_STAKES = stakes(0.12), stakes(0.35)


@dataclass(frozen=True, eq=False)
class Log:
    """Everything that ``verify`` is given."""

    setting: Setting
    predictions: Ints
    epochs: list[EpochRecord]
    questions: list[Question]
    answers: list[Answer | int | None]
    closings: list[Closing]
    judge: NDArray[np.float32] | None = None

    def verdict(self, **changes: Any) -> Verdict:
        log = replace(self, **changes)
        told = log.epochs, log.questions, log.answers, log.closings
        return verify(log.setting, log.predictions, N_LABELS, *told, judge=log.judge)


def table(seed: int = 5, n_items: int = 400, abstaining: float = 0.0) -> tuple[Ints, Ints]:
    """Eight models, the last a copy of the second, and the truth."""
    rng = np.random.default_rng(seed)
    accuracy = np.array([0.75, 0.6, 0.55, 0.72, 0.4, 0.5, 0.7, 0.5])
    predictions, truth = models_of_accuracy(rng, accuracy, n_items, N_LABELS)
    predictions[:, rng.random(n_items) < 0.3] = 1
    predictions[rng.random(predictions.shape) < abstaining] = -1
    predictions[-1] = predictions[1]
    return predictions, truth


def run_log(
    setting: Setting,
    predictions: Ints,
    truth: Ints,
    *,
    cant_tell: float = 0.0,
    at_a_time: int = 5,
    most: int | None = None,
    judge: NDArray[np.float32] | None = None,
) -> tuple[Log, CertifiedResult]:
    """A run of the learner, stopped after ``most`` answers if given."""
    order = np.arange(truth.size)
    if setting.population == "stream":
        order = generator(setting.seed, "stream order").permutation(truth.size)
    learner = CertifiedLearner(
        PredictionTable(predictions, N_LABELS),
        Pool(order) if setting.population == "pool" else Stream(order.tolist()),
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
    )
    rater: Rater = SimulatedRater(truth[order])
    if setting.f_no + setting.f_yes > 0:
        rater = ErringRater(truth[order], f_no=setting.f_no, f_yes=setting.f_yes)
    rater = UnsureRater(rater, cant_tell)
    questions: list[Question] = []
    answers: list[Answer | int | None] = []
    n_answers = 0
    while isinstance(asked := learner.ask(at_a_time), tuple) and (most is None or n_answers < most):
        questions += asked
        answers += [None] * len(asked)
        # In no particular order.
        for question in asked[::2] + asked[1::2]:
            answers[question.id] = rater(question)
            learner.tell(question.id, rater(question))
            n_answers += 1
    if isinstance(asked, tuple):
        questions += asked[len(questions) - asked[0].id :]
        answers += [None] * (len(questions) - len(answers))
    result = learner.result
    return Log(setting, predictions, list(learner.epochs), questions, answers, list(learner.closings), judge), result


SETTINGS = [
    Setting(0.05, protocol="one-shot", seed=0),
    Setting(0.05, protocol="one-shot", population="stream", seed=0),
    Setting(0.1, protocol="one-shot", f_no=0.1, f_yes=0.05, seed=0),
    Setting(0.1, protocol="one-shot", population="stream", f_no=0.1, f_yes=0.05, seed=0),
    Setting(0.02, protocol="follow-up", seed=0),
    Setting(0.05, protocol="follow-up", population="stream", seed=0),
    Setting(0.02, protocol="labels", seed=0),
    Setting(0.05, protocol="labels", population="stream", seed=0),
    Setting(0.02, protocol="labels", passive=True, seed=0),
    Setting(0.05, protocol="labels", population="stream", passive=True, seed=0),
    Setting(0.3, protocol="one-shot", f_no=0.02, f_yes=0.02, seed=0),
    Setting(0.02, protocol="follow-up", seed=0, exhaustive=True),
]


def name_of(setting: Setting) -> str:
    erring = f"-erring-{setting.f_no}" if setting.f_no else "-exhaustive" if setting.exhaustive else ""
    return f"{setting.protocol}-{setting.population}{'-passive' if setting.passive else ''}{erring}"


@pytest.mark.parametrize("budget", [None, 61])
@pytest.mark.parametrize(("cant_tell", "abstaining"), [(0.0, 0.0), (0.2, 0.15)])
@pytest.mark.parametrize("setting", SETTINGS, ids=name_of)
def test_honest_logs_are_borne_out(setting: Setting, cant_tell: float, abstaining: float, budget: int | None) -> None:
    predictions, truth = table(abstaining=abstaining, n_items=1500 if setting.population == "stream" else 300)
    log, result = run_log(replace(setting, budget=budget), predictions, truth, cant_tell=cant_tell)
    verdict = log.verdict()
    assert verdict.problems == ()
    assert verdict.ok
    assert log.closings
    assert (verdict.chosen, verdict.names, verdict.survivors) == (result.chosen, result.names, result.survivors)
    assert (verdict.n_answers, verdict.n_rounds, verdict.n_free_rounds) == (
        result.n_answers,
        result.n_rounds,
        result.n_free_rounds,
    )
    assert result.achieved_eps is not None
    assert verdict.certified_eps <= result.achieved_eps


def test_an_open_epoch_is_checked_without_a_closing() -> None:
    predictions, truth = table()
    log, _ = run_log(Setting(0.05, seed=0), predictions, truth, most=100)
    assert len(log.closings) == len(log.epochs) - 1
    assert None in log.answers
    assert log.verdict().ok
    *others, last = log.questions
    assert not log.verdict(questions=[*others, replace(last, propensity=last.propensity * 0.9)]).ok


def test_progress_is_told() -> None:
    predictions, truth = table()
    log, _ = run_log(Setting(0.05, budget=120, seed=0), predictions, truth)
    told: list[tuple[int, int]] = []
    verify(
        log.setting,
        predictions,
        N_LABELS,
        log.epochs,
        log.questions,
        log.answers,
        log.closings,
        lambda done, of: told.append((done, of)),
    )
    assert told == [(j + 1, len(log.epochs)) for j in range(len(log.epochs))]


def test_one_model_needs_no_evidence() -> None:
    verdict = verify(Setting(0.05, seed=0), np.zeros((2, 3), dtype=np.int64), 2, [], [], [], [])
    assert verdict == Verdict(True, (), 0, (0, 1), (0,), 0.0, 0, 0, 0)


# ---- tampering


@pytest.fixture(scope="module", params=[SETTINGS[0], SETTINGS[1], SETTINGS[4], SETTINGS[7]], ids=name_of)
def log(request: pytest.FixtureRequest) -> Log:
    predictions, truth = table(n_items=1500 if request.param.population == "stream" else 300)
    log, _ = run_log(request.param, predictions, truth)
    assert log.verdict().ok
    return log


def changed(log: Log, place: int, **changes: Any) -> Verdict:
    questions = list(log.questions)
    questions[place] = replace(questions[place], **changes)
    return log.verdict(questions=questions)


def test_a_changed_propensity_is_found(log: Log) -> None:
    verdict = changed(log, 20, propensity=log.questions[20].propensity * (1 + 1e-9))
    assert len(verdict.problems) == 1
    assert "question 20" in verdict.problems[0]


def test_a_changed_label_or_item_is_found(log: Log) -> None:
    question = log.questions[20]
    label = 0 if question.label is None else (question.label + 1) % N_LABELS
    assert any("question 20 " in problem for problem in changed(log, 20, label=label).problems)
    # Which of two questions about one item is the wrong one cannot be told.
    for item in (question.item - 1, question.item + 1):
        assert any("is none that epoch" in problem for problem in changed(log, 20, item=item).problems)


def test_a_dropped_question_is_found(log: Log) -> None:
    left = log.questions[:20] + log.questions[21:]
    verdict = log.verdict(questions=left, answers=log.answers[:20] + log.answers[21:])
    assert any("lacks an answer" in problem for problem in verdict.problems)


def test_questions_in_another_order_are_found(log: Log) -> None:
    swapped = [*log.questions[:20], log.questions[21], log.questions[20], *log.questions[22:]]
    verdict = log.verdict(questions=swapped)
    assert any("question 20 stands after question 21" in problem for problem in verdict.problems)


def test_a_question_asked_twice_is_found(log: Log) -> None:
    again = replace(log.questions[-1], id=len(log.questions))
    verdict = log.verdict(questions=[*log.questions, again], answers=[*log.answers, log.answers[-1]])
    assert f"question {len(log.questions)} " in verdict.problems[0]


def test_a_missing_answer_is_found(log: Log) -> None:
    answers = list(log.answers)
    answers[20] = None
    assert any("lacks an answer" in problem for problem in log.verdict(answers=answers).problems)


def test_a_longer_list_of_survivors_is_found_and_a_shorter_one(log: Log) -> None:
    shrunk = next(j for j, closing in enumerate(log.closings) if len(closing.survivors) < len(log.epochs[0].survivors))
    before = log.epochs[shrunk].survivors
    after = log.closings[shrunk].survivors
    worst = tuple(h for h in after if h != next(h for h in after if h != log.closings[shrunk].leader))
    for wrong in (before, worst):
        closings = list(log.closings)
        closings[shrunk] = replace(closings[shrunk], survivors=wrong)
        problem = log.verdict(closings=closings).problems[0]
        assert f"closing of epoch {shrunk}: its survivors" in problem
    epochs = list(log.epochs)
    epochs[0] = replace(epochs[0], survivors=epochs[0].survivors[1:], leader=epochs[0].survivors[1])
    assert "epoch 0: its survivors" in log.verdict(epochs=epochs).problems[0]


def test_a_smaller_eps_is_found_in_any_closing(log: Log) -> None:
    least = log.verdict(closings=log.closings).certified_eps
    for j in (0, len(log.closings) - 1):
        closings = list(log.closings)
        below = (closings[j].certified_eps * 0.8) if j == 0 else least - 2e-4
        closings[j] = replace(closings[j], certified_eps=below)
        problems = log.verdict(closings=closings).problems
        assert any(f"closing of epoch {j}: it certifies eps" in problem for problem in problems)


def test_another_seed_table_or_delta_is_found(log: Log) -> None:
    assert not log.verdict(setting=replace(log.setting, seed=1)).ok
    assert not log.verdict(setting=replace(log.setting, delta=0.04)).ok
    assert not log.verdict(predictions=np.roll(log.predictions, 1, axis=1)).ok
    assert not log.verdict(predictions=log.predictions[::-1]).ok
    other = table(seed=6, n_items=log.predictions.shape[1])[0]
    assert not log.verdict(predictions=other).ok


def test_counts_gamma_mixture_and_order_of_records_are_checked(log: Log) -> None:
    closing, epoch = log.closings[1], log.epochs[1]
    for wrong in (
        replace(closing, n_rounds=closing.n_rounds + 1),
        replace(closing, n_answers=closing.n_answers - 1),
        replace(closing, epoch=2),
        replace(closing, leader=8),
    ):
        assert "closing of epoch 1" in log.verdict(closings=[log.closings[0], wrong, *log.closings[2:]]).problems[0]
    for broken in (
        replace(epoch, gamma=0.0),
        replace(epoch, first_round=epoch.first_round - 1),
        replace(epoch, mixture=((8, 1.0),)),
        replace(epoch, mixture=((epoch.leader, -0.5),)),
        replace(epoch, leader=8),
        replace(epoch, number=0),
    ):
        assert "epoch 1:" in log.verdict(epochs=[log.epochs[0], broken, *log.epochs[2:]]).problems[0]
    if log.setting.protocol != "labels":
        for broken in (
            replace(epoch, trust=epoch.trust[1:]),
            replace(epoch, trust=(-1.0, *epoch.trust[1:])),
            replace(epoch, guess=()),
            replace(epoch, guess=(math.nan, *epoch.guess[1:])),
            replace(epoch, sure_from=-1.0),
        ):
            assert "epoch 1:" in log.verdict(epochs=[log.epochs[0], broken, *log.epochs[2:]]).problems[0]
    assert not log.verdict(closings=log.closings[:-2]).ok
    assert "budget" in log.verdict(setting=replace(log.setting, budget=30)).problems[0]


def test_answers_turned_round_are_found(log: Log) -> None:
    """All yes made no, or all labels one: then nothing of what is claimed can be shown."""
    turned: list[Answer | int | None] = [Answer.NO if q.label is not None else 0 for q in log.questions]
    assert not log.verdict(answers=turned).ok


def test_single_flips_that_change_a_claim_are_found() -> None:
    predictions, truth = table(n_items=300)
    log, _ = run_log(Setting(0.05, seed=0), predictions, truth)
    last = log.closings[-1]
    exact = replace(last, certified_eps=log.verdict().certified_eps)
    closings = [*log.closings[:-1], exact]
    assert log.verdict(closings=closings).ok
    n_found = 0
    for place, question in enumerate(log.questions[:60]):
        # A no made of a yes to the leader's label takes from what is shown.
        if log.answers[place] is Answer.YES and predictions[last.leader, question.item] == question.label:
            answers = list(log.answers)
            answers[place] = Answer.NO
            n_found += not log.verdict(answers=answers, closings=closings).ok
    assert n_found >= 10


def test_an_answer_of_the_wrong_kind_is_a_problem(log: Log) -> None:
    wrong: Any = 1 if log.questions[0].label is not None else Answer.YES
    assert "question 0 has the answer" in log.verdict(answers=[wrong, *log.answers[1:]]).problems[0]


def test_what_cannot_be_a_run_is_refused(log: Log) -> None:
    with pytest.raises(InvalidInputError, match="answers; give one for each"):
        log.verdict(answers=log.answers[1:])
    with pytest.raises(InvalidInputError, match="labels are 0 to 3"):
        log.verdict(predictions=log.predictions + 1)
    with pytest.raises(InvalidInputError, match="shape"):
        log.verdict(predictions=log.predictions[0])
    for setting, why in (
        (Setting(0.1, f_no=0.6, f_yes=0.4, seed=0), "say nothing"),
        (Setting(0.1, protocol="labels", f_no=0.1, seed=0), "one-shot"),
        (Setting(0.1, passive=True, seed=0), "passive"),
    ):
        with pytest.raises(InvalidInputError, match=why):
            log.verdict(setting=setting)


# ---- the parts, by hand


def test_shares_follow_the_vote() -> None:
    #                     vote:  0  1  2  1; item 1 is a tie of 0 and 1, hence 0
    predictions = np.array([[0, 0, 2, 1], [0, 1, 2, 1], [1, -1, 2, 0], [0, 1, 2, 1]])
    scene = contest(Setting(0.1, seed=0), predictions, 3)
    assert scene.distinct == (0, 1, 2)
    # Agreement 4, 3, 1; the shares are 1, 1/2, 1/3 over 1 + 1/2.
    np.testing.assert_allclose(scene.shares, [2 / 3, 1 / 3, 2 / 9, 0])
    assert scene.names(1) == (1, 3)


def test_a_stream_is_looked_at_first() -> None:
    predictions, _ = table(n_items=100)
    scene = contest(Setting(0.1, population="stream", seed=3), predictions, N_LABELS)
    order = generator(3, "stream order").permutation(100)
    assert scene.n_looked_at == 10
    np.testing.assert_array_equal(scene.said, predictions[:, order])
    epoch = EpochRecord(0, 0, 90, 0, scene.distinct, ((1, 1.0),), 1.0, (1.0,) * 8, (0.0,) * 4)
    assert [each.item for each in redraw(scene, epoch, np.ones(100, dtype=bool), Known(), 0)] == list(range(10, 100))


#: The guess is then (share + .01) / 1.02, and all of them are scaled so that they add up to .98.
BY_SHARE = (0.0, 1.0, 0.0, 0.0)
#: Of the labels 0 and 2 in ``one_shot_round``.
GUESSES = [round(0.98 * (share + 0.01) / 1.02, 6) for share in (1 / 3, 2 / 3)]


def one_shot_round(known: Known, gamma: float = 0.5, sure_from: float = 0.0) -> Round:
    """The first round of four models on one item, which say 2, 0, 2 and abstain; the first leads."""
    scene = contest(Setting(0.1, seed=1), np.array([[2], [0], [2], [-1]]), 3)
    # Equal on the table as they are, the first and third would be one model.
    scene = replace(scene, distinct=(0, 1, 2, 3))
    rivals = ((3, 0.1), (1, 0.4), (2, 1.0))
    epoch = EpochRecord(0, 0, 1, 0, (0, 1, 2, 3), rivals, gamma, (1.0, 1.0, 1.0, 9.0), BY_SHARE, sure_from)
    return redraw(scene, epoch, np.ones(1, dtype=bool), known, 0)[0]


def scores_by_hand() -> list[float]:
    """Label 0 is for the rival that says it; label 2, the leader's, for the two that do not."""
    return [math.sqrt(R * (m * (1 - m) + 0.02)) for R, m in zip((0.4, 0.5), GUESSES, strict=True)]


def test_propensities_and_guesses_by_hand() -> None:
    drawn, scores = one_shot_round(Known()), scores_by_hand()
    assert drawn.outputs.tolist() == [-1, 0, 2]
    law = [0.5 * score / sum(scores) + 0.25 for score in scores]
    np.testing.assert_allclose(drawn.q, [0, *law])
    np.testing.assert_allclose(drawn.guess, [0, *GUESSES])
    _, u1, u2, _ = RoundStream(1, "rounds").uniforms(0, 1)[0]
    assert drawn.to_ask == ((0 if u1 < law[0] else 2),)
    # Half as high as it must be to be asked about in any case, and so low that the least probability applies.
    for sure_from, p in ((2 * sum(scores), 0.5), (100.0, 0.15)):
        drawn = one_shot_round(Known(), sure_from=sure_from)
        np.testing.assert_allclose(drawn.q, [0, law[0] * p, law[1] * p])
        assert bool(drawn.to_ask) == (u2 < p)


def test_trust_and_the_leader_move_the_guess() -> None:
    predictions = np.array([[0], [1], [1], [2]])
    scene = replace(contest(Setting(0.1, seed=1), predictions, 3), distinct=(0, 1, 2, 3))
    epoch = EpochRecord(0, 0, 1, 0, (0, 1), ((1, 1.0),), 1.0, (2.0, 0.5, 0.5, 1.0), (-1.0, 0.5, -0.25, 1.0))
    drawn = redraw(scene, epoch, np.ones(1, dtype=bool), Known(), 0)[0]
    # Shares 2/4 and 1/4; label 2 is given by nobody who survives, but takes its quarter.
    own = [math.log((share + 0.01) / (1 - share + 0.01)) for share in (0.5, 0.25)]
    scores = [-1 + 0.5 * own[0] - 0.25 * own[0] + 1, -1 + 0.5 * own[1] - 0.25 * own[0]]
    np.testing.assert_allclose(drawn.guess, [1 / (1 + math.exp(-score)) for score in scores], atol=5e-7)


def test_a_judge_moves_the_guess() -> None:
    """Models 1 and 2 say the same and share the mean of their scores; nobody scored what the leader says."""
    predictions = np.array([[0], [1], [1]])
    judge = np.array([[np.nan], [1.0], [0.8]])
    scene = replace(contest(Setting(0.1, seed=1), predictions, 3, judge), distinct=(0, 1, 2))
    epoch = EpochRecord(0, 0, 1, 0, (0, 1, 2), ((1, 1.0),), 1.0, (1.0, 1.0, 1.0), (-1.0, 0.0, 0.0, 0.0, 0.5))
    drawn = redraw(scene, epoch, np.ones(1, dtype=bool), Known(), 0)[0]
    scores = [-1.0, -1.0 + 0.5 * math.log(0.95 / 0.15)]
    np.testing.assert_allclose(drawn.guess, [1 / (1 + math.exp(-score)) for score in scores], atol=5e-7)


JUDGED = [setting for setting in SETTINGS if setting.protocol != "labels"]


def judged(predictions: Ints, truth: Ints) -> NDArray[np.float32]:
    """A judge that is right as a rule, differs about equal rows, and leaves a tenth out."""
    rng = np.random.default_rng(9)
    judge = np.where(predictions == truth, rng.uniform(0.3, 1, predictions.shape), rng.uniform(0, 0.7))
    judge[rng.random(judge.shape) < 0.1] = np.nan
    return judge.astype(np.float32)


@pytest.mark.parametrize("setting", JUDGED, ids=name_of)
def test_logs_with_a_judge_are_borne_out_and_need_that_judge(setting: Setting) -> None:
    predictions, truth = table(abstaining=0.1, n_items=1500 if setting.population == "stream" else 300)
    judge = judged(predictions, truth)
    log, result = run_log(setting, predictions, truth, judge=judge)
    verdict = log.verdict()
    assert verdict.problems == ()
    assert (verdict.chosen, verdict.survivors, verdict.n_rounds) == (result.chosen, result.survivors, result.n_rounds)
    # The first epoch does not use it yet.
    assert len(log.closings) > 1
    assert not log.verdict(judge=None).ok
    assert not log.verdict(judge=1 - judge).ok


def test_a_judge_of_another_table_is_refused() -> None:
    predictions, truth = table()
    log, _ = run_log(SETTINGS[0], predictions, truth, most=20, judge=judged(predictions, truth))
    with pytest.raises(InvalidInputError, match="judge's scores have shape"):
        log.verdict(judge=np.zeros((2, 2)))
    with pytest.raises(InvalidInputError, match="from 0 to 1"):
        log.verdict(judge=np.full(predictions.shape, 2.0))


def test_known_answers_are_not_asked_again() -> None:
    known = Known()
    known.add(0, 2, Answer.YES)
    drawn = one_shot_round(known)
    assert drawn.to_ask == (0,)
    np.testing.assert_allclose([drawn.q, drawn.guess, drawn.known], [[0, 1, 0], [0, 0, 0], [0, 0, 1]])
    known.add(0, 0, Answer.CANT_TELL)
    drawn = one_shot_round(known)
    assert drawn.to_ask == ()
    assert drawn.known.tolist() == [0, 0, 1]
    assert not drawn.is_nil


def test_items_without_replacement_and_labels_in_order() -> None:
    predictions = np.array([[0, 1, 2, 3, 0, 1], [0, 2, 1, 3, 1, 1], [0, 2, 0, 3, 2, 0]])
    scene = contest(Setting(0.1, protocol="follow-up", seed=2), predictions, 4)
    epoch = EpochRecord(0, 0, 10, 0, (0, 1, 2), (), 1.0, (0.3, 0.7, 0.2), BY_SHARE)
    undrawn = np.ones(6, dtype=bool)
    undrawn[5] = False
    left, expected = [1, 2, 4], []
    for u in RoundStream(2, "rounds").uniforms(0, 3)[:, 0]:
        place = int(u * len(left))
        expected.append(left[place])
        left[place] = left[-1]
        left = left[:-1]
    rounds = redraw(scene, epoch, undrawn, Known(), 0)
    assert [each.item for each in rounds] == expected
    orders = {each.item: each.to_ask for each in rounds}
    # By trust; on the last two items labels have 3, 7 and 2 tenths.
    assert orders == {1: (2, 1), 2: (1, 2, 0), 4: (1, 0, 2)}


def test_equal_guesses_go_by_votes_however_they_add_up() -> None:
    predictions = np.array([[1], [1], [1], [0], [2]])
    scene = replace(contest(Setting(0.1, protocol="follow-up", seed=0), predictions, 3), distinct=(0, 1, 2, 3, 4))
    epoch = EpochRecord(0, 0, 1, 0, (0, 1, 2, 3, 4), (), 1.0, (0.1, 0.1, 0.1, 0.3, 0.4), BY_SHARE)
    assert sum([0.1, 0.1, 0.1]) != 0.3
    assert redraw(scene, epoch, np.ones(1, dtype=bool), Known(), 0)[0].to_ask == (2, 1, 0)


@pytest.mark.parametrize("right", [(), (0,), (2,), (0, 2)])
def test_estimates_are_unbiased_and_within_the_range_of_each_bet(right: tuple[int, ...]) -> None:
    """Step 2 and 3, by enumeration of the label asked."""
    drawn = one_shot_round(Known(), gamma=0.02)
    mean_rival = mean_leader = np.zeros((3, BETS.size))
    for asked in (0, 2):
        q = drawn.propensity(asked)
        settled = Settled(replace(drawn, to_ask=(asked,)), asked if asked in right else None)
        as_rival, as_leader = estimates([settled], 0.0)
        mean_rival, mean_leader = mean_rival + q * as_rival, mean_leader + q * as_leader
        for h, g in permutations(range(3), 2):
            assert (BETS * (as_rival[h] - as_leader[g]) <= 0.9 + 1e-12).all()
    expected = np.repeat(np.isin(drawn.outputs, right)[:, None] * 1.0, BETS.size, axis=1)
    np.testing.assert_allclose(mean_rival, expected, atol=1e-12)
    np.testing.assert_allclose(mean_leader, expected, atol=1e-12)


def test_wealth_of_independent_rounds_by_hand() -> None:
    """A yes to label 2; the same with a can't tell; a round that asks nothing; a known round."""
    drawn = replace(one_shot_round(Known()), to_ask=(2,))
    _, q_0, q_2 = drawn.q.tolist()
    known = Known({0: {0: False, 2: True}})
    count = IndependentCount(4, bet_weights(0.01, 1.2), abstaining_rival=0.05)
    passed_over = Settled(replace(drawn, to_ask=()), None)
    count.add((0, 1, 2, 3), [Settled(drawn, 2), Settled(drawn, None), passed_over])
    count.add((0, 1, 3), [replace_round(Settled(one_shot_round(known), None), (0, 1, 3))])
    c = 0.1
    for h, x_known in ((1, 0.0), (3, 0.05)):
        products = []
        for bet in BETS:
            most = 0.9 / bet
            lowered = min(GUESSES[1], (most - 1) / (1 / q_2 - 1))
            raised = max(GUESSES[0], (1 / q_0 - most) / (1 / q_0 - 1)) if h == 1 else 0.05
            x_leader = (lowered + (1 - lowered) / q_2, lowered - lowered / q_2, lowered)
            factors = [1 - bet * (raised - x - c) for x in x_leader]
            products.append(math.prod(factors) * (1 - bet * (x_known - 1 - c)))
        assert math.isclose(count.log_wealth([h], 0, c)[0], math.log(STAKES @ products), rel_tol=1e-12)
    assert math.isclose(count.log_wealth([0], 0, c)[0], math.log(STAKES @ (1 + BETS * c) ** 4), rel_tol=1e-12)


def replace_round(settled: Settled, survivors: tuple[int, ...]) -> Settled:
    """The same round with fewer survivors."""
    return replace(settled, round=replace(settled.round, output_of=settled.round.output_of[list(survivors)]))


def pool_count(order: tuple[int, ...], right: Ints) -> PoolCount:
    """The wealth from the items of a pool in this order, in two epochs; ``right`` (N, n).

    Models say 1 where they are right and 0 elsewhere.
    """
    count = PoolCount(right, bet_weights(0.01, 3.5))
    zero = np.zeros(2)
    settled = [Settled(Round(item, (1,), np.array([0, 1]), right[:, item], zero, zero, zero), 1) for item in order]
    models = range(right.shape[0])
    count.add(models, settled[:2])
    count.add(models, settled[2:])
    return count


def test_slack_lowers_the_threshold_and_the_bets() -> None:
    """Step 14, against the plain product; no bet can lose all, however wide the slack is."""
    drawn = replace(one_shot_round(Known()), to_ask=(2,))
    slack = np.array([0.0, 0.3, 0.1, 0.2])
    count = IndependentCount(4, bet_weights(0.01, 1.2), abstaining_rival=0.05, slack=lambda leader: slack)
    plain = IndependentCount(4, bet_weights(0.01, 1.2), abstaining_rival=0.05)
    for each in (count, plain):
        each.add((0, 1, 2, 3), [Settled(drawn, 2), Settled(drawn, None)])
    as_rival, as_leader = estimates([Settled(drawn, 2), Settled(drawn, None)], 0.05)
    c = 0.1
    bets = BETS / 1.3
    D = as_rival[[1, 4]] - as_leader[[2, 5]]
    expected = math.log(STAKES @ np.prod(1 - bets * (D - (c - 0.3)), axis=0))
    assert math.isclose(count.log_wealth([1], 0, c)[0], expected, rel_tol=1e-12)
    assert count.log_wealth([1], 0, c)[0] < plain.log_wealth([1], 0, c)[0]
    assert (bets * (0.9 / BETS + 0.3) <= 0.9 + 1e-12).all()


def test_wealth_without_replacement_by_hand() -> None:
    """Items 1 and 4, on which the two agree, count for nothing: five are left on which they differ, then four."""
    right = np.array([[1, 1, 0, 1, 0, 1, 1], [0, 1, 1, 0, 0, 0, 0]])
    n, c, product, S = 7, 0.1, np.ones(BETS.size), 0
    for left, D in zip((5, 4), (-1, 1), strict=True):
        product *= 1 - BETS / (1 + S / left) * (D - (n * c - S) / left)
        S += D
    count = pool_count((0, 1, 2, 4), right)
    assert math.isclose(count.log_wealth([1], 0, c)[0], math.log(EXACT_STAKES @ product), rel_tol=1e-12)
    # With S at -2 and two left, a sum of .7 is still possible; with S at -2 and one left it is not.
    assert np.isfinite(pool_count((0, 1, 3, 2), right).log_wealth([1], 0, c)[0])
    assert np.isinf(pool_count((0, 2, 3, 5), right).log_wealth([1], 0, c)[0])
    assert pool_count((0, 2, 3, 5), right).sums([0, 1], 0).tolist() == [0, -2]


def test_models_that_hardly_differ_need_no_answers() -> None:
    """They differ on one item of ten: neither is ahead by more than a tenth, whatever is right there."""
    right = np.zeros((2, 10), dtype=np.int64)
    right[0, 3] = 1
    wealth = PoolCount(right, bet_weights(0.01, 3.5)).log_wealth([1], 0, 0.11)
    assert np.isinf(wealth[0])
    assert PoolCount(right, bet_weights(0.01, 3.5)).log_wealth([1], 0, 0.1)[0] == pytest.approx(0, abs=1e-12)


def test_the_bet_where_only_winning_throughout_could_save_the_claim() -> None:
    right = np.array([[1, 1, 0, 0, 1], [0, 0, 1, 1, 1]])
    # After two items S = -2 with two left: at c = 0 the claim needs D = 1 twice, and gets it once.
    count = pool_count((0, 1, 2), right)
    # Before the second item c_t = 1/3, so the bets are divided by 2/3, and D - c_t = -4/3. Then c_t = 1 = D.
    expected = (1 + BETS) * (1 + 2 * BETS)
    assert math.isclose(count.log_wealth([1], 0, 0.0)[0], math.log(EXACT_STAKES @ expected), rel_tol=1e-12)


def test_wealth_without_replacement_is_at_most_one_in_the_mean() -> None:
    """Step 11, by all orders of a pool of five: for each c up to the gap, and not far above it."""
    right = np.array([[0, 1, 0, 0, 1], [1, 1, 0, 1, 0]])
    gap = 1 / 5
    for c in (0.0, 0.1, gap):
        wealth = [np.exp(pool_count(order, right).log_wealth([1], 0, c)[0]) for order in permutations(range(5))]
        assert np.mean(wealth) <= 1 + 1e-9
    above = [pool_count(order, right).log_wealth([1], 0, gap + 0.3)[0] for order in permutations(range(5))]
    assert np.exp(np.array(above)).mean() > 1


def test_repeated_draws_share_an_answer() -> None:
    drawn = replace(one_shot_round(Known()), to_ask=(0,))
    question = Question(0, 0, 0, drawn.propensity(0), 0)
    shared = Answers([(question, Answer.YES), (replace(question, id=1), Answer.NO)])
    assert [getattr(shared.settle(drawn), "found", None) for _ in range(2)] == [0, 0]
    assert shared.unclaimed() == [replace(question, id=1)]
