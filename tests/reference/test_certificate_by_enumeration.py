"""The certificate on tiny populations, exactly: every draw, every label, every answer, each with its probability.

A learner is taken from the beginning of an epoch through every outcome that the epoch can have, then on from each of
those. At every point of this tree, for every pair of survivors and every bet: the expected difference D is the true
gap, or at least the transferred gap where raters err and models abstain; and where the gap is >= 0, the expected wealth
after the epoch is at most the wealth before, for thresholds from 0 to the gap, and equal to it at the gap where D is
unbiased. What goes wrong in the whole tree has at most the probability delta.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from onebit.estimate.betting import BETS, EpochWealth
from onebit.estimate.independent_wealth import IndependentWealth
from onebit.estimate.pool_wealth import PoolWealth
from onebit.estimate.rater_errors import slack
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner, constants
from onebit.learners.certified.evidence import IndependentEvidence, PoolEvidence
from onebit.learners.certified.standing import Standing
from onebit.learners.items import Pool
from onebit.records import Answer, AskingProtocol, Question, RunStatus

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CLOSE = 1e-9


class Given:
    """A stream whose next examples are written down by the test."""

    size = None

    def __init__(self, looked_at: int) -> None:
        self.drawn: list[int] = []
        self.next = list(range(looked_at))

    def draw(self, uniform: Floats) -> Ints:
        first = len(self.drawn)
        self.drawn += self.next[: uniform.size]
        return np.arange(first, len(self.drawn))

    def put_back(self, items: Ints) -> None:
        raise AssertionError("every example here is sound")

    def take(self, items: Ints) -> Ints:
        return np.array([self.drawn[i] for i in items])


class Scripted:
    """Uniform numbers that are written down, whichever rounds they are for."""

    def __init__(self, rows: list[list[float]]) -> None:
        self._rows = np.array(rows)

    def uniforms(self, first_round: int, n_rounds: int) -> Floats:
        return self._rows[:n_rounds]


@dataclass(frozen=True)
class Population:
    """A table (N, n) and the truth (n,), with items about which the rater can't tell: nobody is right there.

    ``also`` has further (item, label) that are acceptable. Raters say no to a right label with probability ``f_no``,
    yes to a wrong one with ``f_yes``; the learner is told the ``bounds``. A ``judge`` scores the table.
    """

    table: Ints
    truth: Ints
    n_labels: int
    cant_tell: frozenset[int] = frozenset()
    also: frozenset[tuple[int, int]] = frozenset()
    f_no: float = 0.0
    f_yes: float = 0.0
    bounds: tuple[float, float] = (0.0, 0.0)
    judge: Floats | None = None

    @property
    def n_items(self) -> int:
        return self.truth.size

    @property
    def right(self) -> NDArray[np.bool_]:
        right: NDArray[np.bool_] = self.table == self.truth
        for item, label in self.also:
            right[:, item] |= self.table[:, item] == label
        right[:, list(self.cant_tell)] = False
        return right

    @property
    def accuracy(self) -> Floats:
        mean: Floats = self.right.mean(axis=1)
        return mean

    @property
    def transfer(self) -> float:
        return 1 - sum(self.bounds)

    @property
    def is_unbiased(self) -> bool:
        """Whether D has the transferred gap as its mean, and not only at least that."""
        return self.bounds == (0, 0) or ((self.f_no, self.f_yes) == self.bounds and bool((self.table >= 0).all()))

    def erring(self, f_no: float, f_yes: float, bounds: tuple[float, float] | None = None) -> Population:
        return replace(self, f_no=f_no, f_yes=f_yes, bounds=bounds or (f_no, f_yes))

    def learner(self, protocol: str, pool: bool, eps: float, delta: float) -> CertifiedLearner:
        """At the beginning of its first epoch; ``protocol`` may be "passive"."""
        items = Pool(np.arange(self.n_items)) if pool else Given(self.n_items)
        kind: AskingProtocol = "labels" if protocol == "passive" else protocol  # type: ignore[assignment]
        learner = CertifiedLearner(
            PredictionTable(self.table, self.n_labels),
            items,
            eps=eps,
            delta=delta,
            protocol=kind,
            passive=protocol == "passive",
            f_no=self.bounds[0],
            f_yes=self.bounds[1],
            seed=0,
            judge=self.judge,
        )
        learner._standing_now()
        return learner

    def answers(self, item: int, question: Question) -> dict[Answer | int, float]:
        """What the rater may say, each with its probability."""
        if item in self.cant_tell:
            return {Answer.CANT_TELL: 1.0}
        if question.label is None:
            return {int(self.truth[item]): 1.0}
        accepted = question.label == self.truth[item] or (item, question.label) in self.also
        yes = 1 - self.f_no if accepted else self.f_yes
        return {answer: p for answer, p in ((Answer.YES, yes), (Answer.NO, 1 - yes)) if p > 0}


@dataclass(frozen=True)
class Outcome:
    """One way an epoch can go: its probability, the learner after it, and D (N, N, n_bets) in its only round.

    D is None where the epoch has more rounds.
    """

    probability: float
    after: CertifiedLearner
    D: Floats | None


def standing(learner: CertifiedLearner) -> Standing:
    assert learner._standing is not None
    return learner._standing


def begun(before: CertifiedLearner, rows: list[list[float]], examples: list[int] | None) -> CertifiedLearner:
    """A copy of the learner with an epoch whose uniform numbers, and examples, are these."""
    after = copy.deepcopy(before)
    after._uniforms = Scripted(rows)  # type: ignore[assignment]
    if examples is not None:
        after._evidence._items.next = examples  # type: ignore[attr-defined]
    after._begin(standing(after))
    assert after._rounds[0][0].epoch.drawn.items.size == len(rows)
    return after


def answered(population: Population, learner: CertifiedLearner) -> Iterator[tuple[float, CertifiedLearner]]:
    """All ways in which the open epoch can be answered, and closed: probabilities and learners."""
    asking, _ = learner._rounds[0]
    if not asking.epoch.unsettled:
        learner._close(standing(learner))
        yield 1.0, learner
        return
    asked = learner.ask(1)
    assert isinstance(asked, tuple)
    item = asked[0].item
    if isinstance(learner._evidence, IndependentEvidence) and isinstance(learner._evidence._items, Given):
        item = learner._evidence._items.drawn[item]
    answers = population.answers(item, asked[0])
    for answer, probability in answers.items():
        after = copy.deepcopy(learner) if len(answers) > 1 else learner
        after.tell(asked[0].id, answer)
        for p, closed in answered(population, after):
            yield probability * p, closed


def differences(learner: CertifiedLearner) -> Floats:
    """D(h, g) of the last round for every bet, (N, N, n_bets), read from the factors 1 - bet D."""
    evidence = learner._evidence
    if isinstance(evidence, PoolEvidence):
        right = evidence._wealth._epochs[-1][1][:, 0].astype(np.float64)
        return np.repeat((right[:, None] - right[None, :])[:, :, None], BETS.size, axis=2)
    assert isinstance(evidence, IndependentEvidence)
    n = evidence.score.size
    last = IndependentWealth(n)
    last.add(evidence._wealth.epochs[-1])
    log_factors = np.zeros((n, n, BETS.size))
    for g in evidence._wealth.epochs[-1].rows.tolist():
        last._advance(log_factors[:, g], 0, g, 0.0, np.arange(n))
    return -np.expm1(log_factors) / BETS


def outcomes_of(
    population: Population, before: CertifiedLearner, rows: list[list[float]], examples: list[int] | None
) -> Iterator[Outcome]:
    """Every way of answering, each with its probability."""
    for p, after in answered(population, begun(before, rows, examples)):
        yield Outcome(p, after, differences(after) if len(rows) == 1 else None)


def questions_of(before: CertifiedLearner, pool: bool, item: int) -> list[tuple[float, list[float]]]:
    """Everything that can be asked about an item in one-shot, with its probability and uniform numbers for it.

    Read from the cumulated propensities of the epoch's own law; the rest is the probability that nothing is asked. That
    labels are drawn with these propensities is shown in ``tests/unit/learners/certified/test_law.py``.
    """
    u0 = (item + 0.5) / (before._pool_said.shape[1] if before._pool_said is not None else 1)
    with_epoch = begun(before, [[u0, 0.0, 0.0, 0.0]], None if pool else [item])
    one_shot = with_epoch._rounds[0][0].epoch.one_shot
    if one_shot is None or one_shot.places.size == 0:
        return [(1.0, [u0, 0.0, 0.0, 0.0])]
    q = np.where(one_shot._of.unknown, one_shot._q, 0.0)
    p = float(q.sum())
    if p == 0:
        return [(1.0, [u0, 0.0, 0.0, 0.0])]
    middle = (np.cumsum(q) - q / 2) / p
    ways = [(float(q[k]), [u0, float(middle[k]), p / 2, 0.0]) for k in np.flatnonzero(q)]
    return ways if p > 1 - CLOSE else [*ways, (1 - p, [u0, 0.5, (1 + p) / 2, 0.0])]


def independent_outcomes(
    population: Population, before: CertifiedLearner, pool: bool, n_rounds: int
) -> Iterator[Outcome]:
    """Every item, and in one-shot every label that may be asked, or none, in each round."""
    n = population.n_items
    one_round = [(p / n, item, row) for item in range(n) for p, row in questions_of(before, pool, item)]
    for rounds in itertools.product(one_round, repeat=n_rounds):
        probability = math.prod(p for p, _, _ in rounds)
        items, rows = [item for _, item, _ in rounds], [row for _, _, row in rounds]
        for found in outcomes_of(population, before, rows, None if pool else items):
            yield replace(found, probability=probability * found.probability)


def pool_outcomes(population: Population, before: CertifiedLearner, n_rounds: int) -> Iterator[Outcome]:
    """An epoch without replacement: every order of up to ``n_rounds`` of the items left, all equally likely."""
    evidence = before._evidence
    assert isinstance(evidence, PoolEvidence)
    left = evidence._left(standing(before).survivors).size
    sizes = range(left, max(left - n_rounds, 0), -1)
    orders = list(itertools.product(*(range(size) for size in sizes)))
    seen = set()
    for order in orders:
        rows = [[(k + 0.5) / size, 0.5, 0.5, 0.5] for k, size in zip(order, sizes, strict=True)]
        for found in outcomes_of(population, before, rows, None):
            seen.add(tuple(np.flatnonzero(~found.after._evidence._undrawn)))  # type: ignore[attr-defined]
            yield replace(found, probability=1 / len(orders))
    assert len(seen) == math.comb(left, len(sizes))


@dataclass
class Tree:
    """Goes through all outcomes of up to ``depth`` epochs, checks each step, and adds up what goes wrong."""

    population: Population
    pool: bool
    depth: int
    n_rounds: int = 1
    n_points: int = 0
    n_without_question: int = 0
    survivors: set[tuple[int, ...]] = field(default_factory=set)
    wrong: float = 0.0

    def grow(self, before: CertifiedLearner, probability: float = 1.0, depth: int = 0) -> None:
        self.n_points += 1
        self.survivors.add(tuple(standing(before).survivors.tolist()))
        if self.is_wrong(before):
            # Counted once, here: whatever comes after, this run has said something wrong.
            self.wrong += probability
            return
        if before._status is not RunStatus.RUNNING or depth == self.depth:
            return
        exact = isinstance(before._evidence, PoolEvidence)
        outcomes = list(
            pool_outcomes(self.population, before, self.n_rounds)
            if exact
            else independent_outcomes(self.population, before, self.pool, self.n_rounds)
        )
        assert math.isclose(sum(each.probability for each in outcomes), 1, rel_tol=CLOSE)
        n_asked = len(before._ledger.questions)
        self.n_without_question += sum(len(each.after._ledger.questions) == n_asked for each in outcomes)
        self.check_differences(before, outcomes)
        self.check_wealth(before, outcomes)
        for each in outcomes:
            self.grow(each.after, probability * each.probability, depth + 1)

    def is_wrong(self, learner: CertifiedLearner) -> bool:
        """The best model was eliminated, or the leader is further behind it than the certified eps."""
        accuracy = self.population.accuracy
        best = int(np.argmax(accuracy))
        excess = accuracy[best] - accuracy[standing(learner).leader]
        return best not in standing(learner).survivors or (
            excess > 0 and excess > standing(learner).certified_eps + CLOSE
        )

    def check_differences(self, before: CertifiedLearner, outcomes: list[Outcome]) -> None:
        """For every bet the mean of D is the difference of survivors' accuracies; without replacement, on what is left.

        Where raters err it is that times the transfer, or at least that for pairs with a gap >= 0.
        """
        if outcomes[0].D is None:
            return
        V = standing(before).survivors
        accuracy = self.population.accuracy
        if isinstance(before._evidence, PoolEvidence):
            accuracy = self.population.right[:, before._evidence._left(V)].mean(axis=1)
        gap = (accuracy[V][:, None] - accuracy[V][None, :])[:, :, None]
        mean = sum(each.probability * each.D[np.ix_(V, V)] for each in outcomes if each.D is not None)
        expected = self.population.transfer * gap
        assert ((mean >= expected - CLOSE) | (gap < 0)).all()
        if self.population.is_unbiased:
            assert mean == pytest.approx(np.broadcast_to(expected, (*gap.shape[:2], BETS.size)), abs=CLOSE)

    def check_wealth(self, before: CertifiedLearner, outcomes: list[Outcome]) -> None:
        accuracy, transfer = self.population.accuracy, self.population.transfer
        for h, g in itertools.permutations(standing(before).survivors.tolist(), 2):
            gap = accuracy[h] - accuracy[g]
            if gap < 0:
                continue
            for c in (0.0, gap / 2, gap):
                had = wealth_of(before, h, g, transfer * c)
                has = sum(each.probability * wealth_of(each.after, h, g, transfer * c) for each in outcomes)
                assert has <= had * (1 + CLOSE)
            if self.population.is_unbiased:
                assert has == pytest.approx(had, rel=1e-7)


def wealth_of(learner: CertifiedLearner, h: int, g: int, c: float) -> float:
    # A hair below the gap: n times a gap in floating point may ask for more than the items left can give.
    return math.exp(of_all(learner).log_wealth(g, max(c - 1e-15, 0.0))[h])


def of_all(learner: CertifiedLearner) -> IndependentWealth | PoolWealth:
    """The wealth from all rounds, in which those that the last one ruled out count as well."""
    evidence = learner._evidence
    if isinstance(evidence, PoolEvidence):
        pool = PoolWealth(evidence._said, evidence._wealth.usual_bet)
        for items, right in evidence._wealth._epochs:
            pool.add(items, right)
        return pool
    assert isinstance(evidence, IndependentEvidence)
    wealth = evidence._wealth
    again = IndependentWealth(wealth.n_hypotheses, wealth._slack, wealth.usual_bet)
    for rounds in wealth.epochs:
        again.add(rounds)
    return again


def population(rows: list[list[int]], truth: list[int], n_labels: int, cant_tell: tuple[int, ...] = ()) -> Population:
    return Population(np.array(rows), np.array(truth), n_labels, frozenset(cant_tell))


POPULATIONS = {
    "two models": population([[0, 1, 0], [1, 1, 1]], [0, 1, 1], 2),
    "three labels": population([[0, 1, 0], [1, 1, 2], [2, 0, 2]], [0, 1, 2], 3),
    "wide and narrow items": population([[0, 0, 0], [1, 1, 0], [2, 1, 0], [3, 1, 0]], [0, 1, 0], 4),
    "nobody right": population([[0, 1, 0], [1, 2, 1], [1, 1, 0]], [2, 1, 1], 3),
    "abstainers": population([[-1, 1, 0], [0, -1, -1], [1, 1, -1]], [0, 1, 0], 2),
    "can't tell": population([[0, 1, 0], [1, 0, 1], [1, 1, 0]], [0, 1, 1], 2, cant_tell=(1,)),
}
every_population = pytest.mark.parametrize("people", POPULATIONS.values(), ids=POPULATIONS.keys())
pool_or_stream = pytest.mark.parametrize("pool", [True, False], ids=["pool", "stream"])


@pytest.fixture(autouse=True)
def _one_round_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "MIN_ROUNDS", 1)
    monkeypatch.setattr(constants, "MIN_EXACT_ROUNDS", 1)
    # Items are passed over from the second round on.
    monkeypatch.setattr(constants, "LEAST_SCORED", 1)


def _ask_with(gamma: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The learner's own plans with another gamma: how a law is chosen is no matter of the proof."""
    monkeypatch.setattr(constants, "GAMMA", gamma)


