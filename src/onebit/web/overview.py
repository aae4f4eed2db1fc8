"""A study as its owner sees it: the report of its state so far, and what only matters while it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from onebit.records import Answer, Closing, RunStatus
from onebit.report import Entry, Point, Report
from onebit.study.quality import Rate, RaterQuality
from onebit.study.study import Study
from onebit.web.follow import Agreement, Follower


@dataclass(frozen=True)
class RaterRow:
    """A rater's work. Rates are None where no check has been answered."""

    name: str
    n_answers: int
    n_cant_tell: int
    agreement: Agreement | None
    f_no: Rate | None
    f_yes: Rate | None
    changed: Rate | None


@dataclass(frozen=True)
class LabelRow:
    """A label that raters were asked about, and how often it was right."""

    name: str
    n_asked: int
    n_yes: int

    @property
    def yes_rate(self) -> float:
        return self.n_yes / self.n_asked


@dataclass(frozen=True)
class Overview:
    """Everything that the dashboard shows. ``forecast`` is low, middle and high, or None while it is too early."""

    report: Report
    is_over: bool
    forecast: tuple[int, int, int] | None
    raters: tuple[RaterRow, ...]
    labels: tuple[LabelRow, ...]
    warnings: tuple[str, ...]


class Watcher:
    """Makes overviews of one study. What is costly is done again only when an epoch has closed."""

    def __init__(self, study: Study, follower: Follower, created_at: str) -> None:
        self._study, self._follower, self._created_at = study, follower, created_at
        self._groups = equal_models(study.predictions)
        self._result: tuple[int, Any] | None = None

    def look(self) -> Overview:
        study, follower = self._study, self._follower
        follower.update()
        result = self._read_result()
        status = study.status()
        raters, labels = rater_rows(status.raters, follower.agreement()), self._label_rows()
        forecast = None
        if status.forecast is not None:
            low, middle, high = (int(value) for value in status.forecast)
            forecast = low, middle, high
        return Overview(
            report=self._report(result),
            is_over=result.status is not RunStatus.RUNNING,
            forecast=forecast,
            raters=raters,
            labels=labels,
            warnings=status.warnings,
        )

    def _read_result(self) -> Any:
        n_closings = len(self._follower.closings)
        if self._result is None or self._result[0] != n_closings or self._follower.finished is not None:
            self._result = n_closings, self._study.result
        return self._result[1]

    def _report(self, result: Any) -> Report:
        created, about = self._study.created, self._study.about
        is_certified = created.learner == "certified"
        chosen = result.names if is_certified else () if result.chosen is None else (result.chosen,)
        eps = result.achieved_eps
        is_shown = result.status is RunStatus.COMPLETE and eps is not None and eps <= created.setting.eps
        answers = list(self._follower.answers.values())
        return Report(
            setting=created.setting,
            learner=created.learner,
            table=self._study.name,
            digest=created.table.digest,
            n_models=created.table.n_models,
            n_items=created.table.n_items,
            n_labels=created.table.n_labels,
            status="certified" if is_shown else "budget",
            reason=None if is_shown else reason(result.status, created.setting.budget, created.table.n_items),
            chosen=tuple(about.models[h] for h in chosen),
            answers=len(answers),
            rounds=result.n_rounds,
            free_rounds=result.n_free_rounds if is_certified else 0,
            cant_tell=sum(answer is Answer.CANT_TELL for answer in answers),
            survivors=self._n_left(result.survivors) if is_certified else None,
            certified_eps=eps,
            promise=result.promise.replace("achieved_eps", "the certified eps"),
            seconds=seconds_between(self._created_at, self._follower.last_at),
            course=tuple(self._point(closing) for closing in self._follower.closings),
            leaderboard=self._leaderboard(result) if is_certified else (),
        )

    def _point(self, closing: Closing) -> Point:
        return Point(closing.n_answers, self._n_left(closing.survivors), closing.certified_eps)

    def _n_left(self, survivors: Sequence[int]) -> int:
        left = set(survivors)
        return sum(len(rows) for rows in self._groups if rows[0] in left)

    def _leaderboard(self, result: Any) -> tuple[Entry, ...]:
        """The chosen one, then other survivors by how far they may be ahead, then those shown not to be the best."""
        bound = dict(zip(result.survivors, result.ahead_at_most, strict=True))
        models = self._study.about.models

        def order(rows: tuple[int, ...]) -> tuple[bool, bool, float]:
            return rows[0] not in result.names, rows[0] not in bound, bound.get(rows[0], 0.0)

        return tuple(
            Entry(tuple(models[h] for h in rows), bound.get(rows[0])) for rows in sorted(self._groups, key=order)
        )

    def _label_rows(self) -> tuple[LabelRow, ...]:
        names = self._study.about.labels
        rows = [
            LabelRow(names[label].name, counts.total(), counts[Answer.YES])
            for label, counts in self._follower.labels().items()
        ]
        return tuple(sorted(rows, key=lambda row: -row.n_asked))


def rater_rows(raters: Sequence[RaterQuality], agreement: dict[str, Agreement]) -> tuple[RaterRow, ...]:
    def known(rate: Rate) -> Rate | None:
        return rate if rate.n else None

    return tuple(
        RaterRow(
            each.rater,
            each.n_answers,
            each.n_cant_tell,
            agreement.get(each.rater),
            known(each.f_no),
            known(each.f_yes),
            known(each.changed),
        )
        for each in raters
    )


def equal_models(predictions: Any) -> list[tuple[int, ...]]:
    """The models, those that predict the same on every item together; the first stands for all."""
    together: dict[bytes, list[int]] = {}
    for h, row in enumerate(predictions):
        together.setdefault(row.tobytes(), []).append(h)
    return [tuple(rows) for rows in together.values()]


def reason(status: RunStatus, budget: int | None, n_items: int) -> str | None:
    """Why a study ended before its aim; None while it goes on."""
    if status is RunStatus.BUDGET:
        return "the budget was used" if budget is None else f"the budget of {budget:,} answers was used"
    if status is RunStatus.EXHAUSTED:
        return f"the examples ran out: each of the {n_items:,} items counts once in a stream"
    return None if status is RunStatus.RUNNING else "all questions of its plan were asked"


def seconds_between(first: str, last: str) -> float:
    """Seconds from one moment, as the store writes it, to another."""
    if not first or not last:
        return 0.0
    return max(0.0, (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds())
