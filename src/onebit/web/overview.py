"""A study as its owner sees it: what is known so far, and what only matters while it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onebit.records import Answer, RunStatus
from onebit.study.kinds.kind import Board
from onebit.study.quality import Rate, RaterQuality
from onebit.study.study import Study
from onebit.study.view import Agreement


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
    """What the dashboard shows of a study; ``board`` is what only studies of its kind have."""

    is_over: bool
    raters: tuple[RaterRow, ...]
    labels: tuple[LabelRow, ...]
    warnings: tuple[str, ...]
    board: Board


class Watcher:
    """Makes overviews of one study. What is costly is done again only when an epoch has begun or closed."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._result: Any = None
        self._read_at: tuple[int, int, bool] | None = None

    def forecast(self) -> tuple[int, int, int] | None:
        """How many more answers are needed, which takes a tenth of the time of a look."""
        return self._study.kind.forecast(self._known())

    def _known(self) -> Any:
        view = self._study.view
        now = view.n_epochs, len(view.closings), view.finished is not None
        if now != self._read_at:
            self._result, self._read_at = self._study.result, now
        return self._result

    def look(self) -> Overview:
        study, view, result = self._study, self._study.view, self._known()
        status = study.status(result)
        return Overview(
            is_over=status.status is not RunStatus.RUNNING,
            raters=rater_rows(status.raters, view.agreement()),
            labels=self._label_rows(),
            warnings=status.warnings,
            board=study.kind.board(status, result, view.seen()),
        )

    def _label_rows(self) -> tuple[LabelRow, ...]:
        if self._study.about.is_open:
            # Each text is asked about once.
            return ()
        names = self._study.about.labels
        rows = [
            LabelRow(names[label].name, counts.total(), counts[Answer.YES])
            for label, counts in self._study.view.labels().items()
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
