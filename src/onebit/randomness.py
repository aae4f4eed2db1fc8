"""Named random streams from one seed.

A run has one seed. Each use of randomness has a name, and a stream of its own that depends on the seed and that name
alone, so adding a use changes no other. Draws that belong to a round are keyed by the round's number: the same round
sees the same numbers however many questions are asked at a time.
"""

from __future__ import annotations

import hashlib
import secrets

import numpy as np
from numpy.typing import NDArray

from onebit.errors import check_count

#: Uniform numbers that belong to one round: one Philox block holds four.
PER_ROUND = 4
#: Bits of a seed that is drawn: as many as a JSON number keeps in every language.
SEED_BITS = 53


def fresh_seed() -> int:
    """A seed that nobody could know before: from the operating system's own randomness.

    What is promised rests on this. Whoever knows the seed before the table is fixed can order its rows so that the
    wrong ones are drawn.
    """
    return secrets.randbits(SEED_BITS)


def given_or_fresh(seed: int | None) -> tuple[int, bool]:
    """The seed to use, and whether somebody gave it; without one it is fresh.

    >>> given_or_fresh(3)
    (3, True)
    """
    return (fresh_seed(), False) if seed is None else (check_count("seed", seed, least=0), True)


def _seed_sequence(seed: int, name: str) -> np.random.SeedSequence:
    check_count("seed", seed, least=0)
    digest = hashlib.sha256(name.encode()).digest()
    return np.random.SeedSequence([seed, *np.frombuffer(digest[:16], dtype=np.uint32).tolist()])


def generator(seed: int, name: str) -> np.random.Generator:
    """A numpy generator for the stream ``name`` of ``seed``.

    >>> generator(0, "spider").random() == generator(0, "spider").random()
    True
    """
    return np.random.Generator(np.random.Philox(_seed_sequence(seed, name)))


class RoundStream:
    """Uniform numbers on [0, 1), four for each round, reached by round number.

    >>> stream = RoundStream(seed=0, name="questions")
    >>> bool((stream.uniforms(0, 5)[3] == stream.uniforms(3, 1)[0]).all())
    True
    """

    def __init__(self, seed: int, name: str) -> None:
        self._key = _seed_sequence(seed, name).generate_state(2, np.uint64)

    def uniforms(self, first_round: int, n_rounds: int) -> NDArray[np.float64]:
        """The numbers of rounds ``first_round``, ``first_round + 1``, ...; shape (n_rounds, 4)."""
        # A Philox counter step yields one block of four 64-bit words, and a double takes one word.
        bits = np.random.Philox(counter=first_round, key=self._key)
        return np.random.Generator(bits).random((n_rounds, PER_ROUND))
