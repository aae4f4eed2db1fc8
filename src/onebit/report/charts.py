"""Charts, as SVG that takes its colours from the page: those of a selection, and the one kind that they are of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from onebit.report import words
from onebit.report.record import Report
from onebit.report.writing import writer

#: Where the axes end, in a chart of 400 by 250: about a phone's width, so that its text is read there at its own size.
LEFT, RIGHT, TOP, FOOT = 46, 388, 14, 210


def eps_chart(report: Report) -> Markup:
    """Certified eps against answers; empty before there is a point to draw."""
    return _course(
        report,
        [1.0, *(point.certified_eps for point in report.course)],
        title="how far a candidate may be behind against answers" if report.gate else "certified eps against answers",
        logarithmic=True,
        mark=(report.setting.eps, f"{'margin' if report.gate else 'aim'}: {words.fraction(report.setting.eps)}"),
    )


def survivors_chart(report: Report) -> Markup:
    """How many models may be the best, or candidates are not decided, against answers; empty before the first point."""
    if report.gate:
        heights = [len(report.gate), *(point.survivors for point in report.course)]
        return _course(report, heights, title="candidates not yet decided against answers")
    heights = [report.n_models, *(point.survivors for point in report.course)]
    return _course(report, heights, title="models that may be the best against answers")


def _course(report: Report, y: Sequence[float], **given: Any) -> Markup:
    if not report.course or report.course[-1].answers == 0:
        return Markup()
    return step_chart([0, *(point.answers for point in report.course)], y, x_name=words.asked_for(report), **given)


def step_chart(
    x: Sequence[float],
    y: Sequence[float],
    *,
    title: str,
    x_name: str,
    logarithmic: bool = False,
    top: float = 0,
    mark: tuple[float, str] | None = None,
    interval: tuple[float, float] | None = None,
) -> Markup:
    """A line that keeps its height until the next value; the axis goes up to ``top`` at least.

    ``mark`` is a height to draw a line at, and its name; ``interval`` is drawn at the end, from low to high.
    """
    heights = [*y, top, *((mark[0],) if mark else ()), *(interval or ())]
    x_ticks = ticks(max(x))
    y_ticks = log_ticks(min(v for v in heights if v > 0), max(heights)) if logarithmic else ticks(max(heights))
    least, most = y_ticks[0], y_ticks[-1]

    def across(v: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * v / x_ticks[-1], 1)

    def up(v: float) -> float:
        # A logarithmic axis has no place for 0, so it goes to the foot of the chart.
        share = math.log(max(v, least) / least) / math.log(most / least) if logarithmic else v / most
        return round(FOOT - (FOOT - TOP) * share, 1)

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


def log_ticks(least: float, most: float) -> list[float]:
    """1, 3, 10, 30, ... times powers of ten, from the last at or below ``least`` to the first at or above ``most``.

    >>> log_ticks(0.01, 1.0)
    [0.01, 0.03, 0.1, 0.3, 1.0]
    """
    rungs = [float(f"{k}e{power}") for power in range(-9, 10) for k in (1, 3)]
    first = max(i for i, rung in enumerate(rungs) if rung <= least * (1 + 1e-9))
    last = min(i for i, rung in enumerate(rungs) if rung >= most * (1 - 1e-9))
    return rungs[first : max(last, first + 1) + 1]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"
