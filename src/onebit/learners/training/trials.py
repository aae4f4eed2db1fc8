"""How good the model was when it met fresh items, before it learned from them."""

from __future__ import annotations

from collections import deque

import numpy as np

from onebit.estimate.learning_curve import CurvePoint, ForecastPoint, Tried, forecast, learning_curve
from onebit.learners.training.constants import ENOUGH_TRIED, TRIED_LATELY
from onebit.learners.training.epoch import TrainingEpoch
from onebit.records import Answer, Question


class Trials:
    """What came of the guesses at fresh items, epoch by epoch.

    ``n_before`` answers were trained on before the run, and count in the curve and the forecast. ``has_names``: names
    of labels are heeded, so the first guesses may be good.
    """

    def __init__(
        self, delta: float, error_rates: tuple[float, float], n_before: int = 0, has_names: bool = False
    ) -> None:
        self._delta, self._error_rates, self._n_before, self._has_names = delta, error_rates, n_before, has_names
        self._recent: deque[bool] = deque(maxlen=TRIED_LATELY)
        self._tried: list[Tried] = []
        #: The recent accuracy after each epoch, with the number of answers.
        self.progress: list[tuple[int, float]] = []

    def take(
        self, epoch: TrainingEpoch, questions: list[Question], answers: list[Answer | int | None], n_answered: int
    ) -> None:
        """Take in an epoch of training, after which there were so many answers in this run."""
        n_answered += self._n_before
        fresh = np.array(epoch.plan.fresh) & (epoch.n_asked() > 0)
        right = epoch.right_guesses(questions, answers)[fresh]
        self._recent.extend(right.tolist())
        if right.size:
            doubtful = epoch.right_guesses(questions, answers, (Answer.YES, Answer.CANT_TELL))[fresh]
            self._tried.append(Tried(n_answered, right.size, int(right.sum()), int(doubtful.sum())))
        if self.accuracy is not None:
            self.progress.append((n_answered, self.accuracy))

    @property
    def accuracy(self) -> float | None:
        """An estimate of the accuracy, from the last fresh items; None before the first."""
        return float(np.mean(self._recent)) if self._recent else None

    @property
    def settled_accuracy(self) -> float | None:
        """The same, once there are enough of them."""
        return self.accuracy if len(self._recent) >= ENOUGH_TRIED else None

    def curve(self) -> tuple[CurvePoint, ...]:
        return learning_curve(self._tried, self._delta, self._error_rates, self._n_before)

    def forecast(self, n_labels: int, n_answers: int, end: int) -> tuple[ForecastPoint, ...]:
        """What may come of twice and of four times as many answers, and at the ``end`` of training.

        Both numbers are of this run.
        """
        n_answers, end = n_answers + self._n_before, end + self._n_before
        at = sorted({2 * n_answers, 4 * n_answers} | ({end} if end > n_answers else set()))
        return forecast(self._tried, n_labels, at, self._has_names)
