"""A study that trains a classifier, in a browser: the same page for raters, a dashboard of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Server, fits, press, right_key
from tests.browser.test_all_pages import CONTRAST
from tests.browser.test_rater_page import answer_until_done
from tests.unit.web.served import TRUTH

Start = Callable[..., Server]


def test_a_classifier_is_trained_by_keys(start: Start) -> None:
    server = start(trains=True, budget=30)
    dashboard = server.dashboard()
    expect(dashboard.locator("h1")).to_have_text("Nothing is learned yet")
    page = server.rater("ann")
    expect(page.locator("#progress")).to_have_text("0 of at most 30 answers")
    press(page, right_key(page))
    expect(dashboard.locator(".figures dd").first).to_have_text("1")
    n = 1 + answer_until_done(page)
    expect(page.locator("#question")).to_have_text("All done. Thank you!")
    server.wait_for_answers(n)
    assert n == 30
    expect(dashboard.locator(".badge")).to_have_text("trained")
    expect(dashboard.locator("h1")).to_have_text("Too early to say")
    expect(dashboard.locator(".chart")).to_have_count(1)
    dashboard.click("summary.button >> text=Download")
    with dashboard.expect_download() as download:
        dashboard.click("text=The classifier, as it is now")
    assert download.value.suggested_filename == "training.skops"
    dark = server.dashboard(color_scheme="dark", viewport={"width": 320, "height": 640})
    assert fits(dark)
    assert dark.evaluate(CONTRAST) == []


def test_none_of_these_has_a_button_and_a_key_where_it_is_allowed(start: Start) -> None:
    server = start(trains=True, budget=30, none_of_these=True)
    page = server.rater("ann", viewport={"width": 390, "height": 844})
    expect(page.locator("#none")).to_be_enabled()
    assert fits(page)
    press(page, "x")
    expect(page.locator("#history b").first).to_have_text("none of these")
    server.wait_for_answers(1)
    page.click("#none")
    server.wait_for_answers(2)


@pytest.mark.parametrize("language", ["en", "de", "ar"])
def test_on_a_phone_words_of_answers_are_whole_and_stay_where_they_are(start: Start, language: str) -> None:
    server = start(trains=True, budget=30, none_of_these=True)
    page = server.rater("ann", viewport={"width": 390, "height": 844}, locale=language)
    before = page.locator("#yes").bounding_box()
    for n, answer in enumerate(("#none", "#unsure", "#unsure"), 1):
        page.wait_for_selector(f"{answer}:enabled")
        page.click(answer)
        server.wait_for_answers(n)
        expect(page.locator("#yes")).to_be_enabled()
        page.wait_for_function("() => !document.querySelector('.pressed')")
        assert page.locator("#yes").bounding_box() == before
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate(BROKEN) == [], width
        assert fits(page), width


#: Answers of which a word stands on two lines.
BROKEN = """() => [...document.querySelectorAll(".answer span")].filter((node) => {
  const range = document.createRange();
  range.selectNodeContents(node);
  return range.getClientRects().length > node.textContent.split(" ").length;
}).map((node) => node.textContent)"""


def test_names_of_raters_are_whole_beside_their_error_rates(start: Start) -> None:
    gold = {item: int(label) for item, label in enumerate(TRUTH)}
    server = start(trains=True, budget=30, gold=gold, gold_share=0.5)
    page = server.rater("mallory")
    for _ in range(8):
        page.wait_for_selector("#yes:enabled")
        press(page, right_key(page))
    for width in (1280, 390):
        board = server.dashboard(viewport={"width": width, "height": 800})
        expect(board.locator("td.rate").first).to_be_visible()
        board.wait_for_function(NAME_IS_WHOLE)
        assert fits(board), width


#: Whether the name stands on one line. The dashboard may put another table in its place at any moment.
NAME_IS_WHOLE = """() => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector("td.model"));
  return range.getClientRects().length === 1;
}"""


def test_elsewhere_it_has_neither(start: Start) -> None:
    server = start(trains=True, budget=30)
    page = server.rater("ann")
    expect(page.locator("#yes")).to_be_enabled()
    expect(page.locator("#none")).to_be_hidden()
    page.keyboard.press("x")
    press(page, right_key(page))
    server.wait_for_answers(1)
    expect(page.locator("#history li")).to_have_count(1)
