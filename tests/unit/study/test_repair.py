"""A store that is damaged: looked at, and what is sound of it written anew, with nothing of it changed."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.study.runs import PREDICTIONS, TRUTH

from onebit.errors import InvalidInputError, OnebitError
from onebit.store.backup import backup
from onebit.store.database import StoreError
from onebit.store.store import Store
from onebit.study import copies
from onebit.study.checking import check_store
from onebit.study.copies import back_up, back_up_into
from onebit.study.opening import create_study, load_study
from onebit.study.proof import verify_study
from onebit.study.repair import repair_store
from onebit.study.study import Offer, Study
from onebit.web.access import Access

N_ANSWERS = 40


def answered(study: Study, n: int = N_ANSWERS) -> None:
    for _ in range(n):
        offer = study.ask("ann")
        assert isinstance(offer, Offer)
        study.tell(offer, bool(TRUTH[offer.item] == offer.label))


def url(path: Path) -> str:
    return f"sqlite:///{path}"


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Two studies and a link."""
    path = tmp_path / "studies.db"
    for name in ("first", "second"):
        with create_study(PREDICTIONS, name, storage=url(path), eps=0.1) as study:
            answered(study)
    with Store(url(path)) as store:
        Access(store).make("rater", 1, "ann")
    return path


def changed(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def everything(path: Path) -> dict[str, bytes]:
    """A store and what is beside it, but for what SQLite shares between processes, and a log that is empty."""
    beside = [each for each in path.parent.glob(f"{path.name}*") if not each.name.endswith("-shm")]
    return {each.name: each.read_bytes() for each in beside if each.stat().st_size}


def test_a_whole_store_is_found_whole(stored: Path) -> None:
    found = check_store(url(stored))
    assert [(each.name, each.problem) for each in found] == [("first", None), ("second", None)]
    assert all(each.n_events > 2 * N_ANSWERS and len(each.log_digest) == 64 for each in found)


def test_a_study_is_damaged_and_the_other_is_not(stored: Path) -> None:
    changed(stored, "UPDATE events SET event = replace(event, 'ann', 'bob') WHERE study_id = 1 AND seq = 30")
    first, second = check_store(url(stored))
    assert first.problem is not None
    assert "event 31" in first.problem
    assert second.problem is None


def test_looking_at_a_cut_log_does_not_throw_its_rest_away(tmp_path: Path) -> None:
    """Whoever closes such a store last would otherwise take the damaged log for all there is, and delete it."""
    path, copy = tmp_path / "studies.db", tmp_path / "copy" / "studies.db"
    copy.parent.mkdir()
    with create_study(PREDICTIONS, "s", storage=url(path), eps=0.1) as study:
        answered(study)
        for each in tmp_path.glob("studies.db*"):
            shutil.copy(each, copy.parent)
    log = copy.with_name("studies.db-wal")
    damaged = bytearray(log.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    log.write_bytes(damaged)
    before = everything(copy)
    (found,) = check_store(url(copy))
    assert found.problem is not None
    assert "were acknowledged" in found.problem
    repair_store(url(copy), tmp_path / "new.db")
    assert everything(copy) == before


def test_a_study_that_was_lost_with_the_end_of_the_log_is_missed(tmp_path: Path) -> None:
    """A write-ahead log that is damaged before a study was made loses all of it: nothing in the store tells of it."""
    path, copy = tmp_path / "studies.db", tmp_path / "copy" / "studies.db"
    copy.parent.mkdir()
    create_study(PREDICTIONS, "first", storage=url(path), eps=0.1).close()
    with create_study(PREDICTIONS, "second", storage=url(path), eps=0.1) as study:
        answered(study, 3)
        for each in tmp_path.glob("studies.db*"):
            shutil.copy(each, copy.parent)
    copy.with_name("studies.db-wal").unlink()
    first, second = check_store(url(copy))
    assert first.problem is None
    assert second.problem is not None
    assert "is not in the store" in second.problem


def test_of_a_damaged_log_its_beginning_is_kept(stored: Path, tmp_path: Path) -> None:
    changed(stored, "UPDATE events SET event = replace(event, 'ann', 'bob') WHERE study_id = 1 AND seq = 30")
    before = everything(stored)
    first, second = repair_store(url(stored), tmp_path / "new.db")
    # Event 31 holds the digest of event 30 as it was, so event 30 itself is the last that may have been changed.
    assert (first.n_kept, first.problem, second.problem) == (31, None, None)
    assert first.n_known > 80
    assert second.n_kept == second.n_known
    assert everything(stored) == before
    with load_study("first", storage=url(tmp_path / "new.db")) as study:
        answered(study, 5)
    with Store(url(tmp_path / "new.db")) as store:
        assert [link.rater for link in Access(store).working(1)] == ["ann"]
    assert verify_study(url(tmp_path / "new.db"), "second").ok


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE studies SET about = substr(about, 2) WHERE id = 1",
        "UPDATE blocks SET data = x'00' WHERE kind = 'items' AND study_id = 1",
        "DELETE FROM blocks WHERE kind = 'predictions' AND study_id = 1",
        "DELETE FROM events WHERE study_id = 1 AND seq = 10",
    ],
)
def test_what_cannot_be_read_is_taken_from_a_backup(stored: Path, tmp_path: Path, statement: str) -> None:
    backup(url(stored), str(tmp_path / "spare.db"))
    with load_study("first", storage=url(stored)) as study:
        answered(study, 5)
        n_events = study.head.n_events
    changed(stored, statement)
    without = {each.name: each for each in repair_store(url(stored), tmp_path / "without.db")}
    assert any(each.problem is not None or each.n_kept < each.n_known for each in without.values())
    outcomes = repair_store(url(stored), tmp_path / "new.db", url(tmp_path / "spare.db"))
    assert [(each.name, each.problem) for each in outcomes] == [("first", None), ("second", None)]
    assert outcomes[0].n_kept == n_events


