"""A rater's name leaves a study, and everything that the study states stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.study.runs import PREDICTIONS, TRUTH

from onebit.errors import InvalidInputError
from onebit.store.database import InUseError
from onebit.store.store import Store
from onebit.study.forgetting import forget_rater
from onebit.study.opening import create_study, load_study
from onebit.study.proof import verify_study
from onebit.study.study import Offer, Study
from onebit.web.access import Access, UnknownLinkError

SECRET = "Ann Example of Exampletown"


def answered(study: Study, n: int) -> None:
    for i in range(n):
        offer = study.ask(SECRET if i % 2 else "bob")
        if isinstance(offer, Offer):
            study.tell(offer, bool(TRUTH[offer.item] == offer.label))


@pytest.fixture
def studied(storage: str) -> str:
    """A study with checks, in which two raters answered."""
    gold = {i: int(TRUTH[i]) for i in range(30)}
    with create_study(PREDICTIONS, "s", storage=storage, eps=0.1, gold=gold, gold_share=0.2, repeat_share=0.2) as study:
        answered(study, 80)
    with Store(storage) as store:
        Access(store).make("rater", 1, SECRET)
    return storage


def test_the_name_is_gone_and_the_study_verifies_and_goes_on(studied: str) -> None:
    before = verify_study(studied, "s")
    with Store(studied) as store:
        token = Access(store).make("rater", 1, SECRET)[1]
    done = forget_rater(studied, "s", SECRET)
    assert done.n_events > 40
    after = verify_study(studied, "s")
    assert after.ok
    assert (before.log_digest, after.log_digest) == (done.before, done.after)
    assert (before.verdict, before.n_events) == (after.verdict, after.n_events)
    with load_study("s", storage=studied) as study:
        assert {each.rater for each in study.status().raters} == {"bob", "removed rater 1"}
        answered(study, 10)
    with Store(studied) as store:
        assert not any(SECRET in str(event) for event in store.log(1).events[: after.n_events])
        with pytest.raises(UnknownLinkError):
            Access(store).find(token)
        assert SECRET not in {link.rater for link in Access(store).all()}


def test_no_trace_is_left_in_an_sqlite_file(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/studies.db"
    with create_study(PREDICTIONS, "s", storage=storage, eps=0.1) as study:
        answered(study, 60)
    assert any(SECRET.encode() in path.read_bytes() for path in tmp_path.iterdir())
    forget_rater(storage, "s", SECRET)
    assert not any(SECRET.encode() in path.read_bytes() for path in tmp_path.iterdir())


def test_a_digest_from_before_says_that_the_log_was_written_anew(studied: str) -> None:
    done = forget_rater(studied, "s", SECRET)
    assert not verify_study(studied, "s", digest=done.before).ok
    assert verify_study(studied, "s", digest=done.after).ok


def test_nobody_is_taken_out_of_an_open_study_nor_one_who_is_not_there(studied: str) -> None:
    with pytest.raises(InvalidInputError, match="knows no rater 'eve'"):
        forget_rater(studied, "s", "eve")
    with load_study("s", storage=studied), pytest.raises(InUseError):
        forget_rater(studied, "s", SECRET)


def test_two_who_leave_are_told_apart(studied: str) -> None:
    assert forget_rater(studied, "s", SECRET).name == "removed rater 1"
    assert forget_rater(studied, "s", "bob").name == "removed rater 2"


def test_it_is_said_when_the_name_is_still_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads the store as it was, a backup say, keeps what was replaced in the file until then."""
    monkeypatch.setattr("onebit.store.database.PATIENCE", 0)
    file = tmp_path / "my.db"
    storage = f"sqlite:///{file}"
    with create_study(PREDICTIONS, "s", storage=storage, eps=0.1) as study:
        answered(study, 4)
    with Store(storage) as reader:
        with reader.reading() as connection:
            connection.exec_driver_sql("SELECT count(*) FROM events").scalar()
            assert not forget_rater(storage, "s", SECRET).is_gone
            assert SECRET.encode() in file.read_bytes()
        assert forget_rater(storage, "s", "bob").is_gone
    assert SECRET.encode() not in file.read_bytes()
