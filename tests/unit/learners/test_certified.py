"""The certified learner: what it asks and never asks, what it freezes, how it ends, and what it says then."""

from __future__ import annotations

import copy
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier
from tests.problems import models_of_accuracy

from onebit.errors import AlreadyAnsweredError, InvalidInputError, UnknownQuestionError
from onebit.hypotheses.finite import FiniteClass, ModelList, PredictionTable
from onebit.learners.base import run
from onebit.learners.certified import CertifiedLearner, CertifiedResult, Protocol
from onebit.learners.epoch import EpochRecord
from onebit.learners.evidence import IndependentEvidence, PoolEvidence, Settled
from onebit.learners.items import ItemSource, Pool, Stream
from onebit.randomness import RoundStream
from onebit.raters import SimulatedRater
from onebit.records import Answer, Question, RunStatus, Status

Ints = NDArray[np.int64]
N_LABELS, N_ITEMS = 4, 60
TABLE, TRUTH = models_of_accuracy(np.random.default_rng(3), np.array([0.4, 0.75, 0.6, 0.85]), N_ITEMS, N_LABELS)
#: Some abstain here and there, and nobody is right on the last two items.
TABLE[0, ::7] = TABLE[2, ::5] = -1
TABLE[:, -2:] = np.where(TABLE[:, -2:] == TRUTH[-2:], (TRUTH[-2:] + 1) % N_LABELS, TABLE[:, -2:])
ACCURACY = (TABLE == TRUTH).mean(axis=1)
BEST = int(np.argmax(ACCURACY))
CLASS = PredictionTable(TABLE, N_LABELS)
#: The examples of the streams below.
EXAMPLES = np.random.default_rng(4).integers(0, N_ITEMS, 20_000)

Told = list[tuple[Question, Answer | int]]


@dataclass(frozen=True)
class Kind:
    """A protocol on a pool or a stream."""

    protocol: Protocol
    passive: bool
    pool: bool

    def learner(self, hypotheses: FiniteClass = CLASS, examples: Ints = EXAMPLES, **options: Any) -> CertifiedLearner:
        items: ItemSource = Pool(np.arange(N_ITEMS)) if self.pool else Stream(examples.tolist())
        chosen = {"eps": 0.1, "delta": 0.1, "seed": 1, **options}
        return CertifiedLearner(hypotheses, items, protocol=self.protocol, passive=self.passive, **chosen)

    def example(self, question: Question, examples: Ints = EXAMPLES) -> int:
        return question.item if self.pool else int(examples[question.item])

    def answer(self, question: Question, examples: Ints = EXAMPLES) -> Answer | int:
        truth = int(TRUTH[self.example(question, examples)])
        if question.label is None:
            return truth
        return Answer.YES if question.label == truth else Answer.NO


PROTOCOLS: tuple[Protocol, ...] = ("one-shot", "follow-up", "labels")
KINDS = {
    f"{protocol}{'-passive' * passive}-{'pool' if pool else 'stream'}": Kind(protocol, passive, pool)
    for protocol in PROTOCOLS
    for passive in ((False, True) if protocol == "labels" else (False,))
    for pool in (True, False)
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
ONE_SHOT_POOL, FOLLOW_UP_POOL = KINDS["one-shot-pool"], KINDS["follow-up-pool"]
one_shot = pytest.mark.parametrize("kind", [KINDS["one-shot-pool"], KINDS["one-shot-stream"]], ids=["pool", "stream"])
follow_up = pytest.mark.parametrize(
    "kind", [KINDS["follow-up-pool"], KINDS["follow-up-stream"]], ids=["pool", "stream"]
)


def run_telling(kind: Kind, learner: CertifiedLearner, at_a_time: int = 256) -> Told:
    """Run to the end; the questions and answers in the order told."""
    told: Told = []

    def telling(question: Question) -> Answer | int:
        answer = kind.answer(question)
        told.append((question, answer))
        return answer

    run(learner, telling, at_a_time)
    return told


def plain(result: CertifiedResult) -> dict[str, Any]:
    return asdict(result)


def plain_record(record: EpochRecord) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: plain(each) for name, each in value.items()}
        return value.tolist() if isinstance(value, np.ndarray | np.generic) else value

    return plain(asdict(record))


