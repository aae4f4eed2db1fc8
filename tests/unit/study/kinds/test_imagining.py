"""Truths and verdicts that are imagined, where nobody has asked yet."""

from __future__ import annotations

import numpy as np
from tests.unit.study.kinds.votes import votes

from onebit.records import Answer, Question, Setting
from onebit.study.constants import IMAGINED, TEXT_GAPS
from onebit.study.kinds.selection.imagining import (
    Answered,
    Imagined,
    Table,
    imagined_rater,
    imagined_rater_number,
    imagined_truth,
    imagined_verdicts,
    n_imagined,
)


def accuracies(said: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return np.sort((said == truth).mean(axis=1))[::-1]


def test_an_imagined_truth_is_what_a_trusted_model_says() -> None:
    said = votes()
    for how in IMAGINED:
        assert (said[-5:] == imagined_truth(Table(said, 5), Imagined(*how), seed=0)).any(axis=0).all()


def test_a_larger_jury_makes_better_models() -> None:
    said = votes(4000)
    alone, three, nine = (
        accuracies(said, imagined_truth(Table(said, 5), Imagined(jury, 0.0), 0))[0] for jury in (1, 3, 9)
    )
    assert alone < three < nine


def test_the_lead_puts_one_model_ahead_by_what_it_says() -> None:
    said = np.random.default_rng(0).integers(0, 50, (30, 4000))
    for lead in (0.0, 0.1, 0.3):
        first, second = accuracies(said, imagined_truth(Table(said, 5), Imagined(1, lead), 0))[:2]
        # Six models are trusted, who seldom say the same; each is drawn as often as the others.
        assert abs(first - (lead + (1 - lead) / 6)) < 0.05
        assert abs(second - (1 - lead) / 6) < 0.05


def test_a_judge_sits_in_the_jury_where_it_says_something() -> None:
    said = votes(4000)
    # It likes what a poor model says, and says nothing about the second half.
    judge = np.zeros(said.shape, dtype=np.float32)
    judge[1] = 1.0
    judge[:, 2000:] = np.nan
    plain = imagined_truth(Table(said, 5), Imagined(3, 0.0), 0)
    judged = imagined_truth(Table(said, 5, judge), Imagined(3, 0.0), 0)
    assert (judged == said[1])[:2000].mean() > (plain == said[1])[:2000].mean() + 0.02
    assert (judged == plain)[2000:].all()


def test_what_was_answered_is_kept_to() -> None:
    said = votes()
    before = imagined_truth(Table(said, 5), Imagined(3, 0.0), 0)
    rows = np.arange(100)
    is_yes = rows % 2 == 0
    # Yes to a label that nobody gives; no to what was imagined.
    answered = Answered(rows, np.where(is_yes, 99, before[:100]), is_yes)
    after = imagined_truth(Table(said, 5), Imagined(3, 0.0), 0, answered)
    assert (after[rows[is_yes]] == 99).all()
    assert (after[rows[~is_yes]] != before[rows[~is_yes]]).all()
    assert (after[100:] == before[100:]).all()


def test_a_label_that_all_give_and_that_had_a_no_leaves_nobody_right() -> None:
    said = np.zeros((6, 10), dtype=np.int64)
    answered = Answered(np.array([3]), np.array([0]), np.array([False]))
    setting = Setting(0.1, 0.05, "labels")
    assert imagined_truth(Table(said, 5), Imagined(3, 0.0), 0, answered).tolist() == [0, 0, 0, -1, *[0] * 6]
    rater = imagined_rater(Table(said, 5), setting, Imagined(3, 0.0), answered)
    assert rater(Question(0, 3, None, 1.0, 0)) is Answer.CANT_TELL
    assert rater(Question(1, 4, None, 1.0, 0)) == 0


def test_raters_err_as_often_as_is_allowed_for() -> None:
    said = np.zeros((6, 4000), dtype=np.int64)
    rater = imagined_rater_number(0, Table(said, 5), Setting(0.1, 0.05, "one-shot", f_no=0.2, f_yes=0.05))
    n_no = sum(rater(Question(i, i, 0, 1.0, 0)) is Answer.NO for i in range(4000))
    assert abs(n_no / 4000 - 0.2) < 4 * (0.2 * 0.8 / 4000) ** 0.5


def test_texts_are_accepted_by_the_gap_between_models() -> None:
    said = np.arange(4 * 4000).reshape(4, 4000)
    assert n_imagined(Setting(0.1, 0.05, "panel")) == len(TEXT_GAPS)
    share = imagined_verdicts(said, 0.05, seed=0).mean(axis=1)
    np.testing.assert_allclose(share[:-1] - share[1:], 0.05, atol=0.04)
