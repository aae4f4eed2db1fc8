"""Small texts for the tests of the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def write_texts(folder: Path, n: int = 120) -> Path:
    """A CSV of notes about cats and dogs, told apart by their words."""
    kind = np.random.default_rng(0).integers(0, 2, n)
    words = (("purrs and sleeps", "cat"), ("barks and runs", "dog"))
    path = folder / "notes.csv"
    rows = [f'k{i},"it {words[k][0]}, day {i}",{words[k][1]}' for i, k in enumerate(kind)]
    path.write_text("\n".join(["key,note,kind", *rows]) + "\n")
    return path
