"""The report of a selection: one HTML file that needs nothing else, and the same as JSON."""

from onebit.report.page import as_html
from onebit.report.record import Entry, Point, Price, Report, Span, as_json

__all__ = ["Entry", "Point", "Price", "Report", "Span", "as_html", "as_json"]
