"""Every language of the rater's page says everything, and the page says nothing that is not in one of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from tests.unit.web.served import bearer, serve

from onebit.store.database import InUseError
from onebit.web import app
from onebit.web.languages import ENGLISH, LANGUAGES, language_for
from onebit.web.limits import TooManyError
from onebit.web.pages import rater_problem

ENGLISH_TEXTS = LANGUAGES[ENGLISH].texts
TEMPLATE = Path(app.__file__).with_name("templates") / "rater.html"


def places(text: Any) -> set[str]:
    """The places that a text has, in any of its plurals."""
    forms = text.values() if isinstance(text, dict) else [text]
    return {place for form in forms for place in re.findall(r"\{(\w*)\}", form)}


@pytest.mark.parametrize("code", sorted(LANGUAGES))
def test_every_language_has_every_text_with_its_places(code: str) -> None:
    texts = LANGUAGES[code].texts
    assert list(texts) == list(ENGLISH_TEXTS)
    assert {key: places(text) for key, text in texts.items()} == {k: places(text) for k, text in ENGLISH_TEXTS.items()}
    for key, text in texts.items():
        assert isinstance(text, dict) == isinstance(ENGLISH_TEXTS[key], dict), key
        assert not isinstance(text, dict) or "other" in text, key
        assert text, key
    assert texts["language"] == code
    assert not [key for key in texts if hasattr(texts, key)]  # or a template would be given the method
    assert texts["direction"] in ("ltr", "rtl")


def _body(template: str) -> str:
    return template.partition("{% block body %}")[2]


def test_the_page_says_only_what_can_be_translated() -> None:
    scripts = "".join(
        (app.STATIC / f"{name}.js").read_text() for name in ("rater", "keys", "labels", "group", "item", "outbox")
    )
    said = re.findall(r'\b(?:say|count|around)\("(\w+)"', scripts)
    written = re.findall(r"texts\.(\w+)", TEMPLATE.read_text())
    assert len(said) > 20
    assert len(written) > 20
    assert {*said, *written} <= set(ENGLISH_TEXTS)
    # Of the words in the template, only those of the study and keys are no text of a language.
    bare = re.sub(r"\{%.*?%\}|\{\{.*?\}\}|<[^>]*>|&\w+;", " ", _body(TEMPLATE.read_text()), flags=re.DOTALL)
    assert [word for word in re.findall(r"[^\W\d_]+", bare) if word not in ("j", "k", "p")] == []


def test_a_browser_is_given_what_it_would_rather_have() -> None:
    for accepted, chosen, given in (
        ("de", None, "de"),
        ("en;q=0.1, ar-EG", None, "ar"),
        ("de;q=0, en", None, "en"),
        ("fr, *;q=0.5", None, "en"),
        ("de;q=much, ar;q=0.2", None, "ar"),
        ("de", "ar", "ar"),
        ("de", "xx", "de"),
    ):
        assert language_for(accepted, chosen).code == given, accepted


@pytest.mark.parametrize("code", sorted(LANGUAGES))
def test_a_link_that_does_not_work_is_told_in_the_language_of_the_browser(code: str, tmp_path: Path) -> None:
    served = serve(tmp_path)
    texts = LANGUAGES[code].texts
    for way in ("/r/nonsense", f"/r/{served.owner}", f"/r/{served.ann}/media/0"):
        told = served.client.get(way, headers={"Accept-Language": code})
        assert told.status_code in (401, 403, 404)
        assert f'<html lang="{code}" dir="{texts["direction"]}">' in told.text
        assert texts["bad_link"] in told.text
        assert texts["bad_link_more"] in told.text


def test_what_raters_are_told_of_too_many_requests_and_of_a_store_that_is_away(tmp_path: Path) -> None:
    request = Request({"type": "http", "headers": [(b"accept-language", b"de")], "query_string": b""})
    for error, key, status in ((TooManyError("wait"), "too_many", 429), (InUseError("elsewhere"), "not_now", 503)):
        told = rater_problem(request, error)
        assert told.status_code == status
        assert LANGUAGES["de"].texts[key] in bytes(told.body).decode()


def test_who_types_a_wrong_address_gets_a_page_and_a_program_gets_json(tmp_path: Path) -> None:
    served = serve(tmp_path)
    page = served.client.get("/nothing", headers={"Accept": "text/html,*/*"})
    assert page.status_code == 404
    assert "There is nothing here." in page.text
    assert served.client.get("/nothing").json() == {"error": "there is nothing here"}
    assert served.client.get("/api/v1/nothing", headers={"Accept": "text/html"}).json()["error"]


def test_the_page_and_the_progress_are_in_the_language_of_the_browser(tmp_path: Path) -> None:
    served = serve(tmp_path)
    page = served.client.get(f"/r/{served.ann}", headers={"Accept-Language": "ar"}).text
    assert '<html lang="ar" dir="rtl">' in page
    assert "Start answering" not in page
    assert '<html lang="de" dir="ltr">' in served.client.get(f"/r/{served.ann}?language=de").text
    words = [
        served.client.get("/api/v1/progress", headers=bearer(served.ann) | accepts).json()["progress"]["words"]
        for accepts in ({}, {"Accept-Language": "de"})
    ]
    assert words == ["just begun", "gerade begonnen"]
    served.site.close()
