"""Charts, as SVG that takes its colours from the page: that of a selection, and the one kind that all are of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

from markupsafe import Markup

from onebit.report import words
from onebit.report.record import Report
from onebit.report.writing import writer

#: Where the axes end, in a chart of 400 by 250: about a phone's width, so that its text is read there at its own size.
LEFT, RIGHT, TOP, FOOT = 46, 388, 14, 210


def behind_chart(report: Report) -> Markup:
    """How far a candidate of a gate may be behind, against answers; empty before there is a point to draw."""
    known = [(point.answers, 100 * point.certified_eps) for point in report.course if point.certified_eps < 1]
    if not known or known[-1][0] == 0:
        return Markup()
    return step_chart(
        [answers for answers, _ in known],
        # What was once shown stays shown.
        list(accumulate((behind for _, behind in known), min)),
        title="how far a candidate may be behind, in percentage points, against answers",
        x_name=words.asked_for(report),
        mark=(100 * report.setting.eps, f"margin: {100 * report.setting.eps:g}"),
    )


def evidence_chart(report: Report) -> Markup:
    """What ends the run: the evidence about the rival that is the furthest from being ruled out, against answers.

    Of a gate, how far a candidate may be behind. Empty before there is a point to draw.
    """
    if report.gate:
        return behind_chart(report)
    known = [(point.answers, point.evidence) for point in report.course if point.evidence is not None]
    if not known or known[-1][0] == 0:
        return Markup()
    return step_chart(
        [0, *(answers for answers, _ in known)],
        [0, *(100 * evidence for _, evidence in known)],
        title="evidence about the closest rival, in percent of what ends the run, against answers",
        x_name=words.asked_for(report),
        top=100,
        mark=(100, "here the run ends"),
    )


def step_chart(
    x: Sequence[float],
    y: Sequence[float],
    *,
    title: str,
    x_name: str,
    top: float = 0,
    mark: tuple[float, str] | None = None,
    interval: tuple[float, float] | None = None,
) -> Markup:
    """A line that keeps its height until the next value; the axis goes up to ``top`` at least.

    ``mark`` is a height to draw a line at, and its name; ``interval`` is drawn at the end, from low to high.
    """
    heights = [*y, top, *((mark[0],) if mark else ()), *(interval or ())]
    x_ticks = ticks(max(x))
    y_ticks = ticks(max(heights))

    def across(v: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * v / x_ticks[-1], 1)

    def up(v: float) -> float:
        return round(FOOT - (FOOT - TOP) * v / y_ticks[-1], 1)

    places = [(across(a), up(b)) for a, b in zip(x, y, strict=True)]
    template = writer().get_template("chart.svg")
    svg = template.render(
        {"left": LEFT, "right": RIGHT, "foot": FOOT},
        title=title,
        x_name=x_name,
        rows=[(up(v), _number(v)) for v in y_ticks],
        columns=[(across(v), _number(v)) for v in x_ticks],
        mark=mark and (up(mark[0]), mark[1]),
        line=f"M{places[0][0]} {places[0][1]}" + "".join(f"H{a}V{b}" for a, b in places[1:]),
        interval=interval and tuple(map(up, interval)),
        begin=places[0][0],
        end=places[-1],
    )
    return Markup(svg)


def ticks(most: float, about: int = 4) -> list[float]:
    """Round numbers from 0 to the first at or above ``most``.

    >>> ticks(1039)
    [0, 500, 1000, 1500]
    """
    step = max(most / about, 1)
    size = 10.0 ** math.floor(math.log10(step))
    # Whole numbers only: what is counted here are answers and models.
    step = math.ceil(next(size * k for k in (1, 2, 2.5, 5, 10) if size * k >= step))
    return [k * step for k in range(math.ceil(most / step) + 1)]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"
