"""Rules for the whole suite: a skipped test counts as a failure in CI unless it is listed with its reason."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

#: Lines "test id: reason"; the only tests that may be skipped when CI is set.
ALLOWED_SKIPS = Path(__file__).with_name("allowed_skips.txt")

# Compilation and a busy machine make single examples slow; a deadline would only measure that.
settings.register_profile("onebit", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("onebit")

_skipped: list[str] = []


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
