"""Cells of a CSV file that a spreadsheet may open."""

from __future__ import annotations

from typing import Any

#: A spreadsheet takes a text that begins so for a formula, and runs it.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def no_formula(value: Any) -> Any:
    """The value; a text that would be run as a formula is given an apostrophe.

    >>> no_formula("=1+1")
    "'=1+1"
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
