"""Draws a run again from its table, its seed and its records: which questions had to be asked.

Written from "How a round is drawn" in ``docs/certificate.md`` for :mod:`onebit.verify.certificate`. It shares nothing
with the learner that drew the run first, so that each can be held against the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from onebit.randomness import RoundStream
from onebit.records import Answer, EpochRecord
from onebit.verify.choice import LEAST_ASKED as CHOICE_LEAST_ASKED
from onebit.verify.choice import choice_scores, chooses, weighed
from onebit.verify.contest import Contest, Said

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
#: Which of a few each of many gives.
Places = NDArray[np.integer]

#: Rounds of follow-up with two labels or more: the first so many are checked, and this share of the others.
FIRST_CHECKED, CHECKED_SHARE = 30, 0.02
#: Step 2, guesses: what is added to a share before its log-odds are taken, the least and the most, the most of all
#: guesses about one item together, and their decimals.
SHARE_MARGIN, LEAST_GUESS, MOST_GUESS, MOST_TOGETHER, DECIMALS = 0.01, 0.005, 0.97, 0.98, 6
#: Step 2, guesses: what is added to a judge's score before its log-odds are taken, and the score of what it left out.
JUDGE_MARGIN, UNJUDGED = 0.05, 0.5
#: Step 2, the law: what is added to the variance of a guess, and the least probability that an item is asked about.
LEAST_VARIANCE, LEAST_ASKED = 0.02, 0.15


@dataclass
class Known:
    """What earlier epochs found out about items: ``z[item][label]`` says whether the label was accepted."""

    z: dict[int, dict[int, bool]] = field(default_factory=dict)

    def add(self, item: int, label: int, answer: Answer) -> None:
        self.z.setdefault(item, {})[label] = answer is Answer.YES

    def n_accepted(self, said: Said, items: Sequence[int], survivors: Sequence[int]) -> dict[int, int] | None:
        """On how many of ``items`` survivors are accepted, where models say ``said`` (N, n); None if unknown."""
        total = dict.fromkeys(survivors, 0)
        for item in items:
            for h in survivors:
                label = int(said[h, item])
                z = self.z.get(item, {}).get(label) if label >= 0 else False
                if z is None:
                    return None
                total[h] += z
        return total


@dataclass(frozen=True, eq=False)
class Round:
    """One drawn example: what had to be asked about it, in order; None asks for the label itself.

    ``outputs`` (L,) are what survivors say there, rising, -1 for an abstention; ``output_of`` (V,) is the place in it
    of each survivor's. In one-shot, ``q`` (L,) is the probability with which each is asked (in all: that the item is
    asked about, and that it is this label), 0 if it cannot be,
    ``guess`` (L,) the guess about it, and ``known`` (L,) is 1 where it has been accepted before. In the other protocols
    they are 0. ``is_nil`` says that survivors agree, so that all their differences are 0.

    In follow-up, ``check`` is the number that chooses one more label after the yes; None: it is not checked.
    ``n_all`` is the number of labels of the table if one of them is sure to be right; otherwise 0.
    """

    item: int
    to_ask: tuple[int | None, ...]
    outputs: Said
    output_of: Places
    q: Floats
    guess: Floats
    known: Floats
    is_nil: bool = False
    check: float | None = None
    n_all: int = 0

    @property
    def has_two_labels(self) -> bool:
        return int((self.outputs >= 0).sum()) > 1

    def propensity(self, label: int | None) -> float:
        """The probability with which ``label`` is asked; what is not left to chance has 1."""
        return float(self.q[self.outputs == label][0]) if self.q.any() else 1.0


def left_to_draw(contest: Contest, survivors: Iterable[int], undrawn: NDArray[np.bool_]) -> list[int]:
    """The items that draws without replacement are made from."""
    places: list[int] = np.flatnonzero(
        undrawn if contest.setting.passive else undrawn & contest.contested(survivors)
    ).tolist()
    return places


def redraw(
    contest: Contest, epoch: EpochRecord, undrawn: NDArray[np.bool_], known: Known, n_with_two: int
) -> list[Round]:
    """The rounds of an epoch, in order; fewer than it says where the items run out.

    In ``n_with_two`` rounds of earlier epochs survivors gave two labels or more.
    """
    uniforms = RoundStream(contest.setting.seed, "rounds").uniforms(epoch.first_round, epoch.n_rounds)
    items = _items(contest, epoch, undrawn, uniforms[:, 0])
    survivors = np.array(epoch.survivors)
    rivals = np.array([rival for rival, _ in epoch.mixture], dtype=np.int64)
    needs = np.array([need for _, need in epoch.mixture])
    relevance_by = _relevance_to_pairs if contest.setting.ranks else _relevance
    trust = np.array(epoch.trust)
    rounds = []
    for item, u in zip(items, uniforms, strict=False):
        says = contest.said[survivors, item]
        is_nil = bool((says == says[0]).all())
        if contest.setting.protocol == "one-shot" and not is_nil:
            relevance = partial(relevance_by, contest.said[:, item], epoch.leader, rivals, needs)
            rounds.append(_one_shot(contest, epoch, trust, item, says, known.z.get(item, {}), u, relevance))
            continue
        drawn = _exact(contest, epoch, trust, item, says, is_nil)
        if contest.setting.protocol == "follow-up" and drawn.has_two_labels:
            n_with_two += 1
            if n_with_two <= FIRST_CHECKED or u[1] < CHECKED_SHARE:
                drawn = replace(drawn, check=float(u[2]))
        rounds.append(drawn)
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


def _guesses(
    contest: Contest, epoch: EpochRecord, trust: Floats, item: int, outputs: Said, places: Sequence[int]
) -> Floats:
    """Step 2: how likely each output is right by the record; 0 for those whose places are not among ``places``."""
    says = contest.said[contest.rows, item]
    has_answer = [a for place, a in enumerate(outputs.tolist()) if place not in places]
    total = trust[(says >= 0) & ~np.isin(says, has_answer)].sum()
    share = np.array([trust[says == a].sum() / total if total > 0 else 0.0 for a in outputs[list(places)]])
    log_odds = np.log((share + SHARE_MARGIN) / (1 - share + SHARE_MARGIN))
    of_leader = outputs[list(places)] == contest.said[epoch.leader, item]
    one, own, top, leader = epoch.guess[:4]
    score = one + own * log_odds + top * log_odds.max(initial=-np.inf) + leader * of_leader
    if contest.judge is not None:
        score = score + epoch.guess[4] * _judged(contest.judge[:, item], contest.said[:, item], outputs[list(places)])
    guess = np.zeros(outputs.size)
    guess[list(places)] = _bounded(expit(score))
    return guess


def _bounded(guess: Floats) -> Floats:
    """Step 2: guesses about labels of one item, none of them too sure, nor all together; rounded."""
    right = np.clip(guess, LEAST_GUESS, MOST_GUESS)
    rounded: Floats = np.round(right * min(1.0, MOST_TOGETHER / max(right.sum(), MOST_TOGETHER)), DECIMALS)
    return rounded


def _judged(scores: Floats, says: Said, labels: Said) -> Floats:
    """Step 2: the log-odds of what a judge says of ``labels``: of each, the mean over all who say it."""
    known = [scores[(says == a) & ~np.isnan(scores)] for a in labels]
    score = np.array([each.mean() if each.size else UNJUDGED for each in known])
    odds: Floats = np.log((score + JUDGE_MARGIN) / (1 - score + JUDGE_MARGIN))
    return odds


def _one_shot(
    contest: Contest,
    epoch: EpochRecord,
    trust: Floats,
    item: int,
    says: Said,
    z: dict[int, bool],
    u: Floats,
    relevance: Callable[[int], float],
) -> Round:
    """A round on which survivors differ, asked about at most once; ``z`` holds the known answers about the item."""
    outputs, output_of, _ = _outputs(says)
    places = [place for place, a in enumerate(outputs.tolist()) if a >= 0 and a not in z]
    q, guess = np.zeros((2, outputs.size))
    known = np.array([float(z.get(a, False)) for a in outputs.tolist()])
    if not places:
        return Round(item, (), outputs, output_of, q, guess, known)
    if not any(z.values()):
        # Merit takes a no into account: the votes are counted as if there was none.
        counted = [place for place, a in enumerate(outputs.tolist()) if a >= 0] if epoch.merit else places
        guess = _guesses(contest, epoch, trust, item, outputs, counted)
        if epoch.merit:
            part = weighed(epoch.merit, contest.said[contest.rows, item], outputs[places].tolist(), guess[places])
            none = 1 - guess.sum()
            guess = np.zeros(outputs.size)
            guess[places] = _bounded(part / (part.sum() + none))
    least_asked = LEAST_ASKED
    if chooses(contest.setting):
        score = choice_scores(epoch, contest.said[:, item], outputs[places].tolist(), guess[places].tolist())
        least_asked = CHOICE_LEAST_ASKED
    else:
        score = [math.sqrt(relevance(int(outputs[k])) * (guess[k] * (1 - guess[k]) + LEAST_VARIANCE)) for k in places]
    total = sum(score)
    gamma = epoch.gamma if total > 0 else 1.0
    law = [(1 - gamma) * (s / total if total > 0 else 0.0) + gamma / len(places) for s in score]
    p = min(max(total / epoch.sure_from, least_asked), 1.0) if epoch.sure_from > 0 else 1.0
    q[places] = np.array(law) * p
    up_to = np.cumsum(law)
    chosen = int(outputs[places[min(int((up_to <= u[1] * up_to[-1]).sum()), len(places) - 1)]])
    return Round(item, (chosen,) if u[2] < p else (), outputs, output_of, q, guess, known)


def _relevance(said: Said, leader: int, rivals: Ints, needs: Floats, label: int) -> float:
    """Step 2: what the ``rivals`` need whose difference to the leader the label enters; ``said`` (N,) at one item."""
    return float(needs[(said[rivals] == label) != (said[leader] == label)].sum())


def _relevance_to_pairs(said: Said, leader: int, rivals: Ints, needs: Floats, label: int) -> float:
    """Step 20: the needs of those who say the label, times the needs of those who do not; no matter who leads."""
    millionths = np.rint(needs * 10**DECIMALS)
    agrees = said[rivals] == label
    return float(millionths[agrees].sum() * millionths[~agrees].sum() / 10.0 ** (2 * DECIMALS))


def _outputs(says: Said) -> tuple[Said, Places, Ints]:
    """The different outputs, rising; which of them each survivor gives; and how many give each."""
    outputs, output_of, n_saying = np.unique(says, return_inverse=True, return_counts=True)
    return outputs, output_of.astype(np.min_scalar_type(outputs.size)), n_saying


def _exact(contest: Contest, epoch: EpochRecord, trust: Floats, item: int, says: Said, is_nil: bool) -> Round:
    """A round after which it is known who was right: everything is asked that there is to ask, or nothing."""
    outputs, output_of, n_saying = _outputs(says)
    to_ask: tuple[int | None, ...] = ()
    if contest.setting.passive or (contest.setting.protocol == "labels" and not is_nil):
        to_ask = (None,)
    elif contest.setting.protocol == "follow-up" and not is_nil:
        places = [place for place, a in enumerate(outputs.tolist()) if a >= 0]
        guess = _guesses(contest, epoch, trust, item, outputs, places)
        order = sorted(places, key=lambda k: (-guess[k], -n_saying[k], k))
        to_ask = tuple(outputs[order].tolist())
    zero = np.zeros(outputs.size)
    # Only where the last label of all is among those that may be asked can it be known without being asked.
    n_all = contest.n_labels if contest.setting.exhaustive and len(to_ask) == contest.n_labels else 0
    return Round(item, to_ask, outputs, output_of, zero, zero, zero, is_nil, n_all=n_all)
