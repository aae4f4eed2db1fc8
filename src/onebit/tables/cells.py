"""Cells of a CSV file that a spreadsheet may open."""

from __future__ import annotations

from typing import Any

#: A spreadsheet takes a text that begins so for a formula, and runs it; the last four are the wide forms of the first.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def no_formula(value: Any) -> Any:
    r"""The value; a text that would be run as a formula is given an apostrophe.

    >>> no_formula("=1+1"), no_formula("\N{FULLWIDTH EQUALS SIGN}1")[0]
    ("'=1+1", "'")
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
