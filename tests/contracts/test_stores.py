"""The shipped suite over every store; and what studies keep in each: what is acknowledged stays, one writer."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text
from tests.unit.study.runs import PREDICTIONS, TRUTH, created

from onebit.errors import AlreadyAnsweredError, InvalidInputError
from onebit.log.chain import Chain
from onebit.log.events import Answered, Event, LogError
from onebit.records import Answer, RunStatus, Status
from onebit.store import database, schema
from onebit.store.database import InUseError, LostConnectionError, NotWrittenError, StoreError
from onebit.store.store import Store
from onebit.study.kinds.selection.kind import Selection
from onebit.study.kinds.selection.status import SelectionStatus
from onebit.study.opening import create_study, load_study
from onebit.study.study import Offer, Study
from onebit.testing import StoreSuite
from onebit.testing.stores import ANSWERED, ASKED, Open, append


class TestStore(StoreSuite):
    """SQLite and PostgreSQL."""

    @pytest.fixture
    def open_store(self, storage: str) -> Open:
        return lambda: Store(storage)


@pytest.fixture
def store(storage: str) -> Any:
    opened = Store(storage)
    yield opened
    opened.close()


def new_study(storage: str, **options: Any) -> Study:
    return create_study(PREDICTIONS, "s", storage=storage, eps=0.1, **options)


def log_of(storage: str) -> list[Event]:
    with Store(storage) as store:
        return store.log(1).events


def answer(study: Study, rater: str | None = None) -> bool:
    """Answer one question by the truth; whether there was one."""
    offer = study.ask(rater)
    if isinstance(offer, Status):
        return False
    study.tell(offer, bool(TRUTH[offer.item] == offer.label))
    return True


def test_errors_say_which_studies_there_are(store: Store) -> None:
    store.create("a", {}, [created()], [])
    with pytest.raises(InvalidInputError, match="already"):
        store.create("a", {}, [created()], [])
    with pytest.raises(InvalidInputError, match="there are: a"):
        store.entry("b")
    with pytest.raises(InvalidInputError, match="needs a name"):
        store.create(" ", {}, [created()], [])


def test_a_creation_that_fails_leaves_no_row(store: Store) -> None:
    def blocks() -> Any:
        yield ("items", 0, b"x")
        raise InvalidInputError("row 2 is bad")

    with pytest.raises(InvalidInputError, match="row 2"):
        store.create("a", {}, [created()], blocks())
    with store.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM blocks")).scalar() == 0


def test_a_writer_is_told_of_another_process(storage: str, store: Store) -> None:
    entry = store.create("a", {}, [created()], [])
    (asked,) = append(store, entry.id, ASKED)
    with Store(storage) as other, pytest.raises(InUseError, match="another process has written"):
        other.append(entry.id, 1, [asked])


def test_a_batch_that_fails_leaves_no_row(store: Store) -> None:
    entry = store.create("a", {}, [created()], [])
    store.append(entry.id, 2, [Chain().link(ANSWERED)])
    with pytest.raises(InUseError):
        store.append(entry.id, 1, [Chain().link(ASKED), Chain().link(ANSWERED)])
    with store.reading() as connection:
        assert connection.execute(text("SELECT seq FROM events ORDER BY seq")).scalars().all() == [0, 2]


def test_a_changed_event_is_noticed(store: Store) -> None:
    entry = store.create("a", {}, [created()], [])
    append(store, entry.id, ASKED)
    with store.writing() as connection:
        connection.execute(text("UPDATE events SET event = '{\"event\": ' WHERE seq = 1"))
    with pytest.raises(LogError, match="event 1 of the study: it is not JSON"):
        store.log(entry.id)


def test_an_event_that_became_bytes_is_noticed(tmp_path: Any) -> None:
    with Store(f"sqlite:///{tmp_path}/studies.db") as store:
        entry = store.create("a", {}, [created()], [])
        append(store, entry.id, ASKED)
        with store.writing() as connection:
            connection.execute(text("UPDATE events SET event = CAST(event AS BLOB) WHERE seq = 1"))
        with pytest.raises(LogError, match="event 1 of the study: it is no text"):
            store.log(entry.id)


def test_one_writer_at_a_time(storage: str) -> None:
    study = new_study(storage)
    with pytest.raises(InUseError, match="open elsewhere"):
        load_study("s", storage=storage)
    with Store(storage) as store, pytest.raises(InUseError):
        store.delete("s")
    answer(study)
    with load_study("s", storage=storage, read_only=True) as looking:
        assert looking.status().n_answers == 1
        with pytest.raises(InvalidInputError, match="reading only"):
            looking.ask()
    study.close()
    with pytest.raises(InvalidInputError, match="closed"):
        study.ask()
    load_study("s", storage=storage).close()


def test_a_study_goes_on_where_it_was_left(storage: str) -> None:
    study = new_study(storage)
    for _ in range(40):
        answer(study, "ann")
    left = study.ask("ann")
    digest = study.digest()
    study.close()
    with load_study("s", storage=storage) as again:
        assert again.digest() == digest
        assert again.ask("ann") == left
        while answer(again, "ann"):
            pass
        status = again.status()
        assert isinstance(status, SelectionStatus)
        assert status.status is RunStatus.COMPLETE
        assert status.certified_eps is not None
        assert status.certified_eps <= 0.1
    with load_study("s", storage=storage) as ended:
        assert ended.ask("bob") is Status.DONE


def test_delete_removes_everything(storage: str) -> None:
    new_study(storage).close()
    store = Store(storage)
    store.delete("s")
    assert store.entries() == []
    with store.reading() as connection:
        for table in ("events", "blocks"):
            assert connection.execute(text(f"SELECT count(*) FROM {table}")).scalar() == 0
    store.close()
    new_study(storage).close()


def test_a_table_that_was_changed_is_noticed(storage: str) -> None:
    new_study(storage).close()
    store = Store(storage)
    (data,) = store.blocks(1, "predictions")
    changed = bytes([(data[0] + 1) % 5]) + data[1:]
    with store.writing() as connection:
        connection.execute(text("UPDATE blocks SET data = :data WHERE kind = 'predictions'"), {"data": changed})
    with pytest.raises(StoreError, match="not the one"):
        load_study("s", storage=storage)
    store.close()
    # The failed load let go of the lock.
    with pytest.raises(StoreError, match="not the one"):
        load_study("s", storage=storage)


def test_many_raters_at_once_lose_and_double_nothing(storage: str) -> None:
    study = new_study(storage, budget=200)
    told: list[tuple[int, bool]] = []

    def work(name: str) -> None:
        while (offer := study.ask(name)) is not Status.DONE:
            if isinstance(offer, Offer):
                said = bool(TRUTH[offer.item] == offer.label)
                study.tell(offer, said, token=f"{name} {offer.id}")
                told.append((offer.id, said))

    threads = [threading.Thread(target=work, args=(f"rater {i}",)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    status, digest = study.status(), study.digest()
    study.close()
    assert len(told) == len({card for card, _ in told}) == status.n_answers
    assert sum(rater.n_answers for rater in status.raters) == len(told)
    log = log_of(storage)
    logged = {event.question_id: event.answer is Answer.YES for event in log if isinstance(event, Answered)}
    assert logged == dict(told)
    with load_study("s", storage=storage) as again:
        assert again.digest() == digest


def test_two_answer_one_question_and_one_counts(storage: str) -> None:
    study = new_study(storage)
    offer = study.ask()
    assert isinstance(offer, Offer)
    outcomes: list[str] = []
    barrier = threading.Barrier(2)

    def work(token: str) -> None:
        barrier.wait()
        try:
            study.tell(offer, False, token=token)
            outcomes.append("taken")
        except AlreadyAnsweredError:
            outcomes.append("refused")

    threads = [threading.Thread(target=work, args=(token,)) for token in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused", "taken"]
    assert study.status().n_answers == 1
    study.close()


def test_what_cannot_be_written_is_not_acknowledged_and_is_not_lost(
    storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = new_study(storage)
    offer = study.ask("ann")
    assert isinstance(offer, Offer)

    def full(*_: object) -> None:
        raise NotWrittenError("the disk is full")

    monkeypatch.setattr(Store, "append", full)
    for _ in range(2):
        with pytest.raises(NotWrittenError):
            study.tell(offer, True, token="t")
    with pytest.raises(NotWrittenError):
        study.ask("bob")
    monkeypatch.undo()
    assert study.tell(offer, True, token="t").repeated
    assert study.ask("bob") == Offer(1, study.ask("bob").item, study.ask("bob").label, "bob")  # type: ignore[union-attr]
    digest = study.digest()
    study.close()
    log = log_of(storage)
    assert sum(isinstance(event, Answered) for event in log) == 1
    with load_study("s", storage=storage) as again:
        assert again.digest() == digest


def test_a_server_that_hung_up_is_called_again(postgres: Any) -> None:
    postgres.psql("CREATE SCHEMA hung_up;")
    storage = f"{postgres.get_uri()}&options=-csearch_path%3Dhung_up"
    study = new_study(storage)
    answer(study, "ann")
    postgres.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name <> 'psql';")
    for _ in range(3):
        assert answer(study, "ann")
    digest = study.digest()
    study.close()
    assert sum(isinstance(event, Answered) for event in log_of(storage)) == 4
    with load_study("s", storage=storage) as again:
        assert again.digest() == digest


@pytest.mark.parametrize("tried_after", [0.0, 1000.0])
def test_what_is_looked_up_is_found_whether_or_not_a_connection_is_tried_before(
    postgres: Any, tried_after: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "TRIED_AFTER", tried_after)
    with Store(postgres.get_uri()) as store:
        for _ in range(3):
            assert store.look_up("SELECT CAST(? AS integer)", 3) == (3,)
            postgres.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name <> 'psql';")


def test_an_idle_connection_that_was_closed_is_replaced_before_anything_is_written(
    postgres: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(postgres.get_uri()) as store:
        for tried_after, is_lost in ((1000.0, True), (0.0, False)):
            monkeypatch.setattr(database, "TRIED_AFTER", tried_after)
            with store.writing() as connection:
                connection.exec_driver_sql("SELECT 1")
            postgres.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name <> 'psql';")
            expected: AbstractContextManager[object] = pytest.raises(LostConnectionError) if is_lost else nullcontext()
            with expected, store.writing() as connection:
                connection.exec_driver_sql("SELECT 1")


def test_the_tables_are_those_of_the_schema(store: Store) -> None:
    with store.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []


def test_a_store_of_a_newer_onebit_is_refused(storage: str, store: Store) -> None:
    with store.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '99'"))
    with pytest.raises(StoreError, match="version 99, made by a newer onebit"):
        Store(storage)


def test_items_come_back_block_by_block(storage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onebit.study.items.PER_BLOCK", 64)
    study = new_study(storage)
    assert study.item(0).id == "1"
    assert study.item(299).id == "300"
    study.close()
    with load_study("s", storage=storage) as again:
        assert again.item(130).id == "131"
        kind = again.kind
        assert isinstance(kind, Selection)
        assert np.array_equal(kind.predictions, PREDICTIONS)
