"""All outputs of an item, judged together: cards with answers of their own, by keys and by clicks."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect
from tests.browser.conftest import Server
from tests.browser.faked import Faked, question
from tests.browser.test_rater_view import LONG, SIZES, in_sight

Start = Callable[..., Server]
OUTPUTS = ("Your bag is in Vienna.", "We cannot help you.", "Please wait for a day. " * 60, "Call us.")


def panel() -> Faked:
    first = [question(n, "Where is my bag?", text, item="bag") for n, text in enumerate(OUTPUTS)]
    second = [question(4 + n, "What does a seat cost?", text, item="seat") for n, text in enumerate(("10", "20"))]
    return Faked([*first, *second], together=True)


def focused(page: Page) -> int:
    return [card.get_attribute("class") or "" for card in page.locator(".judged").all()].index("output judged focused")


def until_told(page: Page, faked: Faked, n: int) -> None:
    for _ in range(200):
        if len(faked.told) >= n:
            break
        page.wait_for_timeout(50)
    assert len(faked.told) == n


def test_all_outputs_of_an_item_are_judged_by_keys(start: Start) -> None:
    faked = panel()
    page = faked.open(start())
    expect(page.locator(".judged .text")).to_have_count(4)
    expect(page.locator("#item")).to_have_text("Where is my bag?")
    assert focused(page) == 0
    page.keyboard.press("y")
    assert focused(page) == 1
    page.keyboard.press("j")
    assert focused(page) == 2
    page.keyboard.press("c")
    page.keyboard.press("n")  # the fourth
    expect(page.locator(".judged.answered")).to_have_count(3)
    assert focused(page) == 1  # the one that was left out
    page.keyboard.press("n")
    expect(page.locator("#item")).to_have_text("What does a seat cost?")
    expect(page.locator(".judged")).to_have_count(2)
    until_told(page, faked, 4)
    assert sorted(faked.told) == [(0, "yes"), (1, "no"), (2, "can't tell"), (3, "no")]


def test_each_card_has_answers_of_its_own_and_can_be_changed(start: Start) -> None:
    faked = panel()
    page = faked.open(start())
    second = page.locator(".judged").nth(1)
    second.get_by_role("button", name="Yes").click()
    expect(second.get_by_role("button", name="Yes")).to_have_attribute("aria-pressed", "true")
    until_told(page, faked, 1)  # at once, whatever is said of the others
    second.get_by_role("button", name="No").click()
    expect(second.get_by_role("button", name="No")).to_have_attribute("aria-pressed", "true")
    expect(second.get_by_role("button", name="Yes")).to_have_attribute("aria-pressed", "false")
    second.get_by_role("button", name="No").click()  # the same again takes it back
    expect(page.locator(".judged.answered")).to_have_count(0)


def test_what_was_said_of_some_outputs_is_kept_over_a_reload(start: Start) -> None:
    faked = panel()
    page = faked.open(start())
    page.keyboard.press("y")
    until_told(page, faked, 1)
    page.reload()
    page.wait_for_selector("#yes:enabled")
    expect(page.locator(".judged")).to_have_count(4)
    expect(page.locator(".judged.answered")).to_have_count(1)
    page.keyboard.press("u")
    expect(page.locator(".judged.answered")).to_have_count(0)
    assert focused(page) == 0


def test_answers_are_in_sight_at_every_size(start: Start) -> None:
    faked = Faked([question(n, LONG, LONG, item="one") for n in range(6)], together=True)
    page = faked.open(start())
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        missing = [each for each in ("#question", "#yes", "#no", "#unsure") if not in_sight(page, each)]
        assert missing == [], (width, height)
