"""The report of the best K and of tiers: its sentences, its picture and its page."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.report.test_report import REPORT, Outline

from onebit import promise
from onebit.records import Setting
from onebit.report import as_html, tiers_words, words
from onebit.report.page import as_notebook
from onebit.report.rank_chart import MOST_MODELS, rank_chart
from onebit.report.record import PlaceLine

BARE = replace(REPORT, survivors=None, leaderboard=())
TIERS = replace(
    BARE,
    setting=Setting(eps=0.02, tiers=True),
    placings=(
        PlaceLine(("b<est>",), 1, 1, 1, ("good", "poor", "bad")),
        PlaceLine(("good",), 2, 2, 3, ("bad",), ("poor",)),
        PlaceLine(("poor",), 2, 2, 4, (), ("good",), 1),
        PlaceLine(("bad",), 2, 3, 4, (), (), 1),
    ),
)
TOP = replace(
    BARE,
    setting=Setting(eps=0.02, top=2),
    chosen=("b<est>", "good"),
    certified_eps=0.0171,
    placings=(
        PlaceLine(("b<est>",), 1, 1, 2),
        PlaceLine(("good", "same"), 1, 1, 4),
        PlaceLine(("poor",), 2, 1, 4),
        PlaceLine(("bad",), 2, 3, 4),
    ),
)


def outline(page: str) -> str:
    found = Outline()
    found.feed(page)
    assert not found.open
    return found.text


def test_tiers_in_words() -> None:
    assert words.chosen_in_words(TIERS) == "4 models in 2 tiers"
    assert words.headline(TIERS) == (
        "Of 6 pairs of models, one is accepted by raters more often in 4; in 1 the two are within 0.02 of each other; "
        "1 are not told apart so far."
    )
    assert (tiers_words.n_pairs(TIERS), tiers_words.n_settled(TIERS)) == (6, 5)
    assert tiers_words.lines(TIERS) == [
        "  tier 1: b<est> (rank 1)",
        "  tier 2: good (rank 2 to 3), poor (rank 2 to 4), bad (rank 3 to 4)",
    ]


def test_the_best_in_words() -> None:
    assert words.chosen_in_words(TOP) == "The best 2: b<est>, good = same"
    assert "by more than 0.0171" in words.headline(TOP)
    assert [tiers_words.membership(TOP, line) for line in TOP.placings] == [
        "shown to be among the best 2",
        "named; another may be ahead by no more than is certified",
        "may be one of them",
        "shown not to be among the best 2",
    ]


def test_the_page_has_the_picture_and_says_how_it_is_read() -> None:
    for report in (TIERS, TOP):
        told = outline(as_html(report))
        assert "A bar goes from the best place that a model may have to the worst" in told
        assert "b<est>" in told
        assert "What is shown of each model" in told
        assert "Leaderboard" not in told
        assert "What is shown of each model" in outline(as_notebook(report))
    assert "Tied means" in outline(as_html(TIERS))
    assert "What is shown of each model" not in as_html(REPORT)


def test_the_picture_has_a_bar_for_each_model_and_is_cut_where_there_are_many() -> None:
    assert rank_chart(TIERS).count('class="end"') == 4
    assert "b&lt;est&gt;" in rank_chart(TIERS)
    assert 'class="mark"' not in rank_chart(TIERS)
    assert 'class="mark"' in rank_chart(TOP)
    many = replace(TIERS, placings=tuple(PlaceLine((f"m{h}",), 1, 1, 200) for h in range(200)))
    assert rank_chart(many).count('class="end"') == MOST_MODELS
    assert "and 140 more" in rank_chart(many)


def test_what_is_promised_and_what_not() -> None:
    assert "everything that is said of every pair of models is true" in promise.in_full(TIERS.setting, 1200)
    assert "who is shown to be among the best 2" in promise.in_full(TOP.setting, 1200)
    assert words.not_promised(TIERS)[0] == promise.ABOUT_TIERS
    assert words.not_promised(TOP)[0] == promise.ABOUT_THE_BEST


def test_a_run_that_was_suspended_says_nothing() -> None:
    report = replace(TIERS, status="suspended", chosen=(), placings=())
    assert words.headline(report).startswith("Nothing is certified")
    assert tiers_words.lines(report) == []
