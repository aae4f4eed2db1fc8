"""``verify``: replay a study's log, and recompute its certificate from table, seed and answers alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from onebit.errors import InvalidInputError, OnebitError
from onebit.estimate.certificate import Verdict
from onebit.estimate.certificate import verify as verify_certificate
from onebit.records import Answer
from onebit.study.about import about_from_json
from onebit.study.events import Answered, Asked, Closed, Created, EpochBegan, Undone
from onebit.study.items import read_predictions
from onebit.study.learners import build_selection
from onebit.study.recorder import replay
from onebit.study.store import Store


@dataclass(frozen=True, slots=True)
class Audit:
    """Whether a study bears out what it says; ``problems`` are sentences.

    ``verdict`` is the recomputed certificate; None for learners that give none, or where the replay failed already.
    """

    ok: bool
    problems: tuple[str, ...]
    n_events: int
    verdict: Verdict | None


def verify_study(storage: str, name: str, progress: Callable[[int, int], None] | None = None) -> Audit:
    """Check the store's own order, then that the log replays, then the certificate.

    Nothing is written to the log; a store of an older version is upgraded, as by anyone who opens it.
    """
    with Store(storage) as store:
        store.check()
        entry = store.entry(name)
        log = list(store.events(entry.id))
        created = log[0] if log else None
        if not isinstance(created, Created):
            raise InvalidInputError(f"the study {name!r} has no log")
        predictions = read_predictions(store, entry.id, created.table, about_from_json(entry.about))
    n_labels = created.table.n_labels
    try:
        replay(log, build_selection(created.setting, created.learner, predictions, n_labels).learner)
    except OnebitError as error:
        return Audit(False, (str(error),), len(log), None)
    if created.learner != "certified":
        return Audit(True, (), len(log), None)
    answers: dict[int, Answer | int] = {}
    for event in log:
        if isinstance(event, Answered):
            answers[event.question_id] = event.answer
        elif isinstance(event, Undone):
            del answers[event.question_id]
    questions = [event.question for event in log if isinstance(event, Asked)]
    verdict = verify_certificate(
        created.setting,
        predictions,
        n_labels,
        [event.record for event in log if isinstance(event, EpochBegan)],
        questions,
        [answers.get(question.id) for question in questions],
        [event.closing for event in log if isinstance(event, Closed)],
        progress,
    )
    return Audit(verdict.ok, verdict.problems, len(log), verdict)
