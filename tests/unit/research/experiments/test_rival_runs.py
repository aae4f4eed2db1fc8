"""A setting is picked on runs that are not reported."""

from __future__ import annotations

import numpy as np

from onebit.research.experiments.catalogue import EXPERIMENTS
from onebit.research.experiments.families import spread
from onebit.research.experiments.piece import key_of, seed_of, where
from onebit.research.experiments.rival_runs import (
    GRIDS,
    REPORT,
    TUNING,
    in_words,
    leaders,
    make,
    picked,
    reported,
    runs,
)

GRID = [{"gamma": 1.0}, {"gamma": 2.0}]


def test_tuning_and_report_runs_have_seeds_of_their_own() -> None:
    pieces = runs("EXP4", GRID, 2, 3, K=5)
    assert len(where(pieces, role=TUNING)) == 4
    assert len(where(pieces, role=REPORT)) == 6
    assert len({seed_of(piece) for piece in pieces}) == 10
    assert [piece["role"] for piece in runs("certified", [{}], 2, 3)] == [REPORT] * 3


def test_picked_looks_at_tuning_runs_only() -> None:
    loss = {(1.0, TUNING): 0.2, (2.0, TUNING): 0.1, (1.0, REPORT): 0.0, (2.0, REPORT): 9.0}
    rows = [{**piece, "loss": loss[piece["setting"]["gamma"], piece["role"]]} for piece in runs("EXP4", GRID, 2, 3)]
    setting = picked(rows, lambda row: float(row["loss"]))
    assert setting == {"gamma": 2.0}
    assert [row["loss"] for row in reported(rows, setting)] == [9.0] * 3
    assert picked(where(rows, role=REPORT), lambda row: float(row["loss"])) == {"gamma": 1.0}
    assert in_words(setting) == "gamma 2"


def test_every_tuned_experiment_has_both_kinds_of_runs_of_every_setting() -> None:
    for name in ("curves", "exploration", "online-to-batch"):
        pieces = [piece for full in (False, True) for piece in EXPERIMENTS[name].pieces(full) if "role" in piece]
        kinds: dict[str, set[str]] = {}
        for piece in pieces:
            case = {key: value for key, value in piece.items() if key not in ("seed", "role")}
            kinds.setdefault(key_of(case), set()).add(piece["role"])
        # A grid of one setting, as of the certified learner, needs no tuning.
        assert {TUNING, REPORT} in kinds.values()
        assert all(REPORT in roles for roles in kinds.values())


def test_every_rival_of_the_grids_runs_and_tells_its_leaders() -> None:
    problem = spread(3, 8, 60)
    for name, grid in GRIDS.items():
        found = dict(leaders(make(name, grid[-1], problem, 64, seed=0), problem, lambda n: n in (32, 64)))
        assert set(found) == {32, 64}
        assert all(np.isin(h, np.arange(8)) for h in found.values())
