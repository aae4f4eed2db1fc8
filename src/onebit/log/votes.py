"""The answer to a question that several raters answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from onebit.records import Answer

#: What a rater says: yes, no or can't tell; or a label, where that is asked for.
Given = Answer | int


def majority(votes: Iterable[Given], overlap: int) -> Given | None:
    """The answer from the votes: as soon as more than half agree; can't tell if all have voted and none leads.

    Who says that no label is right denies the one that was asked: it is a no, unless more than half say so.

    >>> majority([Answer.YES, Answer.YES], overlap=3)
    <Answer.YES: 'yes'>
    """
    said = Counter(votes)
    if 2 * said[Answer.NONE] <= overlap:
        said[Answer.NO] += said.pop(Answer.NONE, 0)
        said = +said
    counts = said.most_common()
    if counts and 2 * counts[0][1] > overlap:
        return counts[0][0]
    if sum(n for _, n in counts) < overlap:
        return None
    return counts[0][0] if len(counts) == 1 or counts[0][1] > counts[1][1] else Answer.CANT_TELL
