"""How the page that makes a study calls its options: what reads tables names them as the command line does."""

from __future__ import annotations

import re

#: What the page calls an option, as it stands in ``templates/new.html``.
FIELDS = {
    "id": "Names the items",
    "truth": "Holds right labels",
    "label": "Holds right labels",
    "reference": "Holds a right answer that raters see",
    "show": "Shown to raters",
    "text": "Texts to learn from",
    "model": "Names the model",
    "output": "Has what the model says",
    "models": "The models\N{RIGHT SINGLE QUOTATION MARK} columns",
    "protocol": "How to ask",
    "equal": "Two answers are the same if they are",
    "empty": "An empty answer",
    "labels": "All labels",
    "judge": "A judge",
    "gold": "Column with right labels",
    "long": "One row per item and model",
}


def in_fields(text: str) -> str:
    """A text in which options are called as on the page; those that it does not have lose their dashes.

    >>> in_fields("name it with --id or --show, or give --media-root")
    'name it with “Names the items” or “Shown to raters”, or give media root'
    """

    def called(found: re.Match[str]) -> str:
        name = found[1]
        return f"“{FIELDS[name]}”" if name in FIELDS else name.replace("-", " ")

    return re.sub(r"(?<!\S)--([a-z]+(?:-[a-z]+)*)", called, text)
