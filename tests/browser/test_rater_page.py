"""Raters at work: keys, two at once, undo, a phone, no connection, dark mode, large type."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import CHANGED, Server, press, right_key, shown

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
    said = {"yes": ("y", "1", "ArrowRight"), "no": ("n", "0", "ArrowLeft"), CANT_TELL: (" ", "ArrowDown")}
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
    press(page, "ArrowUp")
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


def test_a_revoked_link_says_so(start: Start) -> None:
    server = start()
    page = server.rater("ann")
    (link,) = server.site.access.working(1)
    server.site.access.revoke(link.id, 1)
    press(page, "y")
    expect(page.locator("#question")).to_have_text("This link has ended")


def test_a_pause_is_said_and_ends_by_itself(start: Start) -> None:
    server = start()
    server.site.access.pause(1, True)
    token = server.site.access.make("rater", 1, "ann")[1]
    page = server.page()
    page.goto(f"{server.url}/r/{token}")
    expect(page.locator("#question")).to_have_text("Paused")
    server.site.access.pause(1, False)
    page.wait_for_selector("#yes:enabled")


def fits(page: Page) -> bool:
    return bool(page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"))


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


def test_text_stands_out_from_its_background_by_day_and_night(start: Start) -> None:
    server = start()
    backgrounds = []
    for scheme in ("light", "dark"):
        for page in (server.rater("ann", color_scheme=scheme), server.dashboard(color_scheme=scheme)):
            assert page.evaluate(CONTRAST) == [], scheme
            backgrounds.append(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
    assert backgrounds == ["rgb(244, 245, 247)"] * 2 + ["rgb(16, 19, 25)"] * 2


def test_at_twice_the_size_nothing_overflows(start: Start) -> None:
    server = start(text="a message with averyveryverylongwordthatdoesnotbreakanywhere")
    # A window of 1280 pixels at 200 percent shows 640 by 400 of them.
    half = {"viewport": {"width": 640, "height": 400}}
    rater, dashboard, new = server.rater("ann", **half), server.dashboard(**half), server.dashboard(**half)
    new.goto(f"{server.url}/new")
    for page in (rater, dashboard, new):
        assert fits(page)
        page.set_viewport_size({"width": 320, "height": 480})
        assert fits(page)


def test_keyboard_alone_reaches_everything(start: Start) -> None:
    server = start()
    page = server.rater("ann")
    reached = []
    for _ in range(5):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("() => document.activeElement.id"))
    assert reached[:4] == ["help-open", "no", "unsure", "yes"]
    page.locator("#no").focus()
    page.keyboard.press(" ")  # on a button, the space bar presses that button
    expect(page.locator("#history b").first).to_have_text("no")


def test_instructions_are_shown_once_and_are_at_hand(start: Start) -> None:
    server = start(instructions="Read this first.")
    token = server.site.access.make("rater", 1, "ann")[1]
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


#: Texts whose contrast is below 4.5 (3 for large ones), by the formula of WCAG 2.
CONTRAST = """() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => ((v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parts(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > .5) return colour;
    }
    return [255, 255, 255];
  };
  const low = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    const style = getComputedStyle(node);
    if (!own || !node.checkVisibility() || node.closest(":disabled") || node.closest("svg")) continue;
    const [a, b] = [light(parts(style.color)), light(behind(node))].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    const size = parseFloat(style.fontSize);
    if (ratio < (size >= 24 || (size >= 18.6 && style.fontWeight >= 700) ? 3 : 4.5))
      low.push(`${node.tagName} ${node.textContent.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return low;
}"""
