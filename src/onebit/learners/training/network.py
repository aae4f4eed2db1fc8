"""The built-in model: an ensemble of small networks that learn from yes and no by the exact likelihood.

An answer leaves a set of possible labels: the one confirmed, or all but those denied. The loss of an example is
-log(probability of that set): the usual one after a yes, -log(1 - p) after a no. So every answer teaches, and since the
choice of a question depends on the example and earlier answers only, no importance weight is needed. (Known labels are
drawn more often than their share, where they are few: with many labels noes would drown them.) Members differ in
where they start and in what they see; where they still differ in what they predict, there is something to ask.

Not in the paper, whose potential is about classes that are searched by an oracle: those of ``learners/paper`` do that.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from onebit.learners.training.constants import (
    BATCH,
    CHUNK,
    DROPPED,
    FEW_LABELS,
    FIRST_GUESSES,
    LEAST_STEPS,
    LEAST_YES,
    MOMENTUM,
    MOST_DECAY,
    MOST_PASSES,
    N_HIDDEN,
    N_NETWORKS,
    PRIOR,
    RATE,
    SQUARES,
    STEPS_FALL,
    STEPS_PER_ANSWER,
)
from onebit.learners.training.model import Floats, Ints, Known
from onebit.learners.training.passes import activate, adam, back_through, likelihood_slope, shift_logits

#: Which of the parameters are weights; the others are offsets, which do not decay.
WEIGHTS = (0, 2)

Params = list[NDArray[np.float32]]


class NetworkEnsemble:
    """Networks of one hidden layer over dense features of about unit variance."""

    gamma = 0.0

    def __init__(self, n_features: int, n_labels: int, rng: np.random.Generator) -> None:
        shapes = ((n_features, N_HIDDEN), (1, N_HIDDEN), (N_HIDDEN, n_labels), (1, n_labels))
        scales = (np.sqrt(2 / n_features), 0.0, FIRST_GUESSES / np.sqrt(N_HIDDEN), 0.0)
        self._params: Params = [
            (scale * rng.standard_normal((N_NETWORKS, *shape))).astype(np.float32)
            for shape, scale in zip(shapes, scales, strict=True)
        ]
        self._mean: Params = [np.zeros_like(p) for p in self._params]
        self._square: Params = [np.zeros_like(p) for p in self._params]
        self._n_steps = self._n_learned = 0

    @property
    def weights(self) -> Floats:
        return np.full(N_NETWORKS, 1 / N_NETWORKS)

    def beliefs(self, x: NDArray[np.float32]) -> Floats:
        chunks = (x[first : first + CHUNK] for first in range(0, max(len(x), 1), CHUNK))
        return np.concatenate([softmax(self._logits(chunk), axis=-1) for chunk in chunks], axis=1)

    def _logits(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        hidden = np.matmul(x, self._params[0])
        hidden += self._params[1]
        np.maximum(hidden, 0, out=hidden)
        logits: NDArray[np.float32] = np.matmul(hidden, self._params[2])
        logits += self._params[3]
        return logits

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        share = min(1.0, (FEW_LABELS / self._params[2].shape[2]) ** STEPS_FALL)
        n_wanted = int(share * STEPS_PER_ANSWER * (known.n_answers - self._n_learned))
        n_steps = max(round(share * LEAST_STEPS), min(n_wanted, MOST_PASSES * len(known.x) // BATCH))
        self._n_learned = known.n_answers
        decay = RATE * min(MOST_DECAY, PRIOR / len(known.x))
        batch, draw = Batch([param.shape for param in self._params]), _drawing(known)
        # The products are small: several threads would wait for each other longer than they work.
        with one_thread():
            for _ in range(n_steps):
                rows = draw(rng)
                # One mask for the whole batch of a member: as good, and much cheaper, than one for each example.
                kept = (rng.random((N_NETWORKS, N_HIDDEN)) >= DROPPED) * np.float32(1 / (1 - DROPPED))
                slopes = batch.slopes(self._params, known, rows, kept)
                self._step(slopes, decay)

    def _step(self, slopes: Params, decay: float) -> None:
        """One step of Adam with decoupled weight decay."""
        self._n_steps += 1
        rate = RATE * np.sqrt(1 - SQUARES**self._n_steps) / (1 - MOMENTUM**self._n_steps)
        shares = np.array([1 - MOMENTUM, 1 - SQUARES], dtype=np.float32)
        for i, slope in enumerate(slopes):
            param, mean, square = (of[i].reshape(-1) for of in (self._params, self._mean, self._square))
            adam(param, slope.reshape(-1), mean, square, rate, 1 - decay if i in WEIGHTS else 1.0, shares)


class Batch:
    """The arrays of one batch, made once and written to again and again: making them would take longer than using them.

    ``shapes`` are those of the parameters.
    """

    def __init__(self, shapes: list[tuple[int, ...]]) -> None:
        n_members, n_features, n_hidden = shapes[0]
        sizes = (n_features, n_hidden, n_hidden, shapes[2][2])
        self._x, self._entering, self._leaving, self._logits = (
            # Where rows have double precision, what stood here before is cast too: let it be numbers.
            np.zeros((n_members, BATCH, size), dtype=np.float32)
            for size in sizes
        )
        self._slopes: Params = [np.empty(shape, dtype=np.float32) for shape in shapes]

    def slopes(self, params: Params, known: Known, rows: Ints, kept: NDArray[np.float32]) -> Params:
        """The slope of the loss at the examples ``rows`` (M, n) in each parameter; valid until the next call."""
        x, entering, leaving, logits = self._x, self._entering, self._leaving, self._logits
        np.take(known.x, rows, axis=0, out=x, mode="clip")
        activate(np.matmul(x, params[0], out=entering), params[1], kept, leaving)
        shift_logits(np.matmul(leaving, params[2], out=logits), params[3])
        slope = np.exp(logits, out=logits)
        likelihood_slope(slope, known.possible, rows)
        back = np.matmul(slope, params[2].transpose(0, 2, 1), out=entering)
        back_through(back, leaving, kept)
        np.matmul(x.transpose(0, 2, 1), back, out=self._slopes[0])
        back.sum(axis=1, keepdims=True, out=self._slopes[1])
        np.matmul(leaving.transpose(0, 2, 1), slope, out=self._slopes[2])
        slope.sum(axis=1, keepdims=True, out=self._slopes[3])
        return self._slopes


def _drawing(known: Known) -> Callable[[np.random.Generator], Ints]:
    """How to draw the rows (M, n) of a batch: evenly, but at least LEAST_YES with one label left, and one with more."""
    yes = known.possible.sum(axis=1) == 1
    n_yes = min(round(BATCH * max(LEAST_YES, yes.mean())), BATCH - int(not yes.all())) if yes.any() else 0
    kinds = [(np.flatnonzero(yes), n_yes), (np.flatnonzero(~yes), BATCH - n_yes)]
    return lambda rng: np.concatenate([rng.choice(rows, (N_NETWORKS, n)) for rows, n in kinds if n], axis=1)


def one_thread() -> AbstractContextManager[Any]:
    """Products of matrices are computed by one thread for now."""
    limited: AbstractContextManager[Any] = _threads().limit(limits=1, user_api="blas")
    return limited


@cache
def _threads() -> ThreadpoolController:
    """Found once: to look through the loaded libraries takes as long as several steps."""
    return ThreadpoolController()
