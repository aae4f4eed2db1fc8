"""What axe finds (WCAG 2.2, A and AA) on every page and in a report, by day and night; and a rater with keys alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from tests.browser.conftest import Server
from tests.browser.faked import PICTURE, SOUND, Faked, question
from tests.browser.test_all_pages import all_pages
from tests.unit.web.served import LABELS, TRUTH, make_study

from onebit.records import Answer
from onebit.report import as_html

Start = Callable[..., Server]
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    "resultTypes": ["violations"],
}
#: How a page is looked at: width, height and colours.
LAPTOP, PHONE_AT_NIGHT = (1280, 800, "light"), (390, 844, "dark")


def violations(page: Page, *looks: tuple[int, int, str]) -> list[str]:
    """What axe finds, each with the elements that have it."""
    found = []
    for width, height, scheme in looks or (LAPTOP, PHONE_AT_NIGHT):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        # What comes into sight is paler for a moment.
        page.wait_for_function("() => document.getAnimations().every((each) => each.playState !== 'running')")
        for each in Axe().run(page, options=RULES).response["violations"]:
            found += [f"{page.url} {width} {scheme}: {each['id']}: {node['html'][:150]}" for node in each["nodes"]]
    return found


def answer_all(server: Server) -> None:
    """Answer until there are no more questions."""
    study = server.site.room(1).study
    while isinstance(offers := study.ask_several("ann", 1), tuple):
        (offer,) = offers
        right = study.items.label(offer.label or 0).name == LABELS[TRUTH[offer.item]]
        study.tell(offer.id, Answer.YES if right else Answer.NO, rater="ann", token=str(offer.id))


def answered_item(server: Server) -> int:
    """The row of an item that has an answer."""
    study = server.site.room(1).study
    return study.offer(next(iter(study.view.answers))).item


def test_axe_finds_nothing_on_the_pages_of_a_study(start: Start, tmp_path: Path) -> None:
    server = start(protocol="follow-up", eps=0.3)
    rater, board, new = all_pages(server, tmp_path)
    rater.click("#yes")
    expect(rater.locator("#history li")).to_have_count(1)
    found = [violation for page in (rater, board, new) for violation in violations(page)]
    rater.click("#help-open")
    found += violations(rater)
    answer_all(server)
    board.reload()
    expect(board.locator(".badge")).to_have_text("certified")
    found += violations(board)
    make_study(server.site.storage, tmp_path, "another")
    for path in ("/", "/links", "/r/nobody", "/studies/1/answers", f"/studies/1/items/{answered_item(server)}"):
        board.goto(f"{server.url}{path}")
        found += violations(board)
    report = tmp_path / "report.html"
    report.write_text(as_html(server.site.room(1).study.report(), study="intents"), encoding="utf-8")
    page = server.browser.new_page()
    page.goto(report.as_uri())
    found += violations(page)
    page.close()
    assert found == []


MARKDOWN = (
    "<h1>Bags</h1><p><a href='https://example.org'>more</a></p><table><tr><th>n</th></tr><tr><td>1</td></tr></table>"
)
SHOWN: dict[str, Faked] = {
    "a text to judge": Faked([question(0, "Where is my bag?", "In Vienna. " * 20, html=MARKDOWN)]),
    "outputs judged together": Faked(
        [question(n, "Where is my bag?", f"In Vienna {n}", item="bag") for n in range(3)], together=True
    ),
    "a picture": Faked([question(0, "A receipt", "receipt", media=PICTURE)]),
    "a sound": Faked([question(0, "", "dog", media=SOUND)]),
    "right to left": Faked([question(0, "أين حقيبتي؟ " * 800, "أمتعة مفقودة")]),
}


def test_axe_finds_nothing_whatever_the_item_is(start: Start) -> None:
    server = start()
    assert [violation for faked in SHOWN.values() for violation in violations(faked.open(server), LAPTOP)] == []


def test_axe_finds_nothing_where_labels_are_chosen_and_where_a_classifier_is_trained(start: Start) -> None:
    many = (*LABELS, *(f"topic {letter}" for letter in "abcdefg"))
    found = violations(start(protocol="labels", labels=many).rater("ann"), PHONE_AT_NIGHT)
    assert found + violations(start(trains=True).dashboard(), LAPTOP) == []


def test_axe_finds_what_is_wrong(start: Start) -> None:
    page = start().rater("ann")
    page.evaluate("() => { document.getElementById('yes').querySelector('span').remove(); }")
    assert any("button-name" in each for each in violations(page))


def test_a_rater_needs_no_pointer(start: Start) -> None:
    """Everything that can be pressed is reached by the tab key, in the order of the page, and can be seen to be."""
    page = Faked([question(n, f"item {n}", "refund") for n in range(3)]).open(start())
    reached = []
    for _ in range(5):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("() => document.activeElement.id"))
        assert page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle") == "solid", reached
    assert reached == ["help-open", "item", "no", "unsure", "yes"]
    page.focus("#no")
    page.keyboard.press("Enter")
    expect(page.locator("#item")).to_have_text("item 1")
    expect(page.locator("#history b").first).to_have_text("no")


def test_nothing_moves_for_who_wants_no_motion(start: Start) -> None:
    moving = "() => document.getAnimations().length"
    faked = [question(n, f"item {n}", "refund") for n in range(3)]
    server = start()
    still = Faked(faked).open(server, reduced_motion="reduce")
    still.keyboard.press("y")
    assert still.evaluate(moving) == 0
    moved = Faked(faked).open(server, reduced_motion="no-preference")
    assert moved.evaluate(f"() => {{ document.getElementById('yes').click(); return ({moving})(); }}") > 0
