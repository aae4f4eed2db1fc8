"""Every language of the rater's page says everything, and the page says nothing that is not in one of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.unit.web.served import bearer, serve

from onebit.web import app
from onebit.web.languages import ENGLISH, LANGUAGES, language_for

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
