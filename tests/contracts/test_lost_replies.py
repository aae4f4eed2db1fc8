"""PostgreSQL and a network that loses replies, or a server that is started anew: nothing is lost, nobody is stopped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.proxies import CommitEater
from tests.unit.study.runs import PREDICTIONS, TRUTH
from tests.unit.web.served import make_study, serve_stored

from onebit.log.chain import Head
from onebit.log.events import Answered
from onebit.store.commit import GroupCommit
from onebit.store.database import InUseError, LostConnectionError
from onebit.store.store import Store
from onebit.study.opening import create_study, load_study
from onebit.study.study import Offer, Study
from onebit.testing.stores import ASKED

#: What no test may be disturbed by is kept apart.
HANG_UP = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid();"


@pytest.fixture
def schema(postgres: Any, request: pytest.FixtureRequest) -> str:
    name = f"lost_{abs(hash(request.node.name))}"
    postgres.psql(f"CREATE SCHEMA {name};")
    return name


@pytest.fixture
def direct(postgres: Any, schema: str) -> str:
    return f"{postgres.get_uri()}&options=-csearch_path%3D{schema}"


@pytest.fixture
def eater(postgres: Any) -> Iterator[CommitEater]:
    (folder,) = parse_qs(urlsplit(postgres.get_uri()).query)["host"]
    with CommitEater(f"{folder}/.s.PGSQL.5432") as made:
        yield made


def through(eater: CommitEater, schema: str) -> str:
    return f"postgresql://postgres:@127.0.0.1:{eater.port}/postgres?options=-csearch_path%3D{schema}"


def answers_of(storage: str) -> list[int]:
    with Store(storage) as store:
        return [event.question_id for event in store.log(1).events if isinstance(event, Answered)]


def tell_next(study: Study, rater: str) -> int:
    offer = study.ask(rater)
    assert isinstance(offer, Offer)
    study.tell(offer, bool(TRUTH[offer.item] == offer.label))
    return offer.id


def test_a_lost_reply_to_a_commit_stops_nobody(eater: CommitEater, schema: str, direct: str) -> None:
    with create_study(PREDICTIONS, "s", storage=through(eater, schema), eps=0.1) as study:
        told = [tell_next(study, "ann")]
        for _ in range(3):
            eater.hungry = 1
            told += [tell_next(study, "ann") for _ in range(2)]
        digest = study.digest()
    assert eater.n_eaten == 3
    assert answers_of(direct) == told
    with load_study("s", storage=direct) as again:
        assert again.digest() == digest


def test_a_batch_that_has_grown_since_its_reply_was_lost_is_written(
    eater: CommitEater, schema: str, direct: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the second try: the first rater is told to come again, and others come before."""
    once = Store._append
    with create_study(PREDICTIONS, "s", storage=through(eater, schema), eps=0.1) as study:
        offers = [study.ask(rater) for rater in ("ann", "bob")]
        with monkeypatch.context() as patched:
            patched.setattr(Store, "append", once)
            eater.hungry = 1
            with pytest.raises(LostConnectionError):
                study.tell(offers[0], True, token="a")  # type: ignore[arg-type]
        assert not study.tell(offers[1], True, token="b").repeated  # type: ignore[arg-type]
        assert study.tell(offers[0], True, token="a").repeated  # type: ignore[arg-type]
    assert answers_of(direct) == [0, 1]


def test_many_raters_and_many_lost_replies(eater: CommitEater, schema: str, direct: str) -> None:
    told: list[int] = []
    with create_study(PREDICTIONS, "s", storage=through(eater, schema), eps=0.1) as study:

        def work(rater: str) -> None:
            for number in range(10):
                eater.hungry = int(number % 3 == 0)
                while True:
                    # Two replies in a row are told to the rater, who tries again, as the page does.
                    with suppress(LostConnectionError):
                        offer = study.ask(rater)
                        if isinstance(offer, Offer):
                            break
                while True:
                    with suppress(LostConnectionError):
                        study.tell(offer, bool(TRUTH[offer.item] == offer.label), token=f"{number}")
                        break
                told.append(offer.id)

        threads = [threading.Thread(target=work, args=(f"rater {i}",)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert eater.n_eaten >= 3
    assert sorted(answers_of(direct)) == sorted(told)
    assert len(set(told)) == 40


def test_the_writers_lock_outlives_a_restart_of_the_database(postgres: Any, direct: str) -> None:
    with create_study(PREDICTIONS, "s", storage=direct, eps=0.1) as study:
        tell_next(study, "ann")
        postgres.psql(HANG_UP)
        study.keep_lock()
        with pytest.raises(InUseError, match="open elsewhere"):
            load_study("s", storage=direct)
        tell_next(study, "ann")
        postgres.psql(HANG_UP)
        # Also without anybody who looks after it: the next write takes it again.
        tell_next(study, "ann")
        with pytest.raises(InUseError, match="open elsewhere"):
            load_study("s", storage=direct)
    load_study("s", storage=direct).close()


def test_a_writer_whose_study_was_taken_writes_nothing(postgres: Any, direct: str) -> None:
    with create_study(PREDICTIONS, "s", storage=direct, eps=0.1) as first:
        tell_next(first, "ann")
        postgres.psql(HANG_UP)
        with load_study("s", storage=direct) as second:
            with pytest.raises(InUseError, match="another process has taken"):
                first.keep_lock()
            with pytest.raises(InUseError, match="another process has taken"):
                tell_next(first, "ann")
            assert first.is_lost
            told = tell_next(second, "bob")
    assert answers_of(direct) == [0, told]


def test_a_server_gets_its_study_back_without_being_started_anew(postgres: Any, direct: str, tmp_path: Path) -> None:
    make_study(direct, tmp_path)
    served = serve_stored(direct, tmp_path)
    (question,) = served.ask(served.ann)
    postgres.psql(HANG_UP)
    with load_study("intents", storage=direct) as other:
        tell_next(other, "cy")
        response = served.tell(served.ann, question, "yes", once="t")
        assert (response.status_code, response.headers["retry-after"]) == (503, "2")
        assert served.post("ask", served.ann, n=1).status_code == 503
    assert served.tell(served.ann, question, "yes", once="t").json() == {"late": False, "repeated": False}
    served.site.close()
    assert len(answers_of(direct)) == 2


def test_a_commit_knows_that_it_is_lost() -> None:
    def refuse(*_: object) -> str:
        raise InUseError("somebody else")

    commit = GroupCommit(refuse, Head(), lambda *_: None)
    with pytest.raises(InUseError):
        commit.wait(commit.put([ASKED]))
    assert commit.is_lost
