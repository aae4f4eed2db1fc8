"""Reproduce one figure in Python: the gap of three solvers against oracle calls, on a small case of your own.

``onebit reproduce`` does this for all of them, with the stated sizes; see docs/results.md.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from onebit.research.experiments import frank_wolfe
from onebit.research.experiments.pictures import picture, save


def main() -> None:
    pieces = [{"solver": name, "K": 4, "N": 100, "steps": 200, "seed": 0} for name in frank_wolfe.SOLVERS]
    rows = [{**piece, **frank_wolfe.measure(piece)} for piece in pieces]
    for row in frank_wolfe.summary(rows):
        print(f"{row['solver']}: gap {row['last gap']:.1e} after {row['calls counted']} oracle calls")
    with tempfile.TemporaryDirectory() as folder:
        save(picture(frank_wolfe.EXPERIMENT, rows), Path(folder) / "frank-wolfe")
        print(sorted(path.name for path in Path(folder).iterdir()))


if __name__ == "__main__":
    main()
