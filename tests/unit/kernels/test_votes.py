"""Votes and outputs by counting, against sets and dictionaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from onebit.kernels import votes as module
from onebit.kernels.votes import any_differ, distinct_outputs, n_agreeing, n_differing, vote

seeds = st.integers(0, 10**6)
#: Fewer labels than rows and more; several blocks of examples, one of them not full.
SHAPES = [(3, 130, 300), (40, 130, 3), (7, 1, 70_000), (1, 65, 2)]


@pytest.fixture(autouse=True, scope="module", params=[0, module.SMALL], ids=["compiled", "numpy"])
def small(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tables up to this size are gone through by numpy; all that the tests have, or none."""
    with mock.patch.object(module, "SMALL", request.param):
        yield


def random_said(seed: int, shape: tuple[int, int, int]) -> NDArray[np.int32]:
    n_rows, n_examples, n_labels = shape
    return np.random.default_rng(seed).integers(-1, n_labels, (n_rows, n_examples), dtype=np.int32)


@given(seeds, st.sampled_from(SHAPES))
def test_a_vote_is_the_heaviest_label_and_the_lowest_of_equals(seed: int, shape: tuple[int, int, int]) -> None:
    said = random_said(seed, shape)
    weight = np.random.default_rng(seed).integers(1, 4, (said.shape[0],))
    winner = vote(said, weight)
    for column, found in zip(said.T.tolist(), winner.tolist(), strict=True):
        total: Counter[int] = Counter()
        for label, votes in zip(column, weight.tolist(), strict=True):
            if label >= 0:
                total[label] += votes
        assert found == (min(total, key=lambda label: (-total[label], label)) if total else -1)
    agreed = [sum(a == b >= 0 for a, b in zip(row, winner.tolist(), strict=True)) for row in said.tolist()]
    assert n_agreeing(said, winner).tolist() == agreed


@given(seeds, st.sampled_from(SHAPES))
def test_outputs_are_numbered_one_example_after_the_other(seed: int, shape: tuple[int, int, int]) -> None:
    said = random_said(seed, shape)
    code, first, label, votes = distinct_outputs(said)
    for i, column in enumerate(said.T.tolist()):
        span = slice(first[i], first[i + 1])
        assert label[span].tolist() == sorted(set(column))
        assert votes[span].tolist() == [Counter(column)[each] for each in sorted(set(column))]
        assert label[span][code[:, i]].tolist() == column


@given(seeds, st.sampled_from(SHAPES))
def test_rows_that_differ_are_counted(seed: int, shape: tuple[int, int, int]) -> None:
    said = random_said(seed, shape)
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(said.shape[0])[: rng.integers(1, said.shape[0] + 1)])
    assert any_differ(said, rows).tolist() == [len(set(column)) > 1 for column in said[rows].T.tolist()]
    assert n_differing(said, rows, 0).tolist() == [int((said[row] != said[0]).sum()) for row in rows]


@pytest.mark.parametrize(("n_rows", "kind"), [(256, np.uint8), (257, np.uint32)])
def test_codes_are_as_wide_as_they_need_to_be(n_rows: int, kind: type) -> None:
    code, _, label, _ = distinct_outputs(np.arange(n_rows)[:, None])
    assert code.dtype == kind
    assert label[code[:, 0]].tolist() == list(range(n_rows))
