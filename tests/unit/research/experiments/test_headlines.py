"""Every figure's headline, on a small version, against what theory says before anything is run.

Tolerances. Where R runs decide at how many rounds a share delta = .05 of them fails, that share has a standard error of
sqrt(.05 * .95 / R). Failing is a normal tail at about three standard deviations, so that the share falls with the
logarithm of the rounds at a slope of at least .05 * 3^2 / 2 = .22: the rounds have a relative standard error of at most
sqrt(.05 * .95) / .22 / sqrt(R) < 1 / sqrt(R). All comparisons below allow four standard errors.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.optimize import brentq
from scipy.stats import binom
from scipy.stats import gamma as gamma_law

from onebit.explore.potential import potential
from onebit.learners.paper.schedule import THEOREM_GAMMA
from onebit.research.experiments import (
    class_size,
    exploration,
    frank_wolfe,
    learning_curves,
    lower_bound,
    natarajan_cover,
    online_to_batch,
    phase_one,
    planning,
    price,
    realisable,
    several_labels,
    smoothness,
)
from onebit.research.experiments.families import several_right, spread
from onebit.research.experiments.piece import Piece, Row, column, slope, where
from onebit.research.experiments.rival_runs import REPORT


def rows_of(module: Any, pieces: list[Piece]) -> list[Row]:
    """Measured rows, after drawing them and putting them into words, which must not fail."""
    rows = [{**piece, **module.measure(piece)} for piece in pieces]
    module.draw(rows, Figure())
    assert module.made(rows).endswith(".")
    assert all(isinstance(sentence, str) and sentence for sentence in module.findings(rows))
    return rows


def four_errors(n_runs: int, n_measured: int = 1) -> float:
    """Four relative standard errors of a number of rounds, or of a product or ratio of several."""
    return 4 * math.sqrt(n_measured / n_runs)


def test_price_goes_to_a_constant_and_to_K_for_uniform(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uniform guesses are full labels for one round in K, so their price is K.

    The difference of two models has variance .486 for a full label (accuracies .6 and .6 - 2 eps, independent). With a
    second moment of at most 3 for each under the paper's exploration it has one of at most 6. So the price of phase 2
    is at most 6 / .486 = 12.3 once eps is small enough for the variance to rule, whatever K is.
    """
    monkeypatch.setattr(price, "GAP_ITEMS", 500)
    n_runs = 200
    pieces = [
        {"problem": "gap", "learner": name, "eps": [eps], "runs": n_runs}
        for eps in (0.08, 0.02, 0.01)
        for name in price.LEARNERS
    ]
    table = price.summary(rows_of(price, pieces))
    eps = column(table, "eps")
    spread = math.sqrt(((np.log(eps) - np.log(eps).mean()) ** 2).sum())
    assert slope(eps, column(table, "full labels")) == pytest.approx(-2, abs=four_errors(n_runs) / spread)
    assert column(table, "price, uniform") == pytest.approx(price.GAP_K, rel=four_errors(n_runs, 2))
    assert column(table, "price, phase 2")[1:].max() < 6 / 0.486 * (1 + four_errors(n_runs, 2))
    # 8,000 rounds of phase 1 are more than uniform guesses need in all at the largest eps.
    assert table[0]["price, paper"] > table[0]["price, uniform"]
    assert table[-1]["price, paper"] < table[-1]["price, uniform"]


def test_exploration_at_fifty_labels() -> None:
    """Theorem 1's bound of 3; uniform guesses have exactly K times the best accuracy; K/4 is asked for by the plan."""
    pieces = [
        {
            "family": family,
            "learner": name,
            "K": K,
            "N": 300,
            "items": 2000,
            "setting": grid[0],
            "role": REPORT,
            "seed": 0,
        }
        for family in exploration.FAMILIES
        for K in (10, 50)
        for name, grid in exploration.GRIDS.items()
        if K == 10 or name in ("uniform", "paper")
    ]
    rows = [{**piece, **exploration.measure(piece)} for piece in pieces]
    table = exploration.summary(rows)
    assert max(column(where(rows, learner="paper"), "variance")) <= 3
    for K in (10, 50):
        at = {row["learner"]: row["max E[right/W]"] for row in where(table, family="spread", K=K)}
        assert at["uniform"] == pytest.approx(0.9 * K)
        assert at["uniform"] >= K / 4 * at["paper"]
    only_ten = where(rows, K=10)
    exploration.draw(only_ten, Figure())
    assert all(exploration.findings(only_ten))


