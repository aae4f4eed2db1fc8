"""The forecast of what a selection costs."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.records import AskingProtocol
from onebit.study.constants import LEADS
from onebit.study.kinds.selection import rehearsal
from onebit.study.kinds.selection.rehearsal import imagined_truths, rehearse


def votes(n_items: int = 400) -> np.ndarray:
    """Ten models: five poor ones, one of which abstains on the first half, and five that are right more often."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, n_items)
    shares = [0.2, 0.2, 0.3, 0.3, 0.3, 0.85, 0.87, 0.9, 0.92, 0.95]
    said = np.array([np.where(rng.random(n_items) < a, truth, rng.integers(0, 5, n_items)) for a in shares])
    said[0, : n_items // 2] = -1
    return said


def test_an_imagined_truth_is_what_a_trusted_model_says() -> None:
    said = votes()
    trusted = said[-5:]
    for truth in imagined_truths(said, seed=0):
        assert (trusted == truth).any(axis=0).all()


def test_leaders_are_ahead_by_their_lead() -> None:
    said = np.random.default_rng(0).integers(0, 50, (30, 4000))
    truths = imagined_truths(said, seed=0)
    best = [max((row == truth).mean() for row in said) for truth in truths]
    # Six models are trusted; the leader is right where it leads, and where it is drawn.
    expected = [lead + (1 - lead) / 6 for lead in LEADS]
    np.testing.assert_allclose(best, expected, atol=0.05)


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_a_smaller_eps_costs_no_less(protocol: AskingProtocol) -> None:
    seen: list[tuple[int, int]] = []
    wide, narrow = rehearse(
        votes(),
        5,
        protocol=protocol,
        all_eps=(0.2, 0.05),
        delta=0.05,
        progress=lambda done, whole: seen.append((done, whole)),
    )
    assert (wide.eps, narrow.eps) == (0.2, 0.05)
    assert wide.low is not None
    assert wide.middle is not None
    assert wide.high is not None
    assert narrow.middle is not None
    assert wide.low <= wide.middle <= wide.high
    assert wide.middle <= narrow.middle
    assert seen == [(i + 1, len(LEADS)) for i in range(len(LEADS))]


def test_rehearsals_without_an_end_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "MOST_REHEARSED", 20)
    (cost,) = rehearse(votes(), 5, protocol="one-shot", all_eps=(0.01,), delta=0.05)
    assert (cost.low, cost.middle, cost.high) == (None, None, None)
