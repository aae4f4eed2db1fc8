"""Wealth against the document's formulas written out round by round, and what every bettor must keep: its stake."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

from onebit.estimate import betting
from onebit.estimate.betting import BETS, CAP, Wealth, stakes, usual_bet
from onebit.estimate.independent_wealth import IndependentWealth, Rounds, leader_guess, rival_guess
from onebit.estimate.pool_wealth import PoolWealth

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
seeds = st.integers(0, 10**6)
thresholds = st.sampled_from([0.0, 0.01, 0.3, 1.0])
#: As the document has it, step 3.
BENT_TO = 0.9


@dataclass(frozen=True)
class Round:
    """A round: which output each hypothesis gives, and for each output q and the guesses for a rival and the leader."""

    output_of: list[int]
    q: list[float]
    for_rival: list[float]
    for_leader: list[float]
    asked: int = -1
    z: int = 0

    def difference(self, h: int, g: int, bet: float) -> float:
        """D(h, g) = X(h) - X(g) by steps 2 and 3, with the guesses bent to the bet."""
        a, b = self.output_of[h], self.output_of[g]
        if a == b:
            return 0.0
        B = BENT_TO / bet
        m_h, m_g = self.for_rival[a], self.for_leader[b]
        if 1 / self.q[a] > B:
            m_h = max(m_h, (1 / self.q[a] - B) / (1 / self.q[a] - 1))
        if 1 / self.q[b] > B:
            m_g = min(m_g, (B - 1) / (1 / self.q[b] - 1))
        return self._X(a, m_h) - self._X(b, m_g)

    def _X(self, output: int, m: float) -> float:
        return m + (self.z - m) / self.q[output] if self.asked == output else m


@dataclass(frozen=True)
class Epoch:
    rounds: list[Round]
    n_nil: int


KINDS = ("asked", "asked", "some known", "all known", "can't tell")


def random_round(rng: np.random.Generator, n_hypotheses: int, kind: str) -> Round:
    """A round of up to four outputs, the last an abstention in half of them; propensities go down to 1e-3 and less."""
    n_labels, abstains = int(rng.integers(1, 5)), bool(rng.random() < 0.5)
    n_outputs = n_labels + abstains
    output_of = rng.integers(0, n_outputs, n_hypotheses).tolist()
    q, for_leader = np.ones(n_outputs), np.zeros(n_outputs)
    asked, z = -1, 0
    if kind == "can't tell":
        return Round(output_of, q.tolist(), for_leader.tolist(), for_leader.tolist(), asked, z)
    known = np.ones(n_labels, dtype=np.bool_)
    if kind != "all known":
        known = rng.random(n_labels) < (0.4 if kind == "some known" else 0.0)
        known[rng.integers(n_labels)] = False
    unknown = np.flatnonzero(~known)
    if unknown.size:
        q[unknown] = rng.dirichlet(np.full(unknown.size, rng.choice([0.1, 1.0, 5.0]))).clip(min=1e-5)
        asked, z = int(rng.choice(unknown)), int(rng.integers(2))
    for_leader[:n_labels] = np.where(known, rng.integers(0, 2, n_labels), rng.choice([0, 1, rng.random()], n_labels))
    for_rival = for_leader.copy()
    for_rival[n_labels:] = rng.choice([0.0, 0.1])
    return Round(output_of, q.tolist(), for_rival.tolist(), for_leader.tolist(), asked, z)


def random_epochs(rng: np.random.Generator, n_hypotheses: int) -> list[Epoch]:
    """Up to four epochs, the last possibly without a round that tells anybody apart, or without any."""
    sizes = [*rng.integers(1, 12, rng.integers(1, 4)).tolist(), int(rng.integers(0, 2))]
    return [
        Epoch([random_round(rng, n_hypotheses, rng.choice(KINDS)) for _ in range(size)], int(rng.integers(0, 5)))
        for size in sizes
    ]


def as_rounds(epoch: Epoch, n_hypotheses: int) -> Rounds:
    rounds = epoch.rounds
    return Rounds(
        rows=np.arange(n_hypotheses),
        code=np.array([r.output_of for r in rounds], dtype=np.uint8).reshape(-1, n_hypotheses).T,
        first=np.cumsum([0, *(len(r.q) for r in rounds)]),
        q=np.array([q for r in rounds for q in r.q]),
        for_rival=np.array([m for r in rounds for m in r.for_rival]),
        for_leader=np.array([m for r in rounds for m in r.for_leader]),
        asked=np.array([r.asked for r in rounds], dtype=np.int64),
        z=np.array([r.z for r in rounds], dtype=np.float64),
        n_nil=epoch.n_nil,
    )


def filled(epochs: list[Epoch], n_hypotheses: int) -> IndependentWealth:
    wealth = IndependentWealth(n_hypotheses, usual_bet=0.12)
    for epoch in epochs:
        wealth.add(as_rounds(epoch, n_hypotheses))
    return wealth


def plain_stakes(usual: float) -> list[float]:
    """Step 4: three quarters by a bell curve over log(bet), of standard deviation 1, around the usual bet."""
    near = [math.exp(-((math.log(bet) - math.log(usual)) ** 2) / 2) for bet in BETS.tolist()]
    return [0.75 * each / math.fsum(near) + 0.25 / 20 for each in near]


def plain_wealth(epochs: list[Epoch], h: int, g: int, c: float) -> float:
    """The mean over bets of the product over rounds of 1 - bet (D - c); step 4, and step 7 for the nil ones."""
    total = 0.0
    for bet, stake in zip(BETS.tolist(), plain_stakes(0.12), strict=True):
        product = 1.0
        for epoch in epochs:
            for D in [*(r.difference(h, g, bet) for r in epoch.rounds), *[0.0] * epoch.n_nil]:
                factor = 1 - bet * (D - c)
                assert factor > 0
                product *= factor
        total += stake * product
    return total


def plain_pool_wealth(pool: RandomPool, h: int, g: int, c: float) -> float:
    """Step 11 of the document, for a pair and a threshold: only items on which the two differ."""
    n_items, left = pool.said.shape[1], int((pool.said[h] != pool.said[g]).sum())
    products, S = np.ones(BETS.size), 0
    for items, right in pool.epochs:
        for t, item in enumerate(items.tolist()):
            if pool.said[h, item] == pool.said[g, item]:
                continue
            c_t, c_t_at_0 = (n_items * c - S) / left, -S / left
            bet = BETS / (1 - c_t_at_0) if c_t_at_0 < 1 else BETS
            D = int(right[h, t]) - int(right[g, t])
            factors = 1 - bet * (D - c_t)
            assert c_t > 1 or (factors > 0).all()
            products = np.full(BETS.size, math.inf) if c_t > 1 else products * factors
            S, left = S + D, left - 1
    return math.inf if n_items * c - S > left else float(products @ plain_stakes(0.35))


@dataclass(frozen=True, eq=False)
class RandomPool:
    """What hypotheses say on a pool (N, n), and epochs: items in the order drawn, with who is right there (N, k)."""

    said: Ints
    epochs: list[tuple[Ints, Bools]]

    def wealth(self, n_epochs: int | None = None) -> PoolWealth:
        wealth = PoolWealth(self.said, 0.35)
        for items, right in self.epochs[:n_epochs]:
            wealth.add(items, right)
        return wealth


def random_pool(rng: np.random.Generator, n_hypotheses: int) -> RandomPool:
    """Hypotheses that differ much in accuracy, so that some pairs come to c_t >= 1, and agree on some items."""
    n_items = int(rng.integers(4, 30))
    truth = rng.integers(0, 3, n_items)
    is_right = rng.random((n_hypotheses, n_items)) < rng.uniform(0, 1, (n_hypotheses, 1))
    said = np.where(is_right, truth, (truth + rng.integers(1, 3, is_right.shape)) % 3)
    order = rng.permutation(n_items)[: rng.integers(1, n_items + 1)]
    cuts = np.sort(rng.integers(0, order.size + 1, 3))
    epochs = [(items, said[:, items] == truth[items]) for items in np.split(order, cuts)]
    return RandomPool(said, epochs)


def test_the_bets_are_those_of_the_document() -> None:
    """Step 1: 20 values, geometric from 0.002 to 0.9."""
    assert BETS.size == 20
    assert (BETS[0], BETS[-1], CAP) == (0.002, 0.9, BENT_TO)
    assert BETS[1:] / BETS[:-1] == pytest.approx((0.9 / 0.002) ** (1 / 19))


@pytest.mark.parametrize("usual", [0.12, 0.35])
def test_the_stakes_are_those_of_the_document(usual: float) -> None:
    """Step 4: a mean, fixed before the first round, in which no bet has less than a quarter of an even share."""
    assert stakes(usual).tolist() == pytest.approx(plain_stakes(usual), rel=1e-12)
    assert stakes(usual).sum() == pytest.approx(1, abs=1e-12)
    assert stakes(usual).min() >= 0.25 / BETS.size
    assert stakes(None).tolist() == [1 / BETS.size] * BETS.size


def test_the_usual_bets_are_those_of_the_document() -> None:
    """Step 4: 1.2 sqrt(eps), or 3.5 sqrt(eps) on exact differences of a pool, and no bet above the cap."""
    assert [usual_bet(0.01, exact) for exact in (False, True)] == pytest.approx([0.12, 0.35])
    assert [usual_bet(0.25, exact) for exact in (False, True)] == pytest.approx([0.6, 0.9])


@given(seeds, thresholds)
def test_independent_wealth_is_the_product_written_out(seed: int, c: float) -> None:
    """For every leader: whoever leads, all rounds count, not only those since."""
    epochs = random_epochs(np.random.default_rng(seed), 4)
    wealth = filled(epochs, 4)
    for leader in range(4):
        expected = [plain_wealth(epochs, h, leader, c) for h in range(4)]
        assert np.exp(wealth.log_wealth(leader, c)) == pytest.approx(expected, rel=1e-9)


@given(seeds, thresholds)
def test_pool_wealth_is_the_product_written_out(seed: int, c: float) -> None:
    pool = random_pool(np.random.default_rng(seed), 4)
    wealth = pool.wealth()
    for leader in range(4):
        expected = [plain_pool_wealth(pool, h, leader, c) for h in range(4)]
        assert np.exp(wealth.log_wealth(leader, c)) == pytest.approx(expected, rel=1e-9)


def test_the_random_rounds_meet_every_case() -> None:
    """Guesses bent for the rival and for the leader, abstentions that count, rounds without a question."""
    seen: Counter[str] = Counter()
    for seed in range(60):
        for epoch in random_epochs(np.random.default_rng(seed), 4):
            seen["nothing to tell apart"] += not epoch.rounds
            for r in epoch.rounds:
                seen["nothing asked"] += r.asked < 0
                seen["credit for an abstention"] += r.for_rival != r.for_leader
                for q, m, n in zip(r.q, r.for_rival, r.for_leader, strict=True):
                    seen["bent for the rival"] += rival_guess(m, q, CAP / BETS[10]) > m
                    seen["bent for the leader"] += leader_guess(n, q, CAP / BETS[10]) < n
    assert min(seen.values()) > 10
    assert len(seen) == 5


def test_the_random_pools_meet_every_case() -> None:
    """c_t above 1, and room for no bet at c = 0, occur among the pools above; else the test would not see them."""
    above = no_room = 0
    for seed in range(60):
        pool = random_pool(np.random.default_rng(seed), 4)
        above += bool(np.isinf(pool.wealth().log_wealth(0, 0.3)).any())
        S, differ = 0, pool.said[1] != pool.said[0]
        left = int(differ.sum())
        for items, right in pool.epochs:
            for item, D in zip(items.tolist(), (right[1].astype(int) - right[0].astype(int)).tolist(), strict=True):
                no_room += differ[item] and left <= -S
                S, left = S + D, left - int(differ[item])
    assert above > 10
    assert no_room > 10


unit = st.floats(0, 1)
propensities = st.floats(1e-6, 1)


@given(unit, propensities, unit, propensities, st.sampled_from(BETS.tolist()))
def test_no_difference_takes_more_than_a_bet_has(
    rival: float, q_of_rival: float, leader: float, q_of_leader: float, bet: float
) -> None:
    """The worst cases: the rival asked and right, the leader guessed at 0; the leader asked and wrong, the rival right.

    Bent guesses are guesses: from 0 to 1, raised for a rival, lowered for a leader.
    """
    most = CAP / bet
    m_h, m_g = rival_guess(rival, q_of_rival, most), leader_guess(leader, q_of_leader, most)
    assert rival <= m_h <= 1
    assert 0 <= m_g <= leader
    slack = 1e-9 * most
    # The rival's X if asked and right; if not asked it is m_h <= 1, and so it is if known to be right.
    assert m_h + (1 - m_h) / q_of_rival <= most + slack
    # D if the leader is asked and wrong.
    assert max(m_h, 1.0) - (m_g + (0 - m_g) / q_of_leader) <= most + slack


@given(seeds)
def test_no_factor_is_below_a_tenth(seed: int) -> None:
    """The same for whole rounds: every factor of every bet is at least 1 - CAP, so the stake is never lost."""
    rng = np.random.default_rng(seed)
    c = float(rng.choice([0.0, 0.05, 0.4]))
    for _ in range(10):
        wealth = filled([Epoch([random_round(rng, 4, str(rng.choice(KINDS)))], 0)], 4)
        for leader in range(4):
            state = wealth._start()
            wealth._advance(state, 0, leader, c, np.arange(4))
            factors = np.exp(state)
            assert (factors >= 1 - CAP + BETS * c - 1e-9).all()


@given(seeds)
def test_a_pool_round_never_takes_more_than_the_cap(seed: int) -> None:
    rng = np.random.default_rng(seed)
    c = float(rng.choice([0.0, 0.05, 0.4]))
    pooled = random_pool(rng, 3)
    wealth = pooled.wealth(0)
    before = wealth.log_wealth(0, c)
    for items, right in pooled.epochs:
        for t in range(items.size):
            wealth.add(items[[t]], right[:, [t]])
            after = wealth.log_wealth(0, c)
            assert not np.isnan(after).any()
            assert (after >= before + math.log(1 - CAP) - 1e-12).all()
            before = after


@given(seeds)
def test_whatever_the_guesses_the_mean_over_what_is_asked_is_the_truth(seed: int) -> None:
    """Step 2: summed over the labels that could be asked, with their propensities, D is the true difference."""
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(2, 5))
    q = rng.dirichlet(np.full(n_labels, 0.5)).clip(min=1e-4)
    q /= q.sum()
    rival, leader, z = rng.random(n_labels).tolist(), rng.random(n_labels).tolist(), rng.integers(0, 2, n_labels)
    codes = list(range(n_labels))
    for bet in BETS.tolist():
        for h, g in [(0, 1), (1, 0)]:
            mean = sum(
                p * Round(codes, q.tolist(), rival, leader, a, int(z[a])).difference(h, g, bet)
                for a, p in enumerate(q.tolist())
            )
            assert mean == pytest.approx(z[h] - z[g], abs=1e-9)


def plain_x(r: Round, h: int) -> float:
    """X(h) with the guess as it is for a rival, bent to no bet."""
    m = r.for_rival[r.output_of[h]]
    return m + (r.z - m) / r.q[r.output_of[h]] if r.asked == r.output_of[h] else m


@given(seeds)
def test_estimates_and_moments_are_those_of_x(seed: int) -> None:
    epochs = random_epochs(np.random.default_rng(seed), 4)
    for epoch in epochs:
        expected = np.array([[plain_x(r, h) for h in range(4)] for r in epoch.rounds]).reshape(-1, 4)
        rounds = as_rounds(epoch, 4)
        x = rounds.estimates()[(rounds.first[:-1] + rounds.code).T]
        assert x == pytest.approx(expected, rel=1e-12)
        assert rounds.sums() == pytest.approx(expected.sum(axis=0), rel=1e-12)
    total, squares = filled(epochs, 4).moments(1)
    for h in range(4):
        differences = [plain_x(r, h) - plain_x(r, 1) for epoch in epochs for r in epoch.rounds]
        assert total[h] == pytest.approx(sum(differences), rel=1e-9, abs=1e-9)
        assert squares[h] == pytest.approx(sum(D**2 for D in differences), rel=1e-9, abs=1e-9)


@given(seeds)
def test_moments_of_all_pairs_are_those_of_x(seed: int) -> None:
    """Also where epochs come after the moments were looked at."""
    epochs = random_epochs(np.random.default_rng(seed), 4)
    wealth = filled(epochs[:1], 4)
    wealth.pair_moments()
    for epoch in epochs[1:]:
        wealth.add(as_rounds(epoch, 4))
    total, squares = wealth.pair_moments()
    x = np.array([[plain_x(r, h) for h in range(4)] for epoch in epochs for r in epoch.rounds]).reshape(-1, 4)
    D = x[:, :, None] - x[:, None, :]
    # Rounding counts in the size of X, which may be far above that of D.
    assert total == pytest.approx(D.sum(axis=0), abs=1e-9 * (1 + np.abs(x).sum()))
    assert squares == pytest.approx((D**2).sum(axis=0), abs=1e-9 * (1 + (x**2).sum()))


@given(seeds)
def test_moments_of_a_pool(seed: int) -> None:
    pool = random_pool(np.random.default_rng(seed), 3)
    total, squares = pool.wealth().moments(2)
    right = np.concatenate([each for _, each in pool.epochs], axis=1).astype(int)
    assert total.tolist() == (right - right[2]).sum(axis=1).tolist()
    assert squares.tolist() == (right != right[2]).sum(axis=1).tolist()


@given(seeds, st.booleans())
def test_those_that_count_no_more_change_nothing_for_the_others(seed: int, pool: bool) -> None:
    """Whoever is left has the wealth that it has among all, to the last bit; nothing is shown against the others."""
    rng = np.random.default_rng(seed)
    all_count: PoolWealth | IndependentWealth
    some: PoolWealth | IndependentWealth
    if pool:
        pooled = random_pool(rng, 4)
        all_count, some = pooled.wealth(), pooled.wealth()
    else:
        epochs = random_epochs(rng, 4)
        all_count, some = filled(epochs, 4), filled(epochs, 4)
    before = some.log_wealth(2, 0.05, keep=True)
    left = np.array([0, 2])
    some.count_only(left)
    for leader in (2, 0):
        expected = all_count.log_wealth(leader, 0.05)
        assert some.log_wealth(leader, 0.05, keep=True)[left].tolist() == expected[left].tolist()
        assert np.isneginf(some.log_wealth(leader, 0.05)[[1, 3]]).all()
        assert some.course(leader, 0.05).tolist() == all_count.course(leader, 0.05).tolist()
    assert before.tolist() == all_count.log_wealth(2, 0.05).tolist()


@given(seeds, st.booleans())
def test_kept_thresholds_go_on_where_they_were(seed: int, pool: bool) -> None:
    """However log_wealth was asked before, kept or forgotten, with leaders coming and going: as from a new start."""
    rng = np.random.default_rng(seed)
    wealth: Wealth
    if pool:
        pooled = random_pool(rng, 3)
        wealth, n_epochs = pooled.wealth(0), len(pooled.epochs)
    else:
        epochs = random_epochs(rng, 3)
        wealth, n_epochs = IndependentWealth(3, usual_bet=0.12), len(epochs)
    for n in range(1, n_epochs + 1):
        if isinstance(wealth, PoolWealth):
            wealth.add(*pooled.epochs[n - 1])
            new: Wealth = pooled.wealth(n)
        else:
            assert isinstance(wealth, IndependentWealth)
            wealth.add(as_rounds(epochs[n - 1], 3))
            new = filled(epochs[:n], 3)
        for leader in rng.integers(0, 3, 3).tolist():
            c = float(rng.choice([0.0, 0.1, 0.5]))
            keep = bool(rng.random() < 0.5)
            if rng.random() < 0.2:
                wealth.forget(c)
            if rng.random() < 0.2:
                wealth.forget_leaders(but=rng.integers(0, 3, 2).tolist())
            expected = new.log_wealth(leader, c)
            # Twice: what is kept must not be changed by what is read.
            for _ in range(2):
                assert wealth.log_wealth(leader, c, keep=keep) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_only_what_is_kept_takes_memory() -> None:
    wealth = filled(random_epochs(np.random.default_rng(0), 3), 3)
    wealth.log_wealth(0, 0.1)
    wealth.log_wealth(0, 0.2, keep=True)
    assert list(wealth._states) == [(0.2, 0)]
    wealth.forget(0.2)
    wealth.forget(0.3)
    assert not wealth._states


def test_states_are_kept_of_those_that_count_and_of_leaders_that_are_named() -> None:
    wealth = filled(random_epochs(np.random.default_rng(0), 4), 4)
    for leader in range(3):
        wealth.log_wealth(leader, 0.1, keep=True)
    wealth.forget_leaders(but=(0, 2))
    assert sorted(leader for _, leader in wealth._states) == [0, 2]
    wealth.count_only(np.array([0, 2]))
    wealth.log_wealth(0, 0.1, keep=True)
    assert wealth._states[0.1, 0][-1].shape[0] == 2


@given(seeds, st.booleans())
def test_wealth_grows_with_the_threshold(seed: int, pool: bool) -> None:
    rng = np.random.default_rng(seed)
    wealth: Wealth
    wealth = random_pool(rng, 4).wealth() if pool else filled(random_epochs(rng, 4), 4)
    levels = np.stack([wealth.log_wealth(0, c) for c in np.linspace(0, 1, 21)])
    assert (levels[1:] >= levels[:-1] - 1e-12).all()


def test_rounds_without_a_difference_add_the_threshold() -> None:
    """A free round multiplies by 1 + bet c; at c = 0 it changes nothing."""
    wealth = filled([Epoch([], 7)], 2)
    assert wealth.log_wealth(0, 0.0) == pytest.approx(0, abs=1e-14)
    assert np.exp(wealth.log_wealth(0, 0.2)) == pytest.approx((1 + BETS * 0.2) ** 7 @ plain_stakes(0.12))


def test_before_the_first_round_all_wealth_is_one() -> None:
    for wealth in (IndependentWealth(3), PoolWealth(np.repeat([[0], [1], [2]], 10, axis=1))):
        assert wealth.log_wealth(1, 0.3)[[0, 2]] == pytest.approx(0, abs=1e-14)


def test_a_gap_that_the_pool_has_no_room_for_is_impossible() -> None:
    """The two differ on eight of ten items; three of these are drawn, all tied: "ahead by .6" needs six of five."""
    said = np.array([[0] * 10, [1] * 8 + [0] * 2])
    wealth = PoolWealth(said)
    assert wealth.log_wealth(0, 0.81)[1] == np.inf
    wealth.add(np.array([0, 8, 1]), np.zeros((2, 3), dtype=np.bool_))
    assert wealth.log_wealth(0, 0.6)[1] < np.inf
    wealth.add(np.array([2]), np.zeros((2, 1), dtype=np.bool_))
    assert wealth.log_wealth(0, 0.6)[1] == np.inf
    assert wealth.log_wealth(0, 0.5)[1] < np.inf
    assert np.isinf(wealth.course(0, 0.6)[:, 1]).tolist() == [False, True]
    assert wealth.n_differ(0).tolist() == [0, 8]


@pytest.mark.parametrize("width", [1.0, 0.5])
def test_stakes_are_a_normal_law_of_log_bets_and_an_even_part(width: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """By scipy's density; also with another width, since at 1 every power of it is the same."""
    monkeypatch.setattr(betting, "NEAR_WIDTH", width)
    usual = betting.usual_bet(0.01, exact=True)
    assert usual == pytest.approx(0.35)
    density = norm(math.log(usual), width).pdf(np.log(betting.BETS))
    expected = 0.75 * density / density.sum() + 0.25 / betting.BETS.size
    assert betting.stakes(usual) == pytest.approx(expected)
    assert betting.stakes(None) == pytest.approx(np.full(betting.BETS.size, 1 / betting.BETS.size))
