"""Labels: the text of one, whatever type it was kept in, and the number that stands for it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.tables.limits import MOST_DIGITS, MOST_LABELS
from onebit.tables.record import ABSTAINS

#: What programs write where there is no value; a label of that name has to be given.
NOTHING = {"nan", "NaN", "NAN", "NaT", "<NA>", "#N/A", "null", "NULL"}


class Labels:
    """Numbers labels as they are seen, or those given and no others.

    ``free``: they are texts that models wrote, of which any may be, over several lines too.
    """

    def __init__(self, given: Sequence[str] | None, free: bool = False) -> None:
        self.are_given, self.are_free = given is not None, free
        self.number: dict[str, int] = {}
        #: Labels by how they read without spaces and capitals.
        self._alike: dict[str, str] = {}
        for text in given or ():
            if not isinstance(text, str) or not text or text in self.number:
                raise InvalidInputError(f"the label {text!r} was given; labels are texts, not empty, and all different")
            self.number[text] = len(self.number)

    def add(self, text: str) -> int:
        """The number of a label; a ValueError says why it cannot be one."""
        number = self.number.get(text)
        if number is None:
            if self.are_given:
                raise ValueError(
                    f"{text!r} is not one of the {len(self.number)} labels given; add it to these, or mend the cell"
                )
            if len(self.number) == MOST_LABELS:
                raise ValueError(
                    f"{text!r} would be label {MOST_LABELS + 1:,}; is the column no model's, to be named with "
                    "--id or --show?"
                )
            number = self.number[text] = len(self.number)
        return number

    def doubt(self, text: str) -> str | None:
        """Why a text is probably no label, or another one was meant; None if it may well be one.

        Free texts may be anything, but that they are free may show only once all are read.
        """
        if self.are_free:
            return None
        if "\n" in text or "\r" in text:
            return f"{text[:20]!r}... goes over several lines, as no label does; is a quote never closed?"
        if self.are_given:
            return None
        if text in NOTHING:
            return (
                f"{text!r} is what programs write where there is no value; leave the cell empty, or give all labels "
                "with --labels if it is one"
            )
        # Single letters are often labels, the small ones beside the capital ones.
        other = self._alike.setdefault(plain(text), text)
        if other != text and len(text.strip()) > 1:
            return (
                f"{text!r} differs only in spaces or capitals from {other!r}, which is a label too; write them alike, "
                "or give all labels with --labels if both are meant"
            )
        return None

    def in_order(self) -> tuple[tuple[str, ...], NDArray[np.int32]]:
        """The labels, numbers in their order before texts in theirs; and for each number so far, and -1, its place."""
        texts = tuple(self.number)
        if not self.are_given:
            texts = tuple(sorted(texts, key=lambda text: (0, int(text), text) if _is_number(text) else (1, 0, text)))
        place = np.full(len(texts) + 1, ABSTAINS, dtype=np.int32)
        place[[self.number[text] for text in texts]] = np.arange(len(texts))
        return texts, place


def plain(label: str) -> str:
    """A label without what is easily mistyped.

    >>> plain(" Refund  of")
    'refund of'
    """
    return " ".join(label.casefold().split())


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= MOST_DIGITS


def as_text(value: object) -> str | None:
    """The text of a label, None for none; a ValueError says why it cannot be one.

    A column of whole numbers with gaps is kept as floating point by some programs, with NaN in the gaps.
    """
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            raise ValueError(f"{value[:30]!r} is not UTF-8; save the file as UTF-8") from None
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if not value.is_integer():
            raise ValueError(
                f"{value!r} is no label; labels are texts or whole numbers. Name a column of scores with --judge, and "
                "others that are no model's with --show"
            )
        value = int(value)
    if isinstance(value, bool):
        value = str(value).lower()
    return None if value is None or value == "" else str(value)
