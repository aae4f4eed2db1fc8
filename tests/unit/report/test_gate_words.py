"""The report of a gate: its line, its sentences and its page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.report.test_report import REPORT, Outline

from onebit import promise
from onebit.records import GateVerdict, Setting
from onebit.report import as_html, gate_words, words
from onebit.report.page import as_notebook
from onebit.report.record import GateLine

SETTING = Setting(eps=0.02, baseline=0)
#: With names that are no HTML.
GATE = replace(
    REPORT, setting=SETTING, survivors=None, leaderboard=(), gate=(GateLine("n<ew>", "not worse", 0.0171, 0.05, 0.01),)
)


def saying(*verdicts: GateVerdict) -> tuple[GateLine, ...]:
    return tuple(GateLine(f"m{i}", verdict, 0.1, 0.2) for i, verdict in enumerate(verdicts))


@pytest.mark.parametrize(
    ("verdicts", "overall"),
    [
        (("better",), "pass"),
        (("better", "not worse"), "pass"),
        (("better", "not yet"), "not yet"),
        (("worse", "not yet", "better"), "worse"),
    ],
)
def test_the_worst_of_all_candidates_counts(verdicts: tuple[GateVerdict, ...], overall: str) -> None:
    report = replace(GATE, gate=saying(*verdicts))
    assert gate_words.overall(report) == overall
    assert gate_words.in_a_line(report).startswith(f"{overall}: m0 ")
    assert gate_words.in_a_line(report).count(";") == len(verdicts) - 1


@pytest.mark.parametrize(
    ("verdict", "short", "meaning"),
    [
        ("better", "m0 is better than old", "It is accepted by raters more often."),
        (
            "not worse",
            "m0 is not worse than old by the margin of 0.02",
            "It is accepted by raters less often by less than 2 percentage points, if at all.",
        ),
        ("worse", "m0 is worse than old", "It is accepted by raters less often, by however little."),
        (
            "not yet",
            "m0 beside old is not decided yet",
            "Not decided: it may be accepted by raters as often or more often, or less often by 2 percentage points or "
            "more.",
        ),
    ],
)
def test_every_verdict_says_what_it_means(verdict: GateVerdict, short: str, meaning: str) -> None:
    report = replace(GATE, chosen=("old",), gate=saying(verdict))
    assert gate_words.short(report, report.gate[0]) == short == words.chosen_in_words(report)
    assert gate_words.meaning(report, report.gate[0]) == meaning == words.headline(report)


def test_several_candidates_are_counted() -> None:
    report = replace(GATE, chosen=("old",), gate=saying("better", "worse", "not worse"))
    assert words.chosen_in_words(report) == "2 of 3 candidates pass the gate against old"
    assert words.headline(report).endswith("m2 is not worse than old by the margin of 0.02.")


def test_the_page_has_the_candidates_and_no_leaderboard() -> None:
    page = as_html(GATE)
    outline = Outline()
    outline.feed(page)
    assert not outline.open
    assert "Candidates beside b<est>" in outline.text
    assert "n<ew>" in outline.text
    assert "+0.0100" in outline.text
    assert "How far a candidate may be behind" in outline.text
    assert "the best" not in outline.text.replace("b<est>", "")
    assert "margin 0.02" in outline.text
    assert "Candidates beside" in as_notebook(GATE)
    assert "Candidates beside" not in as_html(REPORT)


def test_what_is_promised_is_about_the_candidates() -> None:
    told = promise.in_full(SETTING, 1200)
    assert "everything that is said of every candidate is true" in told
    assert "“Better” means: accepted more often than the baseline" in told
    assert "less often by less than 0.02, if at all" in told
    assert "best" not in told
    assert words.not_promised(GATE)[0] == promise.ABOUT_CANDIDATES


def test_a_gate_that_was_suspended_says_nothing() -> None:
    report = replace(GATE, status="suspended", chosen=(), gate=saying("not yet"))
    assert words.headline(report).startswith("Nothing is certified")
    assert words.chosen_in_words(report) == "No model"
