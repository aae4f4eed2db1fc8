"""(f) The finite cover of an infinite class: its size, and how far it is from the class, against its points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from onebit.hypotheses.base import Hypothesis, HypothesisClass
from onebit.hypotheses.cover import build_cover
from onebit.hypotheses.intervals import IntervalClass, Intervals
from onebit.hypotheses.natarajan import growth_bound, natarajan_dimension
from onebit.hypotheses.stumps import Stump, StumpClass
from onebit.research.experiments.pictures import THEORY, log_axes
from onebit.research.experiments.piece import Experiment, Piece, Row, column, seed_of, slope, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

K, N_CUTS, N_FEATURES = 3, 2, 2
FAILURE = 0.05
N_POPULATION, N_MEMBERS = 20_000, 300
#: Points on which the dimension is found, by an exact search.
DIMENSION_POINTS = 6
CLASSES = ("stumps", "intervals")


def pieces(full: bool) -> list[Piece]:
    small = (4, 8, 16, 32) if full else (4, 8, 16)
    sizes = [(s, True) for s in small] + [(s, False) for s in (64, 256, 1024, 4096)]
    return [{"class": name, "s": s, "listed": listed, "seed": 0} for name in CLASSES for s, listed in sizes]


def class_of(name: str) -> HypothesisClass:
    return StumpClass(N_FEATURES, K) if name == "stumps" else IntervalClass(N_CUTS, K)


def points(name: str, n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.random((n, N_FEATURES)) if name == "stumps" else rng.random(n)


def member(name: str, rng: np.random.Generator) -> Hypothesis:
    """A random hypothesis of the class."""
    labels = rng.integers(0, K, N_CUTS + 1).tolist()
    if name == "stumps":
        return Stump(int(rng.integers(N_FEATURES)), float(rng.random()), labels[0], labels[1])
    return Intervals(tuple(np.sort(rng.random(N_CUTS)).tolist()), tuple(labels))


def dimension(name: str) -> int:
    """The Natarajan dimension on a few points, which for these classes is that of the class."""
    cover = build_cover(class_of(name), points(name, DIMENSION_POINTS, np.random.default_rng(1)))
    return natarajan_dimension(cover.patterns).dimension


def measure(piece: Piece) -> Row:
    """How many patterns the points have, and how far members are from who stands for their pattern.

    The distance needs no list: who stands for h is the ERM for h's own labels on the points, as in the cover's search.
    """
    name, rng = piece["class"], np.random.default_rng(seed_of(piece))
    hypotheses, sample = class_of(name), points(piece["class"], piece["s"], rng)
    population = points(name, N_POPULATION, rng)
    distance = []
    for _ in range(N_MEMBERS):
        h = member(name, rng)
        stands_for = hypotheses.erm(sample, hypotheses.predict(h, sample), np.ones(piece["s"]))
        distance.append(float((hypotheses.predict(h, population) != hypotheses.predict(stands_for, population)).mean()))
    n_patterns = len(build_cover(hypotheses, sample).representatives) if piece["listed"] else None
    d = dimension(name)
    return {
        "d": d,
        "patterns": n_patterns,
        "growth bound": float(growth_bound(piece["s"], K, d)),
        "error": max(distance),
        "error bound": min(1.0, radius_bound(piece["s"], d)),
    }


def radius_bound(s: int, d: int) -> float:
    """The radius of the cover except with probability FAILURE: Eq. (6) solved for eps / 2."""
    log_term = math.log(2 / FAILURE) + 2 * d * math.log(2 * math.e * s / d) + 4 * d * math.log(K)
    return 2 * log_term / s


def summary(rows: list[Row]) -> list[Row]:
    names = ("class", "s", "d", "patterns", "growth bound", "error", "error bound")
    return [{name: row[name] for name in names} for row in rows]


def draw(rows: list[Row], figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    for name, colour, mark in (("stumps", "#0072B2", "o"), ("intervals", "#D55E00", "s")):
        mine = where(rows, **{"class": name})
        listed = [row for row in mine if row["patterns"] is not None]
        how = {"color": colour, "marker": mark, "markersize": 4.5}
        left.plot(column(listed, "s"), column(listed, "patterns"), **how, label=f"{name}, d = {mine[0]['d']}")
        left.plot(column(mine, "s"), column(mine, "growth bound"), **(THEORY | {"color": colour}))
        right.plot(column(mine, "s"), column(mine, "error"), **how, label=name)
        right.plot(column(mine, "s"), column(mine, "error bound"), **(THEORY | {"color": colour}))
    log_axes(left, "points s", "patterns (dashed: Proposition 1's S)", "size of the cover")
    log_axes(right, "points s", "largest distance (dashed: Eq. (6))", "distance of the class from its cover")
    left.legend()
    right.legend()


def findings(rows: list[Row]) -> list[str]:
    sentences = []
    for name in CLASSES:
        mine = where(rows, **{"class": name})
        listed = [row for row in mine if row["patterns"] is not None][-1]
        late = [row for row in mine if row["s"] >= 16]
        loose = min(row["error bound"] / row["error"] for row in mine)
        sentences.append(
            f"{name.capitalize()} (d = {mine[0]['d']}): {listed['patterns']:,} patterns on {listed['s']} points, of at "
            f"most {listed['growth bound']:,.0f}; the largest distance of {N_MEMBERS} random members falls as s to the "
            f"power {slope(column(late, 's'), column(late, 'error')):.2f} (theory: -1 up to logarithms), and the "
            f"bound is at least {loose:.1f} times as large."
        )
    return [*sentences, "No bound is broken; below some hundred points that on the distance says nothing (it is 1)."]


def made(rows: list[Row]) -> str:
    return (
        f"No learner and no answers; K = {K}. The points are drawn once for each s, so there are no bars. Every "
        f"pattern is listed up to s = {max(row['s'] for row in rows if row['listed'])}. Distance: the largest of "
        f"{N_MEMBERS} random members of the class from who stands for them, each the share of "
        f"{N_POPULATION:,} other points on which the two differ. Eq. (6) holds except with probability {FAILURE:g}."
    )


EXPERIMENT = Experiment(
    name="cover",
    title="(f) Natarajan classes: the finite cover",
    headline="The class is no further from its cover than order log(s) / s, well within the bounds",
    claim=(
        "One hypothesis for each label pattern on s unlabelled points is a cover: at most S of them, and none of the "
        "class is further than order d log(s) / s from one of them."
    ),
    pieces=pieces,
    measure=measure,
    summary=summary,
    draw=draw,
    findings=findings,
    made=made,
)
