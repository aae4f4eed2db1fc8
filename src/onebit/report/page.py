"""The report as one HTML file: no script, no other file, light or dark as the reader's device is."""

from __future__ import annotations

import shlex

from markupsafe import Markup

from onebit.report.charts import evidence_chart
from onebit.report.rank_chart import rank_chart
from onebit.report.record import Report
from onebit.report.writing import writer


def chart_of(report: Report) -> Markup:
    """The picture that says most: ranks, where models are ranked; otherwise what ends the run."""
    return rank_chart(report) if report.placings else evidence_chart(report)


def as_notebook(report: Report) -> str:
    """The view of a notebook: part of a page."""
    template = writer().get_template("notebook.html")
    return template.render(report=report, chart=chart_of(report))


def as_html(report: Report, study: str | None = None) -> str:
    """The whole page; of a study by that name, or of a run in a folder, where the report lies."""
    template = writer().get_template("report.html")
    return template.render(
        report=report,
        study=study,
        chart=chart_of(report),
        command="onebit verify DIR" if study is None else f"onebit study verify {shlex.quote(study)}",
    )