def said_by(record: EpochRecord, example: int) -> list[int]:
    return [int(label) for label in TABLE[record.survivors, example]]


# What is asked


@every_kind
def test_questions_are_numbered_and_sound(kind: Kind) -> None:
    """Never a label that no survivor gives, never a question where survivors agree; propensities by the formula."""
    learner = kind.learner()
    told = run_telling(kind, learner, at_a_time=7)
    assert [q.id for q, _ in told] == list(range(len(told)))
    assert [q.epoch for q, _ in told] == sorted(q.epoch for q, _ in told)
    assert len(told) > 20
    for q, _ in told:
        record = learner.epochs[q.epoch]
        said = said_by(record, kind.example(q))
        spoken = {label for label in said if label >= 0}
        assert len(set(said)) > 1 or kind.passive
        assert (q.label in spoken) if kind.protocol != "labels" else q.label is None
        assert q.propensity == pytest.approx(
            law_of_label(record, said, q.label) if kind.protocol == "one-shot" else 1.0  # type: ignore[arg-type]
        )


def law_of_label(record: EpochRecord, said: list[int], label: int) -> float:
    exploration, spoken = record.exploration, {each for each in said if each >= 0}
    mass: dict[int, float] = defaultdict(float)
    for row, probability in zip(exploration.rows, exploration.probabilities, strict=True):
        mass[said[row]] += float(probability)
    speaking = sum(mass[each] for each in spoken)
    W = mass[label] / speaking if speaking > 0 else 1 / len(spoken)
    return (1 - exploration.gamma) * W + exploration.gamma / len(spoken)


@one_shot
def test_differences_stay_within_the_range(kind: Kind) -> None:
    """1 / q is at most widest / gamma, which bounds the epoch's bets."""
    learner = kind.learner(eps=0.02)
    told = run_telling(kind, learner)
    for q, _ in told:
        record = learner.epochs[q.epoch]
        assert 1 / q.propensity <= record.widest / record.exploration.gamma + 1e-9
        assert record.bets.max() / q.propensity < 1


def test_a_recorded_answer_is_used_again() -> None:
    """One-shot on a pool draws items again and again; nothing is asked twice, and every round counts."""
    learner = ONE_SHOT_POOL.learner(eps=0.05)
    told = run_telling(ONE_SHOT_POOL, learner)
    result = learner.result
    assert result.n_rounds - result.n_free_rounds > 2 * result.n_answers
    assert Counter((q.item, q.label) for q, _ in told).most_common(1)[0][1] == 1
    assert result.n_answers == len(told) <= sum(len({*TABLE[:, item]} - {-1}) for item in range(N_ITEMS))


def test_rounds_of_the_same_epoch_share_an_answer() -> None:
    """However the answer comes, early or late, alone or not: all rounds of a (item, label) are settled by it."""
    hypotheses = PredictionTable([[0, 0], [1, 1]], 2)
    learner = CertifiedLearner(hypotheses, Pool(np.arange(2)), eps=0.001, delta=0.001)
    questions = learner.ask(1000)
    assert isinstance(questions, tuple)
    # 64 rounds or more, and four questions to be asked about two items and two labels.
    assert len(questions) == 4
    assert learner.ask() is Status.WAIT
    for q in questions[::-1]:
        learner.tell(q.id, Answer.YES if q.label == q.item else Answer.NO)
    assert learner.ask() is Status.DONE or learner.result.n_rounds >= 64


