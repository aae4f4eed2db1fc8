from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.web.served import Served, serve


@pytest.fixture(autouse=True)
def no_loop_of_the_browsers() -> Iterator[None]:
    """Let a test run a loop of its own after browser tests: Playwright's stays set in the process that ran them."""
    # There is no public way to ask for the running loop of a thread from outside a coroutine.
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(loop)


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Serves studies, and lets go of them when the test ends."""
    made: list[Served] = []

    def begin(**options: Any) -> Served:
        made.append(serve(tmp_path, **options))
        return made[-1]

    yield begin
    for each in made:
        each.site.close()


@pytest.fixture
def served(serving: Callable[..., Served]) -> Served:
    return serving()
