"""``onebit links``: listed without secrets, made, ended and replaced, for servers that run meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.web.served import Served, serve
from typer.testing import CliRunner

from onebit.cli.main import app
from onebit.errors import InvalidInputError

runner = CliRunner()


def onebit(*words: str) -> str:
    result = runner.invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Served:
    made = serve(tmp_path)
    monkeypatch.setenv("ONEBIT_STORAGE", made.site.storage)
    return made


def test_links_are_made_listed_and_ended_while_a_server_runs(served: Served) -> None:
    url = onebit("links", "new", "eve\x1b[2J", "--public-url", "https://raters.example.org/")
    assert url.startswith("https://raters.example.org/o/")
    eve = url.strip().rsplit("/", 1)[1]
    assert served.get("studies", eve).status_code == 200
    listed = onebit("links", "list")
    assert "eve[2J" in listed
    assert "\x1b[2J" not in listed
    assert "intents" in listed
    assert eve not in listed
    number = served.site.access.find(eve).id
    onebit("links", "revoke", str(number))
    assert served.get("studies", eve).status_code == 401
    served.site.close()


def test_a_raters_link_is_made_and_replaced(served: Served) -> None:
    cy = onebit("links", "new", "cy", "--study", "intents").strip().rsplit("/r/", 1)[1]
    assert served.ask(cy)
    again = onebit("links", "rotate", str(served.site.access.find(cy).id)).strip().rsplit("/r/", 1)[1]
    assert served.post("ask", cy, n=1).status_code == 401
    assert served.ask(again)
    with pytest.raises(InvalidInputError, match="there is no link 999"):
        runner.invoke(app, ["links", "revoke", "999"], catch_exceptions=False)
    served.site.close()
