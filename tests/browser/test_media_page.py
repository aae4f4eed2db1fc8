"""Sounds, videos and pictures from elsewhere, as raters meet them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect
from tests.browser.conftest import Server, press
from tests.browser.faked import SOUND, TALL_PICTURE, Faked, question, silence
from tests.unit.web.served import PREDICTIONS

Start = Callable[..., Server]
N_ITEMS = PREDICTIONS.shape[1]


def test_a_sound_is_heard_and_searched_by_keys(start: Start, tmp_path: Path) -> None:
    (tmp_path / "long.wav").write_bytes(silence(120))
    server = start(media="heard", media_root=str(tmp_path), cells=["long.wav"] * N_ITEMS)
    page = server.rater("ann")
    page.wait_for_function("() => document.querySelector('#item audio').readyState >= 1")
    page.keyboard.press("p")
    page.wait_for_function("() => !document.querySelector('#item audio').paused")
    page.keyboard.press("p")
    page.wait_for_function("() => document.querySelector('#item audio').paused")
    # To a place that is not loaded yet: the server sends that part.
    page.evaluate("() => { document.querySelector('#item audio').currentTime = 100; }")
    page.wait_for_function("() => !document.querySelector('#item audio').seeking")
    assert page.evaluate("() => document.querySelector('#item audio').currentTime") == 100
    # The player's own keys are the player's, and no answers.
    page.focus("#item audio")
    page.keyboard.press(" ")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#history li")).to_have_count(0)
    press(page, "y")
    server.wait_for_answers(1)


def test_what_cannot_be_played_is_said(start: Start) -> None:
    faked = Faked([question(0, "", "dog", media={**SOUND, "address": "/static/no.wav"}), question(1, "next", "dog")])
    page = faked.open(start())
    expect(page.locator("#item .notice")).to_contain_text("could not be played")
    page.keyboard.press("c")
    expect(page.locator("#item")).to_have_text("next")


def test_a_picture_comes_from_a_host_that_the_owner_named_and_from_no_other(start: Start) -> None:
    address = "https://files.example.org/a.svg"
    server = start(media="seen", media_hosts=("files.example.org",), cells=[address] * N_ITEMS)
    server.allowed.append("https://files.example.org/")
    page = server.page()
    page.route(re.compile("^https:"), lambda route: route.fulfill(body=TALL_PICTURE, content_type="image/svg+xml"))
    page.goto(f"{server.url}/r/{server.token('ann')}")
    page.wait_for_selector("#item img.tall")
    assert server.problems == []
    # What is blocked is listed among the requests, and never sent.
    server.allowed.append("https://elsewhere.example.org/")
    assert page.evaluate(BLOCKED, "https://elsewhere.example.org/a.svg") == "https://elsewhere.example.org/a.svg"
    server.problems.clear()


#: Loads a picture, and gives the address that the policy of the page has blocked.
BLOCKED = """(address) => new Promise((told) => {
  document.addEventListener("securitypolicyviolation", (event) => told(event.blockedURI));
  new Image().src = address;
})"""
