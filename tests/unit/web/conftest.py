from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.web.served import Served, serve


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
