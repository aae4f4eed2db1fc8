"""Links and pauses in every store: an older store gets their tables, a study takes its own along, a backup has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, select, text
from tests.unit.study.runs import PREDICTIONS, TRUTH, created

from onebit.errors import InvalidInputError
from onebit.store import schema
from onebit.store.backup import backup
from onebit.store.store import Store
from onebit.study.opening import create_study, load_study
from onebit.study.study import Offer
from onebit.web.access import Access, UnknownLinkError


def as_of_version_1(storage: str, was_served: bool) -> None:
    """Take a store back to the first version, whose tables of links and pauses only a server made."""
    with Store(storage) as store, store.writing() as connection:
        for name in ("archives",) if was_served else ("archives", "links", "pauses"):
            connection.execute(text(f"DROP TABLE {name}"))
        connection.execute(text("UPDATE alembic_version SET version_num = '1'"))


@pytest.mark.parametrize("was_served", [False, True])
def test_a_store_of_the_first_version_is_upgraded_with_all_that_it_holds(storage: str, was_served: bool) -> None:
    with create_study(PREDICTIONS, "s", storage=storage, eps=0.1) as study:
        offer = study.ask("ann")
        assert isinstance(offer, Offer)
        study.tell(offer, bool(TRUTH[offer.item] == offer.label))
        digest = study.digest()
    with Store(storage) as store:
        token = Access(store).make("rater", 1, "ann")[1]
    as_of_version_1(storage, was_served)
    with Store(storage) as store:
        with store.reading() as connection:
            assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []
            assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == "3"
        access = Access(store)
        if was_served:
            assert access.find(token).rater == "ann"
        else:
            assert access.find(access.make("rater", 1, "bob")[1]).rater == "bob"
    with load_study("s", storage=storage) as again:
        assert again.digest() == digest


def test_an_upgrade_that_fails_leaves_the_store_as_it_was(storage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(storage) as before:
        before.create("s", {}, [created()], [])
        as_of_version_1(storage, was_served=False)
        with monkeypatch.context() as broken:
            broken.setattr("alembic.runtime.migration.HeadMaintainer.update_to_step", _fail)
            with pytest.raises(RuntimeError, match="the plug"):
                Store(storage)
        with before.reading() as connection:
            assert set(inspect(connection).get_table_names()) == {"alembic_version", "studies", "events", "blocks"}
    with Store(storage) as store:
        assert store.log(1).events == [created()]
        assert Access(store).of_study(1) == []


def _fail(*_: object) -> None:
    raise RuntimeError("somebody pulled the plug")


def test_links_and_pauses_go_with_their_study(storage: str) -> None:
    with Store(storage) as store:
        for name in ("a", "b"):
            store.create(name, {}, [created()], [])
        access = Access(store)
        owner, of_a, of_b = (
            access.make("owner")[1],
            access.make("rater", 1, "ann")[1],
            access.make("rater", 2, "ann")[1],
        )
        access.pause(1, True)
        access.pause(2, True)
        store.delete("a")
        left = Access(store)
        assert (left.of_study(1), left.is_paused(1)) == ([], False)
        with pytest.raises(UnknownLinkError):
            left.find(of_a)
        assert (left.find(of_b).study_id, left.is_paused(2)) == (2, True)
        assert left.find(owner).kind == "owner"


def test_a_backup_has_the_links_and_the_pauses(tmp_path: Path, storage: str) -> None:
    source, back = f"sqlite:///{tmp_path}/source.db", f"sqlite:///{tmp_path}/back.db"
    with Store(source) as store:
        store.create("s", {}, [created()], [])
        access = Access(store)
        owner = access.make("owner")[1]
        ann, bob = (access.make("rater", 1, name)[1] for name in ("ann", "bob"))
        access.revoke(3, 1)
        access.pause(1, True)
        kept = _links(store)
    assert backup(source, storage) == 1
    assert backup(storage, back) == 1
    for url in (storage, back):
        with Store(url) as store:
            assert _links(store) == kept
            copied = Access(store)
            assert copied.find(owner).kind == "owner"
            assert copied.find(ann).rater == "ann"
            with pytest.raises(UnknownLinkError):
                copied.find(bob)
            assert copied.is_paused(1)
            # Numbers go on after those that were copied.
            assert copied.make("rater", 1, "cyd")[0].id == 4
            assert store.create("t", {}, [created()], []).id == 2


def test_a_backup_is_not_mixed_with_the_links_of_another_store(tmp_path: Path, storage: str) -> None:
    with Store(storage) as store:
        Access(store).make("owner")
    source = f"sqlite:///{tmp_path}/source.db"
    with Store(source) as store:
        store.create("s", {}, [created()], [])
    # A file that is there is refused before it is opened.
    with pytest.raises(InvalidInputError, match=r"there already|holds studies or links already"):
        backup(source, storage)
    with Store(storage) as store:
        assert store.entries() == []
        assert len(_links(store)) == 1


def _links(store: Store) -> list[tuple[object, ...]]:
    with store.reading() as connection:
        return [tuple(row) for row in connection.execute(select(schema.links).order_by(schema.links.c.id))]
