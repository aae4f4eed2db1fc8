"""A study as its owner sees it: what is known so far, and what only matters while it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from onebit.records import Answer, RunStatus
from onebit.report import Report
from onebit.report.making import Candidates, make_report
from onebit.study.quality import Rate, RaterQuality
from onebit.study.status import LearningStatus, StudyStatus
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
    """What the dashboard shows of every study. ``forecast`` is low, middle and high, or None where there is none."""

    is_over: bool
    forecast: tuple[int, int, int] | None
    raters: tuple[RaterRow, ...]
    labels: tuple[LabelRow, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class SelectionOverview(Overview):
    """What it shows of a selection besides."""

    report: Report


@dataclass(frozen=True)
class LearningOverview(Overview):
    """What it shows of the training of a classifier besides; ``n_answers`` are those that came, used or not."""

    learning: LearningStatus
    n_answers: int


class Watcher:
    """Makes overviews of one study. What is costly is done again only when an epoch has closed."""

    def __init__(self, study: Study, follower: Follower, created_at: str) -> None:
        self._study, self._follower, self._created_at = study, follower, created_at
        self._candidates = _candidates(study) if study.created.kind == "selection" else None
        self._result: tuple[int, Any] | None = None

    def look(self) -> Overview:
        self._follower.update()
        if self._candidates is not None:
            return self._selection(self._candidates)
        status = self._study.status()
        if not isinstance(status, LearningStatus):
            raise TypeError(f"the status of a learning study is {type(status).__name__}")
        return LearningOverview(
            is_over=status.status is not RunStatus.RUNNING,
            forecast=None,
            raters=self._rater_rows(status),
            labels=self._label_rows(),
            warnings=status.warnings,
            learning=status,
            n_answers=len(self._follower.answers),
        )

    def _selection(self, candidates: Candidates) -> SelectionOverview:
        result = self._read_result()
        status = self._study.status()
        if not isinstance(status, StudyStatus):
            raise TypeError(f"the status of a selection is {type(status).__name__}")
        forecast = None
        if status.forecast is not None:
            low, middle, high = (int(value) for value in status.forecast)
            forecast = low, middle, high
        return SelectionOverview(
            is_over=result.status is not RunStatus.RUNNING,
            forecast=forecast,
            raters=self._rater_rows(status),
            labels=self._label_rows(),
            warnings=status.warnings,
            report=self._report(candidates, result),
        )

    def _read_result(self) -> Any:
        n_closings = len(self._follower.closings)
        if self._result is None or self._result[0] != n_closings or self._follower.finished is not None:
            self._result = n_closings, self._study.result
        return self._result[1]

    def _report(self, candidates: Candidates, result: Any) -> Report:
        created, answers = self._study.created, list(self._follower.answers.values())
        seconds = seconds_between(self._created_at, self._follower.last_at)
        report = make_report(
            candidates,
            created.selection,
            created.learner,
            result,
            tuple(self._follower.closings),
            seconds,
            simulated=created.simulated,
        )
        # The learner counts the answers of an epoch when it closes; owners count those that came.
        n_cant_tell = sum(answer is Answer.CANT_TELL for answer in answers)
        head = self._study.head
        return replace(
            report,
            answers=len(answers),
            cant_tell=n_cant_tell,
            n_events=head.n_events,
            log_digest=head.digest,
        )

    def _rater_rows(self, status: StudyStatus | LearningStatus) -> tuple[RaterRow, ...]:
        return rater_rows(status.raters, self._follower.agreement())

    def _label_rows(self) -> tuple[LabelRow, ...]:
        names = self._study.about.labels
        rows = [
            LabelRow(names[label].name, counts.total(), counts[Answer.YES])
            for label, counts in self._follower.labels().items()
        ]
        return tuple(sorted(rows, key=lambda row: -row.n_asked))


def _candidates(study: Study) -> Candidates:
    facts, population = study.created.table, study.created.selection.population
    return Candidates(
        study.name, facts.digest, study.about.models, study.predictions, facts.n_labels, population=population
    )


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


def seconds_between(first: str, last: str) -> float:
    """Seconds from one moment, as the store writes it, to another."""
    if not first or not last:
        return 0.0
    return max(0.0, (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds())
