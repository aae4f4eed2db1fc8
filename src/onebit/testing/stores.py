"""The suite for stores: what is acknowledged stays, one writer, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import pytest
from msgspec.structs import replace

from onebit.errors import InvalidInputError
from onebit.log.chain import Chain
from onebit.log.events import Answered, Asked, Created, Event, LogError, TableFacts
from onebit.records import Answer, Question, Setting
from onebit.store.blocks import Block
from onebit.store.database import InUseError
from onebit.store.locks import Lock
from onebit.store.store import Entry, Log

CREATED = Created(Setting(eps=0.05, seed=3), "certified", TableFacts("f" * 64, 8, 300, 5))
ASKED = Asked(Question(0, 1, 2, 0.1 + 0.2, 0), "ann")
ANSWERED = Answered(0, Answer.YES, "ann", "t", late=True)


class StoreContract(Protocol):
    """What a store does: :class:`onebit.store.store.Store` says of each method what it promises."""

    def entries(self) -> list[Entry]: ...

    def entry(self, name: str) -> Entry: ...

    def create(self, name: str, about: dict[str, Any], log: Iterable[Event], blocks: Iterable[Block]) -> Entry: ...

    def delete(self, name: str) -> None: ...

    def lock(self, entry: Entry) -> Lock: ...

    def log(self, study_id: int) -> Log: ...

    def first_event(self, study_id: int) -> Event: ...

    def append(self, study_id: int, first: int, texts: Sequence[str]) -> str: ...

    def blocks(self, study_id: int, kind: str) -> Iterator[bytes]: ...

    def block(self, study_id: int, kind: str, number: int) -> bytes: ...

    def replace_block(self, study_id: int, block: Block) -> None: ...

    def close(self) -> None: ...


Open = Callable[[], StoreContract]


class StoreSuite:
    """What every store keeps. Override the fixture ``open_store``: a function that opens one empty store, then again.

    >>> class TestMine(StoreSuite):
    ...     @pytest.fixture
    ...     def open_store(self, tmp_path):
    ...         return lambda: MyStore(tmp_path / "studies")
    """

    @pytest.fixture
    def open_store(self) -> Open:
        """Opens the same store each time it is called; it is empty when the test begins."""
        raise NotImplementedError("a suite of a store needs the fixture open_store, which returns a function")

    @pytest.fixture
    def opened(self, open_store: Open) -> Iterator[Open]:
        """As ``open_store``; what it opened is closed at the end."""
        stores: list[StoreContract] = []

        def open_one() -> StoreContract:
            stores.append(open_store())
            return stores[-1]

        yield open_one
        for store in stores:
            store.close()

    def test_keeps_studies_apart_and_their_events_in_order(self, opened: Open) -> None:
        store = opened()
        a = store.create("a", {"x": "ü"}, [CREATED], [("items", 0, b"\x00\xff"), ("items", 1, b"")])
        b = store.create("b", {}, [other_study()], [])
        append(store, a.id, ASKED)
        append(store, b.id, replace(ASKED, rater="bob"))
        append(store, a.id, ANSWERED)
        for each in (store, opened()):
            assert each.log(a.id).events == [CREATED, ASKED, ANSWERED]
            assert each.log(b.id).events == [other_study(), replace(ASKED, rater="bob")]
            assert each.first_event(b.id) == other_study()
            assert list(each.blocks(a.id, "items")) == [b"\x00\xff", b""]
            assert each.block(a.id, "items", 0) == b"\x00\xff"
            assert list(each.blocks(b.id, "items")) == []
            assert [(entry.name, entry.n_events) for entry in each.entries()] == [("a", 3), ("b", 2)]
            assert each.entry("a").about == {"x": "ü"}

    def test_a_name_is_used_once_and_unknown_ones_are_told(self, opened: Open) -> None:
        store = opened()
        store.create("a", {}, [CREATED], [])
        for name in ("a", " "):
            with pytest.raises(InvalidInputError):
                store.create(name, {}, [CREATED], [])
        with pytest.raises(InvalidInputError):
            store.entry("b")
        assert [entry.name for entry in store.entries()] == ["a"]

    def test_a_creation_that_fails_leaves_no_trace(self, opened: Open) -> None:
        def blocks() -> Iterator[Block]:
            yield ("items", 0, b"x")
            raise InvalidInputError("row 2 is bad")

        store = opened()
        with pytest.raises(InvalidInputError, match="row 2"):
            store.create("a", {}, [CREATED], blocks())
        assert store.entries() == []
        made = store.create("a", {}, [CREATED], [])
        assert list(store.blocks(made.id, "items")) == []

    def test_of_two_writers_the_slower_is_told(self, opened: Open) -> None:
        store, other = opened(), opened()
        entry = store.create("a", {}, [CREATED], [])
        (asked,) = append(store, entry.id, ASKED)
        with pytest.raises(InUseError):
            other.append(entry.id, 1, [asked])
        assert store.log(entry.id).events == [CREATED, ASKED]
        # The same write again by the same writer: its reply had been lost.
        store.append(entry.id, 1, [asked])
        assert store.log(entry.id).events == [CREATED, ASKED]
        with pytest.raises(InUseError):
            store.append(entry.id, 1, [Chain().link(ANSWERED)])

    def test_a_batch_is_written_whole_or_not_at_all(self, opened: Open) -> None:
        store = opened()
        entry = store.create("a", {}, [CREATED], [])
        chain = Chain(store.log(entry.id).head)
        asked, answered = chain.link(ASKED), chain.link(ANSWERED)
        store.append(entry.id, 2, [answered])
        with pytest.raises(InUseError):
            store.append(entry.id, 1, [asked, answered + " "])
        with pytest.raises(LogError, match="event 1 is missing"):
            store.log(entry.id)
        store.append(entry.id, 1, [asked])
        assert store.log(entry.id).events == [CREATED, ASKED, ANSWERED]

    def test_an_event_that_does_not_follow_is_noticed(self, opened: Open) -> None:
        store = opened()
        entry = store.create("a", {}, [CREATED], [])
        store.append(entry.id, 1, [Chain().link(ASKED)])
        with pytest.raises(LogError):
            store.log(entry.id)

    def test_one_writer_at_a_time(self, opened: Open) -> None:
        store, other = opened(), opened()
        a, b = (store.create(name, {}, [CREATED], []) for name in "ab")
        held = store.lock(a)
        for each in (store, other):
            with pytest.raises(InUseError):
                each.lock(a)
        with pytest.raises(InUseError):
            other.delete("a")
        other.lock(b).release()
        assert other.log(a.id).events == [CREATED]
        held.release()
        other.lock(a).release()

    def test_a_block_is_replaced(self, opened: Open) -> None:
        store = opened()
        entry = store.create("a", {}, [CREATED], [("model", 0, b"old"), ("items", 0, b"kept")])
        store.replace_block(entry.id, ("model", 0, b"new"))
        store.replace_block(entry.id, ("model", 1, b"more"))
        assert list(opened().blocks(entry.id, "model")) == [b"new", b"more"]
        assert store.block(entry.id, "items", 0) == b"kept"

    def test_delete_removes_one_study_with_everything(self, opened: Open) -> None:
        store = opened()
        store.create("a", {}, [CREATED], [("items", 0, b"x")])
        kept = store.create("b", {}, [CREATED], [("items", 0, b"y")])
        store.delete("a")
        assert [entry.name for entry in store.entries()] == ["b"]
        again = store.create("a", {}, [other_study()], [])
        assert store.log(again.id).events == [other_study()]
        assert list(store.blocks(again.id, "items")) == []
        assert store.block(kept.id, "items", 0) == b"y"


def other_study() -> Created:
    """Created otherwise than ``CREATED``."""
    return replace(CREATED, setting=Setting(eps=0.05, seed=9))


def append(store: StoreContract, study_id: int, *events: Event) -> list[str]:
    """Write events after those that a log has; their texts."""
    head = store.log(study_id).head
    chain = Chain(head)
    texts = [chain.link(event) for event in events]
    store.append(study_id, head.n_events, texts)
    return texts
