"""What an experiment is: pieces that are measured apart and kept, a figure, a table, and findings in words.

A piece is a JSON object of settings. Its figures depend on nothing else: every random stream is seeded by the settings.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Settings of one piece, and settings with the figures measured for it: plain values that JSON can hold.
Piece = dict[str, Any]
Row = dict[str, Any]


@dataclass(frozen=True)
class Experiment:
    """One claim of the paper, and how it is measured.

    ``pieces(full)`` lists the settings, ``measure`` makes the figures of one, ``summary`` the rows of the printed table
    from all rows, ``draw`` the picture, ``findings`` sentences about what was found, ``made`` how it was made: solvers,
    simulation, sizes, numbers of runs, error bars; it stands under the picture. ``headline`` is what the picture shows,
    in a sentence that a test asserts on a small version. ``size`` is that of the picture, in inches.
    """

    name: str
    title: str
    headline: str
    claim: str
    pieces: Callable[[bool], list[Piece]]
    measure: Callable[[Piece], Row]
    summary: Callable[[list[Row]], list[Row]]
    draw: Callable[[list[Row], Figure], None]
    findings: Callable[[list[Row]], list[str]]
    made: Callable[[list[Row]], str]
    size: tuple[float, float] = (10.0, 4.6)


def key_of(piece: Piece) -> str:
    """A file name that is the same for the same settings and for no others."""
    text = json.dumps(piece, sort_keys=True)
    words = "-".join(str(value) for value in piece.values() if isinstance(value, str | int | float))
    readable = "".join(c if c.isalnum() or c in "-." else "_" for c in words)[:60]
    return f"{readable}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def seed_of(piece: Piece) -> int:
    """A seed that belongs to these settings."""
    digest = hashlib.sha256(json.dumps(piece, sort_keys=True).encode()).digest()
    return int.from_bytes(digest[:4], "big")


def slope(x: ArrayLike, y: ArrayLike) -> float:
    """The exponent b of the best fit y = a x^b: least squares in the logarithms."""
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])


def where(rows: Sequence[Row], **settings: Any) -> list[Row]:
    """The rows with these values."""
    return [row for row in rows if all(row.get(key) == value for key, value in settings.items())]


def column(rows: Sequence[Row], name: str) -> NDArray[np.float64]:
    """One value of each row; what is missing is NaN."""
    return np.array([math.nan if row.get(name) is None else row[name] for row in rows], dtype=np.float64)


def markdown(rows: Sequence[Row]) -> str:
    """The rows as a table in Markdown; columns in the order in which they first occur."""
    if not rows:
        return "(nothing was measured)\n"
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(shown(row.get(name)) for name in names) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def shown(value: Any) -> str:
    """A value as it stands in a table."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
