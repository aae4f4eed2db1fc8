"""From a learner's result to the report, and to the one JSON object of ``--json``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from onebit.log.events import Created
from onebit.records import Closing, RunStatus
from onebit.report import Price, Report, making
from onebit.tables import ModelTable

STOPPED = "it was stopped; the same command goes on with it"


def make_report(
    table: ModelTable,
    table_name: str,
    created: Created,
    result: Any,
    closings: Sequence[Closing],
    seconds: float,
    prices: tuple[Price, ...] = (),
) -> Report:
    """The report of a run that was ``created`` so; ``result`` is its learner's."""
    accuracy = None if table.truth is None else table.accuracy()
    candidates = making.Candidates(
        table_name,
        table.digest,
        table.models,
        table.predictions,
        table.n_labels,
        accuracy,
        created.selection.population,
    )
    report = making.make_report(
        candidates, created.selection, created.learner, result, closings, seconds, prices, created.simulated
    )
    return replace(report, reason=STOPPED) if result.status is RunStatus.RUNNING else report


def printed(report: Report) -> dict[str, Any]:
    """What ``--json`` prints."""
    return figures(report) | {"n_events": report.n_events, "log_digest": report.log_digest}


def figures(report: Report) -> dict[str, Any]:
    """What the last event of a run says."""
    names = list(report.chosen)
    told = {
        "chosen": names[0] if len(names) == 1 else names or None,
        "status": report.status,
        "answers": report.answers,
        "rounds": report.rounds,
        "free_rounds": report.free_rounds,
        "survivors": report.survivors,
        "eps": report.setting.eps,
        "delta": report.setting.delta,
        "certified_eps": report.certified_eps,
        "protocol": report.setting.protocol,
        "simulated": report.simulated,
        "promise": report.promise,
        "seconds": report.seconds,
    }
    if report.reason is not None:
        told["reason"] = report.reason
    if report.excess is not None:
        told["excess"] = report.excess
    return told
