"""Real pages in a real browser: Debian's Chromium, headless, and a server of the test's own."""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright
from starlette.applications import Starlette
from tests.unit.web.served import LABELS, TRUTH, make_study, make_training

from onebit.web.app import make_app
from onebit.web.site import Site

#: Milliseconds after which a page that does not do what it should has failed; a busy machine is slow.
PATIENCE = 30_000
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path is not None, "these tests need Debian's chromium: make chromium installs it"
    with sync_playwright() as playwright:
        # Chromium's own sandbox does not start for root, as whom containers run.
        args = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = playwright.chromium.launch(executable_path=path, args=args)
        yield started
        started.close()


@dataclass
class Server:
    """A running server, and the pages that a test has opened at it."""

    url: str
    site: Site
    browser: Browser
    owner: str
    app: Starlette
    contexts: list[BrowserContext] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    #: Where else the pages may ask for something, since the owner of the study allows it.
    allowed: list[str] = field(default_factory=list)

    def rater(self, name: str, **options: Any) -> Page:
        """A rater's page in a browser of its own, with a question on it."""
        page = self.page(**options)
        page.goto(f"{self.url}/r/{self.token(name)}")
        page.wait_for_selector("#unsure:enabled")
        return page

    def token(self, name: str) -> str:
        """The token of a new link for a rater."""
        return self.site.access.make("rater", 1, name)[1]

    def dashboard(self, **options: Any) -> Page:
        page = self.page(**options)
        page.goto(f"{self.url}/o/{self.owner}")
        return page

    def page(self, **options: Any) -> Page:
        context = self.browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        self.contexts.append(context)
        page = context.new_page()

        def note(request: Request) -> None:
            self.requests.append(request.url)

        page.on("request", note)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda line: self.problems.append(line.text) if "Content Security" in line.text else None)
        return page

    def restore(self, backup: Path) -> None:
        """Put a backup in the place of the store, while pages are open."""
        self.site.close()
        self.site = self.app.state.site = Site(f"sqlite:///{backup}", self.site.folder, self.url)

    def answers(self) -> int:
        return len(self.site.room(1).study.view.answers)

    def wait_for_answers(self, n: int) -> None:
        """Until the server has so many answers; never more."""
        end = time.monotonic() + PATIENCE / 1000
        while (found := self.answers()) < n and time.monotonic() < end:
            time.sleep(0.05)
        assert found == n


@pytest.fixture
def start(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers, each with a study; they and their pages end with the test."""
    running: list[tuple[uvicorn.Server, threading.Thread, Server]] = []

    def begin(storage: str | None = None, trains: bool = False, **options: Any) -> Server:
        folder = tmp_path / str(len(running))
        folder.mkdir()
        storage = storage or f"sqlite:///{folder}/studies.db"
        if trains:
            make_training(storage, **options)
        else:
            make_study(storage, folder, **options)
        listening = socket.create_server(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        site = Site(storage, folder, url)
        app = make_app(site)
        config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        made = Server(url, site, browser, site.access.make("owner")[1], app)
        running.append((server, thread, made))
        return made

    yield begin
    for server, thread, made in running:
        for context in made.contexts:
            context.close()
        server.should_exit = True
        thread.join()
        made.site.close()
        assert made.problems == []
        # Nothing is asked of anybody but the server: the pages work without a network.
        assert {url for url in made.requests if not url.startswith((made.url, "blob:", *made.allowed))} == set()


#: Whether the page shows another question than it did.
CHANGED = """(before) =>
  document.getElementById("item").innerText + document.getElementById("question").innerText !== before"""


def fits(page: Page) -> bool:
    """Whether nothing is wider than the window."""
    return bool(page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"))


def right_key(page: Page) -> str:
    """The key that a rater presses who knows the truth about what the page shows."""
    item = int(page.inner_text("#item").split()[1])
    return "y" if page.inner_text("#question b") == LABELS[TRUTH[item]] else "n"


def shown(page: Page) -> str:
    return page.inner_text("#item") + page.inner_text("#question")


def press(page: Page, key: str) -> None:
    """Press a key as soon as there is a question, and wait until the page shows something else."""
    page.wait_for_selector("#yes:enabled")
    before = shown(page)
    page.keyboard.press(key)
    page.wait_for_function(CHANGED, arg=before)