def test_one_shot_on_a_pool_ends_when_there_is_nothing_left_to_ask() -> None:
    """With every label of every contested item answered, accuracies differ by what was said: exactly known."""
    learner = ONE_SHOT_POOL.learner(eps=1e-9, delta=1e-9)
    told = run_telling(ONE_SHOT_POOL, learner)
    result = learner.result
    assert result.status is RunStatus.COMPLETE
    assert result.achieved_eps == 0
    assert result.chosen == BEST
    survivors = TABLE[list(result.survivors)]
    contested = np.flatnonzero((survivors != survivors[0]).any(axis=0))
    pairs = {(item, label) for item in contested.tolist() for label in survivors[:, item].tolist() if label >= 0}
    assert pairs <= {(q.item, q.label) for q, _ in told}


@follow_up
def test_follow_up_asks_until_yes(kind: Kind) -> None:
    """Labels of one example come one after the other, each given by a survivor, until a yes or until none is left."""
    learner = kind.learner()
    told = run_telling(kind, learner, at_a_time=5)
    rounds = defaultdict(list)
    for q, answer in told:
        rounds[q.item].append((q, answer))
    n_open_ended = 0
    for asked in rounds.values():
        record = learner.epochs[asked[0][0].epoch]
        assert {q.epoch for q, _ in asked} == {record.number}
        spoken = {label for label in said_by(record, kind.example(asked[0][0])) if label >= 0}
        labels, answers = [q.label for q, _ in asked], [answer for _, answer in asked]
        assert len(set(labels)) == len(labels)
        assert Answer.YES not in answers[:-1]
        if answers[-1] is Answer.NO:
            assert set(labels) == spoken
            n_open_ended += 1
        # The most likely first: by the mixture's mass.
        mass = [mixture_mass(record, kind.example(asked[0][0]), label) for label in labels]  # type: ignore[arg-type]
        assert all(a >= b - 1e-12 for a, b in itertools.pairwise(mass))
    assert 0 < n_open_ended < len(rounds)


def mixture_mass(record: EpochRecord, example: int, label: int) -> float:
    spoken = TABLE[record.survivors[record.exploration.rows], example]
    return float(record.exploration.probabilities @ (spoken == label))


@pytest.mark.parametrize("kind", [k for k in KINDS.values() if k.pool and k.protocol != "one-shot"])
def test_without_replacement_an_item_is_drawn_once(kind: Kind) -> None:
    learner = kind.learner(eps=1e-6)
    told = run_telling(kind, learner)
    items = [q.item for q, answer in told if answer is not Answer.NO or kind.protocol == "labels"]
    assert len(items) == len(set(items))
    assert learner.result.n_rounds <= N_ITEMS


