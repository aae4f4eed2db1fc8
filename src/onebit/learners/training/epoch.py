"""One epoch of training: its items, what is asked about each, and how the questions are drawn."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from onebit.learners.training.model import Bools, Floats, Ints, Model


@dataclass(frozen=True, eq=False)
class TrainingEpoch:
    """The items of an epoch and what is asked about each: ``label`` with ``propensity``; shape (n,).

    ``belief`` (n, K) is what the model believed when the epoch began; ``fresh`` says which items are a random sample
    that was never asked about before. ``n_asked`` counts the questions; ``hit`` is 1 over the propensity where the
    first was about the best guess and the answer was yes. ``ready`` are the places of the next questions.
    """

    audits: bool
    items: Ints
    label: Ints
    propensity: Floats
    belief: Floats
    fresh: Bools
    n_asked: Ints
    hit: Floats
    ready: deque[int]


def begin_epoch(items: Ints, label: Ints, propensity: Floats, belief: Floats, fresh: Bools | None) -> TrainingEpoch:
    """An epoch of which nothing is asked yet; ``fresh`` is None for an audit, whose items all are."""
    n = items.size
    seen = np.ones(n, dtype=np.bool_) if fresh is None else fresh
    n_asked, hit = np.zeros(n, dtype=np.int64), np.zeros(n)
    return TrainingEpoch(fresh is None, items, label, propensity, belief, seen, n_asked, hit, deque(range(n)))


def best_possible(belief: Floats, possible: Bools) -> Ints:
    """The likeliest label among those possible; shapes (..., K) and (..., K)."""
    best: Ints = np.where(possible, belief, -1.0).argmax(axis=-1)
    return best


def draw_guesses(model: Model, beliefs: Floats, possible: Bools, uniform: Floats) -> tuple[Ints, Floats]:
    """Labels drawn from the guesses of the members, and the probability with which each was drawn; shape (n,).

    With probability 1 - gamma the best possible label of a member drawn by its weight, else any possible label:
    q(a | x) = (1 - gamma) W(x, a) + gamma / |A(x)|, with A(x) the labels that are still possible. ``beliefs`` has shape
    (M, n, K), ``possible`` (n, K), ``uniform`` (n,).
    """
    rows = np.arange(len(possible))
    q = model.gamma * possible / possible.sum(axis=1, keepdims=True)
    for weight, guess in zip(model.weights, best_possible(beliefs, possible), strict=True):
        q[rows, guess] += (1 - model.gamma) * weight
    below = q.cumsum(axis=1)
    label = (below > uniform[:, None] * below[:, -1:]).argmax(axis=1)
    return label, q[rows, label]
