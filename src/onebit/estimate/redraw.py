"""Draws a run again from its table, its seed and its records: which questions had to be asked.

Written from "How a round is drawn" in ``docs/certificate.md`` for :mod:`onebit.estimate.certificate`. It shares nothing
with the learner that drew the run first, so that each can be held against the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, check_fraction
from onebit.randomness import RoundStream, generator
from onebit.records import Answer, EpochRecord, Setting

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Examples of a stream that are only looked at, for the vote: so many for each distinct model, and at most.
LOOKED_AT_PER_MODEL, MOST_LOOKED_AT = 4, 256
#: The guess about a label is this share of the share of survivors that say it.
GUESS = 0.8
#: Masses that differ by less are equal in the order of follow-up questions, however they were added up.
MASS_DECIMALS = 12


@dataclass(frozen=True, eq=False)
class Contest:
    """Who competes on what: ``said`` (N, n), its columns in the order of the learner's items; -1 abstains.

    ``distinct`` are the rows that stand for all rows equal to them. ``shares`` (N,) are the models' shares of delta,
    0 in the other rows. The first ``n_looked_at`` items are for the vote alone.
    """

    setting: Setting
    said: Ints
    distinct: tuple[int, ...]
    shares: Floats
    n_looked_at: int

    @property
    def n_items(self) -> int:
        return int(self.said.shape[1])

    def names(self, model: int) -> tuple[int, ...]:
        """The rows that predict exactly as ``model`` does."""
        return tuple(np.flatnonzero((self.said == self.said[model]).all(axis=1)).tolist())

    def contested(self, survivors: Iterable[int]) -> NDArray[np.bool_]:
        """On which items the survivors differ; shape (n,)."""
        said = self.said[list(survivors)]
        differ: NDArray[np.bool_] = (said != said[0]).any(axis=0)
        return differ


@dataclass
class Known:
    """What earlier epochs found out about items: ``z[item][label]``, and where nobody could tell."""

    z: dict[int, dict[int, bool]] = field(default_factory=dict)
    cant_tell: set[int] = field(default_factory=set)

    def add(self, item: int, label: int, answer: Answer) -> None:
        if answer is Answer.CANT_TELL:
            self.cant_tell.add(item)
        else:
            self.z.setdefault(item, {})[label] = answer is Answer.YES

    def n_right(self, said: Ints, items: Sequence[int], survivors: Sequence[int]) -> dict[int, int] | None:
        """On how many of ``items`` each survivor is right, where models say ``said`` (N, n_items); None if unknown."""
        total = dict.fromkeys(survivors, 0)
        for place, item in enumerate(items):
            for h in survivors if item not in self.cant_tell else ():
                label = int(said[h, place])
                z = self.z.get(item, {}).get(label) if label >= 0 else False
                if z is None:
                    return None
                total[h] += z
        return total


@dataclass(frozen=True, eq=False)
class Round:
    """One drawn example: what had to be asked about it, in order; None asks for the label itself.

    ``outputs`` (L,) are what survivors say there, rising, -1 for an abstention; ``output_of`` (V,) is the place in it
    of each survivor's. In one-shot, ``q`` (L,) is the probability with which each is asked, 0 if it cannot be,
    ``guess`` (L,) the guess about it, and ``known`` (L,) is 1 where it has been found right before. In the other
    protocols they are 0. ``is_nil`` says that all differences between survivors are 0.
    """

    item: int
    to_ask: tuple[int | None, ...]
    outputs: Ints
    output_of: Ints
    q: Floats
    guess: Floats
    known: Floats
    is_nil: bool = False

    def propensity(self, label: int | None) -> float:
        """The probability with which ``label`` is asked; what is not left to chance has 1."""
        return float(self.q[self.outputs == label][0]) if self.q.any() else 1.0


def contest(setting: Setting, predictions: NDArray[np.integer], n_labels: int) -> Contest:
    """The table as the run saw it, and each model's share of delta; step 5 of ``docs/certificate.md``."""
    _check(setting, predictions, n_labels)
    said = np.maximum(predictions.astype(np.int64), -1)
    distinct = np.sort(np.unique(said, axis=0, return_index=True)[1])
    n_looked_at = 0
    if setting.population == "stream":
        said = said[:, generator(setting.seed, "stream order").permutation(said.shape[1])]
        n_looked_at = min(MOST_LOOKED_AT, LOOKED_AT_PER_MODEL * distinct.size, said.shape[1])
    voters = said[distinct, :n_looked_at] if n_looked_at else said[distinct]
    vote = np.array([_plurality(column) for column in voters.T], dtype=np.int64)
    agreement = (voters == vote).sum(axis=1)
    ranked = distinct[np.lexsort((distinct, -agreement))]
    shares = np.zeros(said.shape[0])
    shares[ranked] = 1 / np.arange(1, ranked.size + 1)
    shares /= max(shares[ranked[:-1]].sum(), 1.0)
    return Contest(setting, said, tuple(distinct.tolist()), shares, n_looked_at)


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