@every_kind
def test_rounds_have_random_numbers_of_their_own(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """Epochs follow each other in the numbers of rounds; none is used twice."""
    asked: list[tuple[int, int]] = []
    uniforms = RoundStream.uniforms

    def spying(self: RoundStream, first_round: int, n_rounds: int) -> NDArray[np.float64]:
        asked.append((first_round, n_rounds))
        return uniforms(self, first_round, n_rounds)

    monkeypatch.setattr(RoundStream, "uniforms", spying)
    learner = kind.learner(eps=0.04)
    run_telling(kind, learner)
    assert [first for first, _ in asked[: len(learner.epochs)]] == [record.first_round for record in learner.epochs]
    assert all(a + n <= b for (a, n), (b, _) in itertools.pairwise(asked))


# The order of things


@every_kind
def test_same_seed_same_run(kind: Kind) -> None:
    a, b, other = kind.learner(), kind.learner(), kind.learner(seed=2)
    told = run_telling(kind, a)
    assert told == run_telling(kind, b)
    assert plain(a.result) == plain(b.result)
    assert [plain_record(record) for record in a.epochs] == [plain_record(record) for record in b.epochs]
    # What a stream yields is not the learner's choice, and exact rounds have no other.
    assert (told != run_telling(kind, other)) == (kind.pool or kind.protocol == "one-shot")


def by_epoch(told: Told) -> dict[int, list[tuple[Any, ...]]]:
    found = defaultdict(list)
    for q, _ in told:
        found[q.epoch].append((q.item, -1 if q.label is None else q.label, q.propensity))
    return {epoch: sorted(questions) for epoch, questions in found.items()}


@every_kind
@pytest.mark.parametrize("at_a_time", [1, 3, 10_000])
def test_how_many_at_a_time_does_not_matter(kind: Kind, at_a_time: int) -> None:
    """The same questions in every epoch and the same result; within an epoch, follow-ups may come in another order."""
    some, others = kind.learner(), kind.learner()
    told = run_telling(kind, some, at_a_time)
    assert by_epoch(told) == by_epoch(run_telling(kind, others, 50))
    assert plain(some.result) == plain(others.result)


@every_kind
@pytest.mark.parametrize("order", ["reversed", "shuffled", "late"])
def test_order_of_answers_does_not_matter(kind: Kind, order: str) -> None:
    """Late: half of the answers come only when nothing else is left to ask, the last asked first."""
    learner, rng = kind.learner(), np.random.default_rng(5)
    held: list[Question] = []
    told: Told = []

    def tell(question: Question) -> None:
        answer = kind.answer(question)
        told.append((question, answer))
        learner.tell(question.id, answer)

    while (asked := learner.ask(40)) is not Status.DONE:
        if asked is Status.WAIT:
            tell(held.pop())
            continue
        assert isinstance(asked, tuple)
        now = list(asked)[::-1] if order == "reversed" else [asked[i] for i in rng.permutation(len(asked))]
        if order == "late":
            held += [q for q in asked if q.item % 2]
            now = [q for q in asked if q.item % 2 == 0]
        for question in now:
            tell(question)
    straight = kind.learner()
    assert by_epoch(told) == by_epoch(run_telling(kind, straight))
    assert plain(learner.result) == plain(straight.result)


@every_kind
def test_reading_the_result_changes_nothing(kind: Kind) -> None:
    learner, read = kind.learner(), []
    while isinstance(questions := learner.ask(9), tuple):
        for question in questions:
            learner.tell(question.id, kind.answer(question))
            read.append(learner.result)
    straight = kind.learner()
    run_telling(kind, straight)
    assert plain(learner.result) == plain(straight.result)
    # What is known only grows: survivors go, rounds come, the leader is one of the survivors.
    for before, after in itertools.pairwise(read):
        assert set(after.survivors) <= set(before.survivors)
        assert after.n_rounds >= before.n_rounds
        assert after.chosen in after.survivors
    assert any(len(result.survivors) < len(TABLE) for result in read)


@every_kind
def test_waits_for_open_questions_and_then_is_done(kind: Kind) -> None:
    learner = kind.learner()
    asked = learner.ask(10_000)
    assert isinstance(asked, tuple)
    assert learner.ask() is Status.WAIT
    for question in asked[:-1]:
        learner.tell(question.id, kind.answer(question))
    # All but one answer: the epoch is not closed, since wealth uses whole beginnings.
    waiting = learner.result
    assert waiting.status is RunStatus.RUNNING
    assert waiting.n_rounds == 0
    learner.tell(asked[-1].id, kind.answer(asked[-1]))
    run_telling(kind, learner)
    done = learner.result
    assert done.status is RunStatus.COMPLETE
    assert learner.ask() is Status.DONE


@every_kind
def test_bad_answers_change_nothing(kind: Kind) -> None:
    learner, straight = kind.learner(), kind.learner()
    asked = learner.ask(4)
    assert isinstance(asked, tuple)
    assert straight.ask(4) == asked
    learner.tell(1, kind.answer(asked[1]))
    with pytest.raises(AlreadyAnsweredError, match="question 1 already has the answer"):
        learner.tell(1, kind.answer(asked[1]))
    with pytest.raises(UnknownQuestionError):
        learner.tell(4, kind.answer(asked[1]))
    wrong_kind = Answer.NO if kind.protocol == "labels" else 2
    for bad in (wrong_kind, N_LABELS, -1, 0.5, "yes", None):
        with pytest.raises(InvalidInputError):
            learner.tell(0, bad)  # type: ignore[arg-type]
    for each in (learner, straight):
        for question in asked:
            if each is straight or question.id != 1:
                each.tell(question.id, kind.answer(question))
        run_telling(kind, each)
    assert plain(learner.result) == plain(straight.result)


# What is frozen


@every_kind
def test_records_of_epochs_are_frozen(kind: Kind) -> None:
    """What an epoch's record says when its first question is asked, it says at the end of the run."""
    learner = kind.learner(eps=0.03)
    seen: list[dict[str, Any]] = []
    while isinstance(questions := learner.ask(3), tuple):
        while len(seen) < len(learner.epochs):
            seen.append(copy.deepcopy(plain_record(learner.epochs[len(seen)])))
            assert set(CLASS.equal_rows()[0][learner.epochs[-1].survivors]) == set(learner.result.survivors)
        for question in questions:
            learner.tell(question.id, kind.answer(question))
    assert len(seen) > 2
    assert [plain_record(record) for record in learner.epochs[: len(seen)]] == seen


@pytest.mark.parametrize("kind", [k for k in KINDS.values() if not k.pool], ids=[n for n in KINDS if "stream" in n])
@pytest.mark.parametrize("epoch", [0, 1, 2])
def test_an_epoch_is_fixed_before_its_examples_are_drawn(kind: Kind, epoch: int) -> None:
    """With other examples from the beginning of an epoch on, its record is the same; only later ones differ."""
    learner = kind.learner(eps=0.001, delta=0.001)
    run_telling_until(kind, learner, epoch + 2, EXAMPLES)
    changed = EXAMPLES.copy()
    first = learner.epochs[epoch].first_round
    changed[first:] = (changed[first:] + 1) % N_ITEMS
    other = kind.learner(eps=0.001, delta=0.001, examples=changed)
    run_telling_until(kind, other, epoch + 2, changed)
    records = [[plain_record(record) for record in each.epochs] for each in (learner, other)]
    assert records[0][: epoch + 1] == records[1][: epoch + 1]
    assert learner._ledger.answers != other._ledger.answers


def run_telling_until(kind: Kind, learner: CertifiedLearner, n_epochs: int, examples: Ints) -> None:
    while len(learner.epochs) < n_epochs and isinstance(questions := learner.ask(10_000), tuple):
        for question in questions:
            learner.tell(question.id, kind.answer(question, examples))


@every_kind
def test_an_epoch_does_not_look_at_its_own_answers(kind: Kind) -> None:
    """With other answers in an epoch, its record and all of its first questions are the same."""
    answers: tuple[Callable[[Question], Answer | int], ...] = (
        kind.answer,
        lambda q: Answer.CANT_TELL if q.epoch == 1 else kind.answer(q),
    )
    records, questions = [], []
    for answer in answers:
        learner = kind.learner(eps=0.001, delta=0.001)
        while isinstance(asked := learner.ask(1), tuple) and asked[0].epoch == 0:
            learner.tell(asked[0].id, answer(asked[0]))
        of_next = [asked[0]] if isinstance(asked, tuple) else []
        for _ in range(6):
            learner.tell(of_next[-1].id, answer(of_next[-1]))
            asked = learner.ask(1)
            assert isinstance(asked, tuple)
            of_next += asked
        questions.append(of_next)
        records.append([plain_record(record) for record in learner.epochs])
    assert records[0] == records[1]
    assert len(records[0]) == 2
    assert questions[0] == questions[1]


# How it ends


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
    assert result.intervals is None


@every_kind
def test_what_is_certified_on_the_way_holds(kind: Kind) -> None:
    """Read after every epoch: the certified eps is never below the leader's true excess, and ends at most at eps."""
    for seed in range(3):
        learner = kind.learner(seed=seed, delta=1e-6, eps=0.05)
        n_epochs = 0
        while isinstance(questions := learner.ask(10_000), tuple):
            for question in questions:
                learner.tell(question.id, kind.answer(question))
            if len(learner.epochs) > n_epochs:
                n_epochs = len(learner.epochs)
                result = learner.result
                assert result.achieved_eps is not None
                assert ACCURACY[BEST] - ACCURACY[result.chosen] <= result.achieved_eps


def recorded_rounds(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, float]]:
    """(item, label found, propensity) of all rounds that enter the wealth from now on."""
    rounds: list[tuple[int, int, float]] = []
    for evidence in (IndependentEvidence, PoolEvidence):

        def spying(self: Any, settled: Settled, bets: Any, add: Any = evidence.add) -> None:
            rounds.extend(
                zip(settled.drawn.items.tolist(), settled.label.tolist(), settled.propensity.tolist(), strict=True)
            )
            add(self, settled, bets)

        monkeypatch.setattr(evidence, "add", spying)
    return rounds


