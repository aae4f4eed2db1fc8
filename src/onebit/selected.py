"""What ``select``, ``gate``, ``compare`` and ``plan`` give back: a few words, a notebook view, a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from onebit.errors import InvalidInputError
from onebit.report import Report, gate_words, words
from onebit.report.page import as_notebook
from onebit.report.record import Span
from onebit.study.kinds.selection.planning import Planned
from onebit.study.needed import Needed


@dataclass(frozen=True, eq=False, repr=False)
class Selected:
    """The outcome of a selection: ``report`` has all of it, ``notes`` what was left out of the table.

    With probability at least 1 - delta no model is ahead of ``chosen`` by more than ``certified_eps``; ``status`` says
    whether that is at most the eps asked for ("certified").
    """

    report: Report
    notes: tuple[str, ...] = field(default=())

    @property
    def chosen(self) -> str | None:
        """The model that is chosen; the first of those that say the same on every item."""
        return self.report.chosen[0] if self.report.chosen else None

    @property
    def best(self) -> tuple[str, ...]:
        """All models that are chosen, the best first: several with ``top``, and where some say the same everywhere."""
        return self.report.chosen

    @property
    def tiers(self) -> tuple[tuple[str, ...], ...]:
        """The models by tier, the best first; with ``top``, those that are chosen and the others.

        Empty where one best model was looked for.
        """
        lines = self.report.placings
        numbers = sorted({line.tier for line in lines})
        return tuple(tuple(name for line in lines if line.tier == tier for name in line.names) for tier in numbers)

    @property
    def certified_eps(self) -> float | None:
        return self.report.certified_eps

    @property
    def answers(self) -> int:
        return self.report.answers

    @property
    def status(self) -> str:
        return self.report.status

    def to_arrow(self) -> Any:
        """The leaderboard: one row for each model.

        ``accepted`` is how often raters accept it, on the items that ``report`` counts; ``difference`` is that to the
        chosen one on all items. Both have an interval, and all of these hold together with probability 1 - delta.
        With ``top`` or ``tiers`` it has in their place what is shown of each model.
        """
        if self.report.placings:
            places = [{**asdict(line), "model": name} for line in self.report.placings for name in line.names]
            ranked = ("tier", "best_rank", "worst_rank", "better_than", "tied_with", "n_open", "accuracy")
            return _arrow([{each: row[each] for each in ("model", *ranked)} for row in places], ("model", *ranked))
        rows = [
            {
                "model": name,
                "chosen": name in self.report.chosen,
                "may_be_best": entry.ahead_at_most is not None,
                "ahead_at_most": entry.ahead_at_most,
                "accuracy": entry.accuracy,
                **_ends("accepted", entry.accepted),
                **_ends("difference", entry.difference),
            }
            for entry in self.report.leaderboard
            for name in entry.names
        ]
        ends = (f"{what}{end}" for what in ("accepted", "difference") for end in ("", "_low", "_high"))
        return _arrow(rows, ("model", "chosen", "may_be_best", "ahead_at_most", "accuracy", *ends))

    def to_frame(self) -> Any:
        """The leaderboard as a pandas data frame."""
        return _frame(self.to_arrow())

    def __repr__(self) -> str:
        return f"{words.chosen_in_words(self.report)}. {words.headline(self.report)} {self._told()}{_noted(self.notes)}"

    def _told(self) -> str:
        simulated = "simulated " if self.report.simulated else ""
        return f"({self.answers:,} {simulated}{words.asked_for(self.report)}, delta {self.report.setting.delta:g})"

    def _repr_html_(self) -> str:
        return as_notebook(self.report) + _noted_in_html(self.notes)


@dataclass(frozen=True, eq=False, repr=False)
class Gated:
    """The outcome of a gate: ``report`` has all of it, ``notes`` what was left out of the table.

    With probability at least 1 - delta all that is said of all candidates is true.
    """

    report: Report
    notes: tuple[str, ...] = field(default=())

    @property
    def verdict(self) -> str:
        """ "worse" if a candidate is, else "not yet" if one is not decided, else "pass"."""
        return gate_words.overall(self.report)

    @property
    def passed(self) -> bool:
        """Whether every candidate is better than the baseline, or not worse by the margin."""
        return self.verdict == "pass"

    @property
    def verdicts(self) -> dict[str, str]:
        """ "better", "not worse" (by the margin), "worse" or "not yet", by candidate."""
        return {line.name: line.verdict for line in self.report.gate}

    @property
    def answers(self) -> int:
        return self.report.answers

    def to_arrow(self) -> Any:
        """One row for each candidate."""
        names = ("name", "verdict", "behind_at_most", "ahead_at_most", "difference")
        return _arrow([asdict(line) for line in self.report.gate], names)

    def to_frame(self) -> Any:
        """The same as a pandas data frame."""
        return _frame(self.to_arrow())

    def __repr__(self) -> str:
        return f"{gate_words.in_a_line(self.report)}{_noted(self.notes)}"

    def _repr_html_(self) -> str:
        return as_notebook(self.report) + "".join(f"<p>Note: {escape(note)}.</p>" for note in self.notes)


@dataclass(frozen=True, eq=False, repr=False)
class Forecast:
    """How many answers choosing from a table will take, for each protocol and eps: a forecast, no promise."""

    planned: tuple[Planned, ...]
    n_models: int
    n_items: int
    delta: float
    notes: tuple[str, ...] = field(default=())

    def to_arrow(self) -> Any:
        """One row for each protocol and eps; ``at_least`` where rehearsals had no end, so that more may be needed."""
        rows = [
            {
                "protocol": each.protocol,
                "eps": each.eps,
                "answers": each.needed.middle,
                "low": each.needed.low,
                "high": each.needed.high,
                "at_least": each.needed.at_least,
            }
            for each in self.planned
        ]
        return _arrow(rows, ("protocol", "eps", "answers", "low", "high", "at_least"))

    def to_frame(self) -> Any:
        """The same as a pandas data frame."""
        return _frame(self.to_arrow())

    def __repr__(self) -> str:
        lines = [f"Answers to choose from {self.n_models:,} models on {self.n_items:,} items (a forecast, no promise):"]
        lines += [f"  {each.protocol}, within {each.eps:g}: {_span(each.needed)}" for each in self.planned]
        return "\n".join(lines) + _noted(self.notes)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{each.protocol}</td><td>{each.eps:g}</td><td>{_span(each.needed)}</td></tr>"
            for each in self.planned
        )
        head = "<tr><th>protocol</th><th>within</th><th>answers</th></tr>"
        return f"<p>{escape(repr(self).splitlines()[0])}</p><table>{head}{rows}</table>{_noted_in_html(self.notes)}"


def _ends(what: str, found: Span | None) -> dict[str, float | None]:
    if found is None:
        return {what: None, f"{what}_low": None, f"{what}_high": None}
    return {what: found.estimate, f"{what}_low": found.low, f"{what}_high": found.high}


def _span(needed: Needed) -> str:
    at_least = "at least " if needed.at_least else ""
    return f"{at_least}{needed.middle:,} ({needed.low:,} to {needed.high:,})"


def _noted(notes: Sequence[str]) -> str:
    return "".join(f"\nNote: {note}." for note in notes)


def _noted_in_html(notes: Sequence[str]) -> str:
    return "".join(f"<p>Note: {escape(note)}.</p>" for note in notes)


def _arrow(rows: list[dict[str, Any]], names: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.table({name: [row[name] for row in rows] for name in names})


def _frame(table: Any) -> Any:
    try:
        return table.to_pandas()
    except ImportError:
        raise InvalidInputError(
            "pandas is not installed; install it, or use to_arrow(), which polars reads too"
        ) from None
