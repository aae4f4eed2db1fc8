"""What a training begins with: which items and answers are for what, what is known already, and who has neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, check_count, check_fraction
from onebit.hypotheses.base import Examples, check_n_labels
from onebit.learners.training.around import Around
from onebit.learners.training.audit import Division, set_aside
from onebit.learners.training.constants import ITEMS_BEFORE, LAST_SHARE, MOST_AROUND, NEVER_LEFT
from onebit.learners.training.earlier import EarlierAnswer
from onebit.learners.training.guide import Guide
from onebit.learners.training.history import Sample
from onebit.learners.training.knowledge import Knowledge
from onebit.learners.training.model import Bools, Ints
from onebit.learners.training.names import Names
from onebit.learners.training.neighbours import Neighbours
from onebit.randomness import generator


@dataclass(frozen=True, eq=False)
class Beginning:
    """The items as they are divided, the answers that the run may have, ``budget``, and those it is ``taught`` first.

    Answers to earlier audits are not taught.
    """

    division: Division
    budget: int
    taught: tuple[EarlierAnswer, ...]

    def known(self, n_labels: int, seed: int) -> Knowledge:
        """What is known before the first question."""
        n_items = self.division.order.size
        trains_on: Bools = np.zeros(n_items, dtype=np.bool_)
        trains_on[self.division.to_train] = True
        to_end = generator(seed, "items whose last label is asked").random(n_items)
        known = Knowledge(trains_on, check_n_labels(n_labels), to_end < LAST_SHARE, to_end < NEVER_LEFT, ITEMS_BEFORE)
        known.is_sample = self.division.is_sample
        known.recall(self.taught)
        return known


def begin(
    n_items: int,
    *,
    budget: int,
    audit: int | None,
    target: float | None,
    earlier: Sequence[EarlierAnswer],
    sample: Sample | None,
    seed: int,
) -> Beginning:
    """Divide the items, and say how many of the ``budget`` are left after the ``earlier`` answers.

    What each option means stands in ``learner.py``.
    """
    n_earlier = len(earlier)
    if check_count("budget", budget) <= n_earlier:
        raise InvalidInputError(f"budget is {budget}, and {n_earlier} answers are there; they count, so give more")
    taught = tuple(each for each in earlier if not each.audited)
    # The audit is gone through anew.
    n_left = budget - len(taught)
    if target is not None:
        check_fraction("target", target)
    shuffled = generator(seed, "order of items").permutation(n_items)
    sample = Sample.after(earlier) if sample is None else sample
    division = set_aside(shuffled, earlier, sample, audit, n_left, target)
    # What was audited, and is not audited again, is spent too.
    audited = set(division.audited)
    n_left -= sum(each.audited and each.item not in audited for each in earlier)
    return Beginning(division, n_left, taught)


def neighbours_among(
    listed: Ints,
    x: Examples,
    n_labels: int,
    near_are_alike: bool,
    names: NDArray[np.floating] | None,
    guide: Guide | None,
) -> Neighbours | None:
    """The neighbours among the items ``listed``, by the features of the ``guide`` if there is one; None without any."""
    if names is not None and not (near_are_alike and names.shape == (n_labels, x.shape[1])):
        raise InvalidInputError(
            f"names has shape {names.shape}; with near_are_alike it may have a row for each of "
            f"{n_labels} labels and the columns of the examples"
        )
    if guide is not None and guide.near_are_alike:
        return Neighbours(guide.features, listed)
    if not near_are_alike:
        return None
    return Neighbours(x, listed, None if names is None else Names(x, names))


def around_among(listed: Ints, neighbours: Neighbours | None, known: Knowledge) -> Around | None:
    """Rows that stand for the pool: the first ``listed`` that are trained on by now.

    Those kept to be drawn at random are not among them, and audited ones neither: for the classifier that these try
    they are as new as any other. None if near rows are not alike, and where labels have names, which say more.
    """
    items = listed[known.trains_on[listed]][:MOST_AROUND]
    return None if neighbours is None or neighbours.has_names or items.size < 2 else Around(neighbours.x, items)
