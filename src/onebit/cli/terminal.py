"""Texts of others on the terminal: a name may hold signs that a terminal takes for commands."""

from __future__ import annotations

import unicodedata


def plain(text: str) -> str:
    """The text without control characters, and without those that turn the direction of what follows.

    >>> plain("ann\\x1b[2J\\u202e!")
    'ann[2J!'
    """
    return "".join(sign for sign in text if sign in "\n\t" or unicodedata.category(sign) not in ("Cc", "Cf", "Cs"))
