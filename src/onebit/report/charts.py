"""Charts, as SVG that takes its colours from the page: those of a selection, and the one kind that they are of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from onebit.report import words
from onebit.report.record import Report

#: The size of a chart in its own units: about a phone's width, so that its text is read there at its own size.
WIDTH, HEIGHT = 400, 250
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 14, 40

Scale = Callable[[float], float]


def eps_chart(report: Report) -> str:
    """Certified eps against answers; empty before there is a point to draw."""
    if not report.course or report.course[-1].answers == 0:
        return ""
    return step_chart(
        [0, *(point.answers for point in report.course)],
        [1.0, *(point.certified_eps for point in report.course)],
        title="certified eps against answers",
        x_name=words.asked_for(report),
        logarithmic=True,
        mark=(report.setting.eps, f"asked for: {words.fraction(report.setting.eps)}"),
    )


def survivors_chart(report: Report) -> str:
    """How many models may be the best against answers; empty before there is a point to draw."""
    if not report.course or report.course[-1].answers == 0:
        return ""
    return step_chart(
        [0, *(point.answers for point in report.course)],
        [report.n_models, *(point.survivors for point in report.course)],
        title="models that may be the best against answers",
        x_name=words.asked_for(report),
        logarithmic=False,
    )


def step_chart(
    x: Sequence[float],
    y: Sequence[float],
    *,
    title: str,
    x_name: str,
    logarithmic: bool,
    top: float = 0,
    mark: tuple[float, str] | None = None,
    interval: tuple[float, float] | None = None,
) -> str:
    """A line that keeps its height until the next value; the axis goes up to ``top`` at least.

    ``mark`` is a height to draw a line at, and its name; ``interval`` is drawn at the end, from low to high.
    """
    heights = [*y, top, *((mark[0],) if mark else ()), *(interval or ())]
    x_ticks = ticks(0, max(x))
    y_ticks = log_ticks(min(v for v in heights if v > 0), max(heights)) if logarithmic else ticks(0, max(heights))
    across, up = _across(x_ticks[-1]), _up(y_ticks[0], y_ticks[-1], logarithmic)
    parts = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">',
        *(_grid_line(up(v), _number(v)) for v in y_ticks),
        *(_x_tick(across(v), _number(v), v == x_ticks[-1]) for v in x_ticks),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "middle", escape(x_name)),
    ]
    if mark:
        level = up(mark[0])
        parts.append(f'<line class="mark" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{level:.1f}" y2="{level:.1f}"/>')
        parts.append(f'<text class="mark-name" x="{LEFT + 6}" y="{level - 6:.1f}">{escape(mark[1])}</text>')
    # A logarithmic axis has no place for 0, so the line goes to the foot of the chart.
    places = [(across(a), up(max(b, y_ticks[0]))) for a, b in zip(x, y, strict=True)]
    line = f"M{places[0][0]:.1f} {places[0][1]:.1f}" + "".join(f"H{a:.1f}V{b:.1f}" for a, b in places[1:])
    foot = HEIGHT - BOTTOM
    parts.append(f'<path class="area" d="{line}V{foot}H{places[0][0]:.1f}Z"/>')
    parts.append(f'<path class="line" d="{line}"/>')
    if interval:
        parts.append(_interval(places[-1][0], *map(up, interval)))
    parts.append(f'<circle class="end" cx="{places[-1][0]:.1f}" cy="{places[-1][1]:.1f}" r="4"/></svg>')
    return "".join(parts)


def _interval(place: float, low: float, high: float) -> str:
    """A bar with two ends."""
    left, right = place - 6, min(place + 6, WIDTH - 1)
    ends = "".join(f"M{left:.1f} {height:.1f}H{right:.1f}" for height in (low, high))
    return f'<path class="interval" d="M{place:.1f} {low:.1f}V{high:.1f}{ends}"/>'


def _across(most: float) -> Scale:
    return lambda v: LEFT + (WIDTH - LEFT - RIGHT) * v / most


def _up(least: float, most: float, logarithmic: bool) -> Scale:
    room = HEIGHT - TOP - BOTTOM
    if logarithmic:
        return lambda v: TOP + room * (1 - math.log(v / least) / math.log(most / least))
    return lambda v: TOP + room * (1 - (v - least) / (most - least))


def _grid_line(height: float, name: str) -> str:
    return f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{height:.1f}" y2="{height:.1f}"/>' + _text(
        LEFT - 6, height + 4, "end", name
    )


def _x_tick(place: float, name: str, is_last: bool) -> str:
    anchor = "end" if is_last else "middle"
    return _text(place + (RIGHT if is_last else 0), HEIGHT - BOTTOM + 17, anchor, name)


def _text(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def ticks(least: float, most: float, about: int = 4) -> list[float]:
    """Round numbers from ``least`` to the first at or above ``most``.

    >>> ticks(0, 1039)
    [0, 500, 1000, 1500]
    """
    step = max((most - least) / about, 1)
    size = 10.0 ** math.floor(math.log10(step))
    # Whole numbers only: what is counted here are answers and models.
    step = math.ceil(next(size * k for k in (1, 2, 2.5, 5, 10) if size * k >= step))
    return [least + k * step for k in range(math.ceil((most - least) / step) + 1)]


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
