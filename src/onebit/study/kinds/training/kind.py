"""Studies that train a classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onebit.classifier import YesNoClassifier
from onebit.errors import InvalidInputError, OptionError
from onebit.learners.contract import Learner
from onebit.learners.training.audit import audit_for_target
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.model import Model
from onebit.learners.training.pooled import built_in
from onebit.learners.training.result import TrainingResult, missing_label
from onebit.log.events import Created, Event
from onebit.randomness import generator
from onebit.raters import Rater, SimulatedRater
from onebit.records import RunStatus, TrainingSetting
from onebit.store.store import Entry, Store
from onebit.study.about import About
from onebit.study.constants import REHEARSED_ITEMS
from onebit.study.items import read_truth
from onebit.study.kinds.kind import Board, Finding, Kind, Standing
from onebit.study.kinds.replayed import end_differences, replayed
from onebit.study.kinds.training import words
from onebit.study.kinds.training.examples import read_features, read_names, read_transformer
from onebit.study.kinds.training.faults import accuracy_shown, audit_faults, guess_faults, last_audit, none_faults
from onebit.study.kinds.training.snapshots import Snapshot, due, read_snapshot
from onebit.study.kinds.training.status import TrainingStatus
from onebit.study.quality import warnings
from onebit.study.view import Seen


class Training(Kind):
    """The training of a classifier on ``features`` (n, d), made from examples by ``transformer``.

    ``names`` are those of the labels in the same features, if these are of texts. The model is fresh, or that of a
    ``snapshot``, for a log that is replayed.
    """

    name = "training"
    learner: TrainingLearner

    def __init__(
        self,
        study: str,
        created: Created,
        about: About,
        features: NDArray[np.float32],
        names: NDArray[np.float32] | None,
        transformer: Callable[[], Any],
        snapshot: Snapshot | None = None,
        truth: NDArray[np.int64] | None = None,
    ) -> None:
        super().__init__(study, created, about, truth)
        self.setting, self._features, self._transformer = created.training, features, transformer
        self._names, self.takes_none = names, about.none_of_these
        self.learner, self.model = build_training(self.setting, features, names, created.table.n_labels, snapshot)
        self._n_kept = 0 if snapshot is None else snapshot.n_answers

    def plausible_labels(self, row: int) -> list[int]:
        return list(range(self.created.table.n_labels))

    def status(self, standing: Standing, result: TrainingResult) -> TrainingStatus:
        created, setting = self.created, self.setting
        missing = missing_label(len(result.without_label), len(result.left), result.n_items_asked)
        return TrainingStatus(
            name=standing.name,
            status=result.status,
            promise=result.promise,
            protocol=setting.protocol,
            budget=setting.budget,
            target=setting.target,
            delta=setting.delta,
            f_no=setting.f_no,
            f_yes=setting.f_yes,
            accuracy=None if result.accuracy is None else (result.accuracy.low, result.accuracy.high),
            recent_accuracy=result.recent_accuracy,
            yes_rate=result.recent_yes_rate,
            n_verified=len(result.verified),
            n_items=created.table.n_items,
            n_labels=created.table.n_labels,
            n_answers=result.n_answers,
            n_open=standing.n_open,
            n_cant_tell=result.n_cant_tell,
            n_asked_to_end=result.n_asked_to_end,
            n_without_label=result.n_without_label,
            without_label=result.without_label,
            left=result.left,
            n_items_asked=result.n_items_asked,
            progress=result.progress,
            curve=result.curve,
            forecast=result.forecast,
            raters=standing.raters,
            warnings=(
                *warnings(standing.raters, setting.f_no, setting.f_yes, created.overlap),
                *([] if missing is None else [missing]),
            ),
            n_events=standing.head.n_events,
            log_digest=standing.head.digest,
        )

    def summary(self, result: TrainingResult) -> dict[str, Any]:
        accuracy = result.accuracy
        return {
            "accuracy": None if accuracy is None else [accuracy.low, accuracy.high],
            "n_answers": result.n_answers,
            "n_verified": len(result.verified),
            "promise": result.promise,
        }

    def recompute(self, log: Sequence[Event], progress: Callable[[int, int], None] | None) -> Finding:
        proof = replayed(log, self.learner)
        course, result = proof.course, proof.result
        if course is None or not isinstance(result, TrainingResult):
            return Finding(tuple(proof.problems))
        last = last_audit(course.plans)
        accuracy = accuracy_shown(course, self.setting, last)
        problems = [
            *audit_faults(course, last),
            *none_faults(course, self.about.none_of_these),
            *guess_faults(self.model, self._features, last),
            *end_differences(course.finished, result, self.summary(result)),
        ]
        if course.finished is not None:
            said = course.finished.summary.get("accuracy")
            if said != (None if accuracy is None else list(accuracy)):
                problems.append(f"the log ends with the accuracy {said}, and the answers show {accuracy}")
        shown = "no accuracy is shown yet"
        if accuracy is not None:
            shown = "the accuracy is between {:.3f} and {:.3f}".format(*accuracy)
        return Finding(
            tuple(problems),
            accuracy=accuracy,
            words=f"from {self._answers(result.n_answers)}, {shown}.",
            n_answers=result.n_answers,
        )

    def _answers(self, n: int) -> str:
        return f"{n:,} {'simulated ' if self.created.simulated else ''}answers"

    def board(self, status: TrainingStatus, result: TrainingResult, seen: Seen) -> Board:
        is_over = status.status is not RunStatus.RUNNING
        return Board(
            badge="trained" if is_over else "running",
            title=words.title(status),
            headline=words.headline(status),
            sentences=(words.aim(status), *words.to_come(status)),
            figures={
                "training": status,
                "n_answers": seen.n_answers,
                "promised": words.promised(status),
                "accuracy_chart": words.accuracy_chart(status),
            },
            plain={
                "training": asdict(status) | {"status": status.status.name.lower()},
                "n_answers": seen.n_answers,
            },
        )

    @property
    def rehearsal_key(self) -> tuple[object, ...]:
        return "training", self.setting.protocol, self._names is None

    def rehearsal(self) -> tuple[Learner[Any], Rater]:
        features = self._features[:REHEARSED_ITEMS]
        n_labels = self.created.table.n_labels
        learner, _ = build_training(self.setting, features, self._names, n_labels)
        return learner, SimulatedRater(np.arange(features.shape[0]) % n_labels)

    @property
    def most_answers(self) -> int:
        return self.setting.budget

    def classifier(self, result: TrainingResult) -> YesNoClassifier:
        """The classifier as it is now."""
        setting = self.setting
        return YesNoClassifier.trained(
            self._transformer(),
            self.model,
            np.array([label.name for label in self.about.labels]),
            result,
            protocol=setting.protocol,
            budget=setting.budget,
            target=setting.target,
            audit=setting.audit,
            delta=setting.delta,
            f_no=setting.f_no,
            f_yes=setting.f_yes,
            seed=setting.seed,
        )

    def due_snapshot(self) -> bytes | None:
        snapshot = due(self.learner, self.model, self._n_kept)
        if snapshot is not None:
            self._n_kept = self.learner.n_learned
        return snapshot


def with_audit(setting: TrainingSetting, n_items: int) -> TrainingSetting:
    """The setting of a new study, with as large an audit as its target takes; OptionError if that is too large.

    It is in the log from the start, so a log of an earlier version has the audit that it had.
    """
    if setting.target is None:
        return setting
    error_rates = setting.f_no, setting.f_yes
    try:
        audit = audit_for_target(
            setting.target, setting.audit, setting.budget, n_items, (0, n_items), setting.delta, error_rates
        )
    except InvalidInputError as error:
        raise OptionError("target", str(error)) from error
    return replace(setting, audit=audit)


def build_training(
    setting: TrainingSetting,
    features: NDArray[np.float32],
    names: NDArray[np.float32] | None,
    n_labels: int,
    snapshot: Snapshot | None = None,
) -> tuple[TrainingLearner, Model]:
    """A fresh learner and its model, or the model of a snapshot; InvalidInputError for what cannot be run."""
    fresh = built_in(features.shape[1], n_labels, names, generator(setting.seed, "networks"))
    model = fresh if snapshot is None else snapshot.model
    learner = TrainingLearner(
        model,
        features,
        n_labels,
        budget=setting.budget,
        protocol=setting.protocol,
        target=setting.target,
        audit=setting.audit,
        delta=setting.delta,
        f_no=setting.f_no,
        f_yes=setting.f_yes,
        near_are_alike=True,
        names=names,
        seed=setting.seed,
    )
    if snapshot is not None:
        learner.restore(snapshot.learned_through, snapshot.unlisted)
    return learner, model


def open_it(store: Store, entry: Entry, log: Sequence[Event], created: Created, about: About) -> Training:
    """A training of a store, with a fresh learner, and the model of its last snapshot."""
    features = read_features(store, entry.id, created.table)
    names = read_names(store, entry.id, created.table.n_labels, features.shape[1])
    return Training(
        entry.name,
        created,
        about,
        features,
        names,
        lambda: read_transformer(store, entry.id),
        read_snapshot(store, entry.id, log),
        read_truth(store, entry.id),
    )
