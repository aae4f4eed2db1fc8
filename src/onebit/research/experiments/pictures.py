"""How the figures look: one palette, a name and a mark for each learner, and files that are the same every time."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from onebit.research.experiments.piece import Experiment, Row

#: Colour and mark of each learner (Okabe and Ito's palette, which the colour-blind can tell apart).
LOOK = {
    "full labels": ("#000000", "s"),
    "uniform": ("#D55E00", "o"),
    "paper": ("#0072B2", "D"),
    "paper, SPIDER": ("#5A3FA0", "x"),
    "sequel": ("#8C6D31", "*"),
    "certified": ("#56B4E9", "P"),
    "EXP4": ("#E69F00", "v"),
    "Policy Elimination": ("#CC79A7", "^"),
    "ILOVETOCONBANDITS": ("#009E73", "X"),
    "sparse regret": ("#8C6D31", "<"),
    "SPIDER": ("#0072B2", "D"),
    "plain": ("#D55E00", "o"),
    "fully corrective": ("#009E73", "X"),
    "fully corrective, ten a call": ("#56B4E9", "P"),
}
#: Letters that can be read when the picture is shown at half its size.
STYLE: Any = {
    "font.size": 13,
    "axes.titlesize": 13,
    "axes.labelsize": 13,
    "legend.fontsize": 10.5,
    "figure.titlesize": 14,
    "legend.framealpha": 0.7,
}
#: Dashes of theory.
THEORY: dict[str, Any] = {"color": "#777777", "linestyle": "--", "linewidth": 1.2}


#: How standard errors are drawn: thin, and with ends, so that they are seen beside the marks.
BARS: dict[str, Any] = {"elinewidth": 0.9, "capsize": 2.5}


def look(learner: str) -> dict[str, object]:
    """The arguments of ``plot`` for a learner's line."""
    colour, mark = LOOK[learner]
    return {"color": colour, "marker": mark, "markersize": 4.5, "linewidth": 1.5, "label": learner}


def log_axes(axes: Axes, x: str, y: str, title: str = "") -> None:
    """Both axes logarithmic, with names and a light grid."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    name_axes(axes, x, y, title)


def name_axes(axes: Axes, x: str, y: str, title: str = "") -> None:
    """Names, a title and a light grid."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title)
    axes.grid(alpha=0.25, which="major")


def plain_ticks(axes: Axes, values: Iterable[float]) -> None:
    """Ticks of the x axis at these values and nowhere else, written out."""
    from matplotlib.ticker import NullLocator

    shown = sorted(set(values))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(shown, labels=[f"{value:g}" if value < 1e6 else f"{value:,.0f}" for value in shown])


def picture(experiment: Experiment, rows: list[Row]) -> Figure:
    """The picture of an experiment under its headline."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=experiment.size, layout="constrained")
        experiment.draw(rows, figure)
        figure.suptitle(experiment.headline)
        # About 14 letters of this size to an inch.
        figure.supxlabel(textwrap.fill(experiment.made(rows), int(14 * experiment.size[0])), fontsize=9)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write ``path``.svg and ``path``.png; the same figure gives the same bytes."""
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "onebit", "svg.fonttype": "none"}):
        figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
        figure.savefig(path.with_suffix(".png"), dpi=120, metadata={"Software": None})
