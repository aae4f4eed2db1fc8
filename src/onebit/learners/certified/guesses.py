"""How likely each label is right: a guess from the votes of all models, learned from the answers of earlier epochs.

Two notions: the *trust* in a model's vote, from how often it gave a label that was then confirmed; and a logistic model
of a few features of these votes. A guess may depend on everything in the past and on the example, not on which of its
labels is drawn to be asked. So both are fixed at the beginning of an epoch, and recorded. A good guess saves answers, a
bad one costs some; neither touches what is promised. Not in the paper; docs/certificate.md, step 2.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.special import expit

from onebit.errors import InvalidInputError
from onebit.learners.certified import constants
from onebit.learners.certified.outputs import Bools, Floats, Outputs, Predictions

#: Which feature says that the leader gives a label.
OF_LEADER = 3


@dataclass(frozen=True, eq=False)
class Guess:
    """What a guess is made with: the ``trust`` (N,) in each model's vote, and ``coefficients`` (n_features,).

    Where a budget is spent, guesses of the votes are weighed by the ``merit`` (N,) of who says what (``weighed``).
    """

    trust: Floats
    coefficients: Floats
    merit: Floats | None = None

    def features(
        self, outputs: Outputs, said: Predictions, leader: int, unknown: Bools, judged: Floats | None = None
    ) -> Floats:
        """1; log-odds of the output's share of the trust; of the highest at the example; [the leader says so]; judge.

        ``said`` (N, m) is what all models say at the examples of ``outputs``, ``leader`` a row of the outputs. The last
        is ``judged`` (n_outputs,), the log-odds of a judge's score, where there is a judge. (n_outputs, n_features).
        """
        share = _shares(outputs.first, outputs.label, unknown, said, self.trust)
        highest = np.zeros(outputs.first.size - 1)
        np.maximum.at(highest, outputs.example, share)
        of_leader = np.zeros(share.size)
        of_leader[outputs.code[leader] + outputs.first[:-1]] = 1.0
        columns = [np.ones(share.size), _log_odds(share), _log_odds(highest)[outputs.example], of_leader]
        return np.stack(columns if judged is None else [*columns, judged], axis=1)

    def of(self, features: Floats, outputs: Outputs, unknown: Bools) -> Floats:
        """How likely each ``unknown`` output is right, by its features; 0 for the others."""
        if features.shape[1] != self.coefficients.size:
            raise InvalidInputError(
                f"a guess has {self.coefficients.size} coefficients, and there are {features.shape[1]} features; a log "
                "is replayed with the judge that it began with"
            )
        score = features @ self.coefficients
        return _within_bounds(expit(score), outputs, unknown)

    def weighed(self, guess: Floats, outputs: Outputs, said: Predictions, unknown: Bools) -> Floats:
        """The ``guess`` of the votes about all labels, weighed by merit; labels that are not ``unknown`` had a no.

        The odds between a label and "none of these" are multiplied by exp(the merit of all who say it), and labels with
        a no are taken out. ``said`` (N, m) is what all models say at the examples of ``outputs``.
        """
        merit = _sums(outputs.first, outputs.label, said, self.merit)
        none = 1 - outputs.per_example(guess)
        most = constants.MOST_MERIT
        part = np.where(unknown, guess * np.exp(merit.clip(-most, most)), 0.0)
        return _within_bounds(part / (outputs.per_example(part) + none)[outputs.example], outputs, unknown)


def _within_bounds(guess: Floats, outputs: Outputs, unknown: Bools) -> Floats:
    """Guesses that are not too sure, nor all of them together; 0 for what is not ``unknown``."""
    guess = np.where(unknown, guess.clip(constants.LEAST_GUESS, constants.MOST_GUESS), 0.0)
    together = outputs.per_example(guess)[outputs.example]
    rounded: Floats = (guess * np.minimum(constants.MOST_TOGETHER / together.clip(1e-9), 1)).round(constants.DECIMALS)
    return rounded


def _log_odds(share: Floats) -> Floats:
    odds: Floats = np.log((share + constants.SHARE_MARGIN) / (1 - share + constants.SHARE_MARGIN))
    return odds


@njit(cache=True, nogil=True)
def _shares(first, label, unknown, said, trust):  # type: ignore[no-untyped-def]
    """The share that each unknown output has of the trust in all models that speak and whose label has no answer."""
    share = np.zeros(label.size)
    place_of = np.full((label.max() if label.size else -1) + 2, -1)
    for i in range(first.size - 1):
        _note(place_of, label, first[i], first[i + 1])
        total = 0.0
        for h in range(said.shape[0]):
            if said[h, i] < 0:
                continue
            place = _noted(place_of, said[h, i])
            # A label that no survivor gives takes its share, too.
            if place < 0 or unknown[place]:
                total += trust[h]
            if place >= 0 and unknown[place]:
                share[place] += trust[h]
        for k in range(first[i], first[i + 1]):
            place_of[label[k] + 1] = -1
            if total > 0:
                share[k] /= total
    return share


@njit(cache=True, nogil=True)
def _sums(first, label, said, value):  # type: ignore[no-untyped-def]
    """For each output the sum of ``value`` (N,) over all models that say it."""
    total = np.zeros(label.size)
    place_of = np.full((label.max() if label.size else -1) + 2, -1)
    for i in range(first.size - 1):
        _note(place_of, label, first[i], first[i + 1])
        for h in range(said.shape[0]):
            place = _noted(place_of, said[h, i])
            if place >= 0:
                total[place] += value[h]
        for k in range(first[i], first[i + 1]):
            place_of[label[k] + 1] = -1
    return total


@njit(cache=True, nogil=True)
def _note(place_of, label, begin, end):  # type: ignore[no-untyped-def]
    """Note at which of the places from ``begin`` to ``end`` each label stands; an abstention, -1, comes first."""
    for k in range(begin, end):
        place_of[label[k] + 1] = k


@njit(cache=True, nogil=True)
def _noted(place_of, label):  # type: ignore[no-untyped-def]
    """Where a label stands, -1 for nowhere."""
    return place_of[label + 1] if -1 <= label < place_of.size - 1 else -1


class Experience:
    """What was answered so far, as far as guesses learn from it.

    ``agreement`` (N,) says how often each model agrees with the vote: it stands in while few labels are confirmed.
    ``has_judge``: the last feature is a judge's. ``names_leader`` is False where guesses must not favour the leader.
    """

    def __init__(self, agreement: Floats, has_judge: bool = False, names_leader: bool = True) -> None:
        self._agreement, self._names_leader = agreement, names_leader
        prior = constants.PRIOR_COEFFICIENTS if names_leader else constants.CHOICE_COEFFICIENTS
        self._prior = np.array((*prior, *[constants.PRIOR_OF_JUDGE] * has_judge))
        self._n_confirmed = 0
        #: Of the labels confirmed, how many each model gave.
        self._n_given = np.zeros(agreement.size)
        self._latest: deque[tuple[Floats, Bools]] = deque()
        self._n_latest = 0

    def add(self, features: Floats, right: Bools, gave: Bools) -> None:
        """Labels with ``features`` (m, n_features) were found ``right`` or not (m,); ``gave`` (N, m) says by whom."""
        self._n_confirmed += int(right.sum())
        self._n_given += gave[:, right].sum(axis=1)
        self._latest.append((features, right))
        self._n_latest += right.size
        while self._n_latest - self._latest[0][1].size >= constants.MOST_FITTED:
            self._n_latest -= self._latest.popleft()[1].size

    def guess(self) -> Guess:
        """What the next epoch guesses with."""
        n = constants.PRIOR_VOTES
        # One half of a vote for and against keeps the odds finite.
        rate = (self._n_given + n * self._agreement + 0.5) / (self._n_confirmed + n + 1)
        trust = np.maximum(np.log(rate / (1 - rate)) + constants.TRUST_SHIFT, constants.LEAST_TRUST)
        fitted = self._prior
        if self._latest:
            features = np.concatenate([features for features, _ in self._latest])
            features[:, OF_LEADER] *= self._names_leader
            fitted = logistic(features, np.concatenate([right for _, right in self._latest]), self._prior)
        return Guess(trust.round(constants.DECIMALS), fitted.round(constants.DECIMALS))


def logistic(features: Floats, right: Bools, prior: Floats) -> Floats:
    """The coefficients b that minimise sum of log-losses of features @ b plus PRIOR_WEIGHT / 2 * |b - prior|^2.

    By Newton's method, each step halved until the sum falls. Shape (n_features,).
    """

    def loss(b: Floats) -> float:
        score = features @ b
        penalty = constants.PRIOR_WEIGHT / 2 * ((b - prior) ** 2).sum()
        return float((np.logaddexp(0, score) - right * score).sum() + penalty)

    b, least = prior, loss(prior)
    for _ in range(constants.NEWTON_STEPS):
        p = expit(features @ b)
        gradient = features.T @ (p - right) + constants.PRIOR_WEIGHT * (b - prior)
        hessian = (features.T * (p * (1 - p))) @ features + constants.PRIOR_WEIGHT * np.eye(b.size)
        step = np.linalg.solve(hessian, gradient)
        while (new := loss(b - step)) > least + 1e-12 * abs(least) and np.abs(step).max() > 1e-9:
            step = step / 2
        b, least = b - step, min(new, least)
        if np.abs(step).max() < 10.0**-constants.DECIMALS:
            break
    return b
