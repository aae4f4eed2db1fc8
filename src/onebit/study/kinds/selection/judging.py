"""The report card of a judge, from its scores and what raters have said."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from onebit.estimate.running_rate import running_rate
from onebit.report.judge_card import ACCEPTS_FROM, Band, JudgeCard, Share
from onebit.study.constants import BANDS, CONFIDENCE, JUDGED_AT_A_TIME

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def scores_of(said: NDArray[np.integer], judge: NDArray[np.float32], rows: Ints, labels: Ints) -> Floats:
    """What the ``judge`` (N, n) says of ``labels`` (m,) at ``rows`` (m,) of a table: its mean over who says it.

    NaN where it says nothing. Shape (m,).
    """
    scores = np.full(rows.size, np.nan)
    for first in range(0, rows.size, JUDGED_AT_A_TIME):
        part = slice(first, first + JUDGED_AT_A_TIME)
        given = judge[:, rows[part]]
        counts = (said[:, rows[part]] == labels[part]) & np.isfinite(given)
        n = counts.sum(axis=0)
        total = np.where(counts, given, 0).sum(axis=0, dtype=np.float64)
        scores[part] = np.where(n > 0, total / np.maximum(n, 1), np.nan)
    return scores


def card_of(score: Floats, accepted: Bools, weight: float | None) -> JudgeCard:
    """The card of a judge that gave these scores (m,), NaN for none, where raters ``accepted`` (m,) or did not."""
    is_scored = np.isfinite(score)
    score, accepted = score[is_scored], accepted[is_scored]
    says_yes = score >= ACCEPTS_FROM
    # A score on the border between two bands belongs to the higher one, and 1 to the last.
    band = np.minimum((score * BANDS).astype(np.int64), BANDS - 1)
    return JudgeCard(
        n_unscored=int((~is_scored).sum()),
        agreement=_share(says_yes == accepted),
        of_accepted=_share(says_yes[accepted]),
        of_others=_share(says_yes[~accepted]),
        bands=tuple(Band(k / BANDS, (k + 1) / BANDS, _share(accepted[band == k])) for k in range(BANDS)),
        weight=weight,
        confidence=CONFIDENCE,
    )


def _share(yes: Sequence[bool] | Bools) -> Share:
    n_yes, n = int(np.sum(yes)), len(yes)
    return Share(n_yes, n, *running_rate(n_yes, n, 1 - CONFIDENCE))
