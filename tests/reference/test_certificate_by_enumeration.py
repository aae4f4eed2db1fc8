"""The certificate on tiny populations, exactly: every draw, every label, every order, each with its probability.

A learner is taken from the beginning of an epoch through every outcome that the epoch can have, then on from each of
those. At every point of this tree, and for every pair of survivors that is ahead by a gap >= 0: the expected wealth
after the epoch is at most the wealth before, for thresholds from 0 to the gap; and exactly the wealth at the gap where
the differences are unbiased, which is everywhere but in conceded rounds. What goes wrong in the whole tree has at most
the probability delta.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from onebit.hypotheses.finite import PredictionTable
from onebit.learners import certified, evidence, planning
from onebit.learners.certified import CertifiedLearner, Protocol
from onebit.learners.epoch import Epoch
from onebit.learners.evidence import PoolEvidence
from onebit.learners.items import Pool
from onebit.learners.planning import Exploration, draw_labels
from onebit.records import Answer, Question, RunStatus

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CLOSE = 1e-9


class Given:
    """A stream whose next examples are written down by the test."""

    def __init__(self) -> None:
        self.drawn: list[int] = []
        self.next: list[int] = []

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

    ``also`` has further (item, label) that are acceptable.
    """

    table: Ints
    truth: Ints
    n_labels: int
    cant_tell: frozenset[int] = frozenset()
    also: frozenset[tuple[int, int]] = frozenset()

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

    def learner(self, protocol: Protocol, pool: bool, eps: float, delta: float, passive: bool) -> CertifiedLearner:
        items = Pool(np.arange(self.n_items)) if pool else Given()
        hypotheses = PredictionTable(self.table, self.n_labels)
        return CertifiedLearner(hypotheses, items, eps=eps, delta=delta, protocol=protocol, passive=passive)

    def answer(self, item: int, question: Question) -> Answer | int:
        if item in self.cant_tell:
            return Answer.CANT_TELL
        if question.label is None:
            return int(self.truth[item])
        accepted = question.label == self.truth[item] or (item, question.label) in self.also
        return Answer.YES if accepted else Answer.NO


@dataclass(frozen=True)
class Outcome:
    """One way an epoch can go: its probability, the learner after it, the differences D (N, N, m), and whether
    something was conceded."""

    probability: float
    after: CertifiedLearner
    D: Floats
    conceded: bool


def answered(population: Population, learner: CertifiedLearner) -> Epoch:
    """Begin an epoch, answer all its questions, and close it; what it was."""
    learner._begin()
    epoch = learner._epoch
    assert epoch is not None
    while epoch.unsettled:
        questions = learner.ask(3)
        assert isinstance(questions, tuple)
        source = learner._evidence._items if not isinstance(learner._evidence, PoolEvidence) else None  # type: ignore[attr-defined]
        for question in questions:
            item = source.drawn[question.item] if isinstance(source, Given) else question.item
            learner.tell(question.id, population.answer(item, question))
    learner._close(epoch)
    return epoch


def outcome(population: Population, before: CertifiedLearner, rows: list[list[float]], example: int | None) -> Outcome:
    after = copy.deepcopy(before)
    after._uniforms = Scripted(rows)  # type: ignore[assignment]
    if example is not None:
        after._evidence._items.next = [example]  # type: ignore[attr-defined]
    epoch = answered(population, after)
    assert epoch.drawn.items.size == len(rows)
    said = epoch.drawn.said
    X = np.where((epoch.label >= 0) & (said == epoch.label), 1 / epoch.propensity, 0)
    D = np.where(epoch.conceded, said[:, None] != said[None, :], X[:, None] - X[None, :])
    return Outcome(math.prod(epoch.propensity.tolist()), after, D, bool(epoch.conceded.any()))


