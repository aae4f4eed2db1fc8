"""Going on from a study on the page: with a model that came later, and by watching the choice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect
from tests.browser.conftest import PATIENCE, Server, fits, press
from tests.unit.web.served import LABELS, TRUTH, write_table

Start = Callable[..., Server]
#: What reads a table is a process of its own, which has to begin first.
LONG = 4 * PATIENCE


def test_a_model_that_came_later_joins_from_the_dashboard(start: Start, tmp_path: Path) -> None:
    server = start()
    rater = server.rater("ann")
    press(rater, "y")
    server.wait_for_answers(1)
    page = server.dashboard(viewport={"width": 390, "height": 800})
    page.click("summary.button >> text=Study")
    page.click("text=Go on with other models or items")
    expect(page.locator("h1")).to_have_text("Go on from intents")
    expect(page.locator("#aim")).to_be_hidden()
    newcomer = [LABELS[(label + (item % 5 == 0)) % len(LABELS)] for item, label in enumerate(TRUTH)]
    page.set_input_files("#file", write_table(tmp_path / "nine.csv", newcomer=newcomer))
    expect(page.locator("#rest")).to_contain_text("9 (model 0", timeout=LONG)
    assert fits(page)
    expect(page.locator("#answers")).to_be_hidden()
    page.check("[name=next][value=watch]")
    expect(page.locator("#name")).to_be_hidden()
    page.click("#create")
    expect(page.locator("#problem")).to_contain_text("not certified yet", timeout=LONG)
    page.check("[name=next][value=sequel]")
    page.fill("#name", "intents")
    page.click("#create")
    expect(page.locator("#name-problem")).to_contain_text("already", timeout=LONG)
    page.fill("#name", "with a newcomer")
    page.click("#create")
    page.wait_for_url("**/studies/2", timeout=LONG)
    expect(page.locator("#live")).to_contain_text("It goes on from another study, as sequel 1")
    # The rater answers the new study by the link from before, on the page that is open.
    press(rater, "n")
    press(rater, "n")
    assert server.site.room(2).study.about.models[-1] == "newcomer"
    page.goto(f"{server.url}/studies/1")
    expect(page.locator(".badge")).to_have_text("paused")
