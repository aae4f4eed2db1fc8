"""Every error that onebit raises on purpose has one root, :class:`OnebitError`; and the checks that all parts share.

A message says what was given, what is required, why, and what to do. It is raised before anything is changed.
"""

from __future__ import annotations

from numbers import Integral, Real


class OnebitError(Exception):
    """The root of all errors raised by onebit."""


class InvalidInputError(OnebitError, ValueError):
    """An argument that cannot mean anything here: a label out of range, NaN, lengths that differ, an empty class."""


class NegativeWeightError(InvalidInputError):
    """An oracle that cannot minimise with negative weights was given one."""


class UnknownQuestionError(OnebitError, KeyError):
    """An answer to a question that was never asked."""

    def __str__(self) -> str:
        # KeyError shows the repr of its argument; a sentence should be shown as it is.
        return str(self.args[0])


class AlreadyAnsweredError(OnebitError):
    """A second answer to the same question."""


def shown(value: object) -> str:
    """A value, short enough for a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def check_fraction(name: str, value: float) -> float:
    """``value``, or an error if it is not a number strictly between 0 and 1."""
    if not isinstance(value, Real) or not 0 < value < 1:
        raise InvalidInputError(f"{name} is {value!r}; it must be above 0 and below 1")
    return value


def check_count(name: str, value: int, least: int = 1) -> int:
    """``value``, or an error if it is not a whole number of at least ``least``."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InvalidInputError(f"{name} is {value!r}; it must be a whole number of at least {least}")
    return value