def test_frank_wolfe_gaps_and_calls() -> None:
    """Theorem 3 bounds SPIDER; 6.75 beta D^2 / (t + 2) the least gap of the plain method (Jaggi 2013, Theorem 2).

    That the fully corrective one takes 5 to 20 calls with ten hypotheses from each is what a prototype needed before
    this was written; with one from each, as the others have, it takes more, and never fewer.
    """
    K, n_steps = 4, 400
    pieces = [{"solver": name, "K": K, "N": 100, "steps": n_steps, "seed": 0} for name in frank_wolfe.SOLVERS]
    rows = rows_of(frank_wolfe, pieces)
    assert all(row["counted"] == row["planned"] for row in rows)
    by_solver = {row["solver"]: row for row in rows}
    spider, plain = by_solver["SPIDER"], by_solver["plain"]
    assert (np.array(spider["gaps"]) <= frank_wolfe.bound(np.array(spider["calls"]), K, 100)).all()
    least = np.minimum.accumulate(plain["gaps"])
    assert (least <= 6.75 * (K / THEOREM_GAMMA) ** 2 * 4 / (np.array(plain["calls"]) + 1)).all()
    fast = frank_wolfe.calls_to(by_solver["fully corrective"], 1e-4)
    assert fast is not None
    assert fast <= 40
    ten_a_call = frank_wolfe.calls_to(by_solver[frank_wolfe.TEN], 1e-4)
    assert ten_a_call is not None
    assert ten_a_call <= min(20, fast)
    assert frank_wolfe.calls_to(spider, 1e-4) is None
    assert frank_wolfe.calls_to(plain, 1e-4) is None


def test_rounds_grow_as_log_n_as_predicted() -> None:
    """Full labels need what the normal approximation predicts, uniform guesses K times that.

    The approximation is good to a few per cent; a tenth is allowed for it. Between N = 4 and 256 it is a line in ln N,
    up to a twentieth of its range. The paper's learner needs at most 12.3 times as much (see the price above).
    """
    n_runs, K, sizes = 400, 10, (4, 16, 64, 256)
    pieces = [
        {"learner": name, "K": K, "N": N, "eps": 0.05, "runs": n_runs, "items": 400}
        for N in sizes
        for name in class_size.LEARNERS
    ]
    table = class_size.summary(rows_of(class_size, pieces))
    predicted = column(table, "full labels, predicted")
    line = np.polyfit(np.log(sizes), predicted, 1)
    assert np.abs(np.polyval(line, np.log(sizes)) - predicted).max() < 0.05 * np.ptp(predicted)
    allowed = four_errors(n_runs) + 0.1
    assert column(table, "full labels") == pytest.approx(predicted, rel=allowed)
    assert column(table, "uniform") == pytest.approx(K * predicted, rel=allowed)
    assert (column(table, "paper") < 6 / 0.486 * predicted * (1 + allowed)).all()
    assert np.ptp(predicted) > 2 * allowed * predicted.mean()


def test_the_cover_keeps_its_bounds() -> None:
    """Who stands for a member differs from it between neighbouring points only, in at most two gaps.

    Of s uniform points some gap is above ln((s + 1) / .001) / s with probability below .001. And of 300 members some
    cut is further from the next point than 1 / (2 s), the half of a mean gap, except with probability 2^-300.
    """
    pieces = [
        {"class": name, "s": s, "listed": s <= 8, "seed": 0} for name in natarajan_cover.CLASSES for s in (8, 64, 512)
    ]
    for row in rows_of(natarajan_cover, pieces):
        assert row["error"] <= row["error bound"]
        assert row["patterns"] is None or row["patterns"] <= row["growth bound"]
        assert row["error"] <= 2 * math.log((row["s"] + 1) / 0.001) / row["s"]
        assert row["error"] >= 0.5 / row["s"]


