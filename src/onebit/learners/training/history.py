"""Every answer of a training, with which rows are still a random sample: what a later training goes on from.

An audit is honest on rows that were set aside at random before anything was known of them, and nowhere else: rows that
were chosen to train on are the hard ones, and so the rows left over are the easy ones. So answers alone are not enough
to go on from; which rows were set aside goes with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onebit.errors import InvalidInputError, shown
from onebit.learners.training.earlier import EarlierAnswer
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

    It equals and prints as the list. Slices, sums and copies keep the sample; a list that is made of it does not.
    """

    def __init__(self, answers: Iterable[Any] = (), sample: Sample | None = None) -> None:
        super().__init__(answers)
        self.sample = sample

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
        if isinstance(other, History) and other.sample is not self.sample:
            # Of two trainings each chose among what the other had set aside.
            return History([*self, *other])
        return History([*self, *other], self.sample)

    def __radd__(self, other: list[Any]) -> History:
        return History([*other, *self], self.sample)

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        return History(found, self.sample) if isinstance(at, slice) else found

    def copy(self) -> History:
        return History(self, self.sample)

    def parts(self) -> dict[str, Any]:
        """All that it holds, in plain lists and arrays."""
        sample = self.sample
        return {
            "answers": list(self),
            "aside": None if sample is None else list(sample.aside),
            "chosen_from": None if sample is None else sample.chosen_from,
        }

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> History:
        aside = parts["aside"]
        return cls(parts["answers"], None if aside is None else Sample(tuple(aside), parts["chosen_from"]))

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
