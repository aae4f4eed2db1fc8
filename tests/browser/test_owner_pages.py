"""The dashboard, a study made from the page, and hostile texts that must not run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import PATIENCE, Server, fits, press, right_key
from tests.unit.web.served import known_labels, write_table
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
    dashboard.click("summary.button >> text=Download")
    with dashboard.expect_download() as download:
        dashboard.click("text=The whole log (JSONL)")
    download.value.save_as(tmp_path / "log.jsonl")
    events = [json.loads(line)["event"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert events.count("answered") == 1
    with dashboard.context.expect_page() as report:
        dashboard.click("text=Report")
    expect(report.value.locator("h1")).to_be_visible()


def test_the_dashboard_comes_to_say_how_many_answers_it_takes(start: Start) -> None:
    page = start().dashboard()
    # A process of its own has to begin first.
    expect(page.locator("#live")).to_contain_text("more answers needed, likely", timeout=4 * PATIENCE)


def test_a_study_is_made_from_the_page(start: Start, tmp_path: Path) -> None:
    server = start()
    page = server.dashboard()
    page.click("text=New study")
    page.set_input_files("#file", write_table(tmp_path / "intents.csv"))
    expect(page.locator("#rest")).to_contain_text("8 (model 0")
    page.fill("#eps", "0.1")
    page.fill("#name", "made here")
    assert page.locator("[name=protocol]:checked").count() == 0  # each assumes something else
    page.click("#plan-button")
    expect(page.locator("#protocol-problem")).to_contain_text("Choose how to ask")
    expect(page.locator("#create")).to_be_disabled()
    expect(page.locator("#exhaustive")).to_be_hidden()
    page.check("[name=protocol][value=follow-up]")
    expect(page.locator("#protocol-problem")).to_have_count(0)
    page.check("#exhaustive")
    page.click("#plan-button")
    expect(page.locator("#plan-answers")).to_be_visible()
    page.click("#create")
    page.wait_for_url("**/studies/2")
    expect(page.locator(".crumb b")).to_have_text("made here")
    setting = server.site.room(2).study.created.selection
    assert (setting.protocol, setting.exhaustive, setting.seed_given) == ("follow-up", True, False)
    page.goto(f"{server.url}/")
    expect(page.locator(".study-link h2")).to_have_text(["intents", "made here"])


def test_what_more_can_be_chosen_reaches_the_study(start: Start, tmp_path: Path) -> None:
    server = start()
    page = server.dashboard()
    page.goto(f"{server.url}/new")
    page.set_input_files("#file", write_table(tmp_path / "more.csv", known=known_labels(30)))
    expect(page.locator("#more")).to_be_visible()
    expect(page.locator("#overlap")).to_be_hidden()  # the simple case stays simple
    page.click("#more summary")
    page.select_option("#truth", "known")
    page.select_option("#gold", "known")
    expect(page.locator("#truth")).to_have_value("")  # planted or left out, not both
    expect(page.locator("#rest")).to_contain_text("8 (model 0")
    page.fill("#gold-share", "0.1")
    page.fill("#repeat-share", "0.2")
    page.fill("#overlap", "3")
    page.fill("#budget", "9000")
    page.fill("#descriptions", "refund: wants money back\n\npet travel\tcats: and dogs")
    page.fill("#f-no", "0.05")
    page.fill("#eps", "0.1")
    page.check("[name=protocol][value=follow-up]")
    page.click("#plan-button")
    expect(page.locator("#f-no-problem")).to_contain_text("one question per item")
    expect(page.locator("#f-no")).to_be_focused()
    expect(page.locator("#create")).to_be_disabled()
    page.check("[name=protocol][value=one-shot]")
    page.click("#plan-button")
    expect(page.locator("#plan-answers")).to_be_visible()
    expect(page.locator("#f-no-problem")).to_have_count(0)
    expect(page.locator("#plan-words")).to_contain_text("Answers that check raters are among them")
    page.fill("#descriptions", "refunds: wants money back\npet travel\tcats: and dogs")
    page.click("#create")
    expect(page.locator("#descriptions-problem")).to_contain_text("'refunds' is described, and is no label")
    page.fill("#descriptions", "refund: wants money back\npet travel\tcats: and dogs")
    page.click("#create")
    page.wait_for_url("**/studies/2")
    study = server.site.room(2).study
    setting, about = study.created.selection, study.about
    assert (setting.f_no, setting.f_yes, setting.budget, study.created.overlap) == (0.05, 0, 9000, 3)
    assert (about.gold_share, about.repeat_share, len(about.gold)) == (0.1, 0.2, 30)
    described = {label.name: label.description for label in about.labels if label.description}
    assert described == {"refund": "wants money back", "pet travel": "cats: and dogs"}


def test_a_long_table_becomes_a_study_and_what_is_left_out_is_shown(start: Start, tmp_path: Path) -> None:
    server = start()
    page = server.dashboard(viewport={"width": 390, "height": 800})
    page.goto(f"{server.url}/new")
    rows = [
        {
            "item": f"q{i}",
            "prompt": f"What is {i}?",
            "model": model,
            "response": f"{model} {i % 3}",
            "tokens": model * i,
        }
        for i in range(40)
        for model in ("m", "n")
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[:-1]))
    page.set_input_files("#file", tmp_path / "answers.jsonl")
    expect(page.locator("#long")).to_be_checked()
    expect(page.locator("#models")).to_be_hidden()
    expect(page.locator("#rest")).to_contain_text("that the column model names; response has what they say")
    page.uncheck("#long")
    expect(page.locator("#rest")).to_contain_text("All other columns are models")
    expect(page.locator("#model")).to_be_hidden()
    page.check("#long")
    page.check("[name=protocol][value=one-shot]")
    page.fill("#eps", "0.1")
    page.click("#plan-button")
    expect(page.locator("#plan-notes li")).to_have_text(
        [
            "the column 'tokens' differs between models of one item, and is not used.",
            "items that do not have every model are left out: 1.",
        ]
    )
    assert fits(page)
    page.click("#create")
    page.wait_for_url("**/studies/2")
    assert server.site.room(2).study.about.models == ("m", "n")


def test_a_study_that_trains_a_classifier_is_made_from_the_page(start: Start, tmp_path: Path) -> None:
    server = start()
    page = server.dashboard()
    page.goto(f"{server.url}/new")
    rows = [{"id": f"m{i}", "text": f"about {label} {i}"} for i in range(200) for label in ("cats", "dogs")]
    (tmp_path / "animals.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    page.check("[name=kind][value=training]")
    page.set_input_files("#file", tmp_path / "animals.jsonl")
    expect(page.locator("#rest")).to_have_text("The classifier learns from text alone.")
    for hidden in ("#eps", "#protocol", "#f-no"):
        expect(page.locator(hidden)).to_be_hidden()
    expect(page.locator("[name=training-protocol][value=follow-up]")).to_be_checked()
    page.click("#plan-button")
    expect(page.locator("#labels-problem")).to_contain_text("one per line")
    page.fill("#labels", "cats\ndogs")
    page.fill("#target", "0.999")
    page.click("#plan-button")
    expect(page.locator("#target-problem")).to_contain_text("takes an audit of")
    page.fill("#target", "0.9")
    page.click("#plan-button")
    expect(page.locator("#plan-answers")).to_have_text(str(2 * len(rows)))
    expect(page.locator("#plan-answers-words")).to_have_text("answers at most")
    expect(page.locator("#plan-table")).to_have_text(f"{len(rows)} · 2")
    assert fits(page)
    page.click("#create")
    page.wait_for_url("**/studies/2")
    study = server.site.room(2).study
    setting: Any = study.created.setting
    assert (setting.protocol, setting.target, setting.budget) == ("follow-up", 0.9, 2 * len(rows))
    assert study.item(0).shown == {"text": "about cats 0"}


def test_a_number_out_of_range_is_said_before_anything_is_sent(start: Start, tmp_path: Path) -> None:
    server = start()
    page = server.dashboard()
    page.goto(f"{server.url}/new")
    page.set_input_files("#file", write_table(tmp_path / "more.csv"))
    expect(page.locator("#more")).to_be_visible()
    page.click("#more summary")
    page.fill("#overlap", "2")
    page.click("#more summary")
    expect(page.locator("#overlap")).to_be_hidden()
    page.click("#plan-button")
    expect(page.locator("#overlap")).to_be_focused()
    assert not [url for url in server.requests if url.endswith("/plan")]
    # What is out of range and not used any more is in nobody's way.
    page.fill("#overlap", "1")
    page.fill("#eps", "5")
    page.check("[name=kind][value=training]")
    page.fill("#labels", "refund\nseat upgrade")
    page.click("#plan-button")
    expect(page.locator("#create")).to_be_enabled()
    assert page.evaluate("() => document.getElementById('form').checkValidity()")


def test_long_names_of_models_fit_on_a_phone(start: Start, tmp_path: Path) -> None:
    server = start()
    page = server.dashboard()
    page.set_viewport_size({"width": 320, "height": 568})
    page.goto(f"{server.url}/new")
    long: Any = {f"a-model_whose{n}_name_has_no_space_and_goes_on_and_on_and_on": known_labels(300) for n in range(3)}
    page.set_input_files("#file", write_table(tmp_path / "long.csv", **long))
    expect(page.locator("#more")).to_be_visible()
    expect(page.locator("#baseline")).to_be_visible()
    assert fits(page)


def test_a_table_that_is_none_is_said_in_words(start: Start, tmp_path: Path) -> None:
    server = start()
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no table")
    page = server.dashboard()
    page.goto(f"{server.url}/new")
    page.set_input_files("#file", tmp_path / "bad.parquet")
    expect(page.locator("#file-problem")).to_contain_text("the table cannot be read as Parquet")
    page.fill("#path", "../elsewhere.csv")
    page.press("#path", "Tab")
    expect(page.locator("#path-problem")).to_contain_text("not below")


def test_a_plan_that_takes_long_says_so_and_holds_for_what_was_chosen(start: Start, tmp_path: Path) -> None:
    server = start()
    page = server.dashboard()
    page.goto(f"{server.url}/new")
    page.check("[name=kind][value=training]")
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    def go_on() -> None:
        while not waiting:
            page.wait_for_timeout(50)
        waiting.pop().continue_()

    page.route("**/api/v1/columns", hold)
    write_table(server.site.folder / "intents.csv")
    page.fill("#path", "intents.csv")
    page.press("#path", "Tab")
    expect(page.locator("#reading")).to_have_text("Reading …")
    go_on()
    expect(page.locator("#reading")).to_be_hidden()
    expect(page.locator("#more summary")).to_be_visible()
    expect(page.locator("#more summary span")).to_be_hidden()
    page.fill("#labels", "refund\nseat upgrade")
    page.route("**/api/v1/plan", hold)
    page.click("#plan-button")
    expect(page.locator("#plan-words")).to_contain_text("The plan is being worked out")
    expect(page.locator("#plan-button")).to_have_text(re.compile("Planning … [2-9] s"))
    page.fill("#delta", "0.1")
    go_on()
    expect(page.locator("#plan-words")).to_contain_text("Something was changed")
    expect(page.locator("#create")).to_be_disabled()
    expect(page.locator("#plan-figures")).to_be_hidden()
    page.unroute("**/api/v1/plan")
    page.click("#plan-button")
    expect(page.locator("#plan-words")).to_have_text("Training uses all of these answers.")
    # What is said of one kind of study is not true of the other.
    page.check("[name=kind][value=selection]")
    expect(page.locator("#plan-words")).to_contain_text("The plan forecasts")
    expect(page.locator("#more summary span")).to_be_visible()


def test_what_is_refused_about_a_field_that_is_not_shown_is_said_below(start: Start, tmp_path: Path) -> None:
    server = start()
    page = server.dashboard()
    page.goto(f"{server.url}/new")
    # An NPZ has no columns, so there is nothing to choose what raters are shown from.
    np.savez(tmp_path / "numbers.npz", X=np.arange(40.0).reshape(20, 2))
    page.check("[name=kind][value=training]")
    page.set_input_files("#file", tmp_path / "numbers.npz")
    page.fill("#labels", "cats\ndogs")
    page.click("#plan-button")
    expect(page.locator("#problem")).to_be_visible()
    expect(page.locator("#problem")).to_contain_text("there is nothing to show to raters")


def test_hostile_texts_do_not_run(start: Start) -> None:
    text = " ".join(HOSTILE)
    labels = (text, *(f"{each} label" for each in HOSTILE[:4]))
    server = start(name=text, labels=labels, descriptions={text: text}, text=text, instructions=text)
    page = server.page()
    page.goto(f"{server.url}/r/{server.token(HOSTILE[1])}")
    page.click("#help .primary")
    page.wait_for_selector("#yes:enabled")
    assert HOSTILE[0] in page.inner_text("#item")
    for _ in range(5):
        press(page, "y")
    server.wait_for_answers(5)
    dashboard = server.dashboard()
    expect(dashboard.locator(".links b")).to_have_text([HOSTILE[1]])
    for each in (page, dashboard):
        assert_harmless(each)


def test_hostile_labels_and_columns_do_not_run(start: Start, tmp_path: Path) -> None:
    server = start(protocol="labels", labels=(*(f"{each} label" for each in HOSTILE[:5]), *HOSTILE[5:]))
    page = server.rater("ann")
    expect(page.locator("#label-list button")).to_have_count(len(HOSTILE))
    page.click("#label-list button >> nth=1")
    expect(page.locator("#history b")).to_have_text([f"{HOSTILE[1]} label"])
    new = server.dashboard()
    new.goto(f"{server.url}/new")
    columns: Any = {each: known_labels(300) for each in HOSTILE}
    new.set_input_files("#file", write_table(tmp_path / "hostile.csv", **columns))
    expect(new.locator("#show label")).to_have_count(10 + len(HOSTILE))
    new.check("[name=protocol][value=one-shot]")
    new.click("#more summary")
    new.fill("#descriptions", f"{HOSTILE[0]}: {HOSTILE[1]}")
    new.click("#plan-button")
    expect(new.locator("#descriptions-problem")).to_contain_text("<script>")
    for each in (page, new):
        assert_harmless(each)


def assert_harmless(page: Page) -> None:
    assert page.evaluate("() => window.hacked") is None
    assert page.locator("iframe, svg:not(.chart, .interval), img").count() == 0


def test_a_study_is_deleted_when_its_name_is_typed(start: Start) -> None:
    server = start()
    dashboard = server.dashboard()
    dashboard.once("dialog", lambda dialog: dialog.dismiss())
    dashboard.click("summary.button >> text=Study")
    dashboard.click("#delete")
    assert len(server.site.entries()) == 1
    dashboard.once("dialog", lambda dialog: dialog.accept("intent"))
    dashboard.click("#delete")
    expect(dashboard.locator("#problem")).to_contain_text("nothing was deleted")
    assert len(server.site.entries()) == 1
    dashboard.once("dialog", lambda dialog: dialog.accept("intents"))
    dashboard.click("#delete")
    expect(dashboard.locator(".lead")).to_have_text("There is no study yet.")
    assert server.site.entries() == []