def completion_quantile(visits: np.ndarray) -> float:
    """The .95 quantile of the round in which each of ten points has had its visits, for equally likely ``visits``.

    Rounds come at the times of a Poisson process, so that the points are independent: the n-th visit to a point takes a
    gamma distributed time of mean 10 n.
    """
    points = realisable.N_POINTS

    def missing(t: float) -> float:
        return float(gamma_law.cdf(t / points, visits).mean() ** points - (1 - realisable.DELTA))

    return float(brentq(missing, 1, 1e6))


def test_only_the_realisable_price_grows_with_K() -> None:
    """Against exact laws: with guesses that never repeat, the visits needed are uniform on 1, ..., K.

    (The last label is known without asking.)

    In the agnostic case uniform guesses are full labels for one round in K. Phase 1 finds the law of the labels, so the
    paper's W is p/2 + 1/(2K) for the two likely ones, and a difference has p / W + p' / W' times the second moment of a
    full label: never above 4. Phase 1 knows p from 20 labels a point or more, which costs a few per cent: .1 is
    allowed. The quantile of the realisable rounds has a relative standard error of at most .61 / sqrt(R): its share of
    unfinished runs falls with the logarithm of the rounds at a slope of at least .36.
    """
    n_runs, sizes = 1500, (5, 10, 40)
    pieces = [
        {"case": case, "learner": name, "K": K, "runs": n_runs}
        for K in sizes
        for case, names in realisable.LEARNERS.items()
        for name in names
    ]
    rows = rows_of(realisable, pieces)
    table = realisable.summary(rows)
    for K in sizes:
        never_twice = where(rows, case="realisable", learner="never twice", K=K)[0]["rounds"]
        visits = np.minimum(np.arange(1, K + 1), K - 1)
        assert never_twice == pytest.approx(completion_quantile(visits), rel=0.61 * four_errors(n_runs))
        soft = where(table, case="agnostic", K=K)[0]
        assert soft["price, uniform"] == pytest.approx(K, rel=four_errors(n_runs, 2))
        p = 0.5 + np.array([1, -1]) * realisable.GAP_OF_LABELS / 2
        expected = float((p / (p / 2 + 0.5 / K)).sum())
        assert expected < 4
        assert soft["price, paper"] == pytest.approx(expected, rel=four_errors(n_runs, 2) + 0.1)
    # The exact law grows with K nearly as K itself.
    laws = [completion_quantile(np.minimum(np.arange(1, K + 1), K - 1)) for K in (50, 5000)]
    assert laws[1] / laws[0] == pytest.approx(100, rel=0.25)


def test_small_regret_pays_for_K_and_a_good_draw_does_not() -> None:
    """At the rates of the regret bound a draw loses ln(N) / (rate T) = sqrt((e - 1) K ln(N) / T) and little more.

    No less, since ln E[e^z] >= E[z] in the proof of the bound and the weights end on the best; and at most the second
    term more, which is .11 of the first at K = 4 and .03 at K = 16. Four standard errors of the runs are allowed. So
    the exponent of K is 1/2. With half uniform guesses the bound is 2 sqrt(2 (e - 2) ln(N) / T) whatever K is.
    """
    common = {"N": 50, "items": 1000, "gap": 0.3, "rounds": 2**13}
    sizes, n_runs = (4, 16), 4
    exp4 = (online_to_batch.PUBLISHED, online_to_batch.TUNED, online_to_batch.HALF)
    pieces = [{"learner": name, "K": K, "runs": n_runs, **common} for K in sizes for name in exp4]
    pieces += [{"learner": "paper", "K": K, "runs": 200, **common} for K in sizes]
    table = online_to_batch.summary(rows_of(online_to_batch, pieces))
    published, theory = column(table, online_to_batch.PUBLISHED), column(table, "ln(N) / (rate T)")
    allowed = 4 * column(table, f"±, {online_to_batch.PUBLISHED}")
    assert (published + allowed > theory).all()
    assert (published - allowed < theory * (1 + np.array([0.11, 0.03]))).all()
    slack = 0.11 + np.hypot(*(allowed / published))
    assert slope(sizes, published) == pytest.approx(0.5, abs=float(slack) / math.log(4))
    bound = 2 * math.sqrt(2 * (math.e - 2) * math.log(50) / 2**13)
    assert column(table, online_to_batch.HALF).max() < bound < published[-1]
    assert column(table, "paper").max() < published.min()


