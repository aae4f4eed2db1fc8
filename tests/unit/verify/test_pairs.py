"""The best K and tiers recomputed from a log: honest ones come out the same, and what was tampered with is found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.statistical.tiers_populations import models
from tests.unit.verify.test_gate import N_LABELS, Log, played

from onebit.records import Answer, AskingProtocol, Closing, Population, Setting

AIMS: tuple[dict[str, Any], ...] = ({"top": 2}, {"tiers": True})


@pytest.mark.parametrize("aim", AIMS, ids=("top", "tiers"))
@pytest.mark.parametrize("population", ["pool", "stream"])
@pytest.mark.parametrize("protocol", ["one-shot", "follow-up", "panel", "labels"])
@pytest.mark.parametrize("seed", range(3))
def test_both_come_to_the_same(
    protocol: AskingProtocol, population: Population, seed: int, aim: dict[str, Any]
) -> None:
    rng = np.random.default_rng([seed, len(protocol), len(population)])
    n_models, n_items = int(rng.integers(3, 7)), int(rng.integers(40, 150))
    truth = rng.integers(0, N_LABELS, n_items)
    right = rng.random((n_models, n_items)) < rng.uniform(0.4, 0.9, (n_models, 1))
    said = np.where(right, truth, rng.integers(-1, N_LABELS, (n_models, n_items)))
    if seed == 1:
        said[-1] = said[0]
    setting = Setting(
        eps=float(rng.choice([0.02, 0.05, 0.2])),
        delta=0.2,
        protocol=protocol,
        population=population,
        budget=60 if seed == 2 else None,
        seed=seed,
        f_no=0.05 if protocol == "one-shot" and seed == 0 else 0.0,
        **aim,
    )
    log = played(setting, said, truth)
    result, found = log.learner.result, log.verified()
    assert found.problems == ()
    assert found.placings == result.placings
    assert found.survivors == result.survivors
    assert found.names == result.names
    assert result.achieved_eps is not None
    assert result.achieved_eps >= found.certified_eps - 1e-4


@pytest.fixture(scope="module")
def top() -> Log:
    said, truth = models([160, 150, 90, 85, 60], 200)
    return played(Setting(0.05, 0.05, "panel", seed=3, top=2), said, truth)


@pytest.fixture(scope="module")
def tiers() -> Log:
    said, truth = models([160, 120, 118, 60], 200)
    return played(Setting(0.05, 0.05, "panel", seed=3, tiers=True), said, truth)


def problems(log: Log, place: int, **changed: Any) -> str:
    closings: list[Closing] = list(log.learner.closings)
    closings[place] = replace(closings[place], **changed)
    return " ".join(log.verified(closings).problems)


def test_a_model_that_is_named_and_is_not_among_the_best_is_found(top: Log) -> None:
    last = top.learner.closings[-1]
    assert set(last.top) == {0, 1}
    assert "are shown" in problems(top, -1, top=(0, 4)) or "certifies eps" in problems(top, -1, top=(0, 4))
    assert "these must be 2 distinct models" in problems(top, -1, top=(0,))
    assert "these must be 2 distinct models" in problems(top, -1, top=(0, 0))
    assert "these must be 2 distinct models" in problems(top, 0, top=())
    assert "these must be 2 distinct models" in problems(top, 0, top=(0, 77))


@pytest.mark.parametrize("name", ["top", "tiers"])
def test_who_is_placed_too_early_or_too_late_is_found(name: str, request: pytest.FixtureRequest) -> None:
    log: Log = request.getfixturevalue(name)
    first, last = log.learner.closings[0], log.learner.closings[-1]
    assert "but the answers leave" in problems(log, 0, survivors=first.survivors[1:])
    assert "but the answers leave" in problems(log, -1, survivors=tuple(range(log.said.shape[0])))
    assert last.survivors != first.survivors


@pytest.mark.parametrize("name", ["top", "tiers"])
def test_a_bound_that_is_not_shown_is_found(name: str, request: pytest.FixtureRequest) -> None:
    log: Log = request.getfixturevalue(name)
    assert "it certifies eps 0.01" in problems(log, 0, certified_eps=0.01)
    assert "it certifies eps nan" in problems(log, 0, certified_eps=float("nan"))


def test_another_best_model_of_tiers_is_found(tiers: Log) -> None:
    assert "certifies eps" in problems(tiers, -1, top=(3,), certified_eps=0.05)
    assert "this must be one model" in problems(tiers, -1, top=(0, 1))


@pytest.mark.parametrize("name", ["top", "tiers"])
def test_another_setting_or_answer_is_found(name: str, request: pytest.FixtureRequest) -> None:
    log: Log = request.getfixturevalue(name)
    assert log.verified().ok
    # A panel of the best K asks the same whatever eps is, and the end of its log says whether that was shown.
    other_eps: tuple[dict[str, Any], ...] = ({"eps": 0.01},) if name == "tiers" else ()
    for changed in (*other_eps, {"delta": 1e-7}, {"top": 1, "tiers": False}, {"top": None, "tiers": False}):
        assert not log.verified(setting=replace(log.setting, **changed)).ok, changed
    flipped: list[Answer | int] = [Answer.YES if answer is Answer.NO else Answer.NO for answer in log.answers]
    assert not replace(log, answers=flipped).verified().ok


def test_the_number_of_models_counts(tiers: Log) -> None:
    """What delta / 6 shows is not shown with delta / 45: who leaves models out of the table is found."""
    others = np.where(np.random.default_rng(0).random((6, tiers.said.shape[1])) < 0.5, 3, tiers.said[0])
    assert not tiers.verified(said=np.concatenate([tiers.said, others])).ok
