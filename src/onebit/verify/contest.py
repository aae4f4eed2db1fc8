"""The table of a run as the run saw it: who competes on which items, in which order, and with which share of delta.

Written from ``docs/certificate.md`` for :mod:`onebit.verify.certificate`, without a look at the learner.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, check_fraction
from onebit.randomness import generator
from onebit.records import Setting

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
#: What models say, in the narrowest type: tables may be most of the memory.
Said = NDArray[np.signedinteger]

#: Examples of a stream that are only looked at, for the vote: so many per model, at most so many, and at most a tenth.
LOOKED_AT_PER_MODEL, MOST_LOOKED_AT, LOOKED_AT_PART = 4, 256, 10
#: Step 5: how many votes there are, and the votes of a model that agreed with the last one as often as not.
N_VOTES, VOTES_AT_EVEN_ODDS = 3, 1000


@dataclass(frozen=True, eq=False)
class Contest:
    """Who competes on what: ``said`` (N, n), its columns in the order of the learner's items; -1 abstains.

    ``distinct`` are the rows that stand for all rows equal to them; on a stream, all rows. ``shares`` (N,) are the
    models' shares of delta, 0 in the other rows. The first ``n_looked_at`` items are for the vote alone. ``judge``
    (N, n) has the scores of what is said, NaN where one is missing; None without a judge. ``ranked`` are the distinct
    rows by the vote, by their number where nobody votes.
    """

    setting: Setting
    said: Said
    n_labels: int
    distinct: tuple[int, ...]
    shares: Floats
    n_looked_at: int
    judge: Floats | None = None
    ranked: tuple[int, ...] = ()

    @property
    def n_items(self) -> int:
        return int(self.said.shape[1])

    @cached_property
    def rows(self) -> Ints:
        """``distinct`` as an array."""
        return np.array(self.distinct)

    @cached_property
    def said_by_distinct(self) -> Said:
        """What the distinct rows say, one after the other."""
        return self.said if len(self.distinct) == self.said.shape[0] else self.said[self.rows]

    @cached_property
    def _first_equals(self) -> list[int]:
        return first_equals(self.said)

    def names(self, model: int) -> tuple[int, ...]:
        """The rows that predict exactly as ``model`` does; on a stream nothing says that others do so everywhere."""
        if self.setting.population == "stream":
            return (model,)
        return tuple(np.flatnonzero((self.said == self.said[model]).all(axis=1)).tolist())

    def stands_for(self, model: int) -> int:
        """The row that stands for this one: the first of those that are equal."""
        return model if self.setting.population == "stream" else self._first_equals[model]

    def contested(self, survivors: Iterable[int]) -> NDArray[np.bool_]:
        """On which items the survivors differ; shape (n,)."""
        said = self.said[list(survivors)]
        differ: NDArray[np.bool_] = (said != said[0]).any(axis=0)
        return differ


def contest(
    setting: Setting, predictions: NDArray[np.integer], n_labels: int, judge: NDArray[np.floating] | None = None
) -> Contest:
    """The table as the run saw it, and each model's share of delta; step 5 of ``docs/certificate.md``."""
    _check(setting, predictions, n_labels)
    _check_judge(judge, predictions.shape)
    said = _narrow(predictions, n_labels)
    distinct = np.unique(first_equals(said))
    n_looked_at, n_voting = 0, said.shape[1]
    if setting.population == "stream":
        distinct = np.arange(said.shape[0])
        order = generator(setting.seed, "stream order").permutation(said.shape[1])
        said, judge = said[:, order], None if judge is None else judge[:, order]
        n_looked_at = n_voting = min(
            MOST_LOOKED_AT, LOOKED_AT_PER_MODEL * distinct.size, said.shape[1] // LOOKED_AT_PART
        )
    if setting.protocol == "panel" or setting.baseline is not None:
        # Steps 15 and 17: nobody votes, and all have the same share.
        shares = np.zeros(said.shape[0])
        shares[distinct] = 1 / max(distinct.size - 1, 1)
        ranked = distinct
        n_looked_at = 0 if setting.protocol == "panel" else n_looked_at
    else:
        ranked = distinct[np.lexsort((distinct, -_agreement(said[distinct, :n_voting])))]
        shares = np.zeros(said.shape[0])
        shares[ranked] = 1 / np.arange(1, ranked.size + 1)
        shares /= max(shares[ranked[:-1]].sum(), 1.0)
    if setting.ranks:
        shares[ranked] = _shares_of_pairs(setting, ranked.size)
    scores = None if judge is None else judge.astype(np.float64)
    rows, by_vote = tuple(distinct.tolist()), tuple(ranked.tolist())
    return Contest(setting, said, n_labels, rows, shares, n_looked_at, scores, by_vote)