def independent_outcomes(population: Population, before: CertifiedLearner, pool: bool) -> Iterator[Outcome]:
    """One round: every item, and in one-shot every label that survivors give it.

    The uniform guess gives the k-th of m labels for the number (k + 1/2) / m, and is made for 0 < gamma. That the
    propensity is the probability of the label, on both ways to it, is shown on a grid below.
    """
    n = population.n_items
    for item in range(n):
        said = population.table[before._survivors, item]
        m = len({int(label) for label in said if label >= 0})
        contested = len(set(said.tolist())) > 1
        for k in range(m if contested and before._protocol == "one-shot" else 1):
            row = [(item + 0.5) / n, (k + 0.5) / max(m, 1), 0.0, 0.0]
            found = outcome(population, before, [row], None if pool else item)
            yield replace(found, probability=found.probability / n)
            if found.conceded:
                break


def pool_outcomes(population: Population, before: CertifiedLearner, n_rounds: int) -> Iterator[Outcome]:
    """An epoch without replacement: every order of up to ``n_rounds`` of the items left, all equally likely."""
    assert isinstance(before._evidence, PoolEvidence)
    left = before._evidence._left(before._survivors).size
    sizes = range(left, max(left - n_rounds, 0), -1)
    orders = list(itertools.product(*(range(size) for size in sizes)))
    seen = set()
    for order in orders:
        rows = [[(k + 0.5) / size, 0.5, 0.5, 0.5] for k, size in zip(order, sizes, strict=True)]
        found = outcome(population, before, rows, None)
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
    n_conceded: int = 0
    survivors: set[tuple[int, ...]] = field(default_factory=set)
    wrong: float = 0.0

    def grow(self, before: CertifiedLearner, probability: float = 1.0, depth: int = 0) -> None:
        self.n_points += 1
        self.survivors.add(tuple(before._survivors.tolist()))
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
            else independent_outcomes(self.population, before, self.pool)
        )
        assert math.isclose(sum(each.probability for each in outcomes), 1, rel_tol=CLOSE)
        self.n_conceded += sum(each.conceded for each in outcomes)
        self.check_differences(before, outcomes)
        self.check_wealth(before, outcomes)
        for each in outcomes:
            self.grow(each.after, probability * each.probability, depth + 1)

    def is_wrong(self, learner: CertifiedLearner) -> bool:
        """The best model was eliminated, or the leader is further behind it than the certified eps."""
        accuracy = self.population.accuracy
        best = int(np.argmax(accuracy))
        excess = accuracy[best] - accuracy[learner._leader]
        return best not in learner._survivors or (excess > 0 and excess > learner._certified_eps() + CLOSE)

    def check_differences(self, before: CertifiedLearner, outcomes: list[Outcome]) -> None:
        """The mean of D is the difference of accuracies of survivors; without replacement, of the items left.

        It is at least that where something is conceded.
        """
        accuracy, V = self.population.accuracy, before._survivors
        expected = accuracy[V][:, None] - accuracy[V][None, :]
        if isinstance(before._evidence, PoolEvidence):
            left = self.population.right[np.ix_(V, before._evidence._left(V))]
            expected = (left.mean(axis=1)[:, None] - left.mean(axis=1)[None, :]).astype(np.float64)
        first = sum(each.probability * each.D[np.ix_(V, V)][:, :, 0] for each in outcomes)
        assert (first >= expected - CLOSE).all()
        if not any(each.conceded for each in outcomes):
            assert first == pytest.approx(expected, abs=CLOSE)

    def check_wealth(self, before: CertifiedLearner, outcomes: list[Outcome]) -> None:
        accuracy = self.population.accuracy
        for h, g in itertools.permutations(before._survivors.tolist(), 2):
            gap = accuracy[h] - accuracy[g]
            if gap < 0:
                continue
            for c in (0.0, gap / 2, gap):
                had = wealth_of(before, h, g, c)
                has = sum(each.probability * wealth_of(each.after, h, g, c) for each in outcomes)
                assert has <= had * (1 + CLOSE)
            if not any(each.conceded for each in outcomes):
                assert has == pytest.approx(had, rel=1e-7)


def wealth_of(learner: CertifiedLearner, h: int, g: int, c: float) -> float:
    # A hair below the gap: n times a gap in floating point may ask for more than the items left can give.
    wealth = learner._evidence.wealth.log_wealth(g, max(c - 1e-15, 0.0), keep=False)[h]
    return math.exp(wealth)


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


