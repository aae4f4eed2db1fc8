"""What the report says where several best models are looked for, or all pairs are compared: in sentences and lines."""

from __future__ import annotations

from itertools import groupby

from onebit import promise
from onebit.report.record import PlaceLine, Report

#: Lines of a list in a terminal.
MOST_LINES = 30


def fraction(eps: float) -> str:
    return f"{eps:.4g}"


def named(report: Report) -> str:
    """The models that are named, in a list."""
    lines = [line for line in report.placings if line.tier == 1]
    return ", ".join(" = ".join(line.names) for line in lines)


def n_pairs(report: Report) -> int:
    n = len(report.placings)
    return n * (n - 1) // 2


def n_settled(report: Report) -> int:
    """How many pairs are settled: one is better, or they are tied."""
    ordered = sum(len(line.better_than) for line in report.placings)
    return ordered + sum(len(line.tied_with) for line in report.placings) // 2


def n_tiers(report: Report) -> int:
    return max(line.tier for line in report.placings)


def title(report: Report) -> str:
    """What stands at the top."""
    if report.setting.tiers:
        n = n_tiers(report)
        return f"{len(report.placings):,} models in {n:,} tier{'' if n == 1 else 's'}"
    return f"The best {report.setting.top:,}: {named(report)}"


def headline(report: Report) -> str:
    """What was shown, in one sentence that needs no mathematics."""
    praised = "right" if promise.is_about_accuracy(report.setting, report.simulated) else "accepted by raters"
    if report.setting.tiers:
        ordered, settled = sum(len(line.better_than) for line in report.placings), n_settled(report)
        return (
            f"Of {n_pairs(report):,} pairs of models, one is {praised} more often in {ordered:,}; in "
            f"{settled - ordered:,} the two are within {fraction(report.setting.eps)} of each other; "
            f"{n_pairs(report) - settled:,} are not told apart so far."
        )
    eps = report.certified_eps
    if eps is None or eps >= 1:
        return "These lead so far; how far another model may be ahead of one of them is not shown yet."
    if eps == 0:
        return f"No other of the {report.n_models:,} models is {praised} more often than any of these."
    return (
        f"No other of the {report.n_models:,} models is {praised} more often than any of these by more than "
        f"{fraction(eps)}."
    )


def against_the_aim(report: Report) -> str:
    """What was looked for, and why the run ended, if it did."""
    eps = fraction(report.setting.eps)
    told = f"The aim is to name the {report.setting.top} best models within {eps}."
    if report.setting.tiers:
        told = f"The aim is to say of every pair which model is better, or that they are within {eps} of each other."
    if report.status == "certified":
        return f"{told} The run ended by itself when this was shown."
    return f"{told} The run ended there because {report.reason}." if report.reason else told


def rank(line: PlaceLine) -> str:
    """From which to which place a model may have.

    >>> rank(PlaceLine(("a",), 1, 2, 2)), rank(PlaceLine(("a",), 1, 2, 5))
    ('2', '2 to 5')
    """
    return str(line.best_rank) if line.best_rank == line.worst_rank else f"{line.best_rank} to {line.worst_rank}"


def membership(report: Report, line: PlaceLine) -> str:
    """What is shown of a model where several best ones are looked for."""
    k = report.setting.top
    if line.worst_rank == k:
        return f"shown to be among the best {k}"
    if line.best_rank > 1:
        return f"shown not to be among the best {k}"
    return "named; another may be ahead by no more than is certified" if line.tier == 1 else "may be one of them"


def how_to_read(report: Report) -> list[str]:
    """How the picture is read."""
    if not report.setting.tiers:
        return [
            f"A bar goes from the best place that a model may have to the worst, of {len(report.placings):,}.",
            f"Bars that end left of the line are shown to be among the best {report.setting.top}, bars that begin "
            "right of it not to be. Bars across it are not decided: there the named ones and the others may change "
            "places, by no more than the certified eps.",
        ]
    return [
        f"A bar goes from the best place that a model may have to the worst, of {len(report.placings):,}. It begins "
        "after as many places as there are models shown to be better, and ends before as many as are shown worse.",
        "Tiers are bands, shaded and plain in turn: every model in one is better than every model in the bands below. "
        "Within a tier some pairs may be told apart too, but no line can be drawn through it.",
        f"Tied means: shown to be within {fraction(report.setting.eps)} of each other, and neither shown to be better. "
        "Ties do not add up: of three models the first may be tied with the second and the second with the third, and "
        "the first be better than the third.",
    ]


def lines(report: Report) -> list[str]:
    """A line for each tier, or for each best model, for a terminal."""
    if not report.placings or report.status == "suspended":
        return []
    if not report.setting.tiers:
        best = [line for line in report.placings if line.tier == 1]
        return [f"  {' = '.join(line.names)}: {membership(report, line)}" for line in best[:MOST_LINES]]
    told = []
    for tier, group in groupby(report.placings, key=lambda line: line.tier):
        each = ", ".join(f"{' = '.join(line.names)} (rank {rank(line)})" for line in group)
        told.append(f"  tier {tier}: {each}")
    return told[:MOST_LINES] + ([f"  and {len(told) - MOST_LINES} more tiers"] if len(told) > MOST_LINES else [])
