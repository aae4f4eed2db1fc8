"""From a learner's result to its report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from onebit import promise
from onebit.learners.certified.statement import CertifiedResult
from onebit.learners.contract import BoundedResult
from onebit.records import Closing, Comparison, Population, RunStatus, Setting
from onebit.report import words
from onebit.report.record import Entry, GateLine, PlaceLine, Point, Price, Report, Span


@dataclass(frozen=True, eq=False)
class Candidates:
    """The models that one is chosen from: ``predictions`` (N, n), and the digest that stands for them.

    ``accuracy`` (N,) is known only where the truth is. On a stream nothing is taken for equal because it is equal on
    the table.
    """

    table: str
    digest: str
    models: tuple[str, ...]
    predictions: NDArray[np.integer]
    n_labels: int
    accuracy: NDArray[np.float64] | None = None
    population: Population = "pool"

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The models; on a pool those that predict the same on every item together, and the first stands for all."""
        if self.population == "stream":
            return tuple((h,) for h in range(len(self.models)))
        together: dict[bytes, list[int]] = {}
        for h, row in enumerate(self.predictions):
            together.setdefault(row.tobytes(), []).append(h)
        return tuple(tuple(rows) for rows in together.values())

    def n_left(self, survivors: Sequence[int]) -> int:
        """How many models may be the best, all that predict as a survivor does among them."""
        left = set(survivors)
        return sum(len(rows) for rows in self.groups if left.intersection(rows))

    def gate(self, comparisons: Sequence[Comparison], baseline: int | None) -> tuple[GateLine, ...]:
        """What is shown of every candidate of a gate, in the order of the table."""
        if baseline is None:
            return ()
        ahead = None if self.accuracy is None else self.accuracy - self.accuracy[baseline]
        return tuple(
            GateLine(
                self.models[each.candidate],
                each.verdict,
                each.behind_at_most,
                each.ahead_at_most,
                None if ahead is None else float(ahead[each.candidate]),
            )
            for each in comparisons
        )

    def placings(self, result: CertifiedResult, of_pairs: bool) -> tuple[PlaceLine, ...]:
        """Where each model stands, the best first; of those in the same place in the order in which they are named."""
        named = {h: place for place, h in enumerate(result.names)}
        together = {rows[0]: tuple(self.models[h] for h in rows) for rows in self.groups}
        n = len(result.placings)

        def lines() -> Iterator[PlaceLine]:
            for each in sorted(
                result.placings,
                key=lambda it: (it.tier, it.best_rank, it.worst_rank, named.get(it.model, len(named)), it.model),
            ):
                n_settled = each.best_rank - 1 + n - each.worst_rank + len(each.tied_with)
                yield PlaceLine(
                    together[each.model],
                    each.tier,
                    each.best_rank,
                    each.worst_rank,
                    tuple(self.models[h] for h in each.better_than),
                    tuple(self.models[h] for h in each.tied_with),
                    n - 1 - n_settled if of_pairs else 0,
                    None if self.accuracy is None else float(self.accuracy[each.model]),
                )

        return tuple(lines())

    def excess(self, chosen: Sequence[int]) -> float | None:
        """By how much a model that is left out is ahead of one of the ``chosen``, if at all; None without the truth."""
        others = [h for h in range(len(self.models)) if h not in chosen]
        if self.accuracy is None or not chosen or not others:
            return None
        return max(float(self.accuracy[others].max() - self.accuracy[list(chosen)].min()), 0.0)

    def leaderboard(self, result: CertifiedResult) -> tuple[Entry, ...]:
        """The chosen one, then other survivors by how far they may be ahead, then those shown not to be the best."""
        bound = dict(zip(result.survivors, result.ahead_at_most, strict=True))
        found = None if result.measure is None else result.measure()

        def accuracy(rows: tuple[int, ...]) -> float | None:
            return None if self.accuracy is None else float(self.accuracy[rows[0]])

        def order(rows: tuple[int, ...]) -> tuple[bool, bool, float, float]:
            is_out = rows[0] not in bound
            return rows[0] not in result.names, is_out, bound.get(rows[0], 0.0), -(accuracy(rows) or 0.0)

        return tuple(
            Entry(
                tuple(self.models[h] for h in rows),
                bound.get(rows[0]),
                accuracy(rows),
                None if found is None else _span(*found.shares.at(rows[0])),
                None if found is None else _span(*found.ahead.at(rows[0])),
            )
            for rows in sorted(self.groups, key=order)
        )

    def alike(self, model: int | None) -> tuple[str, ...]:
        """The names of all that predict as a model does."""
        return tuple(self.models[h] for rows in self.groups if model in rows for h in rows)