def _narrow(predictions: NDArray[np.integer], n_labels: int) -> Said:
    """The table in a type that has just room for its labels and -1."""
    said = np.maximum(predictions, -1) if predictions.dtype.kind == "i" else predictions
    narrow: Said = said.astype(np.min_scalar_type(-n_labels))
    return narrow


def first_equals(said: Said) -> list[int]:
    """Of each row the first that is equal to it; rows are equal whose digests are."""
    first: dict[bytes, int] = {}
    return [first.setdefault(sha256(row.tobytes()).digest(), h) for h, row in enumerate(said)]


def _shares_of_pairs(setting: Setting, n_models: int) -> Floats:
    """Step 20: what of delta a pair with each model may use up, the models in the order of the vote; (n_models,)."""
    n_pairs = n_models * (n_models - 1) / 2
    even = np.full(n_models, 1 / max(n_pairs, 1))
    if setting.top is None:
        return even
    places = np.arange(1, n_models + 1)
    stake = np.ones(n_models) if setting.protocol == "panel" else 1 / np.maximum(places - setting.top + 1, 1)
    shares: Floats = stake / max(setting.top * stake[: max(n_models - setting.top, 0)].sum(), 1.0)
    return shares


def _check(setting: Setting, predictions: NDArray[np.integer], n_labels: int) -> None:
    check_fraction("eps", setting.eps)
    check_fraction("delta", setting.delta)
    if predictions.ndim != 2 or predictions.dtype.kind not in "iu" or predictions.size == 0:
        raise InvalidInputError(
            f"the predictions have shape {predictions.shape} and type {predictions.dtype}; give whole numbers, a row "
            "for each model and a column for each item"
        )
    if predictions.max() >= n_labels:
        raise InvalidInputError(f"a model predicts label {predictions.max()}; labels are 0 to {n_labels - 1}")
    if setting.f_no < 0 or setting.f_yes < 0 or setting.f_no + setting.f_yes >= 1:
        raise InvalidInputError(
            f"the error rates are {setting.f_no} and {setting.f_yes}; they must be at least 0 and below 1 together, or "
            "answers say nothing"
        )
    if setting.protocol != "one-shot" and (setting.f_no or setting.f_yes):
        raise InvalidInputError(f"raters who err are for one-shot; {setting.protocol} needs answers that are right")
    if setting.passive and setting.protocol != "labels":
        raise InvalidInputError(f"passive is for the protocol labels, not for {setting.protocol}")
    if setting.baseline is not None and not 0 <= setting.baseline < predictions.shape[0] > 1:
        raise InvalidInputError(f"the baseline is model {setting.baseline} of {predictions.shape[0]}")
    if setting.top is not None and not 1 <= setting.top < predictions.shape[0]:
        raise InvalidInputError(f"the best {setting.top} are looked for of {predictions.shape[0]} models")
    if (setting.baseline is not None) + (setting.top is not None) + setting.tiers > 1:
        raise InvalidInputError("a run has one aim: a baseline, top, or tiers")
    if setting.exhaustive and setting.protocol != "follow-up":
        raise InvalidInputError(f"exhaustive is for the protocol follow-up, not for {setting.protocol}")
    if setting.spends and (setting.budget is None or setting.baseline is not None):
        raise InvalidInputError("a budget is spent, and there is none; or there is a baseline, which has a margin")


def _check_judge(judge: NDArray[np.floating] | None, shape: tuple[int, ...]) -> None:
    if judge is not None and (judge.shape != shape or ((judge < 0) | (judge > 1)).any()):
        raise InvalidInputError(
            f"the judge's scores have shape {judge.shape}; they must be {shape}, each from 0 to 1 or NaN"
        )


def _agreement(voters: Said) -> Ints:
    """Step 5: on how many items each model agrees with the last vote, where they say ``voters`` (N, n_items); (N,)."""
    n_votes: Ints = np.ones(voters.shape[0], dtype=np.int64)
    agreed: Ints
    for _ in range(N_VOTES):
        vote = np.array([_elected(column, n_votes) for column in voters.T], dtype=np.int64)
        agreed = (voters == vote).sum(axis=1)
        n_votes = np.array([1 + VOTES_AT_EVEN_ODDS * int(a) // (voters.shape[1] - int(a) + 1) for a in agreed])
    return agreed


def _elected(column: Said, n_votes: Ints) -> int:
    """The label with most votes at one item, the lowest of equals; -2, with which nobody agrees, if nobody speaks."""
    speaks = column >= 0
    return int(np.bincount(column[speaks], n_votes[speaks]).argmax()) if speaks.any() else -2