def _plurality(column: Ints) -> int:
    """The label that most models give to one item, the lowest of equals; -2, with which nobody agrees, if none do."""
    labels = column[column >= 0]
    return int(np.bincount(labels).argmax()) if labels.size else -2


def left_to_draw(contest: Contest, survivors: Iterable[int], undrawn: NDArray[np.bool_]) -> list[int]:
    """The items that draws without replacement are made from."""
    places: list[int] = np.flatnonzero(
        undrawn if contest.setting.passive else undrawn & contest.contested(survivors)
    ).tolist()
    return places


def redraw(contest: Contest, epoch: EpochRecord, undrawn: NDArray[np.bool_], known: Known) -> list[Round]:
    """The rounds of an epoch, in order; fewer than it says where the items run out."""
    uniforms = RoundStream(contest.setting.seed, "rounds").uniforms(epoch.first_round, epoch.n_rounds)
    items = _items(contest, epoch, undrawn, uniforms[:, 0])
    survivors = np.array(epoch.survivors)
    rounds = []
    for item, u in zip(items, uniforms, strict=False):
        says = contest.said[survivors, item]
        is_nil = item in known.cant_tell or bool((says == says[0]).all())
        if contest.setting.protocol == "one-shot" and not is_nil:
            rounds.append(_one_shot(contest, epoch, item, says, known.z.get(item, {}), u))
        else:
            rounds.append(_exact(contest, epoch, item, says, is_nil))
    return rounds


def _items(contest: Contest, epoch: EpochRecord, undrawn: NDArray[np.bool_], u0: Floats) -> list[int]:
    if contest.setting.population == "stream":
        first = contest.n_looked_at + epoch.first_round
        return list(range(first, min(first + epoch.n_rounds, contest.n_items)))
    if contest.setting.protocol == "one-shot":
        return [int(u * contest.n_items) for u in u0]
    left = left_to_draw(contest, epoch.survivors, undrawn)
    items = []
    for u in u0[: len(left)]:
        place = int(u * len(left))
        items.append(left[place])
        left[place] = left[-1]
        left.pop()
    return items


def _one_shot(contest: Contest, epoch: EpochRecord, item: int, says: Ints, z: dict[int, bool], u: Floats) -> Round:
    """A round on which survivors differ, asked about at most once; ``z`` holds the known answers about the item."""
    outputs, output_of, n_saying = np.unique(says, return_inverse=True, return_counts=True)
    can_be_asked = {a: place for place, a in enumerate(outputs.tolist()) if a >= 0 and a not in z}
    q, guess = np.zeros((2, outputs.size))
    known = np.array([float(z.get(a, False)) for a in outputs.tolist()])
    if not can_be_asked:
        return Round(item, (), outputs, output_of, q, guess, known)
    # The mixture's models whose label can be asked, in the order recorded, with the mass up to and including each.
    ladder: list[tuple[int, float]] = []
    total = 0.0
    mass = np.zeros(outputs.size)
    for model, probability in epoch.mixture:
        label = int(contest.said[model, item])
        if label in can_be_asked:
            total += probability
            mass[can_be_asked[label]] += probability
            ladder.append((label, total))
    places = list(can_be_asked.values())
    gamma = epoch.gamma if total > 0 else 1.0
    q[places] = (1 - gamma) * mass[places] / (total or 1.0) + gamma / len(places)
    guess[places] = 0.0 if any(z.values()) else GUESS * n_saying[places] / n_saying[places].sum()
    if u[3] < gamma:
        asked = list(can_be_asked)[int(u[1] * len(places))]
    else:
        asked = next((label for label, up_to in ladder if up_to > u[2] * total), ladder[-1][0])
    return Round(item, (asked,), outputs, output_of, q, guess, known)


def _exact(contest: Contest, epoch: EpochRecord, item: int, says: Ints, is_nil: bool) -> Round:
    """A round after which it is known who was right: everything is asked that there is to ask, or nothing."""
    outputs, output_of, n_saying = np.unique(says, return_inverse=True, return_counts=True)
    to_ask: tuple[int | None, ...] = ()
    if contest.setting.passive or (contest.setting.protocol == "labels" and not is_nil):
        to_ask = (None,)
    elif contest.setting.protocol == "follow-up" and not is_nil:
        mass = dict.fromkeys(outputs.tolist(), 0.0)
        for model, probability in epoch.mixture:
            mass[int(contest.said[model, item])] += probability
        votes = dict(zip(outputs.tolist(), n_saying.tolist(), strict=True))
        order = sorted(mass, key=lambda a: (-round(mass[a], MASS_DECIMALS), -votes[a], a))
        to_ask = tuple(a for a in order if a >= 0)
    zero = np.zeros(outputs.size)
    return Round(item, to_ask, outputs, output_of, zero, zero, zero, is_nil)
