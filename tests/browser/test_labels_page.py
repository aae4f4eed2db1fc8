"""Raters who are asked for the label itself choose it from all labels."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect
from tests.browser.conftest import CHANGED, Server, shown
from tests.browser.test_rater_page import CANT_TELL, PHONE
from tests.unit.web.served import LABELS, TRUTH

Start = Callable[..., Server]
MANY = (*LABELS, *(f"topic {letter}" for letter in "abcdefg"), "refund late")


def right_label(page: Page) -> str:
    return LABELS[TRUTH[int(page.inner_text("#item").split()[1])]]


def labels_given(server: Server) -> list[str]:
    room = server.site.room(1)
    return [room.study.items.label(said).name for said in room.study.view.answers.values() if isinstance(said, int)]


def test_a_label_is_clicked(start: Start) -> None:
    server = start(protocol="labels")
    page = server.rater("ann")
    expect(page.locator("#question")).to_have_text("Which label is right?")
    expect(page.locator("#yes")).to_be_hidden()
    expect(page.locator("#no")).to_be_hidden()
    expect(page.locator("#label-list button span")).to_have_text(list(LABELS))
    expect(page.locator("#label-list kbd")).to_have_text(["1", "2", "3", "4", "5"])
    expect(page.locator("#label-search")).to_be_hidden()  # all are in sight
    for n in range(1, 4):
        before = shown(page)
        right = right_label(page)
        if n < 3:
            page.click(f"#label-list button:has-text('{right}')")
        else:
            page.keyboard.press(str(LABELS.index(right) + 1))
        page.wait_for_function(CHANGED, arg=before)
        expect(page.locator("#history b").first).to_have_text(right)
        expect(page.locator("#history li")).to_have_count(n)
    server.wait_for_answers(3)
    expect(server.dashboard().locator(".figures dt").first).to_have_text("labels so far")


def test_a_label_is_found_by_typing(start: Start) -> None:
    server = start(protocol="labels", labels=MANY)
    page = server.rater("ann")
    search, found = page.locator("#label-search"), page.locator("#label-list button")
    expect(search).to_be_focused()
    expect(found).to_have_count(len(MANY))
    search.press_sequentially("GAGE")
    expect(found).to_have_text(["lost luggage"])
    before = shown(page)
    search.press("Enter")
    page.wait_for_function(CHANGED, arg=before)
    expect(page.locator("#history b").first).to_have_text("lost luggage")
    expect(search).to_have_value("")
    search.press_sequentially("refund")  # a label, and a part of another
    expect(found).to_have_text(["refund", "refund late"])
    before = shown(page)
    search.press("Enter")
    page.wait_for_function(CHANGED, arg=before)
    expect(page.locator("#history b").first).to_have_text("refund")
    search.press_sequentially("no such label")
    expect(page.locator("#label-list")).to_have_text("no label has this in its name")
    search.fill("")
    page.click("#unsure")
    expect(page.locator("#history b").first).to_have_text(CANT_TELL)
    before = shown(page)
    page.keyboard.press("Backspace")  # with nothing typed it takes back
    page.wait_for_function(CHANGED, arg=before)
    expect(page.locator("#history li")).to_have_count(2)
    server.wait_for_answers(2)
    assert labels_given(server) == ["lost luggage", "refund"]


def test_labels_can_be_chosen_on_a_phone(start: Start) -> None:
    server = start(protocol="labels", labels=MANY)
    page = server.rater("ann", **PHONE)
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("() => document.activeElement === document.body")  # no keyboard over the labels
    before = shown(page)
    page.locator("#label-list button", has_text="seat upgrade").tap()
    page.wait_for_function(CHANGED, arg=before)
    expect(page.locator("#history b").first).to_have_text("seat upgrade")
