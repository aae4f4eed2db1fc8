"""A watch: the batches of fresh items on which the choice of a finished study is held against its rivals.

Each batch is a study of its own, beside the one that is watched, with a seed that is drawn when its table is there. Its
first event holds the digest of the log before it and the evidence that it takes over from there, so a watch is a chain
of logs, and ``verify_watch`` goes through all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from onebit.errors import InvalidInputError
from onebit.learners.certified.statement import CertifiedResult
from onebit.log.chain import digests
from onebit.log.events import Created, Event, LogError
from onebit.log.fold import fold
from onebit.log.recorder import replay
from onebit.records import RunStatus, WatchSetting, WatchSoFar, WatchSpec
from onebit.store.store import Entry, Store
from onebit.study.creation import prepare
from onebit.study.kinds.kind import Kind
from onebit.study.kinds.replayed import differences
from onebit.study.kinds.watch.kind import WatchKind
from onebit.study.opening import open_study, read_whole
from onebit.study.proof import verify_study
from onebit.study.study import Study
from onebit.tables import ModelTable
from onebit.verify.watch import WatchVerdict, verify_batch


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of a watch in its store."""

    entry: Entry
    created: Created

    @property
    def setting(self) -> WatchSetting:
        return self.created.watch


@dataclass(frozen=True)
class _WholeBatch:
    """A batch with its log and its table."""

    batch: Batch
    events: list[Event]
    kind: WatchKind

    @property
    def what(self) -> str:
        return f"batch {self.batch.setting.batch} ({self.batch.entry.name})"

    def recounted(self, digest: str) -> WatchVerdict | None:
        """What the log shows up to a digest, by code that shares nothing with the learner; None if it is not there."""
        found = digests(self.events)
        if digest not in found:
            return None
        course = fold(self.events[: found.index(digest) + 1])
        return verify_batch(self.kind.setting, self.kind.predictions, course.questions, course.answers)


