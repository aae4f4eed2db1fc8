"""The built-in model: an ensemble of small networks that learn from yes and no by the exact likelihood.

An answer leaves a set of possible labels: the one confirmed, or all but those denied. The loss of an example is
-log(probability of that set): the usual one after a yes, -log(1 - p) after a no. So every answer teaches, and since the
choice of a question depends on the example and earlier answers only, no importance weight is needed. Members differ in
where they start and in what they see; where they still differ in what they predict, there is something to ask.

Not in the paper, whose potential is about classes that are searched by an oracle: see ``estimator.py`` for that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.learners.training.model import Bools, Floats, Known

N_MEMBERS, N_HIDDEN, BATCH = 8, 256, 128
RATE, MOMENTUM, SQUARES = 2e-3, 0.9, 0.99
DROPPED = 0.2
#: Weight decay is PRIOR / n, at most MOST_DECAY: a prior that counts as much whatever the number n of answers.
PRIOR, MOST_DECAY = 1000.0, 1.0
#: Training steps for each new answer, and the least for a call of ``learn``.
STEPS_PER_ANSWER, LEAST_STEPS = 1.2, 10
#: Examples that are passed through the networks at once.
CHUNK = 2048

#: Which of the parameters are weights; the others are offsets, which do not decay.
WEIGHTS = (0, 2)

Params = list[NDArray[np.float32]]


class NetworkEnsemble:
    """Networks of one hidden layer over dense features of about unit variance."""

    gamma = 0.0

    def __init__(self, n_features: int, n_labels: int, rng: np.random.Generator) -> None:
        shapes = ((n_features, N_HIDDEN), (1, N_HIDDEN), (N_HIDDEN, n_labels), (1, n_labels))
        scales = (np.sqrt(2 / n_features), 0.0, 0.1 / np.sqrt(N_HIDDEN), 0.0)
        self._params: Params = [
            (scale * rng.standard_normal((N_MEMBERS, *shape))).astype(np.float32)
            for shape, scale in zip(shapes, scales, strict=True)
        ]
        self._mean: Params = [np.zeros_like(p) for p in self._params]
        self._square: Params = [np.zeros_like(p) for p in self._params]
        self._n_steps = self._n_learned = 0

    @property
    def weights(self) -> Floats:
        return np.full(N_MEMBERS, 1 / N_MEMBERS)

    def beliefs(self, x: NDArray[np.float32]) -> Floats:
        chunks = (x[first : first + CHUNK] for first in range(0, max(len(x), 1), CHUNK))
        return np.concatenate([_softmax(self._logits(chunk)[2]) for chunk in chunks], axis=1)

    def learn(self, known: Known, rng: np.random.Generator) -> None:
        n_steps = max(LEAST_STEPS, int(STEPS_PER_ANSWER * (known.n_answers - self._n_learned)))
        self._n_learned = known.n_answers
        decay = RATE * min(MOST_DECAY, PRIOR / max(known.n_answers, 1))
        # The products are small: several threads would wait for each other longer than they work.
        with threadpool_limits(1, user_api="blas"):
            for _ in range(n_steps):
                rows = rng.integers(0, len(known.x), (N_MEMBERS, BATCH))
                self._step(known.x[rows], known.possible[rows], decay, rng)

    def _logits(self, x: NDArray[np.float32], kept: Floats | None = None) -> tuple[Floats, Floats, Floats]:
        """What enters the hidden units, what leaves them, and the logits."""
        entering = np.matmul(x, self._params[0]) + self._params[1]
        leaving = np.maximum(entering, 0)
        if kept is not None:
            leaving = leaving * kept
        return entering, leaving, leaving @ self._params[2] + self._params[3]

    def _step(self, x: NDArray[np.float32], possible: Bools, decay: float, rng: np.random.Generator) -> None:
        """One step of Adam with decoupled weight decay; ``x`` (M, n, d) and ``possible`` (M, n, K)."""
        # One mask for the whole batch of a member: as good, and much cheaper, than one for each example.
        kept = (rng.random((N_MEMBERS, 1, N_HIDDEN)) >= DROPPED) * np.float32(1 / (1 - DROPPED))
        entering, leaving, logits = self._logits(x, kept)
        belief = _softmax(logits)
        after = belief * possible
        after /= after.sum(axis=2, keepdims=True) + np.float32(1e-7)
        slope = (belief - after) / np.float32(BATCH)
        back = np.matmul(slope, self._params[2].transpose(0, 2, 1)) * kept * (entering > 0)
        slopes = (
            np.matmul(x.transpose(0, 2, 1), back),
            back.sum(axis=1, keepdims=True),
            np.matmul(leaving.transpose(0, 2, 1), slope),
            slope.sum(axis=1, keepdims=True),
        )
        self._n_steps += 1
        rate = np.float32(RATE * np.sqrt(1 - SQUARES**self._n_steps) / (1 - MOMENTUM**self._n_steps))
        for i, gradient in enumerate(slopes):
            param, mean, square = self._params[i], self._mean[i], self._square[i]
            mean += np.float32(1 - MOMENTUM) * (gradient - mean)
            square += np.float32(1 - SQUARES) * (gradient * gradient - square)
            if i in WEIGHTS:
                param *= np.float32(1 - decay)
            param -= rate * mean / (np.sqrt(square) + np.float32(1e-8))


def _softmax(logits: Floats) -> Floats:
    belief: Floats = np.exp(logits - logits.max(axis=-1, keepdims=True))
    belief /= belief.sum(axis=-1, keepdims=True)
    return belief