def test_the_needle_takes_K_over_eps_rounds() -> None:
    """Uniform guesses find it in a geometric number of rounds of mean K / eps: ln(4) K / eps for three runs in four.

    The .75 quantile of R exponential times has a relative standard error of 1.25 / sqrt(R). The sequel fails at least
    as often as nobody said yes in either phase, so it needs no fewer rounds; and half of its rounds ask every label
    with probability at least 1 / (2 K), so it needs at most 4 ln(4) K / eps. (Without a yes one in K guesses right,
    which makes a run fail less often: the rounds are fewer by ln(1 + 1 / K) K / eps at most.) A factor of four
    bends the exponent of a regression on K = 4, 8, 16, 32, 128 by at most ln(2) sum |x| / sum x^2 = 1/2, where x is
    ln K less its mean.
    """
    n_runs = 400
    needle = [
        piece
        for piece in lower_bound.pieces(False)
        if piece["problem"] == "needle" and piece["learner"] != lower_bound.CERTIFIED
    ]
    several = [
        {"problem": "several", "learner": name, "K": 16, "s": s, "eps": eps, "runs": n_runs}
        for s, eps in ((4, 0.1), (4, lower_bound.SEVERAL_EPS), (1, lower_bound.SEVERAL_EPS))
        for name in lower_bound.LEARNERS["several"]
        if name != lower_bound.CERTIFIED
    ]
    rows = rows_of(lower_bound, [*needle, *several])
    error = 1.25 * four_errors(n_runs)
    for row in where(rows, problem="needle"):
        scale = row["K"] / row["eps"]
        if row["learner"] == "uniform":
            assert row["rounds"] == pytest.approx(math.log(4) * scale, rel=error)
        elif row["learner"] == "sequel":
            least = (math.log(4) - math.log(1 + 1 / row["K"])) * scale
            assert least * (1 - error) <= row["rounds"] <= 4 * math.log(4) * scale * (1 + error)
    at = where(lower_bound.summary(rows), problem="needle", eps=0.02)
    allowed = 0.5 + 2 * error / math.log(16)
    assert slope(column(at, "K"), column(at, "sequel")) == pytest.approx(1, abs=allowed)
    assert slope(column(at, "K"), column(at, "paper")) == pytest.approx(2, abs=0.1)


