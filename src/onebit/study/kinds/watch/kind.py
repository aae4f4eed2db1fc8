"""Studies that are one batch of a watch: a few fresh items, and whether the choice is still within eps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from onebit.learners.certified.watch import BatchLearner, WatchResult
from onebit.learners.contract import Learner
from onebit.log.events import Created, Event
from onebit.raters import Rater, SimulatedRater
from onebit.records import RunStatus
from onebit.store.store import Entry, Store
from onebit.study.about import About
from onebit.study.constants import REHEARSED_ITEMS
from onebit.study.kinds.kind import Board, Finding, Standing, StudyStatus
from onebit.study.kinds.of_models import OfModels, Told, read_told
from onebit.study.kinds.replayed import differences, end_differences, replayed
from onebit.study.kinds.watch import words
from onebit.study.quality import warnings
from onebit.study.view import Seen
from onebit.verify.watch import verify_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchStatus(StudyStatus):
    """The state of a watch with its last ``batch``: the ``alarms`` are rivals that were ahead by more than ``eps``.

    ``evidence`` says for each rival how far it is to an alarm: 1 is an alarm, 0 nothing, on a logarithmic scale.
    """

    chosen: str
    eps: float
    false_alarm_every: float
    batch: int
    n_models: int
    alarms: tuple[str, ...]
    evidence: dict[str, float]
    n_unanswered: int

    @property
    def is_safe_to_stop(self) -> bool:
        """A watch goes on; what ends it is an alarm."""
        return False

    def lines(self) -> list[str]:
        # Zero-argument super() does not know the class that slots made.
        return [f"{self.name}: {words.title(self)}", *words.rival_lines(self), *StudyStatus.lines(self)]

    def in_a_line(self) -> str:
        return f" of this batch; {self.n_unanswered:,} to come"


class WatchKind(OfModels):
    """A batch that is open; the choice is the first of its models."""

    name = "watch"
    learner: BatchLearner

    def __init__(self, study: str, created: Created, about: About, told: Told) -> None:
        super().__init__(study, created, about, told)
        self.setting = created.watch
        self.learner = BatchLearner(self.predictions, created.table.n_labels, self.setting)

    def plausible_labels(self, row: int) -> list[int]:
        return sorted(self.outputs(row))

    def status(self, standing: Standing, result: WatchResult) -> WatchStatus:
        models, setting = self.about.models, self.setting
        return WatchStatus(
            name=standing.name,
            status=result.status,
            promise=result.promise,
            chosen=models[0],
            eps=setting.eps,
            false_alarm_every=setting.false_alarm_every,
            batch=setting.batch,
            n_models=len(models),
            alarms=tuple(models[h] for h in result.alarms),
            evidence=dict(zip(models[1:], _on_the_way(result), strict=True)),
            n_unanswered=result.n_unanswered,
            n_items=self.created.table.n_items,
            n_answers=result.n_answers,
            n_open=standing.n_open,
            n_cant_tell=result.n_cant_tell,
            raters=standing.raters,
            warnings=tuple(warnings(standing.raters, 0.0, 0.0, self.created.overlap)),
            n_events=standing.head.n_events,
            log_digest=standing.head.digest,
        )

    def summary(self, result: WatchResult) -> dict[str, Any]:
        return {
            "batch": self.setting.batch,
            "alarms": [self.about.models[h] for h in result.alarms],
            "evidence": result.evidence.tolist(),
            "n_answers": result.n_answers,
            "promise": result.promise,
        }

    def recompute(self, log: Sequence[Event], progress: Callable[[int, int], None] | None) -> Finding:
        proof = replayed(log, self.learner)
        course, result = proof.course, proof.result
        if course is None or not isinstance(result, WatchResult):
            return Finding(tuple(proof.problems))
        found = verify_batch(self.setting, self.predictions, course.questions, course.answers)
        told = {"alarms": list(result.alarms), "evidence": result.carried.tolist()}
        again = {"alarms": list(found.alarms), "evidence": [list(row) for row in found.carried]}
        problems = [
            *found.problems,
            *differences("the learner", told, again),
            *end_differences(course.finished, result, self.summary(result)),
        ]
        alarmed = ", ".join(self.about.models[h] for h in found.alarms)
        shown = f"an alarm about {alarmed}" if alarmed else "no alarm"
        return Finding(
            tuple(problems),
            chosen=self.about.models[:1],
            words=f"batch {self.setting.batch}, with {result.n_answers:,} answers and all before it: {shown}.",
            n_answers=result.n_answers,
        )

    def board(self, status: WatchStatus, result: WatchResult, seen: Seen) -> Board:
        return Board(
            badge="alarm" if status.alarms else "running" if status.status is RunStatus.RUNNING else "watched",
            title=words.heading(status),
            headline=words.headline(status),
            sentences=(status.promise,),
            figures={"watch": status, "n_answers": seen.n_answers},
            plain={"watch": asdict(status) | {"status": status.status.name.lower()}, "n_answers": seen.n_answers},
        )

    @property
    def rehearsal_key(self) -> tuple[object, ...]:
        return "watch", self.predictions.dtype.str

    def rehearsal(self) -> tuple[Learner[Any], Rater]:
        predictions = np.ascontiguousarray(self.predictions[:, :REHEARSED_ITEMS])
        learner = BatchLearner(predictions, self.created.table.n_labels, self.setting)
        return learner, SimulatedRater(np.maximum(predictions[-1], 0))

    @property
    def most_answers(self) -> int | None:
        return self.learner.n_planned


def _on_the_way(result: WatchResult) -> list[float]:
    """How far the evidence of each rival is to an alarm, on a logarithmic scale from 1 to the threshold."""
    whole = math.log(result.threshold) or 1.0
    return [min(max(math.log(max(each, 1.0)) / whole, 0.0), 1.0) for each in result.evidence.tolist()]


def open_it(store: Store, entry: Entry, log: Sequence[Event], created: Created, about: About) -> WatchKind:
    """A batch of a store, with a fresh learner."""
    return WatchKind(entry.name, created, about, read_told(store, entry, created, about))
