"""From a learner's result to the report, and to the one JSON object of ``--json``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onebit.records import Closing, RunStatus, Setting
from onebit.report import Entry, Point, Price, Report
from onebit.tables import ModelTable


def make_report(
    table: ModelTable,
    table_name: str,
    setting: Setting,
    learner: str,
    result: Any,
    closings: Sequence[Closing],
    seconds: float,
    prices: tuple[Price, ...] = (),
) -> Report:
    """The report of a run; ``result`` is its learner's. With the truth in the table, raters were simulated."""
    is_certified = learner == "certified"
    chosen = result.names if is_certified else () if result.chosen is None else (result.chosen,)
    eps = result.achieved_eps
    is_shown = result.status is RunStatus.COMPLETE and eps is not None and eps <= setting.eps
    excess = None
    if table.truth is not None and chosen:
        accuracy = table.accuracy()
        excess = float(accuracy.max() - accuracy[chosen[0]])
    return Report(
        setting=setting,
        learner=learner,
        table=table_name,
        digest=table.digest,
        n_models=table.n_models,
        n_items=table.n_items,
        n_labels=table.n_labels,
        status="certified" if is_shown else "budget",
        reason=None if is_shown else _reason(result.status, setting, table.n_items),
        chosen=tuple(table.models[h] for h in chosen),
        answers=result.n_answers if is_certified else result.n_rounds,
        rounds=result.n_rounds,
        free_rounds=result.n_free_rounds if is_certified else 0,
        cant_tell=result.n_cant_tell if is_certified else 0,
        survivors=_n_left(table, result.survivors) if is_certified else None,
        certified_eps=eps,
        promise=result.promise.replace("achieved_eps", "certified_eps"),
        seconds=round(seconds, 3),
        excess=excess,
        course=tuple(Point(each.n_answers, _n_left(table, each.survivors), each.certified_eps) for each in closings),
        leaderboard=_leaderboard(table, result) if is_certified else (),
        prices=prices,
    )


def figures(report: Report) -> dict[str, Any]:
    """What ``--json`` prints."""
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
        "promise": report.promise,
        "seconds": report.seconds,
    }
    if report.reason is not None:
        told["reason"] = report.reason
    if report.excess is not None:
        told["excess"] = report.excess
    return told


def _reason(status: RunStatus, setting: Setting, n_items: int) -> str:
    if status is RunStatus.BUDGET:
        return "the budget was used" if setting.budget is None else f"the budget of {setting.budget:,} answers was used"
    if status is RunStatus.EXHAUSTED:
        return f"the examples ran out: each of the {n_items:,} items counts once in a stream"
    if status is RunStatus.RUNNING:
        return "it was stopped; the same command goes on with it"
    return "all questions of its plan were asked"


def _leaderboard(table: ModelTable, result: Any) -> tuple[Entry, ...]:
    """The chosen one, the other survivors by how far they may be ahead, and those that are shown not to be the best."""
    accuracy = None if table.truth is None else table.accuracy()
    bound = dict(zip(result.survivors, result.ahead_at_most, strict=True))

    def entry(rows: tuple[int, ...]) -> Entry:
        known = None if accuracy is None else float(accuracy[rows[0]])
        return Entry(tuple(table.models[h] for h in rows), bound.get(rows[0]), known)

    def order(rows: tuple[int, ...]) -> tuple[Any, ...]:
        is_out = rows[0] not in bound
        return rows[0] not in result.names, is_out, bound.get(rows[0]), 0 if accuracy is None else -accuracy[rows[0]]

    return tuple(entry(rows) for rows in sorted(_equal_models(table), key=order))


def _equal_models(table: ModelTable) -> list[tuple[int, ...]]:
    """The models, those that predict the same on every item together."""
    together: dict[bytes, list[int]] = {}
    for h, row in enumerate(table.predictions):
        together.setdefault(row.tobytes(), []).append(h)
    return [tuple(rows) for rows in together.values()]


def _n_left(table: ModelTable, survivors: Sequence[int]) -> int:
    """How many models may be the best, all that predict as a survivor does among them."""
    left = {table.predictions[h].tobytes() for h in survivors}
    return sum(row.tobytes() in left for row in table.predictions)