def test_the_gain_of_the_sequel_ends_where_many_labels_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """If its draws share out the 2 s labels evenly, it needs (4/3) 2 / (1 + K / (2 s)) times what uniform guesses need.

    They do so up to what Hedge has not yet evened out, for which a factor of 1.6 is allowed; and four standard errors
    of both. To tell means apart takes 1 / eps^2 rounds: the exponent is -2 by the normal approximation, whose variance
    changes by a tenth between the two eps.
    """
    monkeypatch.setattr(lower_bound, "N_MIXTURES", 3)
    n_runs, K, eps = 400, 32, 0.03
    pieces = [
        {"problem": "several", "learner": name, "K": K, "s": s, "eps": e, "runs": n_runs}
        for s, e in ((1, eps), (4, eps), (4, 2 * eps), (16, eps))
        for name in ("uniform", "sequel")
    ]
    needed = {(p["learner"], p["s"], p["eps"]): lower_bound.measure(p)["rounds"] for p in pieces}
    error = four_errors(n_runs, 2)
    for s in (1, 4, 16):
        ratio = needed["sequel", s, eps] / needed["uniform", s, eps]
        expected = lower_bound.predicted_ratio(K, s)
        assert (1 - error) * expected <= ratio <= 1.6 * (1 + error) * expected
    assert lower_bound.predicted_ratio(K, 1) < 0.2
    assert lower_bound.predicted_ratio(K, 16) > 1
    exponent = math.log(needed["uniform", 4, eps] / needed["uniform", 4, 2 * eps]) / math.log(2)
    assert exponent == pytest.approx(2, abs=error / math.log(2) + 0.15)


def test_the_certified_learner_needs_K_log_K_over_eps_on_the_needle() -> None:
    """It must rule out K^2 - 1 rivals, each with a share of delta: order (K / eps) log(K^2 / delta) rounds.

    A certificate that three runs in four have is out of reach before the label was found: who never repeats a label has
    found it after v visits of the context with probability v / K, so nobody needs fewer than 3/4 K / eps rounds. A
    factor of two, for what is learned on the way, bends the exponent of K by ln(2) / ln(4) = 1/2 and that of 1 / eps by
    as much. Of several right labels, order 1 / eps^2 + K / eps rounds: the exponent of 1 / eps is between 1 and 2, with
    the same room. A certificate is wrong with probability delta at most.
    """
    delta, n_runs = lower_bound.DELTA["needle"], 12
    certified = {"learner": lower_bound.CERTIFIED, "runs": n_runs}
    at = [(4, 0.2), (16, 0.2), (4, 0.05)]
    needle = [lower_bound.measure({"problem": "needle", "K": K, "eps": eps, **certified}) for K, eps in at]
    scale = [math.log(K**2 / delta) * K / eps for K, eps in at]
    several = [
        lower_bound.measure({"problem": "several", "K": 32, "s": 1, "eps": eps, **certified}) for eps in (0.2, 0.05)
    ]
    for (K, eps), row in zip(at, needle, strict=True):
        assert row["rounds"] >= 0.75 * K / eps

    def room(one: Row, other: Row) -> float:
        return 0.5 + 4 * math.hypot(*(row["error"] / row["rounds"] for row in (one, other))) / math.log(4)

    def exponent(one: Row, other: Row, scales: float = 4.0) -> float:
        return math.log(other["rounds"] / one["rounds"]) / math.log(scales)

    few, many, small_eps = needle
    # Rounds are held against K log(K^2 / delta) / eps, so 1 is expected of both.
    assert exponent(few, many, scale[1] / scale[0]) == pytest.approx(1, abs=room(few, many))
    assert exponent(few, small_eps, scale[2] / scale[0]) == pytest.approx(1, abs=room(few, small_eps))
    assert 1 - room(*several) <= exponent(several[0], several[1]) <= 2 + room(*several)
    assert sum(row["wrong"] for row in needle) <= binom.ppf(0.999, 3 * n_runs, delta)
    assert sum(row["wrong"] for row in several) <= binom.ppf(0.999, 2 * n_runs, lower_bound.DELTA["several"])


