"""Damage on the disk: noticed when a study is opened, in words, or harmless; and what is beside a store."""

from __future__ import annotations

import random
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.study.runs import PREDICTIONS, TRUTH

from onebit.errors import OnebitError
from onebit.log.events import LogError
from onebit.store.backup import backup
from onebit.store.database import StoreError
from onebit.store.store import Store
from onebit.study.opening import create_study, load_study
from onebit.study.proof import verify_study
from onebit.study.study import Offer, Study

#: Bits flipped, and ends cut off; each is a store opened and verified.
N_FLIPS, N_CUTS = 40, 8


def answered(study: Study, n: int) -> None:
    for _ in range(n):
        offer = study.ask("ann")
        assert isinstance(offer, Offer)
        study.tell(offer, bool(TRUTH[offer.item] == offer.label))


@pytest.fixture
def store_file(tmp_path: Path) -> Path:
    path = tmp_path / "studies.db"
    with create_study(PREDICTIONS, "s", storage=f"sqlite:///{path}", eps=0.1) as study:
        answered(study, 40)
    return path


def test_who_opens_a_store_takes_no_lock_from_those_who_have_it_open(store_file: Path) -> None:
    """A file that is opened and closed again loses all locks of its process; the next who leaves would take its log."""
    storage = f"sqlite:///{store_file}"
    looks = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM events').fetchone(); c.close()"
    )
    with load_study("s", storage=storage) as study:
        answered(study, 3)
        with Store(storage) as tidy:
            tidy.empty_log()
        with Store(storage) as other:
            assert other.entries()
        subprocess.run([sys.executable, "-c", looks, store_file], check=True)
        answered(study, 3)
        acknowledged = study.head
        shutil.copytree(store_file.parent, store_file.parent.with_name("as it is"))
    copy = store_file.parent.with_name("as it is") / store_file.name
    with load_study("s", storage=f"sqlite:///{copy}", read_only=True) as again:
        assert again.head == acknowledged


def changed(path: Path, statement: str) -> str:
    """A store after a statement; its URL."""
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()
    return f"sqlite:///{path}"


def contents(path: Path) -> dict[str, Any]:
    """Everything that matters in a store: all but who wrote an event."""
    connection = sqlite3.connect(path)
    try:
        queries = {
            "studies": "SELECT * FROM studies",
            "events": "SELECT seq, event, written_at FROM events",
            "blocks": "SELECT kind, number, data FROM blocks",
        }
        return {name: connection.execute(query).fetchall() for name, query in queries.items()}
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE events SET written_at = '2027' || substr(written_at, 5) WHERE seq = 3", "event 3 .* when, is damaged"),
        ("UPDATE events SET writer = 'x' || substr(writer, 2) WHERE seq = 3", "event 3 .* who wrote it"),
        ("UPDATE events SET written_at = x'00' WHERE seq = 3", "no text"),
        ("UPDATE studies SET about = substr(about, 2)", "what the study 's' tells raters is damaged"),
        ("UPDATE studies SET about = '[]'", "what the study 's' tells raters is damaged"),
        ("UPDATE blocks SET data = x'00' WHERE kind = 'items'", "what raters are shown"),
        ("DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)", "and 8. were acknowledged"),
    ],
)
def test_what_is_damaged_is_said_when_a_study_is_opened(store_file: Path, statement: str, says: str) -> None:
    storage = changed(store_file, statement)
    for read_only in (False, True):
        with pytest.raises((LogError, StoreError), match=says):
            load_study("s", storage=storage, read_only=read_only)


def test_names_of_tables_that_are_no_text_are_said(store_file: Path) -> None:
    """SQLite quotes them in its error, which then is no text either."""
    content = store_file.read_bytes()
    store_file.write_bytes(content.replace(b"CREATE TABLE events", b"CREATE TABLX\xd5events"))
    with pytest.raises(StoreError, match="is damaged"):
        load_study("s", storage=f"sqlite:///{store_file}")


def test_shown_texts_that_break_while_a_study_is_open_are_said(store_file: Path) -> None:
    with load_study("s", storage=f"sqlite:///{store_file}") as study:
        changed(store_file, "UPDATE blocks SET data = x'0011' WHERE kind = 'items'")
        with pytest.raises(StoreError, match="what raters are shown is damaged"):
            study.item(0)


