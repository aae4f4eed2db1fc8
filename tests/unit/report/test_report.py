"""The report: its sentences, its page and its JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from onebit.records import Setting
from onebit.report import Entry, Point, Price, Report, Span, as_html, as_json, words
from onebit.report.charts import evidence_chart, step_chart, ticks
from onebit.report.record import Mistake

REPORT = Report(
    setting=Setting(eps=0.02),
    learner="certified",
    table="votes.csv",
    digest="ab12" * 16,
    n_models=5,
    n_items=1200,
    n_labels=7,
    status="certified",
    reason=None,
    chosen=("b<est>",),
    answers=345,
    rounds=700,
    free_rounds=300,
    cant_tell=4,
    survivors=3,
    certified_eps=0.0192,
    promise="no model is ahead",
    seconds=65.0,
    course=(Point(100, 5, 0.3, 0.1), Point(200, 4, 0.08, 0.5), Point(345, 3, 0.0192, 1.0)),
    leaderboard=(
        Entry(("b<est>",), 0.0, None, Span(0.7, 0.6, 0.8), Span(0.0, 0.0, 0.0)),
        Entry(("a", "a2"), 0.0171, None, Span(0.61, 0.5049, 0.7001), Span(-0.011, -0.05, 0.0192)),
        Entry(("c",), None, None, Span(None, 0.0, 1.0), Span(-0.1, -0.2, -0.01)),
        Entry(("d",), None),
    ),
    n_counted=480,
    mistakes=(Mistake(("a", "c"), "item 7", {"text": "<i>where</i> is it"}, "card<s>", ("money",)),),
    prices=(Price("Full labels", 9000, "labels", "simulated"),),
)
BUDGET = replace(REPORT, status="budget", certified_eps=0.031, reason="the budget of 345 answers was used")


class Outline(HTMLParser):
    """Collects the text and checks that every element that is opened is closed."""

    VOID = frozenset({"meta", "br", "line", "path", "circle"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data + " "


def read(report: Report) -> Outline:
    outline = Outline()
    outline.feed(as_html(report))
    assert outline.open == []
    outline.text = re.sub(r"\s+", " ", outline.text)
    return outline


def test_the_page_says_what_was_shown() -> None:
    text = read(REPORT).text
    assert (
        "Within 0.0192 of the best: no other of the 5 models is accepted by raters more often by more than 1.92 percent"
        in text
    )
    assert "Shown by 345 yes/no answers" in text
    assert "at most 5 in 100 runs" in text
    assert "if this model is the best, it is ahead of the chosen one by at most 0.0171" in text
    assert "2 models shown not to be the best" in text
    assert "a = a2 (they predict the same)" in text
    assert "Full labels · simulated 9,000 labels" in text
    assert "onebit verify DIR" in text
    for title in (
        "What is promised",
        "What is not promised",
        "What was assumed",
        "What the run shows",
        "How to verify it",
    ):
        assert title in text


def test_the_page_needs_nothing_else() -> None:
    page = as_html(REPORT)
    outline = read(REPORT)
    assert outline.tags.isdisjoint({"script", "link", "img", "iframe"})
    assert "http" not in page
    assert "url(" not in page
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page
    assert page.count('<svg class="chart"') == 1


def test_names_cannot_break_the_page() -> None:
    assert "<est>" not in as_html(REPORT)
    assert "b<est>" in read(REPORT).text


def test_a_budget_that_ran_out_is_told_as_what_was_shown() -> None:
    text = read(BUDGET).text
    assert "Within 0.031 of the best" in text
    assert (
        "So far it is shown to be within 0.031. The run ended there because the budget of 345 answers was used" in text
    )
    assert not re.search(r"fail|succe|unfortunately|only|certified shown", text.split("What it cost")[0], re.IGNORECASE)
    assert "shown so far" in text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"certified_eps": 0.0}, "The best: none of the 5 models is accepted by raters more often."),
        ({"certified_eps": 0.0, "setting": Setting(eps=0.02, f_no=0.1)}, "none of the 5 models is right more often."),
        (
            {"chosen": (), "certified_eps": None, "status": "suspended", "reason": "r"},
            "Nothing is certified: raters accepted two labels of one item too often",
        ),
        ({"status": "suspended"}, "Nothing: what this way of asking assumes was found not to hold."),
        ({}, "if raters judged every model's label on each of the 1,200 items of this table"),
        ({}, "does not depend on when they are asked, and who is asked does not depend on how the study stands"),
        ({}, "“Can't tell” counts as “not a yes” to that label, and says nothing about other labels"),
        ({}, "“Can't tell” was 4 of 345 answers (1.2%)"),
        ({"setting": Setting(eps=0.02, seed=7)}, "7, was given by whoever started the run. The promise holds only"),
        ({"setting": Setting(eps=0.02, seed_given=False)}, "came from the operating system when the run was created"),
        (
            {"setting": Setting(eps=0.02, protocol="follow-up"), "n_checks": 30, "n_contradicted": 1},
            "checked by one more question about 30 items; 1 of them contradicted it",
        ),
        ({"setting": Setting(eps=0.02, protocol="follow-up", exhaustive=True)}, "it is one of the labels"),
        ({"setting": Setting(eps=0.02, protocol="follow-up")}, "was not tested: after a yes, no other label"),
        ({"simulated": True}, "“Best” means: right most often on the 1,200 items of this table."),
        ({"setting": Setting(eps=0.02, protocol="labels")}, "the one that raters give it"),
        ({"setting": Setting(eps=0.02, f_no=0.1)}, "the majority's) is no to a right label at most 10.0% of the time"),
        ({"setting": Setting(eps=0.02, f_no=0.1)}, "it does not matter whether a rater would repeat an error"),
        ({"setting": Setting(eps=0.02, population="stream")}, "are not taken to be equal there"),
        ({"certified_eps": 1.0, "status": "budget"}, "It leads after 345 yes/no answers; so few do not show"),
        ({"chosen": (), "certified_eps": None, "status": "budget"}, "do not choose between the 5 models yet"),
        ({"setting": Setting(eps=0.02, protocol="labels")}, "Shown by 345 labels"),
        ({"setting": Setting(eps=0.02, delta=0.001)}, "at most 0.10% of runs"),
        (
            {"setting": Setting(eps=0.02, population="stream")},
            "population that the items of this table were drawn from",
        ),
        ({"setting": Setting(eps=0.02, population="stream")}, "are independent draws"),
        ({"setting": Setting(eps=0.02, protocol="follow-up")}, "at most one label per item"),
        ({"setting": Setting(eps=0.02, f_no=0.1, f_yes=0.02)}, "no to a right label at most 10.0% of the time"),
        ({}, "about how often they accept a model's label"),
        ({"simulated": True}, "The answers were simulated from the column of right labels, and nobody was asked"),
        ({"learner": "paper", "survivors": None, "leaderboard": (), "course": ()}, "For this learner (paper)"),
    ],
)
def test_what_is_said_in_each_case(change: dict[str, object], says: str) -> None:
    assert says in read(replace(REPORT, **change)).text  # type: ignore[arg-type]


def test_what_certificates_do_not_say_is_told_of_certificates_alone() -> None:
    paper = replace(REPORT, learner="paper", survivors=None, leaderboard=(), course=())
    assert "Anything about two models" in read(REPORT).text
    assert "Anything about two models" not in read(paper).text


def test_bounds_are_rounded_up() -> None:
    assert words.fraction(0.01001) == "0.0101"
    assert words.points(0.01001) == "1.01"
    # ... and not pushed over by the last bit of a product.
    assert words.fraction(0.07) == "0.07"


def test_the_json_holds_the_same() -> None:
    told = json.loads(json.dumps(as_json(REPORT)))
    assert told["certified_eps"] == 0.0192
    assert told["setting"]["eps"] == 0.02
    assert told["excess"] is None
    assert told["leaderboard"][1] == {
        "names": ["a", "a2"],
        "ahead_at_most": 0.0171,
        "accuracy": None,
        "accepted": {"estimate": 0.61, "low": 0.5049, "high": 0.7001},
        "difference": {"estimate": -0.011, "low": -0.05, "high": 0.0192},
    }
    assert told["course"][0] == {"answers": 100, "survivors": 5, "certified_eps": 0.3, "evidence": 0.1}


def test_a_chart_steps_down_from_value_to_value() -> None:
    chart = step_chart([0, 100, 200], [100, 50, 0], title="t", x_name="answers")
    line = re.findall(r'class="line" d="([^"]+)"', chart)[0]
    assert line == "M46.0 14.0H217.0V112.0H388.0V210.0"


def test_the_chart_shows_what_ends_the_run() -> None:
    chart = evidence_chart(REPORT)
    heights = [float(y) for y in re.findall(r"V([\d.]+)", re.findall(r'class="line" d="([^"]+)"', chart)[0])]
    mark = float(re.findall(r'class="mark"[^>]* y1="([\d.]+)"', chart)[0])
    assert heights[-1] == mark
    assert min(heights[:-1]) > mark
    assert ">here the run ends<" in chart
    assert evidence_chart(replace(REPORT, course=())) == ""
    assert evidence_chart(replace(REPORT, course=(Point(100, 5, 0.3),))) == ""


def test_who_is_furthest_from_being_ruled_out_is_named_while_the_run_goes_on() -> None:
    assert "Now this is a = a2." in read(replace(BUDGET, closest=("a", "a2"))).text
    assert "Now this is" not in read(replace(REPORT, closest=("a", "a2"))).text


def test_models_are_told_with_intervals_that_are_rounded_outwards() -> None:
    text = read(REPORT).text
    assert "61% (50% to 71%)" in text
    assert "-1.1 (-5 to +2)" in text
    assert "0% to 100%" in text
    assert "of the 480 items on which models differ, the share where raters accept what the model says" in text
    assert "how often they are right there is not known" in text
    assert "With probability 0.95 all of these intervals hold together, whenever one looks" in text
    everywhere = read(replace(REPORT, all_count=True)).text
    assert "of all items, the share where raters accept" in everywhere
    assert "is not known" not in everywhere
    assert "rates of yes, not of being right" in read(replace(REPORT, setting=Setting(eps=0.02, f_no=0.1))).text


def test_what_models_got_wrong_is_shown() -> None:
    text = read(REPORT).text
    assert "What models got wrong" in text
    assert "text: <i>where</i> is it" in text
    assert "card<s> said a, c" in text
    assert "Raters accepted: money" in text
    assert "What models got wrong" not in read(replace(REPORT, mistakes=())).text


@pytest.mark.parametrize("most", [1, 3, 7, 64, 1039, 123_456])
def test_ticks_are_round_and_reach_the_end(most: int) -> None:
    found = ticks(most)
    assert found[0] == 0
    assert found[-2] < most <= found[-1]
    assert 2 <= len(found) <= 7
    assert all(value == int(value) for value in found)


def test_a_chart_has_room_for_an_interval_at_its_end() -> None:
    chart = step_chart([0, 10], [20, 60], title="t", x_name="x", interval=(40, 90))
    assert chart.count('class="interval"') == 1
    assert ">100<" in chart
    assert ">100<" in step_chart([0, 10], [20, 60], title="t", x_name="x", top=100)
    assert ">100<" not in step_chart([0, 10], [20, 60], title="t", x_name="x")
