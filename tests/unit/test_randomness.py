"""Named streams: reproducible, distinct, and keyed by round."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from onebit.errors import InvalidInputError
from onebit.randomness import RoundStream, generator


def test_rounds_see_the_same_numbers_in_any_batches() -> None:
    stream = RoundStream(3, "rounds")
    whole = stream.uniforms(0, 1000)
    assert whole.shape == (1000, 4)
    pieces = [stream.uniforms(first, n) for first, n in ((0, 1), (1, 499), (500, 0), (500, 500))]
    assert (np.concatenate(pieces) == whole).all()
    assert (stream.uniforms(2**40, 1) != whole[0]).any()


def test_names_and_seeds_give_different_streams() -> None:
    draws = {generator(seed, name).integers(2**62) for seed in range(20) for name in ("a", "b")}
    assert len(draws) == 40


def test_numbers_look_uniform_and_independent() -> None:
    u = RoundStream(0, "rounds").uniforms(0, 100_000)
    assert abs(u.mean(axis=0) - 0.5).max() < 6 / np.sqrt(12 * 100_000)
    assert abs(np.corrcoef(u.T) - np.eye(4)).max() < 6 / np.sqrt(100_000)


def test_negative_seeds_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="seed is -1"):
        generator(-1, "a")


def test_a_fresh_seed_is_the_systems() -> None:
    """In a process of its own, since the suite draws its seeds from the names of the tests."""
    code = "from onebit.randomness import fresh_seed; print(*(fresh_seed() for _ in range(50)))"
    seeds = [
        int(seed)
        for _ in range(2)
        for seed in subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.split()
    ]
    assert len(set(seeds)) == 100
    assert max(seeds) > 2**52
    assert max(seeds) < 2**53