@every_kind
@pytest.mark.parametrize("budget", [1, 10, 37])
def test_a_budget_ends_the_run_without_success(kind: Kind, budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What enters the wealth is a beginning of what would have, in the order drawn; never a selection."""
    rounds = recorded_rounds(monkeypatch)
    learner = kind.learner(eps=0.001, delta=0.001, budget=budget)
    told = run_telling(kind, learner, at_a_time=4)
    result = learner.result
    assert len(told) == result.n_answers == budget
    assert result.status is RunStatus.BUDGET
    assert learner.ask() is Status.DONE
    assert result.achieved_eps is not None
    assert result.achieved_eps > result.eps
    cut = list(rounds)
    assert result.n_rounds == len(cut)
    rounds.clear()
    straight = kind.learner(eps=0.001, delta=0.001)
    run_telling_until(kind, straight, len(learner.epochs) + 1, EXAMPLES)
    assert cut == rounds[: len(cut)]
    assert len(cut) < len(rounds)


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
    assert plain(learner.result) == plain(straight.result)


@pytest.mark.parametrize("kind", [k for k in KINDS.values() if not k.pool], ids=[n for n in KINDS if "stream" in n])
@pytest.mark.parametrize("length", [0, 1, 50, 64, 100, 128])
def test_a_stream_that_ends_is_not_success(kind: Kind, length: int) -> None:
    learner = kind.learner(eps=0.001, delta=0.001, examples=EXAMPLES[:length])
    run_telling(kind, learner)
    result = learner.result
    assert result.status is RunStatus.EXHAUSTED
    assert result.n_rounds == length
    assert learner.ask() is Status.DONE
    assert result.achieved_eps is not None
    assert result.achieved_eps > result.eps


def test_a_stream_of_features_ends_like_any_other() -> None:
    x = np.random.default_rng(0).random((100, 2))
    models = [DecisionTreeClassifier(max_depth=1).fit(x, (x[:, k] > 0.5).astype(np.int64)) for k in (0, 1)]
    learner = CertifiedLearner(ModelList(models, 2), Stream(list(x)), eps=0.001)
    assert run(learner, lambda q: Answer.NO).status is RunStatus.EXHAUSTED
    assert learner.result.n_rounds == 100


@pytest.mark.parametrize("kind", [k for k in KINDS.values() if k.pool], ids=[n for n in KINDS if "pool" in n])
def test_a_pool_run_to_its_end_is_exact(kind: Kind) -> None:
    """Without replacement all differences are known in the end; one-shot gets there by elimination alone."""
    learner = kind.learner(eps=1e-9, delta=1e-4) if kind.protocol != "one-shot" else kind.learner(eps=0.02, delta=1e-4)
    run_telling(kind, learner)
    result = learner.result
    assert result.status is RunStatus.COMPLETE
    assert result.chosen == BEST
    if kind.protocol != "one-shot":
        assert result.achieved_eps is not None
        assert result.achieved_eps <= 1e-9


def test_ties_in_a_pool_are_known_at_its_end() -> None:
    """Two models with the same accuracy, right on different items: only the whole pool shows it."""
    hypotheses = PredictionTable([[0, 0, 1, 1, 0], [1, 1, 0, 0, 0]], 2)
    learner = CertifiedLearner(hypotheses, Pool(np.arange(5)), eps=1e-9, protocol="follow-up")
    result = run(learner, SimulatedRater([0, 0, 0, 0, 0]))
    assert result.status is RunStatus.COMPLETE
    assert result.achieved_eps == 0
    assert result.survivors == (0, 1)
    assert result.n_rounds == 4


# Special populations


@every_kind
def test_one_hypothesis_is_the_best_at_once(kind: Kind) -> None:
    for table in (TABLE[:1], np.repeat(TABLE[:1], 3, axis=0)):
        learner = kind.learner(PredictionTable(table, N_LABELS))
        result = learner.result
        assert result.status is RunStatus.COMPLETE
        assert result.achieved_eps == 0
        assert result.chosen == 0
        assert result.names == tuple(range(len(table)))
        assert learner.ask() is Status.DONE
        assert result.n_answers == result.n_rounds == 0


@every_kind
def test_duplicates_are_one_hypothesis_with_several_names(kind: Kind) -> None:
    """The same questions and answers as without them; N counts distinct rows."""
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
    assert many.achieved_eps == one.achieved_eps


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up", "labels"])
def test_models_that_agree_on_the_pool_are_settled_without_a_question(protocol: Protocol) -> None:
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


@follow_up
def test_an_item_that_cant_be_told_is_not_asked_again(kind: Kind) -> None:
    learner = kind.learner(eps=0.2)
    asked: list[int] = []

    def unsure(q: Question) -> Answer:
        asked.append(q.item)
        return Answer.CANT_TELL

    run(learner, unsure)
    assert len(asked) == len(set(asked))


@every_kind
def test_items_that_cant_be_told_stay_in_the_population(kind: Kind) -> None:
    """Half of the items can't be told: accuracies are those with nobody right there, and so is the certificate."""
    unsure = np.arange(N_ITEMS) % 2 == 0
    accuracy = ((TABLE == TRUTH) & ~unsure).mean(axis=1)
    learner = kind.learner(eps=0.1, delta=1e-6)
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


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up", "labels"])
def test_models_that_hardly_ever_speak(protocol: Protocol) -> None:
    """Both abstain on 97 of 100 items; no bet may then exceed what a difference of 1 allows."""
    table = np.full((2, 100), -1)
    table[:, :3] = [[0, 0, 0], [1, 1, 1]]
    learner = CertifiedLearner(PredictionTable(table, 2), Pool(np.arange(100)), eps=0.5, protocol=protocol)
    result = run(learner, SimulatedRater(np.zeros(100, dtype=np.int64)))
    assert result.status is RunStatus.COMPLETE
    assert result.achieved_eps is not None
    assert result.achieved_eps <= 0.5


def test_an_example_that_the_class_refuses_is_not_lost() -> None:
    examples = [*EXAMPLES[:70].tolist(), 999, *EXAMPLES[70:200].tolist()]
    learner = CertifiedLearner(CLASS, Stream(examples), eps=0.001, delta=0.001)
    for _ in range(2):
        with pytest.raises(InvalidInputError):
            run(learner, lambda q: SimulatedRater(TRUTH[EXAMPLES[:70]])(q))
        with pytest.raises(InvalidInputError):
            _ = learner.result
    assert learner._n_rounds == 64


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
    ],
)
def test_bad_options_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        CertifiedLearner(CLASS, Pool(np.arange(N_ITEMS)), **{"eps": 0.1, **bad})


def test_a_pool_that_the_class_refuses_is_refused_at_once() -> None:
    with pytest.raises(InvalidInputError):
        CertifiedLearner(CLASS, Pool(np.arange(N_ITEMS + 1)), eps=0.1)


def test_the_threshold_counts_distinct_rivals() -> None:
    """One event for each rival of the best: (N - 1) / delta."""
    learner = ONE_SHOT_POOL.learner(PredictionTable(TABLE[[0, 1, 1, 2, 3, 3]], N_LABELS), delta=0.1)
    assert learner._threshold == pytest.approx(math.log(3 / 0.1))