def test_a_study_without_a_name_leaves_its_log_in_a_file(stored: Path, tmp_path: Path) -> None:
    changed(stored, "UPDATE studies SET about = substr(about, 2) WHERE id = 1")
    first, second = repair_store(url(stored), tmp_path / "new.db")
    assert first.log is not None
    assert len(first.log.read_text().splitlines()) == first.n_kept > 80
    assert second.problem is None
    assert [each.name for each in check_store(url(tmp_path / "new.db"))] == ["second"]


def test_another_study_of_a_backup_is_not_mixed_in(stored: Path, tmp_path: Path) -> None:
    with create_study(PREDICTIONS, "first", storage=url(tmp_path / "other.db"), eps=0.2) as study:
        answered(study)
    changed(stored, "DELETE FROM events WHERE study_id = 1 AND seq = 10")
    first, _ = repair_store(url(stored), tmp_path / "new.db", url(tmp_path / "other.db"))
    assert first.n_kept == 10
    load_study("first", storage=url(tmp_path / "new.db")).close()


def test_a_damaged_page_loses_little(stored: Path, tmp_path: Path) -> None:
    """Pages in the middle of the file are overwritten; what they held is lost, and the rest is read past them."""
    content = bytearray(stored.read_bytes())
    with sqlite3.connect(stored) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        pages = "SELECT pageno FROM dbstat WHERE name = 'events' AND pagetype = 'leaf' ORDER BY pageno"
        try:
            page = connection.execute(pages).fetchall()[-2][0]
        except sqlite3.OperationalError:
            pytest.skip("this SQLite was built without dbstat")
    connection.close()
    content[(page - 1) * size : page * size] = bytes(size)
    stored.write_bytes(content)
    with pytest.raises(StoreError):
        check_store(url(stored))
    first, second = repair_store(url(stored), tmp_path / "new.db")
    assert first.n_kept + second.n_kept > (first.n_known + second.n_known) // 2
    assert first.problem is None


def test_repair_never_writes_over_a_file(stored: Path) -> None:
    before = everything(stored)
    with pytest.raises(InvalidInputError, match="is there already"):
        repair_store(url(stored), stored)
    assert everything(stored) == before


def test_backups_are_kept_up_to_a_number_and_no_other_file_goes(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    (folder / "mine.db").write_text("not yours")
    made = []
    for second in range(4):
        monkeypatch.setattr(copies, "now", lambda second=second: f"20261117T00000{second}Z")
        path, found = back_up_into(url(stored), folder, 2)
        made.append(path)
        assert [each.name for each in found] == ["first", "second"]
    assert sorted(folder.iterdir()) == [folder / "mine.db", *made[2:]]


def test_a_backup_that_is_not_whole_is_said_and_takes_no_older_one(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "now", lambda: "20261117T000000Z")
    kept, _ = back_up_into(url(stored), tmp_path, 1)
    changed(stored, "UPDATE blocks SET data = x'00' WHERE kind = 'items' AND study_id = 1")
    monkeypatch.setattr(copies, "now", lambda: "20261117T000001Z")
    with pytest.raises(StoreError, match="not whole: first"):
        back_up_into(url(stored), tmp_path, 1)
    assert kept.exists()


def test_a_copy_with_fewer_events_is_no_backup(stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(storage: str, target: str, progress: Callable[[int, int], None] | None = None) -> None:
        backup(storage, target, progress)
        changed(Path(target), "DELETE FROM events WHERE study_id = 2 AND seq > 20")

    monkeypatch.setattr(copies, "backup", cut)
    with pytest.raises(OnebitError, match="second: 21 of"):
        back_up(url(stored), str(tmp_path / "copy.db"))
