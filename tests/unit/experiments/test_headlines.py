"""Every figure's headline, on a small version: slopes by regression, with stated tolerance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from onebit.experiments import (
    class_size,
    exploration,
    frank_wolfe,
    learning_curves,
    natarajan_cover,
    online_to_batch,
    price,
    realisable,
)
from onebit.experiments.piece import Piece, Row, column, slope, where


def rows_of(module: Any, pieces: list[Piece]) -> list[Row]:
    """Measured rows, after drawing them and putting them into words, which must not fail."""
    rows = [{**piece, **module.measure(piece)} for piece in pieces]
    module.draw(rows, Figure())
    assert all(isinstance(sentence, str) and sentence for sentence in module.findings(rows))
    return rows


def test_price_goes_to_a_constant_and_to_K_for_uniform() -> None:
    pieces = [
        {"problem": "gap", "learner": name, "eps": [eps], "runs": 100}
        for eps in (0.08, 0.04, 0.02)
        for name in price.LEARNERS
    ]
    table = price.summary(rows_of(price, pieces))
    eps = column(table, "eps")
    # Full labels need eps^-2; the price of phase 2 does not depend on eps, that of uniform guesses neither.
    assert slope(eps, column(table, "full labels")) == pytest.approx(-2, abs=0.25)
    assert slope(eps, column(table, "price, phase 2")) == pytest.approx(0, abs=0.3)
    assert slope(eps, column(table, "price, uniform")) == pytest.approx(0, abs=0.2)
    assert column(table, "price, uniform").min() > 0.7 * price.GAP_K
    assert table[-1]["price, paper"] < 0.5 * table[-1]["price, uniform"]
    assert table[0]["price, paper"] > table[0]["price, uniform"]


def test_exploration_at_fifty_labels() -> None:
    pieces = [
        {"family": family, "learner": name, "K": K, "N": 300, "items": 2000, "setting": exploration.GRIDS[name][0]}
        for family in exploration.FAMILIES
        for K in (10, 50)
        for name in exploration.GRIDS
        if name in ("uniform", "paper") or (name, K, family) == ("ILOVETOCONBANDITS", 50, "spread")
    ]
    rows = [{**piece, **exploration.measure(piece)} for piece in pieces]
    ours, uniform = (where(rows, family="spread", K=50, learner=name)[0]["variance"] for name in ("paper", "uniform"))
    assert ours <= 3
    assert uniform >= 50 / 4 * ours
    assert where(rows, family="specialists", K=50, learner="paper")[0]["variance"] <= 3
    for name, exponent, tolerance in (("uniform", 1.0, 0.01), ("paper", 0.0, 0.15)):
        mine = where(rows, family="spread", learner=name)
        assert slope(column(mine, "K"), column(mine, "variance")) == pytest.approx(exponent, abs=tolerance)
    iltcb = where(rows, family="spread", K=50, learner="ILOVETOCONBANDITS")[0]
    assert ours < iltcb["variance"] < uniform


def test_frank_wolfe_gaps_and_calls() -> None:
    pieces = [{"solver": name, "K": 4, "N": 100, "steps": 400, "seed": 0} for name in frank_wolfe.SOLVERS]
    rows = rows_of(frank_wolfe, pieces)
    assert all(row["counted"] == row["planned"] for row in rows)
    by_solver = {row["solver"]: row for row in rows}
    assert frank_wolfe.exponent(by_solver["plain"]) == pytest.approx(-1, abs=0.5)
    assert frank_wolfe.exponent(by_solver["SPIDER"]) < -0.3
    fast = frank_wolfe.calls_to(by_solver["fully corrective"], 1e-4)
    assert fast is not None
    assert fast <= 20
    spider = by_solver["SPIDER"]
    assert (np.array(spider["gaps"]) <= frank_wolfe.bound(np.array(spider["calls"]), 4, 100)).all()


def test_rounds_are_linear_in_log_n() -> None:
    pieces = [
        {"learner": name, "K": 10, "N": N, "eps": 0.05, "runs": 200, "items": 600}
        for N in (4, 16, 64, 256)
        for name in class_size.LEARNERS
    ]
    rows = rows_of(class_size, pieces)
    for name in class_size.LEARNERS:
        per_unit, _, explained = class_size.line(where(rows, learner=name))
        assert per_unit > 0
        assert explained > 0.8


def test_the_cover_keeps_its_bounds() -> None:
    pieces = [
        {"class": name, "s": s, "listed": s <= 8, "seed": 0} for name in natarajan_cover.CLASSES for s in (8, 64, 512)
    ]
    rows = rows_of(natarajan_cover, pieces)
    for row in rows:
        assert row["error"] <= row["error bound"]
        assert row["patterns"] is None or row["patterns"] <= row["growth bound"]
    for name in natarajan_cover.CLASSES:
        mine = where(rows, **{"class": name})
        # Theory has -1 up to logarithms; the largest of 300 distances is noisy.
        assert slope(column(mine, "s"), column(mine, "error")) == pytest.approx(-1, abs=0.35)


def test_only_the_realisable_price_grows_with_K() -> None:
    pieces = [
        {"case": case, "learner": name, "K": K, "runs": 800}
        for K in (5, 10, 20, 40)
        for case, names in realisable.LEARNERS.items()
        for name in names
    ]
    table = realisable.summary(rows_of(realisable, pieces))
    hard, soft = where(table, case="realisable"), where(table, case="agnostic")
    K = column(hard, "K")
    assert slope(K, column(hard, "price, never twice")) == pytest.approx(0.85, abs=0.2)
    assert slope(K, column(hard, "price, uniform")) == pytest.approx(1, abs=0.15)
    assert slope(K, column(soft, "price, uniform")) == pytest.approx(1, abs=0.15)
    assert slope(K, column(soft, "price, paper")) == pytest.approx(0.1, abs=0.15)


def test_exp4_pays_for_K_and_the_paper_does_not() -> None:
    common = {"N": 50, "items": 1000, "eps": 0.05, "rounds": 2**12}
    pieces: list[Piece] = [{"learner": "paper", "K": K, **common} for K in (2, 8)]
    pieces += [
        {"learner": "EXP4", "K": K, "setting": setting, "seed": 0, **common}
        for K in (2, 8)
        for setting in online_to_batch.GRID
    ]
    table = online_to_batch.summary(rows_of(online_to_batch, pieces))
    few, many = table
    assert many["EXP4 as published"] > few["EXP4 as published"]
    assert many["paper"] < many["EXP4 as published"]


def test_curves_fall_and_uniform_pays_for_K() -> None:
    common = {"N": 50, "items": 1000, "rounds": 1024}
    pieces: list[Piece] = [{"learner": name, "K": K, **common} for K in (2, 20) for name in learning_curves.SIMULATED]
    pieces += [
        {"learner": name, "K": K, "setting": grid[0], "seed": 0, **common}
        for K in (2, 20)
        for name, grid in learning_curves.ALL_GRIDS.items()
    ]
    rows = rows_of(learning_curves, pieces)

    def end(K: int, name: str) -> float:
        return learning_curves.curve(rows, K, name)[1][-1]

    first = learning_curves.curve(rows, 20, "full labels")[1][0]
    assert end(20, "full labels") < first
    assert end(20, "uniform") > 2 * end(2, "uniform")
    assert end(20, "full labels") == pytest.approx(end(2, "full labels"), abs=0.02)
