"""Whether a column can hold the right labels: some model must be right on some item."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from onebit.errors import InvalidInputError
from onebit.tables.labels import plain
from onebit.tables.record import ABSTAINS, ModelTable

#: Examples that are shown of either side.
SOME = 3


def check_truth(table: ModelTable, column: str, where: str) -> None:
    """InvalidInputError if no model is right on any item: simulated raters would say no for ever."""
    truth = table.truth
    if truth is None or any((row == truth).any() for row in table.predictions):
        return
    right = [table.labels[number] for number in dict.fromkeys(truth.tolist())]
    given = [table.labels[n] for n in np.unique(table.predictions).tolist() if n != ABSTAINS]
    raise InvalidInputError(
        f"{where}, column {column!r}: no model is right on any of the {table.n_items:,} items, so this cannot be the "
        f"truth about them. It has {_some(right)}; the models say {_some(given)}. {_likely_reason(right, given)}"
    )


def hint(label: str, known: Collection[str]) -> str:
    """A clause that names the label that was probably meant; empty if none is near.

    >>> hint("Cat ", ["cat", "dog"])
    "; 'cat' differs only in spaces or capitals"
    """
    meant = [each for each in known if plain(each) == plain(label)]
    return f"; {meant[0]!r} differs only in spaces or capitals" if meant else ""


def _likely_reason(right: Sequence[str], given: Sequence[str]) -> str:
    if set(right) & set(given):
        return (
            "Some labels are on both sides, so the rows are probably in another order; join the two tables by a key "
            "and try again"
        )
    if {plain(each) for each in right} & {plain(each) for each in given}:
        return "They differ only in spaces or capitals; write them alike"
    if all(each.strip().isdigit() for each in right) != all(each.strip().isdigit() for each in given):
        return "One side has numbers and the other has names; give the names in both"
    return "Name the column with the right labels, written as the models write them"


def _some(labels: Sequence[str]) -> str:
    return ", ".join(repr(each) for each in labels[:SOME]) + (", ..." if len(labels) > SOME else "")
