"""The intervals of models, worked out a second time: the same as the learner's, and unlike a learner's that errs."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onebit
import onebit.learners.certified.panel_evidence
from onebit.estimate import shares, weighted_shares
from onebit.learners.certified import sightings
from onebit.study.folder import StudyFolder
from onebit.study.proof import verify_study
from onebit.verify.intervals import _low, _places

SETTINGS: dict[str, dict[str, Any]] = {
    "one-shot": {"protocol": "one-shot"},
    "one-shot, stream": {"protocol": "one-shot", "population": "stream"},
    "one-shot, errors": {"protocol": "one-shot", "f_no": 0.1, "f_yes": 0.05},
    "follow-up": {"protocol": "follow-up"},
    "follow-up, stream": {"protocol": "follow-up", "population": "stream"},
    "labels": {"protocol": "labels"},
    "panel": {"protocol": "panel"},
    "panel, stream": {"protocol": "panel", "population": "stream"},
    "stopped early": {"protocol": "follow-up", "budget": 20},
}


def run(out: Path, **options: Any) -> StudyFolder:
    """A finished selection among five models, two of which say the same, and all abstain at times."""
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 4, 200)
    table = {}
    for name, accuracy in {"a": 0.9, "b": 0.8, "c": 0.6, "d": 0.5}.items():
        said = np.where(rng.random(200) < accuracy, truth, rng.integers(0, 4, 200))
        table[name] = ["" if rng.random() < 0.05 else f"l{label}" for label in said]
    table["e"] = table["c"]
    onebit.select(table, ask=[f"l{label}" for label in truth], eps=0.1, out=out, quiet=True, **options)
    return StudyFolder(out)


def problems_of(folder: StudyFolder) -> tuple[str, ...]:
    return verify_study(folder.storage, folder.name()).problems


@pytest.mark.parametrize("name", SETTINGS)
def test_both_work_out_the_same(name: str, tmp_path: Path) -> None:
    assert problems_of(run(tmp_path / "run", **SETTINGS[name])) == ()


def no_skips(skips: sightings.Skips, n_draws: int, n_open: int) -> Any:
    return np.zeros(n_draws, dtype=np.int64)


SHARES_OF: Any = shares.shares_of
DIFFERENCES_OF: Any = shares.differences_of
#: A learner that errs: in which setting, and what is put in the place of what.
ERRORS: dict[str, tuple[str, Any, str, Any]] = {
    "too sure": ("follow-up", sightings, "shares_of", lambda *given: SHARES_OF(*given[:4], 0.5, *given[5:])),
    "too sure of pairs": (
        "panel",
        onebit.learners.certified.panel_evidence,
        "differences_of",
        lambda *given: DIFFERENCES_OF(*given[:-1], 0.5),
    ),
    "nothing skipped": ("follow-up", sightings.Skips, "before", no_skips),
    "other places": ("labels", shares, "PLACES_STEP", 2.0),
    "other bets": ("one-shot", weighted_shares, "SPARSE_BETS", weighted_shares.SPARSE_BETS[:2]),
    "rounded inwards": ("one-shot, stream", weighted_shares, "HALVINGS", 12),
}


@pytest.mark.parametrize("name", ERRORS)
def test_a_learner_that_errs_is_found_out(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setting, where, what, wrong = ERRORS[name]
    monkeypatch.setattr(where, what, wrong)
    problems = problems_of(run(tmp_path / "run", **SETTINGS[setting]))
    assert problems
    assert all(each.startswith("the learner says of model ") for each in problems)


def beta_binomial(n_yes: int, n: int) -> Fraction:
    """The law of the number of yes among n, mixed by parameters 1/2: products of half-integers."""

    def rising(m: int) -> Fraction:
        return math.prod((Fraction(2 * i + 1, 2) for i in range(m)), start=Fraction(1))

    return math.comb(n, n_yes) * rising(n_yes) * rising(n - n_yes) / math.factorial(n)


@pytest.mark.parametrize("failure", [0.2, 0.01])
def test_the_low_end_is_the_least_number_that_is_not_excluded(failure: float) -> None:
    """By exact fractions, over all numbers of yes of a small pool."""
    size = 12
    for n in range(size + 1):
        for n_yes in range(n + 1):
            least = min(
                M
                for M in range(n_yes, size - (n - n_yes) + 1)
                if beta_binomial(n_yes, n) * math.comb(size, n)
                < Fraction(math.comb(M, n_yes) * math.comb(size - M, n - n_yes)) / Fraction(failure)
            )
            found = _low(np.array([n_yes]), np.array([n]), np.array([size]), failure)
            assert found[0] == pytest.approx(least / size)


def test_places_go_on_by_a_quarter_and_end_at_the_end() -> None:
    assert _places(0) == [0]
    assert _places(10) == [1, 2, 3, 4, 5, 7, 9, 10]
    assert all(_places(n) == shares.places(n).tolist() for n in range(1, 300))
