"""Small tables for the tests of the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np

LABELS = ("cat", "dog", "emu", "fox")


def write_table(
    folder: Path, n_items: int = 300, name: str = "votes.csv", seed: int = 0
) -> tuple[Path, dict[str, str]]:
    """A CSV of four models, the last the best; and the right label of each item by its id."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, n_items)
    rows = ["key,words,right,poor,fair,good,best"]
    for i, y in enumerate(truth.tolist()):
        said = [y if rng.random() < share else int(rng.integers(0, 4)) for share in (0.2, 0.5, 0.7, 0.97)]
        rows.append(",".join([f"k{i}", f"item number {i}", LABELS[y], *(LABELS[a] for a in said)]))
    path = folder / name
    path.write_text("\n".join(rows) + "\n")
    return path, {f"k{i}": LABELS[y] for i, y in enumerate(truth.tolist())}