@every_population
@pytest.mark.parametrize("gamma", [0.2, 1.0])
@pool_or_stream
def test_one_shot(people: Population, gamma: float, pool: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rounds, each planned by the learner with the answers before.

    On a pool the second round has labels with known answers.
    """
    _ask_with(gamma, monkeypatch)
    tree = Tree(people, pool, depth=2)
    tree.grow(people.learner("one-shot", pool, eps=0.1, delta=0.5))
    assert tree.n_points > 1 + people.n_items
    assert tree.wrong <= 0.5


JUDGES: dict[str, Callable[[Population], Floats]] = {
    "right": lambda people: people.right.astype(np.float64),
    "wrong": lambda people: (~people.right).astype(np.float64),
    "for one model": lambda people: (people.table == people.table[0]).astype(np.float64),
}


@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES.keys())
@pytest.mark.parametrize("name", ["three labels", "abstainers", "can't tell"])
@pool_or_stream
def test_one_shot_with_a_judge(
    name: str, judge: Callable[[Population], Floats], pool: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it says, and however much it is believed: here from the first round on."""
    _ask_with(0.2, monkeypatch)
    monkeypatch.setattr(constants, "PRIOR_OF_JUDGE", 2.0)
    people = replace(POPULATIONS[name], judge=judge(POPULATIONS[name]))
    tree = Tree(people, pool, depth=2)
    tree.grow(people.learner("one-shot", pool, eps=0.1, delta=0.5))
    assert tree.wrong <= 0.5


@pytest.mark.parametrize("judge", [None, JUDGES["wrong"]], ids=["no judge", "judge"])
@pool_or_stream
def test_a_guess_fitted_on_its_own_answer_is_found_out(
    pool: bool, judge: Callable[[Population], Floats] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin of ``test_one_shot``: guesses of the epoch are made anew once its answers are in."""
    close = CertifiedLearner._close

    def closes_with_other_guesses(self: CertifiedLearner, now: Standing) -> None:
        asking, _ = self._rounds[0]
        one_shot, experience = asking.epoch.one_shot, copy.deepcopy(self._experience(now))
        found = asking.epoch.found()
        assert one_shot is not None
        assert found is not None
        experience.add(found.features, found.right, found.gave)
        of = one_shot._of
        one_shot._guess = experience.guess().of(of._features, of.outputs, of.unknown) + of.is_right
        one_shot._for_rival = one_shot._guess
        close(self, now)

    monkeypatch.setattr(CertifiedLearner, "_close", closes_with_other_guesses)
    people = POPULATIONS["three labels"]
    people = people if judge is None else replace(people, judge=judge(people))
    with pytest.raises(AssertionError):
        Tree(people, pool, depth=1).grow(people.learner("one-shot", pool, eps=0.1, delta=0.5))


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up", "labels"])
@pool_or_stream
def test_stakes_set_after_the_answers_are_found_out(protocol: str, pool: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin of all that bet: the whole wealth is put on the bet that turns out to have won most."""

    def best_bet(self: EpochWealth, leader: int, c: float, keep: bool = False) -> Floats:
        state = self._start()
        for epoch in range(self._n_epochs()):
            self._advance(state, epoch, leader, c, np.arange(self.n_hypotheses))
        highest: Floats = state[:, : BETS.size].max(axis=1)
        return highest

    monkeypatch.setattr(EpochWealth, "log_wealth", best_bet)
    people = POPULATIONS["three labels"]
    with pytest.raises(AssertionError):
        Tree(people, pool, depth=1).grow(people.learner(protocol, pool, eps=0.1, delta=0.5))


@pytest.mark.parametrize("name", ["two models", "three labels", "abstainers"])
def test_one_shot_for_longer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rounds with a delta at which models go on the way: what is lost has at most that probability.

    Some rounds have nothing left to ask although models differ there: all their labels are known.
    """
    _ask_with(0.2, monkeypatch)
    people = POPULATIONS[name]
    tree = Tree(people, pool=True, depth=3)
    delta = 0.9
    tree.grow(people.learner("one-shot", True, eps=0.3, delta=delta))
    assert tree.wrong <= delta
    assert tree.wrong > 0 or name != "two models"
    assert len(tree.survivors) > 1 or name == "abstainers"
    assert tree.n_without_question > 0


@pytest.mark.parametrize("name", ["two models", "abstainers", "can't tell"])
def test_one_shot_epochs_of_two_rounds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both rounds may draw the same item and label: it is then asked once, and both use the answer."""
    monkeypatch.setattr(constants, "MIN_ROUNDS", 2)
    _ask_with(0.4, monkeypatch)
    people = POPULATIONS[name]
    tree = Tree(people, pool=True, depth=2 if name == "two models" else 1, n_rounds=2)
    tree.grow(people.learner("one-shot", True, eps=0.1, delta=0.5))
    assert tree.wrong <= 0.5


@pytest.mark.parametrize("gamma", [0.4, 1.0])
def test_one_shot_where_several_labels_are_right(gamma: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is then about how often the model's label is acceptable."""
    _ask_with(gamma, monkeypatch)
    people = replace(POPULATIONS["three labels"], also=frozenset({(0, 1), (1, 0), (2, 0)}))
    assert people.accuracy.tolist() != POPULATIONS["three labels"].accuracy.tolist()
    tree = Tree(people, pool=True, depth=2)
    tree.grow(people.learner("one-shot", True, eps=0.1, delta=0.5))
    assert tree.wrong <= 0.5


ERRING = {
    "at the bounds": (0.1, 0.2, (0.1, 0.2)),
    "no only": (0.3, 0.0, (0.3, 0.0)),
    "yes only": (0.0, 0.25, (0.0, 0.25)),
    "below the bounds": (0.05, 0.1, (0.2, 0.15)),
    "not at all": (0.0, 0.0, (0.2, 0.3)),
}


@pytest.mark.parametrize("rates", ERRING)
@pytest.mark.parametrize("name", ["two models", "three labels", "abstainers", "can't tell"])
def test_one_shot_with_raters_who_err(name: str, rates: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """E[D] is at least the transferred gap for rivals that are ahead, and equal to it at the bounds if none abstains.

    On a stream; on a pool the verdicts are fixed, and each pool of verdicts is like one where several are right.
    """
    _ask_with(0.4, monkeypatch)
    people = POPULATIONS[name].erring(*ERRING[rates])
    tree = Tree(people, pool=False, depth=2 if name != "three labels" else 1)
    tree.grow(people.learner("one-shot", False, eps=0.1, delta=0.5))
    assert tree.wrong <= 0.5
    assert not tree.population.is_unbiased or name != "abstainers"


def test_an_abstaining_rival_needs_its_credit(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a yes to a wrong label more likely than the learner was told, one that abstains is behind by too much."""
    _ask_with(1.0, monkeypatch)
    people = population([[0, -1, -1], [1, 0, 0]], [0, 1, 1], 2).erring(0.0, 0.4, bounds=(0.0, 0.1))
    with pytest.raises(AssertionError):
        Tree(people, pool=False, depth=1).grow(people.learner("one-shot", False, eps=0.1, delta=0.5))
    told = people.erring(0.0, 0.4)
    Tree(told, pool=False, depth=1).grow(told.learner("one-shot", False, eps=0.1, delta=0.5))


@pytest.mark.parametrize("rates", [(0.1, 0.2), (0.3, 0.0), (0.0, 0.45), (0.02, 0.6)])
@pytest.mark.parametrize("n_silent", [0, 2])
def test_rater_errors_on_a_pool_seldom_hide_a_gap(rates: tuple[float, float], n_silent: int) -> None:
    """By the exact law of the verdicts: the rival's lead falls short of its mean by the slack with at most exp(-L).

    The rival is right on 7 of 12 items on which the two differ and the leader on 5; it is silent on some where it is
    wrong, and gets the bound of f_yes there.
    """
    f_no, f_yes = rates
    rival = np.array([1 - f_no] * 7 + [f_yes] * (5 - n_silent))
    leader = np.array([f_yes] * 7 + [1 - f_no] * 5)
    lead = np.ones(1)
    for p in rival:
        lead = np.convolve(lead, [1 - p, p])
    for p in leader:
        # From the lowest: the leader was accepted.
        lead = np.convolve(lead, [p, 1 - p])
    values = np.arange(lead.size) - leader.size + f_yes * n_silent
    least_mean = (1 - f_no - f_yes) * (7 - 5)
    assert float(values @ lead) >= least_mean - CLOSE
    for log_odds in (1.0, 2.0, 4.0, 8.0):
        t = float(slack(np.array(12), log_odds, f_no, f_yes))
        assert lead[values < least_mean - t - CLOSE].sum() <= math.exp(-log_odds)
    # A fifth of it would not do.
    t = float(slack(np.array(12), 4.0, f_no, f_yes))
    assert lead[values < least_mean - t / 5 - CLOSE].sum() > math.exp(-4.0)


@every_population
@pytest.mark.parametrize("protocol", ["follow-up", "labels", "passive"])
def test_exact_rounds_of_a_stream(people: Population, protocol: str) -> None:
    tree = Tree(people, pool=False, depth=3)
    tree.grow(people.learner(protocol, False, eps=0.1, delta=0.5))
    assert tree.n_points > 1 + people.n_items
    assert tree.wrong <= 0.5


POOLS = {
    "five items": population([[0, 1, 0, 2, 1], [0, 2, 1, 2, 0], [1, 1, 1, 2, 1]], [0, 1, 1, 2, 0], 3),
    "six items": population([[0, 1, 0, 1, 1, 0], [1, 0, 1, 0, 0, 0]], [0, 1, 0, 1, 0, 1], 2),
    "abstainers": population([[0, -1, 0, -1, 1], [0, 0, 1, -1, 0], [-1, 1, 1, -1, 1]], [0, 1, 1, 0, 0], 2),
    "can't tell": population([[0, 1, 0, 1, 1], [1, 1, 1, 0, 0], [0, 0, 1, 1, 0]], [0, 1, 1, 1, 0], 2, (0, 3)),
    "ties": population([[0, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]], [0, 0, 0, 0], 2),
}


@pytest.mark.parametrize(
    ("name", "protocol", "n_rounds"),
    [
        *((name, "follow-up", 1) for name in POOLS),
        ("five items", "follow-up", 2),
        ("can't tell", "labels", 2),
        ("ties", "passive", 1),
        ("abstainers", "passive", 2),
        ("six items", "labels", 3),
    ],
)
def test_a_pool_to_its_end(name: str, protocol: str, n_rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All orders of the pool, epoch by epoch, with the survivors that each beginning leaves."""
    people = POOLS[name]
    monkeypatch.setattr(constants, "MIN_EXACT_ROUNDS", n_rounds)
    tree = Tree(people, pool=True, depth=people.n_items, n_rounds=n_rounds)
    delta = 0.8
    tree.grow(people.learner(protocol, True, eps=1e-6, delta=delta))
    assert tree.wrong <= delta
    assert len(tree.survivors) > 1


@every_population
def test_free_rounds_have_no_difference(people: Population) -> None:
    """Where all survivors say the same, nothing is asked, D is 0 for every pair of them, and the wealth at 0 stays."""
    free = 0
    for size in range(2, len(people.table) + 1):
        for survivors in itertools.combinations(range(len(people.table)), size):
            learner = people.learner("one-shot", True, eps=0.1, delta=0.5)
            standing(learner).survivors = np.array(survivors)
            standing(learner).leader = survivors[0]
            for item in range(people.n_items):
                if len(set(people.table[list(survivors), item].tolist())) > 1:
                    continue
                free += 1
                row = [(item + 0.5) / people.n_items, 0.0, 0.0, 0.0]
                (found,) = outcomes_of(people, learner, [row], None)
                assert found.D is not None
                assert found.after._ledger.questions == []
                assert (found.D[np.ix_(survivors, survivors)] == 0).all()
                assert found.after._n_free == 1
                assert wealth_of(found.after, survivors[1], survivors[0], 0.0) == pytest.approx(1)
    assert free > 0 or people is POPULATIONS["can't tell"]
