"""A batch of a watch on the dashboard, and answered over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.unit.study.test_watch import columns
from tests.unit.web.served import BASE, Served

import onebit
from onebit.records import WatchSpec
from onebit.store.store import Store
from onebit.study.folder import StudyFolder
from onebit.study.kinds.selection.making import read_models
from onebit.study.kinds.watch.chain import Watch, verify_watch
from onebit.web.app import make_app
from onebit.web.site import Site


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[tuple[Served, StudyFolder]]:
    """A batch of eight answers, served with a link for ann."""
    table, truth = columns(400, 0)
    onebit.select(table, truth, eps=0.1, out=tmp_path / "run", quiet=True)
    place = StudyFolder(tmp_path / "run")
    with Store(place.storage) as store:
        fresh, _ = columns(200, 1)
        Watch(store, place.name()).begin(WatchSpec(answers=8), read_models(WatchSpec(), fresh), simulated=False)
    site = Site(place.storage, tmp_path, BASE)
    owner, ann = site.access.make("owner")[1], site.access.make("rater", 2, "ann")[1]
    yield Served(site, TestClient(make_app(site), base_url=BASE), owner, ann, ann), place
    site.close()


def test_a_batch_is_answered_and_seen(watched: tuple[Served, StudyFolder]) -> None:
    served, place = watched
    served.client.get(f"/o/{served.owner}")
    page = served.client.get("/studies/2").text
    assert "batch 1 of a watch: 2 models, 200 fresh items" in page
    assert "No alarm about old" in page
    n = 0
    while questions := served.ask(served.ann, n=3):
        for question in questions:
            assert served.tell_seen(served.ann, question, "no").is_success
            n += 1
    assert n == 8
    told = served.get("studies/2", served.owner).json()
    assert (told["kind"], told["is_over"], told["watch"]["n_unanswered"]) == ("watch", True, 0)
    assert "badge watched" in served.client.get("/studies/2").text
    assert served.client.get("/studies/1").is_success
    served.site.close()
    assert verify_watch(place.storage, place.name()) == []
