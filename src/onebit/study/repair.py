"""A new store from what can still be read of one that is damaged, and of a backup; the damaged one stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, insert

from onebit.errors import InvalidInputError
from onebit.store import schema
from onebit.store.locks import noted
from onebit.store.salvage import Fields, Salvage, begins_alike, sound_beginning
from onebit.store.store import Store
from onebit.study.checking import check_store


@dataclass(frozen=True, slots=True)
class Repaired:
    """What became of a study: the events that were kept, of those that had been there.

    ``problem`` says why it cannot be opened, None if it can. ``log`` is the file that then holds its events.
    """

    name: str
    n_kept: int
    n_known: int
    problem: str | None = None
    log: Path | None = None

    @property
    def words(self) -> str:
        kept = f"{self.name}: {self.n_kept:,} of {self.n_known:,} events are kept"
        lost = "" if self.n_kept == self.n_known else f"; the last {self.n_known - self.n_kept:,} are lost"
        if self.problem is None:
            return f"{kept}{lost}. It can be opened."
        where = "" if self.log is None else f" What could be read of its log is in {self.log}."
        return f"{kept}{lost}. It cannot be opened: {self.problem}.{where}"


@dataclass(frozen=True, slots=True)
class _Found:
    """What could be read of one study. ``study`` is None where its name or what raters are told is lost."""

    number: int
    study: Fields | None
    log: list[Fields]
    blocks: list[Fields]
    n_known: int


def repair_store(storage: str, target: Path, spare: str | None = None) -> list[Repaired]:
    """Write a new SQLite store with all that is sound: of each log its beginning, up to the first event that is not.

    ``spare`` is a backup. What cannot be read is taken from there, as far as it is of the same study: a table never
    changes, and an event of the backup must follow those before it. Nothing else than ``target`` is written.
    """
    if target.exists():
        raise InvalidInputError(f"{target} is there already; give another name, or move it away")
    sources = [Salvage(each) for each in (storage, spare) if each is not None]
    found = [_find(storage, number, sources) for number in sources[0].numbers()]
    whole = [each for each in found if each.study is not None]
    with Store(f"sqlite:///{target}") as store, store.writing() as connection:
        for each in whole:
            _write(connection, each)
        _write_access(connection, sources, {each.number for each in whole})
    problems = {each.name: each.problem for each in check_store(f"sqlite:///{target}")}
    return [_outcome(each, target, problems) for each in found]


def _find(storage: str, number: int, sources: Sequence[Salvage]) -> _Found:
    own = sources[0].log(number)
    # A study of the backup that has its number may be another one.
    alike = [source for source in sources if begins_alike(own, source.log(number))]
    log, blocks, study = dict[int, Fields](), dict[tuple[str, int], Fields](), None
    for source in alike:
        log = source.log(number) | log
        study = study or source.study(number)
    # What a backup holds was checked when it was written, so its blocks go first.
    for source in alike:
        blocks |= source.blocks(number)
    acknowledged = noted(storage, number)
    n_known = max([0 if acknowledged is None else acknowledged.head.n_events, *(n + 1 for n in log)], default=0)
    return _Found(number, study, sound_beginning(log), list(blocks.values()), n_known)


def _write(connection: Connection, found: _Found) -> None:
    if found.study is not None:
        connection.execute(insert(schema.studies), found.study)
    for table, rows in ((schema.events, found.log), (schema.blocks, found.blocks)):
        for row in rows:
            connection.execute(insert(table), row)


def _write_access(connection: Connection, sources: Sequence[Salvage], numbers: set[int]) -> None:
    """Links, pauses and archives of what is kept: a link of the backup alone may be that of a study that is gone."""
    for table in (schema.links, schema.pauses, schema.archives):
        for row in sources[0].rows(table.name):
            if row["study_id"] is None or row["study_id"] in numbers:
                connection.execute(insert(table), row)


def _outcome(found: _Found, target: Path, problems: dict[str, str | None]) -> Repaired:
    n_kept = len(found.log)
    if found.study is not None:
        name = str(found.study["name"])
        return Repaired(name, n_kept, found.n_known, problems.get(name))
    log = target.with_name(f"{target.name}.log-{found.number}.jsonl")
    log.write_text("".join(f"{row['event']}\n" for row in found.log))
    lost = "its name, or what it tells raters, cannot be read; give a backup (--backup) that has it"
    return Repaired(f"study number {found.number}", n_kept, found.n_known, lost, log)