@pytest.fixture(autouse=True)
def _one_round_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certified, "MIN_ROUNDS", 1)
    monkeypatch.setattr(certified, "MIN_EXACT_ROUNDS", 1)
    monkeypatch.setattr(certified, "ENOUGH_CONFIRMED", 2)


@every_population
@pytest.mark.parametrize("gamma", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("pool", [True, False], ids=["pool", "stream"])
def test_one_shot(people: Population, gamma: float, pool: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rounds, each planned by the learner with the answers before, for the mixtures that gamma gives."""
    monkeypatch.setattr(planning, "GAMMAS", (gamma,))
    tree = Tree(people, pool, depth=2)
    tree.grow(people.learner("one-shot", pool, eps=0.1, delta=0.5, passive=False))
    assert tree.n_points > 1 + people.n_items
    assert tree.wrong <= 0.5


@pytest.mark.parametrize("name", ["two models", "three labels"])
def test_one_shot_for_longer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rounds with a delta at which models go on the way: what is lost has at most that probability."""
    monkeypatch.setattr(planning, "GAMMAS", (0.2, 1.0))
    people = POPULATIONS[name]
    tree = Tree(people, pool=True, depth=3)
    delta = 0.9
    tree.grow(people.learner("one-shot", True, eps=0.3, delta=delta, passive=False))
    assert tree.wrong <= delta
    assert tree.wrong > 0 or name != "two models"
    assert len(tree.survivors) > 1


@pytest.mark.parametrize("gamma", [0.4, 1.0])
def test_one_shot_where_several_labels_are_right(gamma: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is then about how often the model's label is acceptable."""
    monkeypatch.setattr(planning, "GAMMAS", (gamma,))
    people = replace(POPULATIONS["three labels"], also=frozenset({(0, 1), (1, 0), (2, 0)}))
    assert people.accuracy.tolist() != POPULATIONS["three labels"].accuracy.tolist()
    tree = Tree(people, pool=True, depth=2)
    tree.grow(people.learner("one-shot", True, eps=0.1, delta=0.5, passive=False))
    assert tree.wrong <= 0.5


@pytest.mark.parametrize("gamma", [0.2, 1.0])
@pytest.mark.parametrize("name", ["wide and narrow items", "abstainers"])
@pytest.mark.parametrize("pool", [True, False], ids=["pool", "stream"])
def test_conceded_rounds(name: str, gamma: float, pool: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Items with more labels than half of the items have are conceded to the rival: wealth shrinks all the more."""
    monkeypatch.setattr(planning, "GAMMAS", (gamma,))
    monkeypatch.setattr(certified, "CONCEDED_SHARE", 5.0)
    monkeypatch.setattr(evidence, "MIN_EXCEEDING", 0.5)
    tree = Tree(POPULATIONS[name], pool, depth=2)
    tree.grow(POPULATIONS[name].learner("one-shot", pool, eps=0.1, delta=0.5, passive=False))
    assert tree.n_conceded > 0
    assert tree.wrong <= 0.5


@every_population
@pytest.mark.parametrize("protocol", ["follow-up", "labels", "passive"])
def test_exact_rounds_of_a_stream(people: Population, protocol: str) -> None:
    kind: Protocol = "labels" if protocol == "passive" else protocol  # type: ignore[assignment]
    tree = Tree(people, pool=False, depth=3)
    tree.grow(people.learner(kind, False, eps=0.1, delta=0.5, passive=protocol == "passive"))
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
    monkeypatch.setattr(certified, "MIN_EXACT_ROUNDS", n_rounds)
    kind: Protocol = "labels" if protocol == "passive" else protocol  # type: ignore[assignment]
    tree = Tree(people, pool=True, depth=people.n_items, n_rounds=n_rounds)
    delta = 0.8
    tree.grow(people.learner(kind, True, eps=1e-6, delta=delta, passive=protocol == "passive"))
    assert tree.wrong <= delta
    assert len(tree.survivors) > 1


#: Midpoints of cells that no boundary of the draw cuts. The guess is one of up to 4 labels and the mixture one of
#: quarters, less where some abstain: boundaries at multiples of 1/2, 1/3 and 1/4. gamma is a multiple of 1/10.
GRID = np.array(list(itertools.product(*(((np.arange(n) + 0.5) / n).tolist() for n in (12, 12, 10)))))


def law_of_labels(exploration: Exploration, said: Ints) -> Iterator[tuple[dict[int, float], dict[int, float]]]:
    """For each column of ``said`` (V, m): the frequency of each label on the grid, and the propensity stated for it."""
    m = len(GRID)
    labels, propensities = draw_labels(exploration, np.repeat(said, m, axis=1), np.tile(GRID, (said.shape[1], 1)))
    for label, propensity in zip(labels.reshape(-1, m), propensities.reshape(-1, m), strict=True):
        values, first, counts = np.unique(label, return_index=True, return_counts=True)
        stated = dict(zip(values.tolist(), propensity[first].tolist(), strict=True))
        assert (propensity == [stated[value] for value in label.tolist()]).all()
        yield dict(zip(values.tolist(), (counts / m).tolist(), strict=True)), stated


MIXTURES = {
    "one": ([1], [1.0]),
    "quarters": ([0, 2, 3], [0.5, 0.25, 0.25]),
    "all": ([3, 1, 0, 2], [0.25, 0.25, 0.25, 0.25]),
    "with a zero": ([0, 1, 2], [0.5, 0.0, 0.5]),
}


@pytest.mark.parametrize("gamma", [0.2, 0.4, 0.7, 1.0])
@pytest.mark.parametrize("mixture", MIXTURES)
def test_propensities_are_the_law_of_the_labels(mixture: str, gamma: float) -> None:
    """For everything that four models can say of an item: frequencies are propensities, add up to one over A(x), are
    at least gamma / |A(x)|, and are the formula's."""
    rows, probabilities = MIXTURES[mixture]
    exploration = Exploration(np.array(rows), np.array(probabilities), gamma)
    cases = [*itertools.product([-1, 0, 2], repeat=4), *itertools.permutations(range(4))]
    cases = [said for said in cases if len(set(said)) > 1]
    for said, (frequency, stated) in zip(cases, law_of_labels(exploration, np.array(cases).T), strict=True):
        spoken = sorted({label for label in said if label >= 0})
        assert frequency == pytest.approx(stated, abs=1e-9)
        assert sorted(frequency) == spoken
        assert sum(stated.values()) == pytest.approx(1)
        assert min(stated.values()) >= gamma / len(spoken) - 1e-9
        mass = {a: sum(p for row, p in zip(rows, probabilities, strict=True) if said[row] == a) for a in spoken}
        speaking = sum(mass.values())
        for a in spoken:
            W = mass[a] / speaking if speaking else 1 / len(spoken)
            assert stated[a] == pytest.approx((1 - gamma) * W + gamma / len(spoken), abs=1e-9)


@every_population
def test_free_rounds_have_no_difference(people: Population) -> None:
    """Where all survivors say the same, nothing is asked, D is 0 for every pair of them, and the wealth at 0 stays."""
    free = 0
    for size in range(2, len(people.table) + 1):
        for survivors in itertools.combinations(range(len(people.table)), size):
            learner = people.learner("one-shot", True, eps=0.1, delta=0.5, passive=False)
            learner._survivors = np.array(survivors)
            learner._leader = survivors[0]
            for item in range(people.n_items):
                if len(set(people.table[list(survivors), item].tolist())) > 1:
                    continue
                free += 1
                row = [(item + 0.5) / people.n_items, 0.0, 0.0, 0.0]
                found = outcome(people, learner, [row], None)
                assert found.after._ledger.questions == []
                assert (found.D[np.ix_(survivors, survivors)] == 0).all()
                assert found.after._n_free == 1
                assert wealth_of(found.after, survivors[1], survivors[0], 0.0) == pytest.approx(1)
    assert free > 0 or people is POPULATIONS["can't tell"]
