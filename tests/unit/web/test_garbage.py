"""The search for garbage in a server: what stays is gone through once, and what a study leaves is found."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from onebit.web import garbage


class Held:
    """Something that refers to itself, so that only a search finds that nobody needs it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    yield
    garbage.spare_nothing()


def test_what_a_search_has_left_is_not_gone_through_again_until_all_is_searched() -> None:
    held = Held()
    found = weakref.ref(held)
    garbage.spare_what_is_held()
    assert gc.get_freeze_count() > 0
    later = Held()
    found_later = weakref.ref(later)
    gc.collect()
    # Both were held by then, and are set aside.
    del held, later
    gc.collect()
    assert found() is not None
    assert found_later() is not None
    garbage.search_all()
    gc.collect()
    assert found() is None
    assert found_later() is None


def test_what_comes_and_goes_is_found_as_ever() -> None:
    garbage.spare_what_is_held()
    found = weakref.ref(Held())
    gc.collect()
    assert found() is None


def test_after_a_server_python_searches_as_before() -> None:
    garbage.spare_what_is_held()
    garbage.spare_what_is_held()
    garbage.spare_nothing()
    held = Held()
    found = weakref.ref(held)
    gc.collect()
    del held
    gc.collect()
    assert found() is None
    assert gc.get_freeze_count() == 0
