"""Panels on tiny pools, exactly: every order of the items, and every verdict where raters throw coins.

The mean of a pair's wealth over all orders is at most 1 after any number of items, for every threshold up to the gap;
the orders in which it ever reaches 1/a are at most a share a; and the orders in which a run says something wrong,
whatever its plan, are at most a share delta. So is it on a stream, over all sequences of draws.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from tests.panels import Bools, Floats, Ints, Panel

from onebit.estimate.panels import PanelWealth
from onebit.learners.certified import PanelLearner, constants
from onebit.learners.certified.panel_evidence import PanelEvidence
from onebit.records import Answer

CLOSE = 1e-9


def panel(rows: list[list[int]], yes: list[str]) -> Panel:
    """``yes`` has the outputs of each item that are accepted, as digits."""
    n_outputs = max(2, max(map(max, rows)) + 1)
    accepted = [[str(output) in each for output in range(n_outputs)] for each in yes]
    return Panel(np.array(rows), np.array(accepted, dtype=np.bool_))


POOLS = {
    "two models": panel([[0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 0]], ["0", "0", "0", "1", "1", "0"]),
    "several right": panel([[0, 1, 0, 2, 1], [1, 1, 2, 0, 0], [2, 0, 2, 2, 1]], ["01", "1", "02", "2", ""]),
    "all right": panel([[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2]], ["012"] * 4),
    "none right": panel([[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2]], [""] * 4),
    "own words": panel([[1, 1, 1, 2, 2], [0, 0, 3, 0, 3], [0, 3, 0, 3, 0]], ["01", "01", "01", "0", "0"]),
    "abstainers": panel([[0, -1, 0, -1, 1], [0, 0, 1, -1, 0], [-1, 1, 1, -1, 1]], ["0", "1", "1", "", "01"]),
    "a close third": panel([[0, 0, 0, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 0, 2]], ["1", "01", "0", "0", "2"]),
    "ties": panel([[0, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]], ["0", "0", "0", "0"]),
}
every_pool = pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS.keys())


def orders(pool: Panel) -> Iterator[tuple[Ints, int]]:
    """All orders of the items, and how many are alike: items with the same outputs and verdicts are interchangeable."""
    kinds = [(*pool.said[:, item], *pool.yes[item]) for item in range(pool.n_items)]
    first = [kinds.index(kind) for kind in kinds]
    alike = Counter(tuple(first[item] for item in order) for order in itertools.permutations(range(pool.n_items)))
    for found, n_alike in alike.items():
        left = {kind: [item for item in range(pool.n_items) if first[item] == kind] for kind in set(first)}
        yield np.array([left[kind].pop() for kind in found]), n_alike


@cache
def wealth_after(D: tuple[int, ...], n_differ: int, n_items: int, c: float) -> float:
    """Of a pair whose differences were these, on the items on which the two differ; a stream has no ``n_items``."""
    said = np.array([[1], [0]]).repeat(len(D), axis=1)
    verdict = np.array([[d > 0 for d in D], [d < 0 for d in D]], dtype=np.int8).reshape(2, len(D))
    counted = PanelWealth(said, verdict, n_items or None, lambda _: np.array([n_differ, 0]))
    return math.exp(counted.log_wealth(1, c)[0])


def differences(pool: Panel, order: Ints, h: int, g: int) -> tuple[int, ...]:
    """D on the items on which the two differ, in order."""
    accepted = pool.accepted[:, order].astype(np.int64)
    D = (accepted[h] - accepted[g])[pool.said[h, order] != pool.said[g, order]]
    return tuple(D.tolist())


def along(pool: Panel, order: Ints, h: int, g: int, c: float) -> list[float]:
    """The wealth of a pair at every beginning of an order; where the two say the same it stays as it is."""
    D = differences(pool, order, h, g)
    return [wealth_after(D[:n], len(D), pool.n_items, c) for n in range(len(D) + 1)]


def gaps(pool: Panel) -> Iterator[tuple[int, int, float]]:
    """Pairs (h, g) of which h is not behind, and by how much it is ahead: a hair less, for rounding."""
    acceptance = pool.acceptance
    for h, g in itertools.permutations(range(len(acceptance)), 2):
        if acceptance[h] >= acceptance[g]:
            yield h, g, max(float(acceptance[h] - acceptance[g]) - 1e-13, 0.0)


@every_pool
def test_wealth_is_at_most_one_in_the_mean_and_seldom_large(pool: Panel) -> None:
    """For every pair, at every beginning and threshold; and above the gap all is known in the end."""
    found = list(orders(pool))
    share = np.array([n_alike for _, n_alike in found]) / math.factorial(pool.n_items)
    for h, g, gap in gaps(pool):
        for c in (0.0, gap / 2, gap):
            # (orders, beginnings)
            wealth = np.array([along(pool, order, h, g, c) for order, _ in found])
            assert (share @ wealth <= 1 + CLOSE).all()
            highest = wealth.max(axis=1)
            for a in (0.9, 0.5, 0.3, 0.1):
                assert share[highest >= 1 / a].sum() <= a
        assert math.isinf(along(pool, found[0][0], h, g, gap + 0.01)[-1])


def with_order(learner: PanelLearner, order: Ints) -> None:
    """Before the first question: the items of the learner's pool in this order."""
    assert learner._pool_said is not None
    learner._items = order
    learner._evidence = PanelEvidence(learner._pool_said[:, order], is_pool=True)


