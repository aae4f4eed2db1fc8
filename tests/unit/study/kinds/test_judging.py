"""The report card of a judge: what is counted, and in which words it is told."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.report.judge_card import Band, Share, in_a_line, in_words, share_in_words
from onebit.study.kinds.selection.judging import card_of, scores_of

SAID = np.array([[0, 1, -1], [0, 2, 1], [3, 2, 1]])
JUDGE = np.array([[0.5, 1.0, 0.9], [1.0, np.nan, 0.25], [0.0, 0.5, 0.75]], dtype=np.float32)


def test_scores_are_means_over_who_says_it() -> None:
    rows, labels = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 3, 1, 2, 1, 3])
    found = scores_of(SAID, JUDGE, rows, labels)
    assert found == pytest.approx([0.75, 0.0, 1.0, 0.5, 0.5, np.nan], nan_ok=True)


def test_the_card_counts_by_hand() -> None:
    """Five scored questions, of which three were accepted; one is not scored."""
    score = np.array([0.9, 0.5, 0.1, 1.0, 0.0, np.nan])
    accepted = np.array([True, False, True, True, False, True])
    card = card_of(score, accepted, 0.4)
    assert (card.n_unscored, card.weight, card.confidence) == (1, 0.4, 0.95)
    assert [(each.n_yes, each.n) for each in (card.agreement, card.of_accepted, card.of_others)] == [
        (3, 5),
        (2, 3),
        (1, 2),
    ]
    assert [(band.accepted.n_yes, band.accepted.n) for band in card.bands] == [(1, 2), (0, 0), (0, 1), (0, 0), (2, 2)]
    assert (card.bands[0].from_score, card.bands[-1].to_score) == (0.0, 1.0)
    assert isinstance(card.bands[0], Band)
    assert card.agreement.low < 0.6 < card.agreement.high


def test_words_say_what_it_is_about_and_that_no_promise_rests_on_it() -> None:
    card = card_of(np.array([0.9, 0.2, np.nan]), np.array([True, True, False]), -0.3)
    told = " ".join(in_words(card))
    assert "promised does not rest on the judge" in told
    assert "about the questions that were asked" in told
    assert "1 more questions" in told
    assert "by -0.30 now" in told
    assert in_a_line(card).startswith("agrees in 50% (")
    empty = card_of(np.array([]), np.array([], dtype=np.bool_), None)
    assert "No question" in in_words(empty)[-1]
    assert "nothing that was answered" in in_a_line(empty)
    assert share_in_words(Share(0, 0, 0.0, 1.0)) == "nothing yet"
