"""What the page calls its options: as its fields are labelled, and never as flags of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.web.served import serve

from onebit.web import pages
from onebit.web.fields import FIELDS, in_fields

TEMPLATES = Path(pages.__file__).with_name("templates")
PAGE = "".join((TEMPLATES / name).read_text() for name in ("new.html", "table_part.html", "columns_part.html"))


@pytest.mark.parametrize("name", FIELDS)
def test_options_are_called_as_they_are_labelled(name: str) -> None:
    assert FIELDS[name] in PAGE


def test_what_is_refused_in_a_table_names_no_flags(tmp_path: Path) -> None:
    served = serve(tmp_path)
    (served.site.folder / "one.csv").write_text("key,a\nk1,x\nk2,y\n")
    told = served.post("plan", served.owner, path="one.csv", id="key", protocol="one-shot").json()["error"]
    assert "“Shown to raters”" in told
    assert "--" not in told


def test_dashes_that_are_no_flags_stay() -> None:
    assert in_fields("a table -- of 3 --") == "a table -- of 3 --"
    assert in_fields("column a--b") == "column a--b"