def says_wrong(learner: PanelLearner, acceptance: Floats) -> bool:
    """Whether anything that was said at any closing, or in the end, is not so."""
    excess = acceptance.max() - acceptance
    result = learner.result
    assert result.achieved_eps is not None
    told = [(closing.leader, closing.survivors, closing.certified_eps) for closing in learner.closings]
    told.append((result.chosen, result.survivors, result.achieved_eps))
    return any(excess[leader] > eps + CLOSE or excess[list(left)].min() > CLOSE for leader, left, eps in told)


def judged(learner: PanelLearner, yes: Bools) -> PanelLearner:
    while isinstance(asked := learner.ask(100), tuple):
        for question in asked:
            learner.tell(question.id, Answer.YES if yes[question.item, question.label] else Answer.NO)
    return learner


def share_of_wrong_runs(pool: Panel, eps: float, delta: float) -> float:
    """Of all orders, in which the learner says something wrong."""
    n_wrong = 0
    for order, n_alike in orders(pool):
        learner = pool.learner(eps=eps, delta=delta, seed=0)
        with_order(learner, order)
        n_wrong += n_alike * says_wrong(judged(learner, pool.yes), pool.acceptance)
    return n_wrong / math.factorial(pool.n_items)


@every_pool
@pytest.mark.parametrize(("delta", "eps", "n_rounds"), [(0.3, 0.1, 1), (0.8, 0.1, 1), (0.8, 0.3, 2)])
def test_a_run_is_wrong_in_at_most_delta_of_all_orders(
    pool: Panel, delta: float, eps: float, n_rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "MIN_EXACT_ROUNDS", n_rounds)
    assert share_of_wrong_runs(pool, eps, delta) <= delta


def test_some_runs_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the test above could fail."""
    monkeypatch.setattr(constants, "MIN_EXACT_ROUNDS", 1)
    assert 0 < share_of_wrong_runs(POOLS["two models"], 0.1, 0.8) <= 0.8


def test_an_order_that_is_chosen_is_wrong_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: of all orders the worst, which somebody chose who knew the verdicts."""
    monkeypatch.setattr(constants, "MIN_EXACT_ROUNDS", 1)
    pool = POOLS["two models"]
    learner = pool.learner(eps=0.1, delta=0.8, seed=0)
    with_order(learner, np.argsort(-pool.accepted[1].astype(np.int64) + pool.accepted[0], kind="stable"))
    assert says_wrong(judged(learner, pool.yes), pool.acceptance)


@every_pool
@pytest.mark.parametrize("delta", [0.3, 0.8])
def test_who_knows_everything_is_wrong_in_at_most_delta_of_all_orders(pool: Panel, delta: float) -> None:
    """Somebody who knows all verdicts chooses, in each order, the leader and how far each pair is judged.

    A statement of theirs is wrong only if the wealth of the best against some rival at their gap reaches its threshold
    at some beginning, which need not be a stopping time.
    """
    best = int(np.argmax(pool.acceptance))
    needed = (len(pool.said) - 1) / delta
    n_wrong = 0
    for order, n_alike in orders(pool):
        highest = [max(along(pool, order, h, g, gap)) for h, g, gap in gaps(pool) if h == best]
        n_wrong += n_alike * (max(highest) >= needed)
    assert n_wrong <= delta * math.factorial(pool.n_items)


def test_unknown_verdicts_that_are_skipped_are_found_out() -> None:
    """The twin of "the longest beginning": what is known depends on what would be said.

    Items that the best would win are not judged. A beginning that ends before one is no stopping time, and yet it is
    large no oftener than Ville's inequality allows; what is left when such items are skipped is always large.
    """
    pool, a = POOLS["two models"], 0.7
    n_large = Counter[str]()
    for order, n_alike in orders(pool):
        D = differences(pool, order, 0, 1)
        beginning = tuple(itertools.takewhile(lambda d: d <= 0, D))
        for name, counted in (("beginning", beginning), ("skipped", tuple(d for d in D if d <= 0))):
            n_large[name] += n_alike * (wealth_after(counted, len(D), pool.n_items, 0.0) >= 1 / a)
    assert 0 < n_large["beginning"] <= a * math.factorial(pool.n_items)
    assert n_large["skipped"] == math.factorial(pool.n_items)


@pytest.mark.parametrize("name", ["several right", "abstainers", "ties"])
def test_wealth_of_a_stream_is_one_in_the_mean_at_the_gap(name: str) -> None:
    """Over all sequences of three draws: where the gap is c the wealth is fair, and below it loses."""
    pool = POOLS[name]
    for h, g, gap in gaps(pool):
        mean = {}
        for c in (0.0, gap):
            # Unlike on a pool, items on which the two say the same are rounds, with D = 0.
            D = pool.accepted[h].astype(np.int64) - pool.accepted[g]
            wealth = [wealth_after(draws, 0, 0, c) for draws in itertools.product(D.tolist(), repeat=3)]
            mean[c] = float(np.mean(wealth))
        assert max(mean.values()) <= 1 + CLOSE
        assert mean[gap] == pytest.approx(1, abs=1e-9)


def test_raters_who_throw_coins_are_one_table_for_each_way_they_fall(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table of verdicts that coins can make has its own share of wrong runs, and each is at most delta."""
    monkeypatch.setattr(constants, "MIN_EXACT_ROUNDS", 1)
    said = np.array([[0, 0, 0], [1, 1, 1]])
    for coins in itertools.product([False, True], repeat=6):
        assert share_of_wrong_runs(Panel(said, np.array(coins).reshape(3, 2)), eps=0.2, delta=0.6) <= 0.6
