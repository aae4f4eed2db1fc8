"""The picture of ranks: a bar for each model, from the best place that it may have to the worst."""

from __future__ import annotations

from markupsafe import Markup

from onebit.report.record import Report
from onebit.report.writing import writer

#: In a chart of 400 across: where names end and the places begin, where these end; the height of a line, and what
#: stands above all lines.
NAMES_END, LEFT, RIGHT, LINE, HEAD = 144, 152, 396, 20, 22
#: Letters of a name, and models, that are drawn.
MOST_LETTERS, MOST_MODELS = 22, 60


def rank_chart(report: Report) -> Markup:
    """Empty before anything was answered."""
    shown, n = report.placings[:MOST_MODELS], len(report.placings)
    if not shown or report.status == "suspended":
        return Markup()

    def across(place: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * place / n, 1)

    rows = []
    for number, line in enumerate(shown):
        name = " = ".join(line.names)
        begin = across(line.best_rank - 1)
        rows.append(
            {
                "name": name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 1]}…",
                "y": HEAD + LINE * number,
                "begin": begin,
                "width": round(across(line.worst_rank) - begin, 1),
                "banded": line.tier % 2 == 1,
            }
        )
    middle = (n + 1) // 2
    ticks = sorted({1, middle, n} if n > 4 else set(range(1, n + 1)))
    k = report.setting.top
    svg = (
        writer()
        .get_template("ranks.svg")
        .render(
            rows=rows,
            n_more=n - len(shown),
            height=HEAD + LINE * len(shown) + (LINE if n > len(shown) else 4),
            line=LINE,
            head=HEAD,
            names_end=NAMES_END,
            ticks=[(round((across(rank - 1) + across(rank)) / 2, 1), rank) for rank in ticks],
            cut=None if k is None else across(k),
        )
    )
    return Markup(svg)
