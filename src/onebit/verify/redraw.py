"""Draws a run again from its table, its seed and its records: which questions had to be asked.

Written from "How a round is drawn" in ``docs/certificate.md`` for :mod:`onebit.verify.certificate`. It shares nothing
with the learner that drew the run first, so that each can be held against the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from onebit.errors import InvalidInputError, check_fraction
from onebit.randomness import RoundStream, generator
from onebit.records import Answer, EpochRecord, Setting
from onebit.verify.choice import LEAST_ASKED as CHOICE_LEAST_ASKED
from onebit.verify.choice import choice_scores, chooses, weighed

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
#: What models say, in the narrowest type: tables may be most of the memory.
Said = NDArray[np.signedinteger]
#: Which of a few each of many gives.
Places = NDArray[np.integer]

#: Examples of a stream that are only looked at, for the vote: so many per model, at most so many, and at most a tenth.
LOOKED_AT_PER_MODEL, MOST_LOOKED_AT, LOOKED_AT_PART = 4, 256, 10
#: Step 5: how many votes there are, and the votes of a model that agreed with the last one as often as not.
N_VOTES, VOTES_AT_EVEN_ODDS = 3, 1000
#: Rounds of follow-up with two labels or more: the first so many are checked, and this share of the others.
FIRST_CHECKED, CHECKED_SHARE = 30, 0.02
#: Step 2, guesses: what is added to a share before its log-odds are taken, the least and the most, the most of all
#: guesses about one item together, and their decimals.
SHARE_MARGIN, LEAST_GUESS, MOST_GUESS, MOST_TOGETHER, DECIMALS = 0.01, 0.005, 0.97, 0.98, 6
#: Step 2, guesses: what is added to a judge's score before its log-odds are taken, and the score of what it left out.
JUDGE_MARGIN, UNJUDGED = 0.05, 0.5
#: Step 2, the law: what is added to the variance of a guess, and the least probability that an item is asked about.
LEAST_VARIANCE, LEAST_ASKED = 0.02, 0.15


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
