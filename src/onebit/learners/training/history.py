"""Every answer of a training, with which rows are still a random sample: what a later training goes on from.

An audit is honest on rows that were set aside at random before anything was known of them, and nowhere else: rows that
were chosen to train on are the hard ones, and so the rows left over are the easy ones. So answers alone are not enough
to go on from; which rows were set aside goes with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onebit.errors import InvalidInputError, shown
from onebit.learners.training.earlier import NOT_SAID, EarlierAnswer
from onebit.learners.training.model import Ints

NOTHING: Ints = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Sample:
    """Which rows are a random sample: those set ``aside`` for an audit, in order, and all that are neither among the
    rows ``chosen_from`` (None: any may be) nor asked about.

    The rows aside were never trained on.
    """

    aside: tuple[int, ...] = ()
    chosen_from: Ints | None = None

    def size(self, n_items: int, earlier: Sequence[EarlierAnswer]) -> int:
        """How many of ``n_items`` are of it, after ``earlier`` answers."""
        if self.chosen_from is None:
            return len(self.aside)
        touched = {each.item for each in earlier}.union(self.chosen_from.tolist()).difference(self.aside)
        return n_items - len(touched)

    @classmethod
    def after(cls, earlier: Sequence[EarlierAnswer]) -> Sample:
        """What can be said of answers alone: audited rows are a sample, and where there are none, what was not asked.

        The latter is up to whoever chose the rows.
        """
        audited = tuple(dict.fromkeys(each.item for each in earlier if each.audited))
        return cls(audited, None if audited else NOTHING)


class History(list[Any]):
    """A list of (row, label, answer, audited), and the ``sample`` that it left; None where that is not known.

    ``none_of``: the labels that there were, for each row of which a rater said that it has none of these: whoever goes
    on may add some. It equals and prints as the list. Slices, sums and copies keep both; a list that is made of it does
    not.
    """

    def __init__(
        self,
        answers: Iterable[Any] = (),
        sample: Sample | None = None,
        none_of: Mapping[int, Sequence[Any]] = NOT_SAID,
    ) -> None:
        super().__init__(answers)
        self.sample, self.none_of = sample, dict(none_of)

    @classmethod
    def of(cls, answers: Any) -> History:
        """Earlier answers as they were given; InvalidInputError for what is no list of them."""
        if isinstance(answers, History):
            return answers
        if isinstance(answers, str) or not isinstance(answers, Iterable):
            raise InvalidInputError(
                f"answers is {shown(answers)}; it must be a list of (row, label, answer), such as history_"
            )
        for each in (given := cls(answers)):
            if isinstance(each, str) or not hasattr(each, "__len__") or len(each) not in (3, 4):
                raise InvalidInputError(
                    f"the earlier answer {shown(each)} must have a row, a label and an answer, and may say whether it "
                    "was audited"
                )
        return given

    def __add__(self, other: list[Any]) -> History:
        if not isinstance(other, list):
            return NotImplemented
        if not isinstance(other, History):
            return History([*self, *other], self.sample, self.none_of)
        # Of two trainings each chose among what the other had set aside.
        sample = self.sample if other.sample is self.sample else None
        return History([*self, *other], sample, {**self.none_of, **other.none_of})

    def __radd__(self, other: list[Any]) -> History:
        return History([*other, *self], self.sample, self.none_of)

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        return History(found, self.sample, self.none_of) if isinstance(at, slice) else found

    def copy(self) -> History:
        return History(self, self.sample, self.none_of)

    def parts(self) -> dict[str, Any]:
        """All that it holds, in plain lists and arrays."""
        sample = self.sample
        rows_of: dict[tuple[Any, ...], list[int]] = {}
        for row, labels in self.none_of.items():
            rows_of.setdefault(tuple(labels), []).append(row)
        return {
            "answers": list(self),
            "aside": None if sample is None else list(sample.aside),
            "chosen_from": None if sample is None else sample.chosen_from,
            "none_of": [[list(labels), rows] for labels, rows in rows_of.items()],
        }

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> History:
        aside = parts["aside"]
        sample = None if aside is None else Sample(tuple(aside), parts["chosen_from"])
        none_of = {row: tuple(labels) for labels, rows in parts["none_of"] for row in rows}
        return cls(parts["answers"], sample, none_of)

    def aside_rows(self) -> list[tuple[int]]:
        """The rows that were set aside, each as what begins an answer."""
        return [] if self.sample is None else [(row,) for row in self.sample.aside]

    def sample_after(self, earlier: Sequence[EarlierAnswer]) -> Sample:
        """The rows that are a random sample after these answers, which are ``earlier`` in the learner's words."""
        if self.sample is not None:
            # In the midst of an audit, answers of it may have been added by hand.
            audited = (each.item for each in earlier if each.audited)
            return Sample(tuple(dict.fromkeys([*self.sample.aside, *audited])), self.sample.chosen_from)
        known = Sample.after(earlier)
        # Whether a row was audited is said by trainings alone. Which rows such a one had set aside, or passed over
        # because they are easy, is not known here.
        return Sample(known.aside, None) if any(len(each) == 4 for each in self) else known
