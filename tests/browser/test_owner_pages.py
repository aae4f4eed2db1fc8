"""The dashboard, a study made from the page, and hostile texts that must not run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect
from tests.browser.conftest import Server, press, right_key
from tests.unit.web.served import write_table
from tests.unit.web.test_shield import HOSTILE

Start = Callable[..., Server]


def test_the_dashboard_is_live_and_its_buttons_work(start: Start) -> None:
    server = start()
    dashboard = server.dashboard()
    figure = dashboard.locator(".figures dd").first
    expect(figure).to_have_text("0")
    page = server.rater("ann")
    for _ in range(3):
        press(page, right_key(page))
    expect(figure).to_have_text("3")
    dashboard.click("#pause")
    expect(dashboard.locator(".badge")).to_have_text("paused")
    dashboard.click("#pause")
    expect(dashboard.locator(".badge")).to_have_text("running")
    dashboard.fill("#rater", "cy")
    dashboard.click("#new-link button")
    expect(dashboard.locator("#made-url")).to_contain_text("/r/")
    link = dashboard.locator("#made-url").inner_text()
    other = server.page()
    other.goto(link)
    other.wait_for_selector("#yes:enabled")
    dashboard.on("dialog", lambda dialog: dialog.accept())
    dashboard.locator(".links li", has_text="cy").locator("button").click()
    expect(dashboard.locator(".links li", has_text="cy")).to_have_count(0)
    assert other.goto(link).status == 401  # type: ignore[union-attr]


def test_files_are_downloaded(start: Start, tmp_path: Path) -> None:
    server = start()
    page = server.rater("ann")
    press(page, "y")
    server.wait_for_answers(1)
    dashboard = server.dashboard()
    dashboard.click("summary.button")
    with dashboard.expect_download() as download:
        dashboard.click("text=The whole log (JSONL)")
    download.value.save_as(tmp_path / "log.jsonl")
    events = [json.loads(line)["event"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert events.count("answered") == 1
    with dashboard.context.expect_page() as report:
        dashboard.click("text=Report")
    expect(report.value.locator("h1")).to_be_visible()


def test_a_study_is_made_from_the_page(start: Start, tmp_path: Path) -> None:
    server = start()
    page = server.dashboard()
    page.click("text=New study")
    page.set_input_files("#file", write_table(tmp_path / "intents.csv"))
    expect(page.locator("#models")).to_contain_text("8 (model 0")
    page.fill("#eps", "0.1")
    page.fill("#name", "made here")
    page.click("#plan-button")
    expect(page.locator("#plan-answers")).to_be_visible()
    page.click("#create")
    page.wait_for_url("**/studies/2")
    expect(page.locator(".crumb b")).to_have_text("made here")
    page.goto(f"{server.url}/")
    expect(page.locator(".study-link h2")).to_have_text(["intents", "made here"])


def test_a_table_that_is_none_is_said_in_words(start: Start, tmp_path: Path) -> None:
    server = start()
    (tmp_path / "bad.parquet").write_bytes(b"no table")
    page = server.dashboard()
    page.goto(f"{server.url}/new")
    page.set_input_files("#file", tmp_path / "bad.parquet")
    expect(page.locator("#problem")).to_contain_text("cannot be read as PARQUET")


def test_hostile_texts_do_not_run(start: Start) -> None:
    text = " ".join(HOSTILE)
    server = start(name=text, labels=(text, *(f"{each} label" for each in HOSTILE[:4])), text=text, instructions=text)
    token = server.site.access.make("rater", 1, HOSTILE[1])[1]
    page = server.page()
    page.goto(f"{server.url}/r/{token}")
    page.click("#help button")
    page.wait_for_selector("#yes:enabled")
    assert HOSTILE[0] in page.inner_text("#item")
    for _ in range(5):
        press(page, "y")
    server.wait_for_answers(5)
    dashboard = server.dashboard()
    expect(dashboard.locator(".links b")).to_have_text([HOSTILE[1]])
    for each in (page, dashboard):
        assert each.evaluate("() => window.hacked") is None
        assert each.locator("iframe, svg:not(.chart), img").count() == 0