def test_the_gain_ends_where_about_half_of_the_labels_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variances, which are exact, and the rounds of uniform guesses, against what the module predicts.

    Uniform guesses have a variance of K times the best accuracy, whatever s is. The paper's is at most s / (1 - gamma)
    where the potential is minimal, by its first-order condition; half as much again is allowed for the sample, as
    Theorem 1 allows 3 for 2. Beside uniform guesses it is as predicted up to a factor of 1.5, for shares that are not
    even. The difference of two models has (p + p' - 2 p p' / s) K times the second moment under uniform guesses, so
    they need as many times the rounds of full labels; a tenth is allowed for rivals that are not independent.
    """
    monkeypatch.setattr(several_labels, "N_MIXTURES", 3)
    n_runs, K, eps = 400, 16, 0.05
    common = {"K": K, "N": 20, "items": 400, "eps": eps}
    pieces = [
        {"learner": name, "s": s, **common, "runs": 2 if name == several_labels.CERTIFIED else n_runs}
        for s in (1, 4, 15)
        for name in several_labels.LEARNERS
        if name != several_labels.CERTIFIED or s == 1
    ]
    rows = rows_of(several_labels, pieces)
    best, other = several_labels.BEST, several_labels.BEST - 2 * eps
    for row in several_labels.summary(rows):
        s = row["s"]
        assert row["variance, uniform"] == pytest.approx(K * best)
        assert row["variance, paper"] <= 3 * s
        for name in ("paper", "sequel"):
            ratio = row[f"variance, {name}"] / row["variance, uniform"]
            assert ratio / several_labels.predicted_ratio(K, s, other) == pytest.approx(1, rel=0.5)
        moments = several_labels.second_moment(s, best, other) / several_labels.second_moment(1, best, other)
        assert row["uniform"] / row["full labels"] == pytest.approx(K * moments, rel=four_errors(n_runs, 2) + 0.1)
    first, *_, last = several_labels.summary(rows)
    assert first["paper, phase 2"] < 0.5 * first["uniform"]
    assert last["variance, paper"] > last["variance, uniform"]


def test_several_right_labels_are_what_they_are_called() -> None:
    """s different labels of each item are right; accuracies are the family's; a pair is an item and a label of it."""
    problem = several_right(8, 6, 3, 0.1, 200)
    assert all(len(set(labels)) == 3 for labels in problem.right_labels.tolist())
    assert problem.right.mean(axis=1) == pytest.approx([0.6] + [0.4] * 5)
    assert problem.pairs.truth.size == 600
    assert problem.pairs.accuracy * 3 == pytest.approx(problem.right.mean(axis=1))
    # Who is right gives each of the three alike: 80 or more of 200, a third each up to four standard errors.
    given = problem.right_labels == problem.predictions[..., None]
    share = given.sum(axis=(0, 1)) / given.sum()
    assert share == pytest.approx(np.full(3, 1 / 3), abs=4 * math.sqrt(2 / 9 / given.sum()))


def test_from_few_answers_hedge_explores_better() -> None:
    """On specialists, of whom a tenth is good on each part of the items.

    Of 20 yeses each part has two in the mean and none with probability .9^20 = .12, so one or two of the ten parts are
    forgotten by who fits the yeses: there the right label has W = gamma / K, or little more, and the variance is twice
    what it could be. With 2,500 yeses no part is short of any, and both are within the paper's bound of 3.
    """
    rows = rows_of(phase_one, [{"problem": "specialists", "confirmed": n, "seeds": 3} for n in (20, 2500)])
    few, many = phase_one.summary(rows)
    assert few["sequel"] < 0.8 * few["paper"]
    assert max(many["sequel"], many["paper"]) < min(3, many["uniform"])
    assert many["sequel"] == pytest.approx(many["paper"], rel=0.2)


def test_needs_plan_for_fewer_answers_than_a_mixture_for_all() -> None:
    """The same seeds for all plans; the differences of eight runs are above 0 by four of their standard errors.

    A certificate may be wrong with probability .05; that more than four of 24 are has probability below .02.
    """
    plans = (planning.NEEDS, planning.POTENTIAL, planning.HEDGE)
    pieces = [{"problem": "spread", "plan": plan, "eps": 0.05, "seeds": 8} for plan in planning.PLANS]
    rows = [row for row in rows_of(planning, pieces) if row["plan"] in plans]
    needs, *others = (np.array(row["answers"]) for row in rows)
    for other in others:
        more = other - needs
        assert more.mean() > 4 * more.std(ddof=1) / math.sqrt(more.size)
    assert sum(row["wrong"] for row in rows) <= 4


