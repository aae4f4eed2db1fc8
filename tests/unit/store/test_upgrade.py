"""A store that the first version wrote is opened and upgraded; its studies are refused with a sentence."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.unit.web.served import BASE, Served

from onebit.log.events import OtherVersionError
from onebit.store.backup import backup
from onebit.store.database import VERSION
from onebit.store.store import Store
from onebit.study.export import export_study
from onebit.study.opening import create_study, load_study
from onebit.study.proof import verify_study
from onebit.study.study import Offer
from onebit.web.app import make_app
from onebit.web.site import Site

#: Written by onebit 0.1.0: two studies, with overlap, gold and repeats.
PATH = Path(__file__).with_name("first_version.db")


@pytest.mark.parametrize("name", ["certified", "uniform"])
def test_studies_of_the_first_version_are_refused_and_say_who_reads_them(tmp_path: Path, name: str) -> None:
    """What a can't tell means has changed, so their certificates cannot be carried on."""
    shutil.copy(PATH, tmp_path / "studies.db")
    storage = f"sqlite:///{tmp_path}/studies.db"
    for refuses in (
        lambda: load_study(name, storage=storage),
        lambda: verify_study(storage, name),
        lambda: export_study(storage, name, tmp_path / "labels.csv"),
    ):
        with pytest.raises(OtherVersionError, match=r"version 1, .* onebit 0\.1\.0"):
            refuses()
    assert not (tmp_path / "labels.csv").exists()


def test_the_first_versions_store_is_upgraded_and_takes_new_studies(tmp_path: Path) -> None:
    path = tmp_path / "studies.db"
    shutil.copy(PATH, path)
    assert _version_and_tables(path) == ("1", {"studies", "events", "blocks"})
    storage = f"sqlite:///{path}"
    with create_study([[0, 1, 1], [1, 1, 0]], "new", storage=storage, eps=0.1) as study:
        assert isinstance(study.ask("ann"), Offer)
    assert _version_and_tables(path) == (VERSION, {"studies", "events", "blocks", "links", "pauses", "archives"})
    with Store(storage) as store:
        assert [entry.name for entry in store.entries()] == ["certified", "uniform", "new"]
        store.delete("certified")
    assert verify_study(storage, "new").ok
    assert backup(storage, str(tmp_path / "copy.db")) == 2


def test_a_study_of_the_first_version_is_refused_by_the_page(tmp_path: Path) -> None:
    shutil.copy(PATH, tmp_path / "studies.db")
    site = Site(f"sqlite:///{tmp_path}/studies.db", tmp_path, BASE)
    try:
        first, _ = site.entries()
        client = TestClient(make_app(site), base_url=BASE, follow_redirects=False)
        served = Served(site, client, site.access.make("owner")[1], "", "")
        response = served.get(f"studies/{first.id}", served.owner)
        assert 400 <= response.status_code < 500
        assert "onebit 0.1.0" in response.text
    finally:
        site.close()


def _version_and_tables(path: Path) -> tuple[str, set[str]]:
    connection = sqlite3.connect(path)
    try:
        (version,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    finally:
        connection.close()
    return version, names - {"alembic_version"}
