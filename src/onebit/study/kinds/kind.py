"""The two notions behind every kind of study: a *kind* turns answers into a result, and *standing* is what is known.

Command line, page and store know studies alone. Whatever differs between selecting a model and training one is asked
of the kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.learners.contract import Learner
from onebit.log.chain import Head
from onebit.log.events import Created, Event
from onebit.raters import Rater, SimulatedRater
from onebit.records import Answer, Question, RunStatus
from onebit.report.record import Entry, Price, Report
from onebit.study.about import About
from onebit.study.items import Items
from onebit.study.quality import RaterQuality
from onebit.study.view import NO_VERDICTS, Seen, Verdicts, View
from onebit.verify.audit import Verdict

if TYPE_CHECKING:
    from onebit.classifier import YesNoClassifier


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of every study: its raters, how many questions are open, where its log ends, and verdicts.

    The verdicts are there where the kind needs them.
    """

    name: str
    n_open: int
    raters: tuple[RaterQuality, ...]
    head: Head
    verdicts: Verdicts = NO_VERDICTS


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyStatus:
    """The state of a study, in the names of models, labels and raters.

    ``promise`` says what holds. Values that are not known yet are None. The log has ``n_events`` events, for which
    ``log_digest`` stands.
    """

    name: str
    status: RunStatus
    promise: str
    n_items: int
    n_answers: int
    n_open: int
    n_cant_tell: int | None
    raters: tuple[RaterQuality, ...]
    warnings: tuple[str, ...]
    n_events: int
    log_digest: str

    @property
    def is_safe_to_stop(self) -> bool:
        """Whether the aim is shown: what was once shown stays shown."""
        return self.status is RunStatus.COMPLETE

    def lines(self) -> list[str]:
        """The state in lines of text."""
        answers = f"answers         {self.n_answers:,}, and {self.n_open} questions open"
        if not self.n_cant_tell:
            return [answers]
        return [answers, f"can't tell      {self.n_cant_tell:,} ({self.n_cant_tell / self.n_answers:.1%})"]

    def in_a_line(self) -> str:
        """What is known, to be put after the number of answers."""
        return ""


@dataclass(frozen=True, slots=True)
class Board:
    """What the dashboard shows of a study of this kind.

    ``badge`` is its state in one word. ``figures`` are for the templates of the kind, ``plain`` is the same as JSON.
    """

    badge: str
    title: str
    headline: str
    sentences: tuple[str, ...]
    figures: Mapping[str, Any]
    plain: Mapping[str, Any]
    forecast: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found when a log was recomputed: sentences on what is wrong with it.

    ``verdict`` is the certificate recomputed, ``stated_eps`` the eps that the study tells, ``accuracy`` the interval
    recomputed; each is None where the kind has none. ``chosen`` are the models that the certificate is about, and
    ``words`` say what holds.
    """

    problems: tuple[str, ...]
    verdict: Verdict | None = None
    stated_eps: float | None = None
    accuracy: tuple[float, float] | None = None
    chosen: tuple[str, ...] = ()
    words: str = ""
    n_answers: int | None = None


class Kind(ABC):
    """A study of one kind that is open; ``study`` is its name. ``truth`` (n,) is known where raters are simulated."""

    #: What templates and the log call the kind.
    name: str
    #: Whether what raters said of each output is told besides.
    needs_verdicts: bool = False
    #: Whether raters may say that no label of the list is right.
    takes_none: bool = False
    #: Whether how many answers are needed can be forecast, from what ``look_ahead`` gives.
    can_foresee: bool = False
    learner: Learner[Any]

    def __init__(self, study: str, created: Created, about: About, truth: NDArray[np.int64] | None) -> None:
        self.study, self.created, self.about, self.truth = study, created, about, truth

    def row(self, item: int) -> int:
        """The table's row (counted from 0) of the learner's item."""
        return item

    def recalled(self, question: Question) -> Answer | None:
        """What was answered to the same question before, in a study that this one goes on from; None if nothing was."""
        return None

    @abstractmethod
    def plausible_labels(self, row: int) -> list[int]:
        """The labels that a rater might be asked about at a row."""

    def outputs(self, row: int) -> dict[int, tuple[str, ...]]:
        """The labels that models give to a row, and which do; empty where there are no models."""
        return {}

    @abstractmethod
    def status(self, standing: Standing, result: Any) -> StudyStatus:
        """What is known, from the learner's ``result``."""

    @abstractmethod
    def summary(self, result: Any) -> dict[str, Any]:
        """What the last event of a log says."""

    @abstractmethod
    def recompute(self, log: Sequence[Event], progress: Callable[[int, int], None] | None) -> Finding:
        """Replay a log into the learner, which must be fresh, and recompute what it states in a second way."""

    @abstractmethod
    def board(self, status: Any, result: Any, seen: Seen) -> Board:
        """What the dashboard shows, from ``status`` as this kind gives it."""

    def entries(self, result: Any) -> tuple[Entry, ...]:
        """How often every model is accepted, and by how much it differs from the leader; empty if there are none."""
        return ()

    @property
    @abstractmethod
    def rehearsal_key(self) -> tuple[object, ...]:
        """What decides which code a study runs; two with the same key need one rehearsal."""

    @abstractmethod
    def rehearsal(self) -> tuple[Learner[Any], Rater]:
        """A small learner that does all that this one will, and who answers it."""

    def forecast(self, result: Any) -> tuple[int, int, int] | None:
        """How many more answers are needed: low, middle, high; None unless that was foreseen."""
        return None

    @property
    def most_answers(self) -> int | None:
        """How many answers the study takes at most, where it has no aim that a forecast could be about."""
        return None

    def look_ahead(self, seconds: float, is_stopped: Callable[[], bool] | None = None) -> Any:
        """What a forecast of how many answers are needed rests on, as JSON; it takes so many seconds at most.

        It looks at the table alone, so it can be made in another process, before or while raters answer.
        InvalidInputError if this kind has no forecasts.
        """
        raise InvalidInputError(
            f"the study {self.study!r} takes its budget; only the selection of a model has a forecast"
        )

    def foresee(self, ahead: Any) -> None:
        """Tell forecasts from now on, by what ``look_ahead`` gave."""
        raise InvalidInputError(
            f"the study {self.study!r} takes its budget; only the selection of a model has a forecast"
        )

    def report(self, result: Any, view: View, items: Items) -> Report:
        """The report; InvalidInputError if this kind has none."""
        raise InvalidInputError("only the selection of a model has a report; see the status of this study instead")

    def forecast_prices(self, view: View, progress: Callable[[int, int], None] | None = None) -> tuple[Price, ...]:
        """What other ways to ask would have cost, once the study is over; empty where that cannot be forecast.

        It takes as long as the study itself computed, a few times over.
        """
        return ()

    def classifier(self, result: Any) -> YesNoClassifier:
        """The classifier as it is now; InvalidInputError if this kind trains none."""
        raise InvalidInputError(f"the study {self.study!r} selects a model and trains none; export .csv or .jsonl")

    def simulated_rater(self) -> Rater:
        """A rater who knows the truth, and errs as often as the study allows for."""
        if self.truth is None:
            raise InvalidInputError(f"the study {self.study!r} is answered by people; nobody knows the right labels")
        return SimulatedRater(self.truth)

    def due_snapshot(self) -> bytes | None:
        """What saves time when the study is opened again, if there is something new to keep."""
        return None