def _span(estimate: float, low: float, high: float) -> Span:
    """An interval to six digits: what is told is what is recomputed."""
    return Span(None if math.isnan(estimate) else round(estimate, 6), round(low, 6), round(high, 6))


def make_report(
    candidates: Candidates,
    setting: Setting,
    learner: str,
    result: BoundedResult,
    closings: Sequence[Closing],
    seconds: float,
    prices: tuple[Price, ...] = (),
    simulated: bool = False,
) -> Report:
    """The report of a selection; ``result`` is its learner's, and ``closings`` are what it went through."""
    certified = result if isinstance(result, CertifiedResult) else None
    chosen = certified.names if certified else () if result.chosen is None else (result.chosen,)
    eps = result.achieved_eps
    gate = candidates.gate(certified.gate, setting.baseline) if certified else ()
    has_own_end = bool(gate) or setting.tiers
    is_shown = result.status is RunStatus.COMPLETE and eps is not None and (has_own_end or eps <= setting.eps)
    # The baseline is none of the candidates that are left to be decided.
    n_besides = 0 if setting.baseline is None else candidates.n_left([setting.baseline])
    is_plain = not gate and not setting.ranks
    n_items = candidates.predictions.shape[1]
    last = closings[-1] if closings else None
    report = Report(
        setting=setting,
        learner=learner,
        table=candidates.table,
        digest=candidates.digest,
        n_models=len(candidates.models),
        n_items=n_items,
        n_labels=candidates.n_labels,
        status="certified" if is_shown else "budget",
        reason=None if is_shown else _reason(result.status, setting, n_items),
        chosen=tuple(candidates.models[h] for h in chosen),
        answers=certified.n_answers if certified else result.n_rounds,
        rounds=result.n_rounds,
        free_rounds=certified.n_free_rounds if certified else 0,
        cant_tell=certified.n_cant_tell if certified else 0,
        survivors=candidates.n_left(certified.survivors) if certified and is_plain else None,
        certified_eps=eps,
        promise=promise.in_full(setting, n_items, simulated)
        if certified
        else result.promise.replace("achieved_eps", "certified_eps"),
        seconds=round(seconds, 3),
        simulated=simulated,
        n_checks=0 if last is None else last.n_checks,
        n_contradicted=0 if last is None else last.n_contradicted,
        excess=None if gate else candidates.excess(chosen),
        course=tuple(
            Point(each.n_answers, candidates.n_left(each.survivors) - n_besides, each.certified_eps)
            for each in closings
        ),
        leaderboard=candidates.leaderboard(certified) if certified and is_plain else (),
        prices=prices,
        gate=gate,
        placings=candidates.placings(certified, setting.tiers) if certified else (),
    )
    if certified is not None:
        report = _with_intervals(report, candidates, certified)
    return _suspended(report) if result.status is RunStatus.SUSPENDED else report


def _with_intervals(report: Report, candidates: Candidates, result: CertifiedResult) -> Report:
    """The report with what the intervals are about, and how far the run is from its end."""
    if result.measure is None or result.approach is None:
        return report
    found, approach = result.measure(), result.approach()
    # A study may have closed an epoch since the result was read.
    course = tuple(
        point if i >= len(approach.evidence) else replace(point, evidence=round(approach.evidence[i], 6))
        for i, point in enumerate(report.course)
    )
    return replace(
        report,
        course=course,
        all_count=found.all_count,
        n_counted=found.n_counted,
        closest=candidates.alike(approach.closest),
    )


def _suspended(report: Report) -> Report:
    """The report without what would have been shown, had every item one right label."""
    return replace(
        report,
        status="suspended",
        reason=words.why_suspended(report),
        promise=promise.suspended(report.setting),
        chosen=(),
        survivors=None,
        certified_eps=None,
        excess=None,
        course=(),
        leaderboard=(),
        placings=(),
    )


def _reason(status: RunStatus, setting: Setting, n_items: int) -> str | None:
    """Why a selection ended before its aim; None while it goes on."""
    if status is RunStatus.BUDGET:
        return "the budget was used" if setting.budget is None else f"the budget of {setting.budget:,} answers was used"
    if status is RunStatus.EXHAUSTED:
        if setting.population == "stream":
            return f"the examples ran out: each of the {n_items:,} items counts once in a stream"
        return f"everything was asked, and {n_items:,} items cannot show more through errors as frequent as allowed for"
    return None if status is RunStatus.RUNNING else "all questions of its plan were asked"
