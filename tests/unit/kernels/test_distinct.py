"""Equal rows are found whatever they hold, also when their hashes meet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import onebit.kernels.distinct
from onebit.kernels.distinct import distinct_rows

tables = st.tuples(st.integers(1, 30), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.int16, shape, elements=st.integers(-1, 2))
)


def check(table: np.ndarray) -> None:
    first, which = distinct_rows(table)
    assert (table[first][which] == table).all()
    assert len({row.tobytes() for row in table[first]}) == first.size
    assert first.tolist() == sorted(first.tolist())
    # The first of equals stands for them: no row points to a later one.
    assert (first[which] <= np.arange(table.shape[0])).all()


@given(tables)
def test_any_table(table: np.ndarray) -> None:
    check(table)


@given(tables)
def test_any_table_by_hashes(table: np.ndarray) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onebit.kernels.distinct, "SMALL", 0)
        check(table)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64])
def test_any_type(kind: type[np.integer], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onebit.kernels.distinct, "SMALL", 0)
    rng = np.random.default_rng(0)
    table = rng.integers(0, 100, (50, 20)).astype(kind)
    table[7:12] = table[3]
    check(table)
    assert distinct_rows(table)[0].size == 45


@given(tables)
def test_hashes_that_meet(table: np.ndarray) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onebit.kernels.distinct, "SMALL", 0)
        patch.setattr(onebit.kernels.distinct, "_row_hashes", lambda table: table[:, 0].astype(np.uint64))
        check(table)
