"""Paths that the docs name exist, and every part of the package stands in the architecture."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.unit.test_imports import ALLOWED, SOURCE

ROOT = SOURCE.parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
#: A file of the package, or of the tests and benchmarks, between backticks.
FILE = re.compile(r"`((?:src/onebit/|tests/|benchmarks/|examples/)?[a-z_0-9]+(?:/[a-z_0-9]+)+\.py)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    for name in FILE.findall(page.read_text(encoding="utf-8")):
        places = (ROOT / name, SOURCE / name)
        assert any(place.is_file() for place in places), f"{page.name} names {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_that_a_page_links_to_exist(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_part_stands_in_the_architecture() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert not [part for part in ALLOWED if f"`{part}`" not in text]
