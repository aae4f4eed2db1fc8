"""Records that are kept in arrays come back as they were."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onebit.records import Closing, EpochPlan, EpochRecord, PackedRecords

counts = st.integers(0, 2**32 - 1)
numbers = st.floats(allow_nan=False)
epochs = st.builds(
    EpochRecord,
    number=counts,
    first_round=counts,
    n_rounds=counts,
    leader=counts,
    survivors=st.lists(counts).map(tuple),
    mixture=st.lists(st.tuples(counts, numbers)).map(tuple),
    gamma=numbers,
    trust=st.lists(numbers).map(tuple),
    guess=st.lists(numbers).map(tuple),
    sure_from=numbers,
    merit=st.lists(numbers).map(tuple),
    sharpness=numbers,
    n_viewed=counts,
)


@given(st.lists(epochs, max_size=4))
def test_they_come_back_as_they_were(records: list[EpochRecord]) -> None:
    packed = PackedRecords(records)
    assert list(packed) == records
    assert [repr(each) for each in packed] == [repr(each) for each in records]
    assert packed == records
    assert packed[1:] == records[1:]
    assert packed != [*records, EpochRecord(0, 0, 1, 0, (0,), (), 0.5)]


def test_a_copy_stays_as_it_is() -> None:
    packed = PackedRecords([Closing(0, 64, 20, 1, (0, 1), 1.0)])
    copied = packed.copy()
    packed.append(Closing(1, 128, 40, 1, (1,), 0.5))
    assert (len(copied), len(packed)) == (1, 2)
    assert packed[-1].survivors == (1,)
    with pytest.raises(IndexError):
        copied[1]


def test_what_no_array_can_hold_stays_a_tuple() -> None:
    """A log may say anything; who reads it says what is wrong with it."""
    record = EpochRecord(0, 0, 1, 0, (2**70,), ((2**40, 0.5),), 0.5)
    assert PackedRecords([record])[0] == record


def test_epochs_of_training_come_back_too() -> None:
    plan = EpochPlan(0, False, (3,), (1,), (0.5,), (1,), (True,))
    assert PackedRecords([plan])[0] == plan


def test_they_take_little_memory() -> None:
    """By the bytes that a survivor takes in each record: tuples of Python's numbers took 190."""
    n, n_records = 10_000, 20
    survivors, needs = tuple(range(1000, 1000 + n)), [0.1 + h / n for h in range(n)]
    tracemalloc.start()
    packed: PackedRecords[EpochRecord] = PackedRecords()
    for number in range(n_records):
        mixture = tuple(zip(survivors, needs, strict=True))
        packed.append(EpochRecord(number, 0, 1, 0, survivors, mixture, 0.5, tuple(needs)))
    del mixture
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken / (n * n_records) < 40