def test_the_average_law_of_hedge_by_hand() -> None:
    """Two hypotheses, K = 2, gamma = 1/2, so rate 1/4; of ten rounds number 4 has a yes for the first alone.

    Before it the law is even, so four of ten rounds cover the label with 1/2: .2. The yes gains 1 / (1/4 + .2 / 2), and
    the law of the five rounds after it has odds exp(rate * gain).
    """
    right = np.array([[True], [False]])
    found = planning.hedge_average(right, np.ones(1), np.array([4]), 10, 2)
    odds = math.exp(0.25 / 0.35)
    assert found == pytest.approx([0.25 + 0.5 * odds / (1 + odds), 0.25 + 0.5 / (1 + odds)])
    # Half the weight, as of a yes that was twice as likely as a uniform guess, gains half.
    odds = math.exp(0.125 / 0.35)
    found = planning.hedge_average(right, np.full(1, 0.5), np.array([4]), 10, 2)
    assert found[0] == pytest.approx(0.25 + 0.5 * odds / (1 + odds))


def test_the_potential_is_smooth_in_L1_whatever_N_is() -> None:
    """Exact: against the Hessian entry by entry, by second differences of Phi, and by its bounds.

    The largest entry is on the diagonal, since |H_gh| <= sqrt(H_gg H_hh). The largest eigenvalue is at least the mean
    entry times N: with accuracies around .6 two are right together on more than a third of the items.
    """
    rows = rows_of(
        smoothness, [{"family": family, "N": N, "K": 10} for family in smoothness.FAMILIES for N in (10, 200)]
    )
    for row in rows:
        for name in smoothness.POINTS:
            assert row[f"L1, {name}"] <= smoothness.bound()
            assert row[f"L1, {name}"] <= row[f"L2, {name}"] <= row["N"] * row[f"L1, {name}"]
    few, many = where(rows, family="spread")
    assert many["L1, even mixture"] < 1.5 * few["L1, even mixture"]
    assert many["L2, even mixture"] > 10 * few["L2, even mixture"]
    problem, P = spread(3, 4, 50), np.array([0.1, 0.2, 0.3, 0.4])

    def phi(point: np.ndarray) -> float:
        return potential(point @ problem.right, smoothness.GAMMA, 3)

    h, e = 1e-4, np.eye(4)
    hessian = np.array(
        [[(phi(P + h * (a + b)) - phi(P + h * a) - phi(P + h * b) + phi(P)) / h**2 for b in e] for a in e]
    )
    found = smoothness.smoothness(problem, P)
    assert found == pytest.approx((np.abs(hessian).max(), np.linalg.eigvalsh(hessian).max()), rel=0.01)


def test_uniform_guesses_are_full_labels_for_one_round_in_K(monkeypatch: pytest.MonkeyPatch) -> None:
    """So their mean excess after K T rounds is that of full labels after T, up to four standard errors of both."""
    monkeypatch.setattr(learning_curves, "N_TUNING", 1)
    K, common = 8, {"N": 50, "items": 1000, "rounds": 4096}
    pieces: list[Piece] = [{"learner": name, "K": K, "runs": 200, **common} for name in learning_curves.SIMULATED]
    pieces += [{"learner": name, "K": K, "runs": 2, **common} for name in learning_curves.ALL_GRIDS]
    rows = rows_of(learning_curves, pieces)

    def at(learner: str, n_rounds: int) -> tuple[float, float]:
        row = where(rows, learner=learner)[0]
        i = row["at"].index(n_rounds)
        return row["excess"][i], row["standard error"][i]

    for n_rounds in (256, 512):
        (full, full_error), (uniform, uniform_error) = at("full labels", n_rounds), at("uniform", K * n_rounds)
        assert uniform == pytest.approx(full, abs=4 * math.hypot(full_error, uniform_error))
        assert at("uniform", n_rounds)[0] > full + 4 * math.hypot(full_error, uniform_error)
