"""The rater's page in German and in Arabic, which is written from right to left."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Server, fits, press
from tests.browser.faked import Faked, question
from tests.browser.test_accessibility import LAPTOP, violations
from tests.browser.test_rater_view import LONG, SIZES, in_sight

from onebit.web.languages import LANGUAGES

Start = Callable[..., Server]


def mirrored(page: Page) -> bool:
    """Whether yes stands to the left of no."""
    boxes = [page.locator(each).bounding_box() for each in ("#yes", "#no")]
    assert boxes[0] is not None
    assert boxes[1] is not None
    return boxes[0]["x"] < boxes[1]["x"]


@pytest.mark.parametrize(("code", "question_text", "own"), [
    ("de", "Ist das Label refund richtig?", "1 Antwort von Ihnen"),
    ("ar", "هل التصنيف refund صحيح؟", "إجاباتك: 1"),
])  # fmt: skip
def test_the_page_speaks_the_language_of_the_browser(start: Start, code: str, question_text: str, own: str) -> None:
    page = Faked([question(n, LONG if n else "Hello", "refund") for n in range(3)]).open(start(), locale=code)
    texts = LANGUAGES[code].texts
    expect(page.locator("#question")).to_have_text(question_text)
    expect(page.locator("#yes span")).to_have_text(texts["yes"])
    assert mirrored(page) == (texts["direction"] == "rtl")
    page.keyboard.press("y")
    expect(page.locator("#own")).to_have_text(own)
    expect(page.locator("#history b")).to_have_text(texts["said_yes"])
    missing = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        missing += [
            (width, height, each) for each in ("#question", "#yes", "#no", "#unsure") if not in_sight(page, each)
        ]
        assert fits(page), (width, height)
    assert missing == []
    page.click("#help-open")
    expect(page.locator("#help")).to_contain_text(texts["about_label"])
    assert violations(page, LAPTOP) == []


def test_a_rater_chooses_the_language_and_it_stays(start: Start) -> None:
    server = start()
    page = server.rater("ann")
    address = page.url
    expect(page.locator("#yes span")).to_have_text("Yes")
    press(page, "y")
    page.click("#help-open")
    page.select_option("#language", "de")
    expect(page.locator("#yes span")).to_have_text("Ja")
    expect(page.locator("#own")).to_have_text("1 Antwort von Ihnen")
    page.wait_for_selector("#yes:enabled")
    page.goto(address)  # as the link says it, without a language
    expect(page.locator("#yes span")).to_have_text("Ja")
    page.wait_for_selector("#yes:enabled")
    press(page, "n")
    expect(page.locator("#history b").first).to_have_text("nein")
    server.wait_for_answers(2)


def test_keys_with_other_letters_answer_where_latin_ones_stand(start: Start) -> None:
    page = Faked([question(n, f"item {n}", "refund") for n in range(3)]).open(start(), locale="ar")
    press_code = (
        "([key, code]) => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, code, bubbles: true}))"
    )
    page.evaluate(press_code, ["غ", "KeyY"])
    expect(page.locator("#item")).to_have_text("item 1")
    expect(page.locator("#history b").first).to_have_text(LANGUAGES["ar"].texts["said_yes"])
    page.evaluate(press_code, ["؟", "Slash"])
    expect(page.locator("#help")).to_be_visible()


def test_a_swipe_goes_where_the_button_is(start: Start) -> None:
    swipe = """(by) => {
      const main = document.querySelector("main"), more = { pointerType: "touch", bubbles: true, clientY: 300 };
      main.dispatchEvent(new PointerEvent("pointerdown", { ...more, clientX: 200 }));
      main.dispatchEvent(new PointerEvent("pointerup", { ...more, clientX: 200 + by }));
    }"""
    server = start()
    for code, by in (("en", 120), ("ar", -120)):
        page = Faked([question(n, f"item {n}", "refund") for n in range(2)]).open(server, locale=code)
        page.evaluate(swipe, by)
        expect(page.locator("#history b").first).to_have_text(LANGUAGES[code].texts["said_yes"])