class Watch:
    """The watch of a study of a ``store``, which may have no batch yet; InvalidInputError if it cannot be watched."""

    def __init__(self, store: Store, name: str) -> None:
        self._store, self._study = store, store.entry(name)
        log, kind = read_whole(store, self._study)
        self._events: list[Event] = list(log.events)
        self._kind: Kind = kind
        self._digests = digests(self._events)
        self.chosen, self.eps = self._choice()

    def _choice(self) -> tuple[str, float]:
        name = self._study.name
        if self._kind.name != "selection":
            raise InvalidInputError(f"{name!r} is no selection of a model; only a choice among models can be watched")
        replay(self._events, self._kind.learner)
        result, setting = self._kind.learner.read(closes=False)(), self._kind.created.selection
        if not isinstance(result, CertifiedResult) or setting.baseline is not None:
            raise InvalidInputError(f"{name!r} chose no model with a certificate; only such a choice can be watched")
        if setting.ranks or setting.spends:
            raise InvalidInputError(
                f"{name!r} did not look for one model within an eps (top, tiers, or a budget alone); only such a "
                "choice can be watched: select it with --eps"
            )
        if result.status is not RunStatus.COMPLETE:
            raise InvalidInputError(
                f"{name!r} is not certified yet ({result.status.value}); finish it first: what is watched is that its "
                "choice stays within eps"
            )
        return self._kind.about.models[result.names[0]], setting.eps

    @property
    def study_id(self) -> int:
        """The number of the study that is watched."""
        return self._study.id

    def batches(self) -> list[Batch]:
        """The batches so far, in their order."""
        found = []
        for entry in self._store.entries():
            try:
                created = self._store.first_event(entry.id)
            except LogError:
                # Of another version, or damaged: whoever opens it is told.
                continue
            if not isinstance(created, Created) or not isinstance(created.setting, WatchSetting):
                continue
            if created.setting.of == self._digests[0]:
                found.append(Batch(entry, created))
        return sorted(found, key=lambda each: each.setting.batch)

    def open_last(self, read_only: bool = False) -> Study:
        """The last batch, which closes the store with it; InvalidInputError if there is none."""
        batches = self.batches()
        if not batches:
            raise InvalidInputError(f"{self._study.name!r} is not watched yet; give a table of fresh items")
        return open_study(self._store, batches[-1].entry, read_only)

    def begin(self, spec: WatchSpec, table: ModelTable, simulated: bool) -> Entry:
        """Make the next batch. What is open in the last one is left, and taken to speak for the choice."""
        batches = self.batches()
        before = [self._kind.created.table.digest, *(each.created.table.digest for each in batches)]
        spec = replace(spec, so_far=self._so_far(batches))
        new = prepare(spec, table, simulated=simulated)
        if batches and batches[-1].created.simulated != simulated:
            raise InvalidInputError("answers of people and of a simulation never mix; go on as the watch was begun")
        if new.created.table.digest in before or table.digest in before:
            raise InvalidInputError("this table was asked about before; a watch needs fresh items")
        return new.write(self._store, f"{self._study.name} watch {new.created.watch.batch}")

    def _so_far(self, batches: list[Batch]) -> WatchSoFar:
        if not batches:
            return WatchSoFar(self.chosen, None, self.eps, None, 1, self._digests[0], self._digests[-1], ())
        last = batches[-1]
        log, kind = read_whole(self._store, last.entry)
        replay(log.events, kind.learner)
        result = kind.learner.result
        if result.alarms:
            raise InvalidInputError(
                f"batch {last.setting.batch} raised an alarm about {kind.about.models[result.alarms[0]]!r}; the watch "
                "is over. Choose anew, and watch that choice"
            )
        carried = tuple(tuple(row) for row in result.carried.tolist())
        setting, models = last.setting, kind.about.models
        every = setting.false_alarm_every
        return WatchSoFar(
            models[0], models, setting.eps, every, setting.batch + 1, setting.of, log.head.digest, carried
        )

    def link_faults(self) -> Iterator[str]:
        """Where the chain of batches is broken: each must go on from what the log before it shows."""
        last: _WholeBatch | None = None
        for number, batch in enumerate(self.batches(), start=1):
            log, kind = read_whole(self._store, batch.entry)
            if not isinstance(kind, WatchKind):
                raise LogError(f"{batch.entry.name!r} is no batch of a watch")
            now = _WholeBatch(batch, list(log.events), kind)
            if batch.setting.batch != number:
                yield f"{now.what} should be batch {number}: one is missing, or there are two"
                return
            if batch.setting.eps != self.eps or kind.about.models[0] != self.chosen:
                yield f"{now.what} is not about {self.chosen} within {self.eps:g}, which the study chose"
            yield from self._first_faults(now) if last is None else _later_faults(last, now)
            last = now

    def _first_faults(self, first: _WholeBatch) -> Iterator[str]:
        setting = first.batch.setting
        if setting.after not in self._digests:
            yield f"{first.what} goes on from a log that is not that of the study"
        if setting.carried:
            yield f"{first.what} is the first and takes over evidence; a watch begins with none"


def _later_faults(last: _WholeBatch, now: _WholeBatch) -> Iterator[str]:
    before, setting = last.batch.setting, now.batch.setting
    if (last.kind.about.models, before.false_alarm_every, before.of) != (
        now.kind.about.models,
        setting.false_alarm_every,
        setting.of,
    ):
        yield f"{now.what} has other models, or another rate of false alarms, than the batch before"
        return
    shown = last.recounted(setting.after)
    if shown is None:
        yield f"{now.what} goes on from a log that is not the one before it"
        return
    if shown.alarms:
        yield f"{now.what} goes on after an alarm"
    yield from differences(now.what, [list(row) for row in setting.carried], [list(row) for row in shown.carried])


def watched_name(store: Store, name: str) -> str:
    """The study that a study watches, if it is a batch of a watch; otherwise its own name."""
    created = store.first_event(store.entry(name).id)
    if not isinstance(created, Created) or not isinstance(created.setting, WatchSetting):
        return name
    for entry in store.entries():
        with suppress(LogError):
            if digests([store.first_event(entry.id)])[0] == created.setting.of:
                return entry.name
    raise InvalidInputError(f"the study that {name!r} watches is not in this store; it was deleted, or is elsewhere")


def verify_watch(storage: str, name: str) -> list[str]:
    """What is wrong with the watch of a study: each batch is verified, and that each goes on from the one before."""
    with Store(storage) as store:
        watch = Watch(store, name)
        names = [batch.entry.name for batch in watch.batches()]
    problems = [f"{each}: {problem}" for each in names for problem in verify_study(storage, each).problems]
    if problems:
        return problems
    with Store(storage) as store:
        return list(Watch(store, name).link_faults())