def test_flipped_bits_are_noticed_or_harmless(
    store_file: Path, tmp_path: Path, measured: Callable[[str], None]
) -> None:
    whole, before = store_file.read_bytes(), contents(store_file)
    draw, became = random.Random(5), Counter[str]()
    for number in range(N_FLIPS):
        damaged = bytearray(whole)
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        path = tmp_path / f"{number}.db"
        path.write_bytes(damaged)
        try:
            is_noticed = not verify_study(f"sqlite:///{path}", "s").ok
        except OnebitError:
            is_noticed = True
        became["noticed" if is_noticed else "harmless"] += 1
        assert is_noticed or contents(path) == before
    assert became["noticed"] > 0
    measured(f"single bits flipped in a store: {became['noticed']} noticed, {became['harmless']} harmless, 0 neither")


def test_an_end_that_was_cut_off_is_noticed(tmp_path: Path, measured: Callable[[str], None]) -> None:
    """A server that was killed leaves a write-ahead log; somebody copies half of it."""
    path = tmp_path / "studies.db"
    n_noticed = 0
    with create_study(PREDICTIONS, "s", storage=f"sqlite:///{path}", eps=0.1) as study:
        answered(study, 60)
        n_events = study.head.n_events
        wal = path.with_name("studies.db-wal").read_bytes()
        for number in range(N_CUTS):
            copy = tmp_path / f"cut {number}" / "studies.db"
            copy.parent.mkdir()
            shutil.copy(path, copy)
            shutil.copy(f"{path}.lock-1", f"{copy}.lock-1")
            copy.with_name("studies.db-wal").write_bytes(wal[: len(wal) * (number + 1) // (N_CUTS + 1)])
            with pytest.raises(OnebitError):
                load_study("s", storage=f"sqlite:///{copy}")
            n_noticed += 1
    assert n_events > 120
    measured(f"ends of a write-ahead log cut off: {n_noticed} of {N_CUTS} noticed")


def test_a_note_that_was_half_written_locks_nobody_out(store_file: Path) -> None:
    """The number of the new line and the digest of the old one: such a study could not be opened any more."""
    beside = store_file.with_name("studies.db.lock-1")
    with load_study("s", storage=f"sqlite:///{store_file}") as study:
        old = beside.read_bytes()
        answered(study, 1)
        new = beside.read_bytes()
    n_digits = new.index(b" ")
    beside.write_bytes(new[:n_digits] + old[n_digits:])
    load_study("s", storage=f"sqlite:///{store_file}").close()


def test_an_older_backup_that_was_put_there_is_told_how_to_be_opened(store_file: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.db"
    backup(f"sqlite:///{store_file}", str(kept))
    with load_study("s", storage=f"sqlite:///{store_file}") as study:
        answered(study, 5)
    shutil.copy(kept, store_file)
    beside = store_file.with_name("studies.db.lock-1")
    with pytest.raises(LogError, match=f"remove {beside}"):
        load_study("s", storage=f"sqlite:///{store_file}")
    beside.unlink()
    with load_study("s", storage=f"sqlite:///{store_file}") as study:
        answered(study, 1)


def test_a_new_study_with_an_old_number_is_not_taken_for_the_old_one(store_file: Path) -> None:
    store_file.unlink()
    with create_study(PREDICTIONS, "s", storage=f"sqlite:///{store_file}", eps=0.1) as study:
        answered(study, 1)
    load_study("s", storage=f"sqlite:///{store_file}").close()


def test_a_store_is_for_its_owner_alone(store_file: Path) -> None:
    with load_study("s", storage=f"sqlite:///{store_file}") as study:
        answered(study, 1)
        for path in store_file.parent.glob("studies.db*"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_rows_of_a_store_before_stamps_are_read(store_file: Path) -> None:
    changed(store_file, "UPDATE events SET writer = substr(writer, 1, 32)")
    with Store(f"sqlite:///{store_file}") as store:
        assert len(store.log(1).events) > 80
