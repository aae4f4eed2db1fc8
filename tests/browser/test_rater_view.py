"""What raters look at for hours: question and answers in sight, whatever the item; it scrolls in its own place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Server, fits, press, shown
from tests.browser.faked import PICTURE, SOUND, Faked, question

Start = Callable[..., Server]
SENTENCE = "The bag that I gave away in Vienna has not come to Lisbon, and nobody answers the telephone there. "
LONG = (SENTENCE * 220)[:20_000]
#: 1280 by 720, 1920 by 1080 and 1024 by 768 at 200 percent are the half of it.
SIZES = [(width, height) for width in (320, 390, 640, 1280, 1920) for height in (360, 480, 720, 1080)] + [
    (640, 360),
    (960, 540),
    (512, 384),
]
ITEMS: dict[str, dict[str, Any]] = {
    "a long text": question(0, LONG, "lost luggage"),
    "a long word": question(0, "Donau" * 4000, "Donaudampfschifffahrtsgesellschaftskapitaenswitwe"),
    "a tall picture": question(0, "The picture shows all of it.", "receipt", media=PICTURE),
    "a sound": question(0, LONG, "a dog that barks", media=SOUND),
    "right to left": question(0, "أين حقيبتي؟ " * 800, "أمتعة مفقودة"),
    "a long label": question(0, SENTENCE, "a bag that was lost on the way from one city to another one, or nearly"),
    "a long output": question(0, LONG, LONG),
    "several columns": question(
        0, "", "refund", columns=[{"name": name, "text": LONG, "html": None} for name in ("asked", "reference")]
    ),
}


def in_sight(page: Page, selector: str) -> bool:
    """Whether all of it is inside the window, and nothing lies over its middle."""
    return bool(page.evaluate(IN_SIGHT, selector))


IN_SIGHT = """(selector) => {
  const node = document.querySelector(selector), box = node.getBoundingClientRect();
  const around = node.parentElement.getBoundingClientRect();
  const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return box.width > 0 && box.height > 0 && box.left >= 0 && box.top >= 0 && box.right <= innerWidth + .5
    && box.bottom <= innerHeight + .5 && (node.contains(top) || node.parentElement.contains(top))
    && box.bottom <= around.bottom + 8 && node.scrollHeight <= node.clientHeight + 2;
}"""


@pytest.mark.parametrize("name", ITEMS)
def test_question_and_answers_are_in_sight_at_every_size(start: Start, name: str) -> None:
    page = Faked([ITEMS[name], question(1, "next", "refund")]).open(start())
    if name == "a tall picture":
        page.wait_for_selector("img.tall")
    missing = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        missing += [
            (width, height, place)
            for place in ("#question", "#yes", "#no", "#unsure", "#undo", "#help-open")
            if not in_sight(page, place)
        ]
        assert fits(page), (width, height)
        assert page.evaluate("() => document.documentElement.scrollHeight <= innerHeight"), (width, height)
        box = page.locator("#item").bounding_box()
        assert box is not None
        assert box["height"] >= 50, (width, height)
    assert missing == []


def test_with_letters_twice_as_large_all_is_in_sight(start: Start) -> None:
    page = Faked([ITEMS["a long text"]]).open(start(), viewport={"width": 1280, "height": 720})
    page.evaluate("() => { document.documentElement.style.fontSize = '200%'; }")
    assert [each for each in ("#question", "#yes", "#no", "#unsure") if not in_sight(page, each)] == []


def test_a_text_of_20000_characters_from_a_real_study(start: Start) -> None:
    page = start(text=LONG).rater("ann", viewport={"width": 640, "height": 360})
    assert len(page.inner_text("#item")) > 19_000
    for _ in range(3):
        assert in_sight(page, "#question")
        assert in_sight(page, "#yes")
        press(page, "y")


def test_keys_that_scroll_never_answer(start: Start) -> None:
    faked = Faked([ITEMS["a long text"], question(1, "next", "refund")])
    page = faked.open(start())
    top = "() => document.getElementById('item').scrollTop"
    page.click("#question")
    before = 0
    for key in (" ", "PageDown", "ArrowDown", "End"):
        page.keyboard.press(key)
        page.wait_for_function(f"(before) => ({top})() > before", arg=before)
        before = page.evaluate(top)
    for key in ("ArrowUp", "PageUp", "Shift+ ", "Home"):
        page.keyboard.press(key)
        page.wait_for_function(f"(before) => ({top})() < before", arg=before)
        before = page.evaluate(top)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#history li")).to_have_count(0)
    assert faked.told == []
    page.keyboard.press("End")
    page.wait_for_function(f"() => ({top})() > 0")
    page.keyboard.press("y")
    expect(page.locator("#item")).to_have_text("next")
    assert page.evaluate(top) == 0


def test_yes_and_no_weigh_the_same(start: Start) -> None:
    page = Faked([ITEMS["a long text"]]).open(start())
    looks = """(id) => {
      const node = document.getElementById(id), style = getComputedStyle(node), box = node.getBoundingClientRect();
      return [style.backgroundColor, style.color, style.borderColor, style.fontSize, box.width, box.height];
    }"""
    assert page.evaluate(looks, "yes") == page.evaluate(looks, "no")


def test_keys_are_shown_and_can_be_changed_and_stay_changed(start: Start) -> None:
    server = start()
    page = server.rater("ann")
    expect(page.locator("#yes kbd")).to_have_text("y")
    page.keyboard.press("?")
    page.click("[data-change=yes]")
    page.keyboard.press("n")  # which is no already
    expect(page.locator("#key-problem")).to_contain_text("has a meaning already")
    page.click("[data-change=yes]")
    page.keyboard.press("g")
    expect(page.locator("#key-problem")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    expect(page.locator("#yes kbd")).to_have_text("g")
    before = shown(page)
    page.keyboard.press("y")
    assert shown(page) == before
    press(page, "g")
    expect(page.locator("#history b").first).to_have_text("yes")
    page.reload()
    page.wait_for_selector("#yes:enabled")
    press(page, "g")
    server.wait_for_answers(2)


def test_help_is_for_the_device_at_hand(start: Start) -> None:
    server = start()
    laptop = server.rater("ann")
    laptop.keyboard.press("?")
    expect(laptop.locator(".by-key")).to_be_visible()
    expect(laptop.locator(".by-touch")).to_be_hidden()
    phone = server.rater("bob", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    phone.click("#help-open")
    expect(phone.locator(".by-touch")).to_be_visible()


def test_own_answers_are_counted_and_what_remains_is_said(start: Start) -> None:
    page = Faked([question(n, f"item {n}", "refund") for n in range(4)]).open(start())
    expect(page.locator("#progress")).to_have_text("about 340 to go")
    expect(page.locator("#own")).to_have_text("")
    press(page, "y")
    expect(page.locator("#own")).to_have_text("1 answer by you")
    press(page, "n")
    expect(page.locator("#own")).to_have_text("2 answers by you")
    press(page, "u")
    expect(page.locator("#own")).to_have_text("1 answer by you")


def test_the_server_counts_a_raters_own_answers(start: Start) -> None:
    server = start()
    page = server.rater("ann")
    press(page, "y")
    server.wait_for_answers(1)
    page.reload()
    expect(page.locator("#own")).to_have_text("1 answer by you")
    server.rater("bob")
    press(page, "y")
    server.wait_for_answers(2)
    bob = server.rater("bob")
    expect(bob.locator("#own")).to_have_text("")


def test_text_from_right_to_left_stands_so(start: Start) -> None:
    page = Faked([ITEMS["right to left"]]).open(start())
    direction = "(selector) => getComputedStyle(document.querySelector(selector)).direction"
    assert page.evaluate(direction, "#item .text") == "rtl"
    assert page.evaluate(direction, "#question b") == "rtl"
    assert page.evaluate(direction, "#question") == "ltr"


def test_the_name_of_a_study_is_cut_at_its_end(start: Start) -> None:
    server = start(name="A study with a name of many words, more than a phone has room for")
    for language in ("en", "ar"):
        page = server.rater("ann", viewport={"width": 390, "height": 844}, locale=language)
        assert page.evaluate(FIRST_LETTER_IN_SIGHT), language


FIRST_LETTER_IN_SIGHT = """() => {
  const name = document.querySelector(".study"), letter = document.createRange();
  const text = name.firstChild.firstChild ?? name.firstChild;
  letter.setStart(text, 0);
  letter.setEnd(text, 1);
  const [inner, outer] = [letter, name].map((each) => each.getBoundingClientRect());
  return inner.left >= outer.left && inner.right <= outer.right;
}"""


def test_a_text_stands_apart_from_the_picture_above_it(start: Start) -> None:
    page = Faked([ITEMS["a tall picture"]]).open(start())
    page.wait_for_selector("img.tall")
    above, below = (page.locator(f"#item {place}").bounding_box() for place in ("img", ".text"))
    assert above is not None
    assert below is not None
    assert below["y"] - above["y"] - above["height"] >= 8


def test_markdown_is_shown_as_such_and_runs_nothing(start: Start) -> None:
    text = "# Bags\n\n- one\n- two\n\n```python\nx = 1 < 2\n```\n\n"
    text += "<img src=x onerror=alert(1)> [go](javascript:alert(1))"
    server = start(text=text, markdown=True)
    page = server.rater("ann")
    expect(page.locator("#item h1")).to_have_text("Bags")
    expect(page.locator("#item li")).to_have_text(["one", "two"])
    expect(page.locator("#item pre code")).to_have_text("x = 1 < 2\n")
    expect(page.locator("#item img")).to_have_count(0)
    expect(page.locator("#item a")).to_have_count(0)
    expect(page.locator("#item")).to_contain_text("<img src=x onerror=alert(1)>")


def test_a_reference_stands_beside_what_is_asked_about(start: Start) -> None:
    page = Faked([ITEMS["several columns"]]).open(start(), viewport={"width": 1280, "height": 720})
    boxes = [each.bounding_box() for each in page.locator("#item dl > div").all()]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert abs(boxes[0]["y"] - boxes[1]["y"]) < 10
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
