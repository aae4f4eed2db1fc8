"""A setting is picked on runs that are not reported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onebit.research.experiments import learning_curves, online_to_batch
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


def test_every_setting_has_runs_to_pick_by_and_others_to_report() -> None:
    pieces = [piece for full in (False, True) for piece in EXPERIMENTS["exploration"].pieces(full)]
    kinds: dict[str, set[str]] = {}
    for piece in pieces:
        case = {key: value for key, value in piece.items() if key not in ("seed", "role")}
        kinds.setdefault(key_of(case), set()).add(piece["role"])
    # A grid of one setting needs no tuning.
    assert {TUNING, REPORT} in kinds.values()
    assert all(REPORT in roles for roles in kinds.values())


@pytest.mark.parametrize("module", [learning_curves, online_to_batch])
def test_a_setting_is_picked_on_runs_that_are_not_reported(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In tuning runs the last setting is best: it is picked, and what its other runs found is shown."""
    tuned = {learning_curves: "EXP4", online_to_batch: online_to_batch.TUNED}[module]
    grid = GRIDS["EXP4"] if module is learning_curves else online_to_batch.GRID

    def one_run(*given: Any) -> list[float]:
        setting, role = given[-3:-1]
        if role == TUNING:
            return [0.1 if setting == grid[-1] else 0.5] * 3
        return [0.7] * 3

    monkeypatch.setattr(module, "_one_run", one_run)
    piece = {"learner": tuned, "K": 3, "N": 8, "items": 60, "rounds": 1024, "runs": 2, "gap": 0.2}
    row = module.measure(piece)
    assert row["setting"] == grid[-1]
    assert np.ravel(row["excess"])[0] == pytest.approx(0.7)


def test_every_rival_of_the_grids_runs_and_tells_its_leaders() -> None:
    problem = spread(3, 8, 60)
    for name, grid in GRIDS.items():
        found = dict(leaders(make(name, grid[-1], problem, 64, seed=0), problem, lambda n: n in (32, 64)))
        assert set(found) == {32, 64}
        assert all(np.isin(h, np.arange(8)) for h in found.values())
