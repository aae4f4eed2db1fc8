"""The languages of the rater's page: one file each in ``texts/``; which one a reader is given.

A text may have places in braces. One that depends on a number is an object by the plural categories of Unicode, with
``other`` for all that are not named.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).with_name("texts")
#: For who reads none of ours.
ENGLISH = "en"


@dataclass(frozen=True)
class Language:
    """All texts in one language, by their keys."""

    texts: dict[str, Any]

    @property
    def code(self) -> str:
        return str(self.texts["language"])

    def say(self, key: str, **given: int | str) -> str:
        """A text with its places filled; numbers are written as the language does.

        >>> LANGUAGES["de"].say("progress_to_go", n=3400)
        'noch etwa 3.400'
        """
        written = {name: self._number(value) if isinstance(value, int) else value for name, value in given.items()}
        return str(self.texts[key]).format(**written)

    def _number(self, value: int) -> str:
        return f"{value:,}".replace(",", self.texts["thousands"])


LANGUAGES = {
    path.stem: Language(json.loads(path.read_text(encoding="utf-8"))) for path in sorted(_FOLDER.glob("*.json"))
}


def language_for(accepted: str, chosen: str | None = None) -> Language:
    """The language that was chosen, else the one that a browser would rather have: its header Accept-Language.

    >>> language_for("fr, de-AT;q=0.9, en;q=0.8").code, language_for("de", chosen="ar").code, language_for("").code
    ('de', 'ar', 'en')
    """
    wanted = [chosen or "", *_by_preference(accepted), ENGLISH]
    codes = (tag.strip().lower().partition("-")[0] for tag in wanted)
    return next(LANGUAGES[code] for code in codes if code in LANGUAGES)


def _by_preference(accepted: str) -> list[str]:
    """The languages of a header, the most wanted first."""
    tags: list[tuple[float, str]] = []
    for part in accepted.split(","):
        tag, _, quality = part.partition(";q=")
        try:
            tags.append((-float(quality or 1), tag))
        except ValueError:
            continue
    return [tag for preference, tag in sorted(tags, key=lambda each: each[0]) if preference < 0]
