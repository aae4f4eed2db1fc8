"""For the whole suite: what a skipped test means, seeds that stay the same, and stores for the tests of studies."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings

from onebit import randomness

#: Lines "test id: reason"; the only tests that may be skipped when CI is set.
ALLOWED_SKIPS = Path(__file__).with_name("allowed_skips.txt")

# Compilation and a busy machine make single examples slow; a deadline would only measure that.
settings.register_profile("onebit", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("onebit")

_skipped: list[str] = []
_numbers = count()


def _seed_of_the_test(n_bits: int) -> int:
    """In place of the system's randomness: every test draws the same seeds each time it is run."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").split(" ")[0]
    _drawn[test] += 1
    digest = hashlib.sha256(f"{test} {_drawn[test]}".encode()).digest()
    return int.from_bytes(digest[:16], "big") % 2**n_bits


_drawn: Counter[str] = Counter()
randomness.secrets = SimpleNamespace(randbits=_seed_of_the_test)  # type: ignore[assignment, attr-defined]


@pytest.fixture
def measured(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Say what a test measured: shown at the end of the run, also when tests run in several processes."""
    return lambda figures: request.node.user_properties.append(("measured", figures))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for key in ("passed", "failed") for report in terminalreporter.stats.get(key, [])]
    lines = [value for report in reports for name, value in report.user_properties if name == "measured"]
    for line in sorted(set(lines)):
        terminalreporter.write_line(f"measured: {line}")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped:
        _skipped.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    allowed = {line.split(": ")[0] for line in ALLOWED_SKIPS.read_text().splitlines() if ": " in line}
    unlisted = sorted(set(_skipped) - allowed)
    if os.environ.get("CI") == "true" and unlisted and not hasattr(session.config, "workerinput"):
        print(f"\nskipped without being listed in {ALLOWED_SKIPS.name}: {', '.join(unlisted)}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A PostgreSQL server of this session's own."""
    folder = tmp_path_factory.mktemp("postgres")
    before = os.environ.get("XDG_RUNTIME_DIR")
    # The wheel keeps its sockets and logs there, and wants the folder to be ours.
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    from pgserver.postgres_server import get_server

    server = get_server(folder / "data", cleanup_mode="stop")
    # Nobody pulls the plug on a test; without this, stopping alone takes seconds.
    server.psql("ALTER SYSTEM SET fsync = off;")
    server.psql("SELECT pg_reload_conf();")
    try:
        yield server
    finally:
        server.cleanup()
        if before is None:
            del os.environ["XDG_RUNTIME_DIR"]
        else:
            os.environ["XDG_RUNTIME_DIR"] = before


@pytest.fixture(params=["sqlite", "postgresql"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store that is empty."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/studies.db"
    server = request.getfixturevalue("postgres")
    name = f"studies_{next(_numbers)}"
    server.psql(f"CREATE SCHEMA {name};")
    return f"{server.get_uri()}&options=-csearch_path%3D{name}"
