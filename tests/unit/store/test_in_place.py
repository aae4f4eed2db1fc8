"""A store whose files are moved, replaced or removed while it is open: what nobody would find is not acknowledged."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.unit.study.runs import PREDICTIONS, TRUTH

from onebit.store.backup import backup
from onebit.store.database import InUseError, StoreError
from onebit.study.opening import create_study, load_study
from onebit.study.study import Offer, Study
from onebit.web.access import Access


@pytest.fixture
def file(tmp_path: Path) -> Path:
    create_study(PREDICTIONS, "letters", storage=f"sqlite:///{tmp_path}/my.db", eps=0.1).close()
    return tmp_path / "my.db"


def answer(study: Study) -> None:
    offer = study.ask("ann")
    assert isinstance(offer, Offer)
    study.tell(offer, bool(TRUTH[offer.item] == offer.label))


def with_log(file: Path) -> list[Path]:
    return [file.with_name(f"{file.name}{end}") for end in ("", "-wal", "-shm")]


@pytest.mark.parametrize("replaces", [True, False])
def test_a_store_that_was_moved_away_takes_nothing_until_it_is_back(file: Path, tmp_path: Path, replaces: bool) -> None:
    backup(f"sqlite:///{file}", str(tmp_path / "copy.db"))
    with load_study("letters", storage=f"sqlite:///{file}") as study:
        answer(study)
        (tmp_path / "away").mkdir()
        for each in with_log(file):
            shutil.move(each, tmp_path / "away" / each.name)
        if replaces:
            shutil.copy(tmp_path / "copy.db", file)
        with pytest.raises(StoreError, match="moved away, or another put in its place"):
            answer(study)
        with pytest.raises(StoreError, match="nothing was acknowledged"):
            Access(study._store).make("owner")
        file.unlink(missing_ok=True)
        for each in with_log(file):
            os.replace(tmp_path / "away" / each.name, each)
        answer(study)
        n_events = study.head.n_events
    with load_study("letters", storage=f"sqlite:///{file}") as study:
        assert study.n_answers_of("ann") == 2
        assert study.head.n_events == n_events


def test_whoever_changes_the_working_folder_goes_on(
    file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(file.parent)
    with load_study("letters", storage=f"sqlite:///{file.name}") as study:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        answer(study)


def test_a_symbolic_link_leads_to_the_same_lock(file: Path, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "my.db"
    link.symlink_to(file)
    with load_study("letters", storage=f"sqlite:///{file}"), pytest.raises(InUseError, match="open elsewhere"):
        load_study("letters", storage=f"sqlite:///{link}")
    with load_study("letters", storage=f"sqlite:///{link}") as study:
        answer(study)
    assert [each.name for each in link.parent.iterdir()] == ["my.db"]


def test_a_lock_whose_file_was_removed_is_taken_again(file: Path) -> None:
    storage = f"sqlite:///{file}"
    with load_study("letters", storage=storage) as study:
        file.with_name("my.db.lock-1").unlink()
        answer(study)
        with pytest.raises(InUseError, match="open elsewhere"):
            load_study("letters", storage=storage)
        file.with_name("my.db.lock-1").unlink()
        with load_study("letters", storage=storage), pytest.raises(InUseError, match="the lock was lost"):
            answer(study)
