"""The state of a study that trains a classifier."""

from __future__ import annotations

from dataclasses import dataclass

from onebit.estimate.learning_curve import CurvePoint, ForecastPoint
from onebit.learners.training.result import how_it_ended
from onebit.study.kinds.kind import StudyStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingStatus(StudyStatus):
    """The state of a study that trains a classifier.

    ``accuracy`` (low, high) holds for the classifier as it is now, as ``promise`` says; None if it was trained since
    the last audit. ``recent_accuracy`` estimates it without a promise, and ``progress`` has that estimate for numbers
    of answers so far. ``n_verified`` labels were confirmed; ``yes_rate`` is the share of yes among the last answers. Of
    ``n_asked_to_end`` items that were asked about until the last label, ``n_without_label`` have none of the labels.
    The rows ``without_label`` are these, and those of which a rater said so; the rows ``left`` seem to have none, and
    are no longer asked about; ``n_items_asked`` were asked about. ``curve`` has intervals for the accuracy on the way,
    ``forecast`` what it may become, without a promise.
    """

    protocol: str
    budget: int
    target: float | None
    delta: float
    f_no: float
    f_yes: float
    accuracy: tuple[float, float] | None
    recent_accuracy: float | None
    yes_rate: float | None
    n_verified: int
    n_labels: int
    n_asked_to_end: int
    n_without_label: int
    without_label: tuple[int, ...]
    left: tuple[int, ...]
    n_items_asked: int
    progress: tuple[tuple[int, float], ...]
    curve: tuple[CurvePoint, ...] = ()
    forecast: tuple[ForecastPoint, ...] = ()

    def lines(self) -> list[str]:
        shown = "none yet" if self.accuracy is None else "{:.3f} to {:.3f}".format(*self.accuracy)
        wanted = "" if self.target is None else f" (asked for: {self.target:g})"
        lines = [
            f"{self.name}: {how_it_ended(self.status, self.n_answers, self.budget)}",
            f"accuracy        {shown}{wanted}",
        ]
        if self.recent_accuracy is not None:
            lines.append(
                f"estimate        about {self.recent_accuracy:.2f}, from the last answers and without a promise"
            )
        for point in self.forecast:
            shown = f"{point.middle:.2f} after {point.n_answers:,} answers ({point.low:.2f} to {point.high:.2f})"
            lines.append(f"forecast        about {shown}, without a promise")
        lines.append(f"confirmed       {self.n_verified:,} labels of {self.n_items:,} items")
        if self.yes_rate is not None:
            lines.append(f"yes             {self.yes_rate:.0%} of the last answers")
        if self.without_label or self.left:
            lines.append(f"no label        {len(self.without_label):,} items, and {len(self.left):,} that seem so")
        # Zero-argument super() does not know the class that slots made.
        return [*lines, *StudyStatus.lines(self), f"at most         {self.budget:,} answers"]

    def in_a_line(self) -> str:
        estimate = "" if self.recent_accuracy is None else f"; accuracy about {self.recent_accuracy:.2f}"
        return f", of at most {self.budget:,}{estimate}"
