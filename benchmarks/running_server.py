"""A server as users start it, and a browser that looks at it: what benchmarks of the pages share."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, async_playwright


@dataclass(frozen=True)
class Served:
    """A server process and the links that it printed."""

    process_id: int
    owner: str
    raters: tuple[str, ...]

    @property
    def url(self) -> str:
        return self.owner.rsplit("/o/", 1)[0]


def token_of(link: str) -> str:
    return link.rsplit("/", 1)[1]


@contextlib.contextmanager
def served(storage: str, folder: Path, raters: Sequence[str] = ()) -> Iterator[Served]:
    """``onebit serve`` in a folder, at a free port, with links for raters in the one study of the store."""
    command = [str(Path(sys.executable).with_name("onebit")), "serve", "--storage", storage, "--port", "0"]
    command += [part for rater in raters for part in ("--rater", rater)]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            links: list[str] = []
            while process.stdout is not None and len(links) < 1 + len(raters):
                links += re.findall(r"http\S+", process.stdout.readline())
            yield Served(process.pid, links[0], tuple(links[1:]))
        finally:
            process.terminate()


@contextlib.asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Debian's Chromium, headless."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        sys.exit("this needs chromium on the PATH; make chromium installs it")
    async with async_playwright() as playwright:
        # Chromium's own sandbox does not start for root, as whom containers run.
        args = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = await playwright.chromium.launch(executable_path=path, args=args)
        yield browser
        await browser.close()
