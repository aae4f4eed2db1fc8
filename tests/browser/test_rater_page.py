"""Raters at work: keys, two at once, undo, a phone, no connection."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import CHANGED, Server, fits, press, right_key, shown

from onebit.store.backup import backup
from onebit.study.study import Offer

Start = Callable[..., Server]
CANT_TELL = "can\u2019t tell"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def answer_until_done(page: Page) -> int:
    n = 0
    while page.query_selector("#yes:enabled"):
        press(page, right_key(page))
        n += 1
        page.wait_for_function(
            "() => !document.getElementById('yes').disabled || "
            "document.getElementById('question').innerText.startsWith('All done')"
        )
    return n


def test_a_study_is_run_to_its_certificate_by_keys(start: Start) -> None:
    server = start(protocol="follow-up", eps=0.3)
    page = server.rater("ann")
    n = answer_until_done(page)
    expect(page.locator("#question")).to_have_text("All done. Thank you!")
    server.wait_for_answers(n)
    dashboard = server.dashboard()
    expect(dashboard.locator(".badge")).to_have_text("certified")
    expect(dashboard.locator("h1")).to_have_text("model 7")
    expect(dashboard.locator(".figures dd").first).to_have_text(str(n))


def test_the_same_on_postgresql(start: Start, request: pytest.FixtureRequest) -> None:
    server = start(storage=request.getfixturevalue("postgres").get_uri(), protocol="follow-up", eps=0.3)
    page = server.rater("ann")
    n = answer_until_done(page)
    expect(page.locator("#question")).to_have_text("All done. Thank you!")
    server.wait_for_answers(n)
    expect(server.dashboard().locator(".badge")).to_have_text("certified")


def test_two_raters_at_once_share_the_work(start: Start) -> None:
    server = start()
    ann, bob = server.rater("ann"), server.rater("bob")
    assert shown(ann) != shown(bob)
    for _ in range(5):
        press(ann, right_key(ann))
        press(bob, right_key(bob))
    server.wait_for_answers(10)


def test_keys(start: Start) -> None:
    server = start()
    page = server.rater("ann")
    said = {"yes": ("y", "1", "Y"), "no": ("n", "0", "N"), CANT_TELL: ("c", "C")}
    for answer, keys in said.items():
        for key in keys:
            press(page, key)
            expect(page.locator("#history b").first).to_have_text(answer)
    server.wait_for_answers(8)


def test_the_next_question_is_there_before_the_server_answers(start: Start) -> None:
    server = start()
    page = server.rater("ann")
    page.wait_for_timeout(500)
    page.route("**/api/v1/*", lambda route: None)  # a server that never answers
    press(page, "y")
    press(page, "n")
    assert page.query_selector("#yes:enabled")


def test_undo_brings_the_question_back(start: Start) -> None:
    server = start()
    page = server.rater("ann")
    first = shown(page)
    press(page, "y")
    press(page, "Backspace")
    assert shown(page) == first
    expect(page.locator("#history li")).to_have_count(0)
    press(page, "n")
    server.wait_for_answers(1)  # a moment later it is sent, and can still be taken back
    press(page, "u")
    assert shown(page) == first
    server.wait_for_answers(0)
    press(page, "y")
    server.wait_for_answers(1)


def test_an_older_answer_is_taken_back_by_a_click(start: Start) -> None:
    server = start()
    page = server.rater("ann")
    first = shown(page)
    for key in "yny":
        press(page, key)
    server.wait_for_answers(3)
    page.locator("#history button").nth(2).click()
    page.wait_for_function("(n) => document.querySelectorAll('#history li').length === n", arg=2)
    assert shown(page) == first
    server.wait_for_answers(2)


def test_offline_and_back_without_loss_or_double_count(start: Start) -> None:
    server = start()
    page = server.rater("ann")
    page.wait_for_timeout(500)
    press(page, right_key(page))
    server.wait_for_answers(1)
    page.context.set_offline(True)
    for _ in range(2):
        press(page, right_key(page))
    expect(page.locator("#notice")).to_contain_text("answers are kept here")
    assert server.answers() == 1
    page.context.set_offline(False)
    server.wait_for_answers(3)
    expect(page.locator("#notice")).to_be_hidden()
    press(page, right_key(page))
    server.wait_for_answers(4)


def test_an_answer_whose_receipt_was_lost_counts_once(start: Start) -> None:
    server = start()
    page = server.rater("ann")
    page.wait_for_timeout(500)
    lost: list[object] = []

    def lose(route: Route) -> None:
        if not lost:
            lost.append(route.fetch())
            route.abort()
        else:
            route.continue_()

    page.route("**/api/v1/tell", lose)
    press(page, "y")
    expect(page.locator("#history button.sent")).to_have_count(1)
    assert len(lost) == 1
    server.wait_for_answers(1)


def test_answers_survive_a_reload_without_a_connection(start: Start) -> None:
    server = start()
    page = server.rater("ann")
    page.wait_for_timeout(500)
    page.route("**/api/v1/*", lambda route: route.abort())
    press(page, "y")
    page.reload()
    expect(page.locator("#history button.kept")).to_have_count(1)
    page.unroute("**/api/v1/*")
    server.wait_for_answers(1)


def test_an_answer_that_the_page_before_sent_when_it_was_left_is_counted_once(start: Start) -> None:
    server = start()
    page = server.rater("ann")
    press(page, "y")
    kept = page.evaluate("JSON.stringify(localStorage)")
    server.wait_for_answers(1)
    # As if it had been left at once, before the server said that it has the answer: it is kept, and sent again.
    page.add_init_script(
        f"for (const [name, value] of Object.entries({kept}))"
        ' localStorage.setItem(name, value.replaceAll(/"at":\\d+/g, `"at":${Date.now()}`))'
    )
    page.goto(page.url)
    expect(page.locator("#own")).not_to_be_empty()
    expect(page.locator("#own")).to_have_text("1 answer by you")
    page.wait_for_timeout(3000)
    expect(page.locator("#own")).to_have_text("1 answer by you")
    server.wait_for_answers(1)


def test_an_answer_to_a_question_from_before_a_restored_backup_is_not_counted(start: Start, tmp_path: Path) -> None:
    server = start(protocol="follow-up")
    page = server.rater("ann")
    backup(server.site.storage, str(tmp_path / "backup.db"))
    for _ in range(8):
        press(page, "n")  # so that the first item comes again, with another label
    server.wait_for_answers(8)
    page.wait_for_selector("#yes:enabled")
    page.route("**/api/v1/ask", lambda route: route.abort())
    server.restore(tmp_path / "backup.db")
    study = server.site.room(1).study
    while isinstance(offer := study.ask("ann"), Offer) and offer.id < 8:
        study.tell(offer, True)  # so that the ninth question is about another item here
    page.keyboard.press("y")
    expect(page.locator("#history .refused")).to_have_count(1)
    page.unroute("**/api/v1/ask")
    expect(page.locator("#notice")).to_contain_text("Not counted: your answer “yes” to")
    assert server.answers() == 8
    press(page, right_key(page))
    server.wait_for_answers(9)


def test_a_revoked_link_says_so(start: Start) -> None:
    server = start()
    page = server.rater("ann")
    (link,) = server.site.access.working(1)
    server.site.access.revoke(link.id, 1)
    press(page, "y")
    expect(page.locator("#question")).to_have_text("This link has ended")


def test_answers_of_a_link_that_ended_are_sent_by_the_next(start: Start) -> None:
    server = start()
    page = server.rater("ann")
    (link,) = server.site.access.working(1)
    server.site.access.revoke(link.id, 1)
    press(page, "y")
    expect(page.locator("#notice")).to_contain_text("1 answer could not be sent")
    assert server.answers() == 0
    page.goto(f"{server.url}/r/{server.token('ann')}")
    server.wait_for_answers(1)
    expect(page.locator("#notice")).to_be_hidden()


def test_a_link_that_works_again_is_found_out_by_itself(start: Start) -> None:
    """As after a clock that was wrong: the page goes on, and what it kept is sent."""
    server = start()
    page = server.rater("ann")
    page.route("**/api/v1/*", lambda route: route.fulfill(status=401, json={"error": "this link does not work"}))
    press(page, "y")
    expect(page.locator("#question")).to_have_text("This link has ended")
    page.unroute("**/api/v1/*")
    page.evaluate("() => dispatchEvent(new Event('online'))")
    server.wait_for_answers(1)
    page.wait_for_selector("#yes:enabled")


@pytest.mark.parametrize(
    "given",
    [
        {"status": 200, "body": "<html>Welcome to our hotel</html>"},
        {"status": 404, "body": "<html>Not found</html>"},
        {"status": 403, "json": {"error": "this request comes from another site"}},
        {"status": 404, "json": {"error": "there is nothing here"}},
        {"status": 400, "json": {"error": "this server is not so called"}},
        {"status": 500, "body": "Internal Server Error"},
    ],
)
def test_an_answer_is_kept_whatever_stands_between(start: Start, given: dict[str, Any]) -> None:
    """A page of a proxy, or a server that is set up wrongly, says nothing about an answer: it is kept and sent."""
    server = start()
    page = server.rater("ann")
    page.wait_for_timeout(300)
    page.route("**/api/v1/*", lambda route: route.fulfill(**given))
    press(page, "y")
    expect(page.locator("#notice")).to_contain_text("1 answer")
    page.unroute("**/api/v1/*")
    page.evaluate("() => dispatchEvent(new Event('online'))")
    server.wait_for_answers(1)


def test_a_pause_is_said_and_ends_by_itself(start: Start) -> None:
    server = start()
    server.site.access.pause(1, True)
    token = server.token("ann")
    page = server.page()
    page.goto(f"{server.url}/r/{token}")
    expect(page.locator("#question")).to_have_text("Paused")
    server.site.access.pause(1, False)
    page.wait_for_selector("#yes:enabled")


def test_on_a_phone_everything_is_in_reach_and_a_swipe_answers(start: Start) -> None:
    server = start()
    page = server.rater("ann", **PHONE)
    assert fits(page)
    for button in ("#yes", "#no", "#unsure"):
        box = page.locator(button).bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert box["y"] + box["height"] <= 844
    for across, said in ((120, "yes"), (-120, "no")):
        before = shown(page)
        swipe(page, across)
        page.wait_for_function(CHANGED, arg=before)
        expect(page.locator("#history b").first).to_have_text(said)
    before = shown(page)
    swipe(page, 30)  # too short to mean anything
    assert shown(page) == before


def swipe(page: Page, across: int) -> None:
    client = page.context.new_cdp_session(page)
    box = page.locator("#item").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    client.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for part in range(1, 7):
        point = {"x": x + across * part / 6, "y": y}
        client.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_keyboard_alone_reaches_everything(start: Start) -> None:
    server = start()
    page = server.rater("ann")
    reached = []
    for _ in range(5):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("() => document.activeElement.id"))
    assert reached == ["help-open", "item", "no", "unsure", "yes"]
    page.locator("#no").focus()
    page.keyboard.press(" ")  # on a button, the space bar presses that button
    expect(page.locator("#history b").first).to_have_text("no")


def test_instructions_are_shown_once_and_are_at_hand(start: Start) -> None:
    server = start(instructions="Read this first.")
    token = server.token("ann")
    page = server.page()
    page.goto(f"{server.url}/r/{token}")
    expect(page.locator("#help")).to_be_visible()
    page.wait_for_selector("#yes:enabled")
    page.keyboard.press("y")  # behind the instructions nothing is answered
    expect(page.locator("#history li")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.locator("#help")).to_be_hidden()
    page.reload()
    page.wait_for_selector("#yes:enabled")
    expect(page.locator("#help")).to_be_hidden()
    page.click("#help-open")
    expect(page.locator("#help")).to_contain_text("Read this first.")
