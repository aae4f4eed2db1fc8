"""A store that the first version wrote is opened, upgraded, replayed, gone on with, served and copied."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.unit.study.make_first_version import EXPECTED, PATH, TRUTH
from tests.unit.web.served import BASE, Served

from onebit.study.audit import verify_study
from onebit.study.backup import backup
from onebit.study.database import VERSION
from onebit.study.opening import load_study
from onebit.study.store import Store
from onebit.study.study import Offer
from onebit.web.app import make_app
from onebit.web.site import Site


@pytest.mark.parametrize("name", ["certified", "uniform"])
def test_the_first_versions_store_still_works(tmp_path: Path, name: str) -> None:
    shutil.copy(PATH, tmp_path / "studies.db")
    storage = f"sqlite:///{tmp_path}/studies.db"
    expected = json.loads(EXPECTED.read_text())[name]
    with load_study(name, storage=storage) as study:
        status = study.status()
        assert study.digest() == expected["digest"]
        assert (status.n_answers, len(status.raters)) == (expected["n_answers"], expected["n_raters"])
        assert study.about.instructions == "Look twice."
        assert study.about.labels[0].description == "nothing"
        for rater in ("rater 0", "new", "newer"):
            offer = study.ask(rater)
            assert isinstance(offer, Offer)
            study.tell(offer, bool(TRUTH[offer.item] == offer.label))
    assert verify_study(storage, name).ok


def test_the_first_versions_store_is_upgraded_and_served(tmp_path: Path) -> None:
    path = tmp_path / "studies.db"
    shutil.copy(PATH, path)
    assert _version_and_tables(path) == ("1", {"studies", "events", "blocks"})
    storage = f"sqlite:///{path}"
    site = Site(storage, tmp_path, BASE)
    assert _version_and_tables(path) == (VERSION, {"studies", "events", "blocks", "links", "pauses"})
    try:
        first, _ = site.entries()
        tokens = [site.access.make("rater", first.id, name)[1] for name in ("rater 0", "new")]
        client = TestClient(make_app(site), base_url=BASE, follow_redirects=False)
        served = Served(site, client, site.access.make("owner")[1], *tokens)
        for token in tokens:
            (question,) = served.ask(token)
            row = int(question["item"]["id"]) - 1
            answer = "yes" if str(TRUTH[row]) == question["label"]["name"] else "no"
            assert served.tell(token, question, answer).status_code == 200
        site.access.pause(first.id, True)
        assert served.post("ask", tokens[0], n=1).json()["state"] == "paused"
        assert served.get(f"studies/{first.id}", served.owner).status_code == 200
    finally:
        site.close()
    with Store(storage) as store:
        assert store.entry(first.name).n_events >= first.n_events + 2
    assert verify_study(storage, first.name).ok
    assert backup(storage, str(tmp_path / "copy.db")) == 2
    copied = Site(f"sqlite:///{tmp_path}/copy.db", tmp_path, BASE)
    try:
        assert copied.access.is_paused(first.id)
        assert [copied.access.find(token).rater for token in tokens] == ["rater 0", "new"]
    finally:
        copied.close()


def _version_and_tables(path: Path) -> tuple[str, set[str]]:
    connection = sqlite3.connect(path)
    try:
        (version,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    finally:
        connection.close()
    return version, names - {"alembic_version"}
