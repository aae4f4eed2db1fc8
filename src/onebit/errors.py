"""Every error that onebit raises on purpose has one root, :class:`OnebitError`; and the checks that all parts share.

A message says what was given, what is required, why, and what to do. It is raised before anything is changed.
"""

from __future__ import annotations

from numbers import Integral, Real


class OnebitError(Exception):
    """The root of all errors raised by onebit."""


class InvalidInputError(OnebitError, ValueError):
    """An argument that cannot mean anything here: a label out of range, NaN, lengths that differ, an empty class."""


class OptionError(InvalidInputError):
    """An option that cannot be what it is, or cannot be so beside the others; ``option`` is its name in Python."""

    def __init__(self, option: str, message: str) -> None:
        super().__init__(message)
        self.option = option

    def __reduce__(self) -> tuple[type[OptionError], tuple[str, str]]:
        # An exception is made anew from its message alone, and this one has two arguments.
        return type(self), (self.option, str(self))

    def naming(self, name: str) -> str:
        """The message for those who know the option by another name.

        >>> OptionError("gold_share", "gold_share is 2; it must be at most 0.5").naming("--gold-share")
        '--gold-share is 2; it must be at most 0.5'
        >>> OptionError("id", "there is no column 'key'").naming("--id")
        "--id: there is no column 'key'"
        """
        message = str(self)
        if message.startswith(f"{self.option} "):
            return name + message.removeprefix(self.option)
        return f"{name}: {message}"


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
    check_range(name, value, above=0, below=1)
    return value


def check_count(name: str, value: int, least: int = 1) -> int:
    """``value``, or an error if it is not a whole number of at least ``least``."""
    check_range(name, value, least=least, whole=True)
    return value


def check_range(
    name: str,
    value: object,
    *,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    whole: bool = False,
) -> None:
    """OptionError unless ``value`` is a number, a whole one if so wanted, within those bounds that are not None."""
    fits = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
    # Written so that NaN, which is on no side of anything, is refused.
    if (
        fits
        and (least is None or value >= least)  # type: ignore[operator]
        and (most is None or value <= most)  # type: ignore[operator]
        and (above is None or value > above)  # type: ignore[operator]
        and (below is None or value < below)  # type: ignore[operator]
    ):
        return
    bounds = (("at least", least), ("above", above), ("at most", most), ("below", below))
    wanted = " and ".join(f"{words} {bound:,}" for words, bound in bounds if bound is not None)
    raise OptionError(name, f"{name} is {value!r}; it must be {'a whole number of ' if whole else ''}{wanted}")


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """OptionError unless ``value`` is one of ``choices``."""
    if value not in choices:
        raise OptionError(name, f"{name} is {value!r}; it must be one of {', '.join(choices)}")
