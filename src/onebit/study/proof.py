"""Everything that a study states, recomputed from its log, table and seed, and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from onebit.errors import InvalidInputError
from onebit.log.chain import Head, digests
from onebit.log.events import Asked, Checked, Created, Event, LogError, OtherVersionError
from onebit.log.fold import Course
from onebit.store.store import Entry, Store
from onebit.study.about import about_from_json
from onebit.study.checks import Checks
from onebit.study.kinds import Kind, open_kind
from onebit.study.kinds.kind import Finding
from onebit.study.seal import about_digest, shown_digest
from onebit.verify.audit import Verdict


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether a study bears out what it says; ``problems`` are sentences.

    ``verdict`` is the recomputed certificate; None for learners that give none, or where the replay failed already.
    ``stated_eps`` is the certified eps as the study tells it, and ``chosen`` are the models it is about. ``accuracy``
    is the recomputed interval of a classifier that was trained and audited. ``words`` say what holds. The log has
    ``n_events`` events, for which ``log_digest`` stands.
    """

    ok: bool
    problems: tuple[str, ...]
    n_events: int
    log_digest: str = ""
    verdict: Verdict | None = None
    accuracy: tuple[float, float] | None = None
    stated_eps: float | None = None
    chosen: tuple[str, ...] = ()
    simulated: bool | None = None
    words: str = ""
    n_answers: int | None = None


def verify_study(
    storage: str, name: str, progress: Callable[[int, int], None] | None = None, digest: str | None = None
) -> Proof:
    """Check the store's own order, the chain and the fold of the log, its replay, and all that it states.

    ``digest`` is one that was told of this log before: it must still be on the way to where the log ends. Nothing is
    written to the log; a store of an older version is upgraded, as by anyone who opens it.
    """
    with Store(storage) as store:
        store.check()
        entry = store.entry(name)
        try:
            log = store.log(entry.id)
        except OtherVersionError:
            raise
        except LogError as error:
            return Proof(False, (str(error),), entry.n_events)
        created = log.events[0] if log.events else None
        if not isinstance(created, Created):
            raise InvalidInputError(f"the study {name!r} has no log")
        problems = [*digest_faults(log.events, log.head, digest), *_seal_faults(store, entry, created)]
        if problems:
            return _proof(log.head, Finding(tuple(problems)))
        kind = open_kind(store, entry, log.events, created, about_from_json(entry.about))
        found = kind.recompute(log.events, progress)
        problems = [*found.problems, *([] if found.problems else _check_faults(kind, log.events))]
        return _proof(log.head, replace(found, problems=tuple(problems)), created.simulated)


def digest_faults(log: Sequence[Event], head: Head, kept: str | None) -> list[str]:
    """Whether the events are all that was linked, and whether a digest that somebody kept is one of this log."""
    found = digests(log)
    if found[-1] != head.digest:
        return ["an event of the log holds something that onebit does not write; the log was changed and linked anew"]
    if kept is None or kept in found:
        return []
    return [
        f"the digest {kept} is none of this log, neither of its end nor of an earlier event: the log was written "
        "anew since it was told, or it is that of another log"
    ]


def _proof(head: Head, found: Finding, simulated: bool | None = None) -> Proof:
    return Proof(
        not found.problems,
        found.problems,
        head.n_events,
        head.digest,
        found.verdict,
        found.accuracy,
        found.stated_eps,
        found.chosen,
        simulated,
        words=found.words or f"{head.n_events:,} events were replayed, and all is as the study says.",
        n_answers=found.n_answers if found.verdict is None else found.verdict.n_answers,
    )


def _seal_faults(store: Store, entry: Entry, created: Created) -> Iterator[str]:
    """What raters are told and shown, what the judge says, and the sizes of the table, against the first event."""
    if about_digest(entry.about) != created.about:
        yield (
            "what raters are told (instructions, labels, gold, names of models) is not what the study was created with"
        )
        return
    about, facts = about_from_json(entry.about), created.table
    if shown_digest(store, entry.id) != created.shown:
        yield "what raters are shown of the items, or what the judge says, is not what the study was created with"
    # Free texts are counted where the digest of the table is checked.
    n_labels = facts.n_labels if about.is_open else max(2, len(about.labels))
    if (facts.n_models, facts.n_labels) != (len(about.models), n_labels):
        yield (
            f"the log begins with {facts.n_models} models and {facts.n_labels} labels; the study has "
            f"{len(about.models)} and {len(about.labels)}"
        )


def _check_faults(kind: Kind, log: Sequence[Event]) -> Iterator[str]:
    """Where raters were not checked as the study was created to: which check comes when is drawn by the seed."""
    course, checks = Course(kind.created), Checks(kind)
    for number, event in enumerate(log[1:], start=1):
        if isinstance(event, Checked) and checks.next(event.rater, course) != event:
            yield f"event {number} checks {event.rater!r} by a question that was not due"
            return
        if isinstance(event, Asked) and event.rater is not None and checks.next(event.rater, course) is not None:
            yield f"event {number} gives {event.rater!r} a new question where a check was due"
            return
        course.take(event)
