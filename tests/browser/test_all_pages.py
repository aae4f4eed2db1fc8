"""What every page must be: readable by day and night, at twice the size, and by a screen reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect
from tests.browser.conftest import Server, fits
from tests.unit.web.served import known_labels, write_table

Start = Callable[..., Server]


def all_pages(server: Server, folder: Path, **options: Any) -> list[Page]:
    """A rater's page, the dashboard, and the page that makes a study, with everything on it open."""
    new = server.dashboard(**options)
    new.goto(f"{server.url}/new")
    new.set_input_files("#file", write_table(folder / "new.csv", known=known_labels(9)))
    expect(new.locator("#more")).to_be_visible()
    new.click("#more summary")
    new.select_option("#gold", "known")
    new.check("[name=protocol][value=follow-up]")
    new.fill("#f-no", "0.1")
    new.click("#plan-button")
    expect(new.locator("#f-no-problem")).to_be_visible()
    new.wait_for_selector("#plan-button:enabled")
    return [server.rater("ann", **options), server.dashboard(**options), new]


def test_text_stands_out_from_its_background_by_day_and_night(start: Start, tmp_path: Path) -> None:
    server = start()
    backgrounds = []
    for scheme in ("light", "dark"):
        for page in all_pages(server, tmp_path, color_scheme=scheme):
            assert page.evaluate(CONTRAST) == [], scheme
            backgrounds.append(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
    assert backgrounds == ["rgb(244, 245, 247)"] * 3 + ["rgb(16, 19, 25)"] * 3


def test_at_twice_the_size_nothing_overflows(start: Start, tmp_path: Path) -> None:
    server = start(text="a message with averyveryverylongwordthatdoesnotbreakanywhere")
    # A window of 1280 pixels at 200 percent shows 640 by 400 of them.
    for page in all_pages(server, tmp_path, viewport={"width": 640, "height": 400}):
        assert fits(page), page.url
        page.set_viewport_size({"width": 320, "height": 480})
        assert fits(page), page.url


def test_everything_that_can_be_used_has_a_name(start: Start, tmp_path: Path) -> None:
    for page in all_pages(start(), tmp_path):
        assert page.evaluate(NAMELESS) == [], page.url


#: Visible controls of which a screen reader could say nothing.
NAMELESS = """() => [...document.querySelectorAll("button, a[href], input, select, textarea, summary")]
  .filter((node) => node.checkVisibility())
  .filter((node) => {
    const label = [...(node.labels ?? [])].map((each) => each.textContent).join("");
    return !(node.getAttribute("aria-label") || label || node.textContent).trim();
  })
  .map((node) => node.outerHTML)"""

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
