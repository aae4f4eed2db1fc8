"""Packed tables against the plain comparison of predictions with labels, however the samples arrive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.kernels import bits
from onebit.kernels.bits import BLOCK, TILE, PackedTable, in_threads, words_shape

#: Around the edges of bytes, words, blocks, tiles and chunks.
SIZES = [1, 7, 8, 9, 31, 32, 33, 64, 65, 500]
N_SAMPLES = [0, 1, 7, 8, 63, 64, 65, TILE - 1, TILE, TILE + 1, 3 * TILE + 100]
N_ITEMS, N_LABELS = 40, 3

Problem = tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]


def random_problem(n_hypotheses: int, n_samples: int, dtype: Any = np.int16, seed: int = 0) -> Problem:
    """Predictions with some abstentions, and items and labels of a sample."""
    rng = np.random.default_rng(seed)
    lowest = -1 if np.issubdtype(dtype, np.signedinteger) else 0
    preds = rng.integers(lowest, N_LABELS, (n_hypotheses, N_ITEMS)).astype(dtype)
    return preds, rng.integers(0, N_ITEMS, n_samples), rng.integers(0, N_LABELS, n_samples)


def packed(problem: Problem, n_threads: int = 1, **settings: Any) -> PackedTable:
    table = PackedTable(problem[0].shape[0], **settings)
    table.append(*problem, n_threads=n_threads)
    return table


def rights(problem: Problem) -> NDArray[np.bool_]:
    preds, items, labels = problem
    right: NDArray[np.bool_] = preds[:, items] == labels
    return right


def assert_holds(table: PackedTable, right: NDArray[np.bool_]) -> None:
    """Every way to read the table gives ``right``."""
    assert (table.n_hypotheses, table.n_samples) == right.shape
    np.testing.assert_array_equal(table.right(np.arange(table.n_hypotheses)), right)
    np.testing.assert_array_equal(table.anyone_right(), right.any(axis=0))
    for sample in {0, table.n_samples // 2, table.n_samples - 1} if table.n_samples else ():
        np.testing.assert_array_equal(table.column(sample), right[:, sample])


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of a single tile, so that small tables have several."""
    monkeypatch.setattr(bits, "CHUNK_TILES", 1)


@pytest.mark.parametrize("n_samples", N_SAMPLES)
@pytest.mark.parametrize("n_hypotheses", SIZES)
def test_a_table_holds_what_was_appended(n_hypotheses: int, n_samples: int) -> None:
    problem = random_problem(n_hypotheses, n_samples)
    assert_holds(packed(problem), rights(problem))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int64, np.uint64])
def test_predictions_may_be_of_any_integer_type_and_order(dtype: Any) -> None:
    problem = random_problem(40, 100, dtype)
    assert_holds(packed(problem), rights(problem))
    across = (np.asfortranarray(problem[0]), *problem[1:])
    assert_holds(packed(across), rights(problem))


def test_a_label_beyond_the_type_of_the_predictions_is_nobodys() -> None:
    table = PackedTable(2)
    table.append(np.array([[44], [0]], np.uint8), items=[0, 0], labels=[300, 44])
    assert table.right([0, 1]).tolist() == [[False, True], [False, False]]


@pytest.mark.usefixtures("small_chunks")
@given(pieces=st.lists(st.integers(0, 2 * TILE), max_size=6), seed=st.integers(0, 5))
def test_appended_in_pieces_is_built_at_once(pieces: list[int], seed: int) -> None:
    problem = random_problem(37, sum(pieces), seed=seed)
    preds, items, labels = problem
    table = PackedTable(37)
    for stop, size in zip(np.cumsum(pieces), pieces, strict=True):
        table.append(preds, items[stop - size : stop], labels[stop - size : stop])
    assert_holds(table, rights(problem))


def test_threads_do_not_change_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits, "PACK_GRAIN", 1)
    problem = random_problem(500, 1000)
    assert_holds(packed(problem, n_threads=3), rights(problem))


@pytest.mark.usefixtures("small_chunks")
def test_a_table_beyond_its_share_of_memory_is_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(70, 4 * TILE)
    tile_bytes = packed(problem).n_bytes // 4
    monkeypatch.setattr(bits, "_memory_bytes", lambda: 5.0 * tile_bytes)
    table = packed(problem, memory_share=0.5, folder=tmp_path)
    assert [_is_mapped(chunk) for _, chunk in table.chunks()] == [False, False, True, True]
    assert list(tmp_path.iterdir()) == [], "the files have no name, so nothing is left behind"
    assert_holds(table, rights(problem))


def _is_mapped(array: NDArray[Any]) -> bool:
    base: Any = array
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    return isinstance(base, np.memmap)


@pytest.mark.parametrize(("n_hypotheses", "n_samples"), [(64, 2 * TILE), (33, 700), (5, 3), (5, 0)])
def test_given_words_are_used_as_they_are(n_hypotheses: int, n_samples: int) -> None:
    words = np.random.default_rng(0).integers(0, 2**64, words_shape(n_hypotheses, n_samples), np.uint64)
    before = words.copy()
    table = PackedTable.from_words(words, n_hypotheses, n_samples)
    right = table.right(np.arange(n_hypotheses))
    assert_holds(table, right)
    np.testing.assert_array_equal(words, before)

    problem = random_problem(n_hypotheses, 600)
    table.append(*problem)
    assert_holds(table, np.concatenate([right, rights(problem)], axis=1))


def test_words_on_disk_may_be_read_only(tmp_path: Path) -> None:
    shape = words_shape(40, 600)
    np.random.default_rng(0).integers(0, 2**64, shape, np.uint64).tofile(tmp_path / "words")
    words = np.fromfile(tmp_path / "words", np.uint64).reshape(shape)
    mapped = np.memmap(tmp_path / "words", np.uint64, "r", shape=shape)
    assert_holds(PackedTable.from_words(mapped, 40, 600), PackedTable.from_words(words, 40, 600).right(np.arange(40)))


def test_the_layout_is_as_documented() -> None:
    h, sample = 3 * BLOCK + 5, 2 * TILE + 8 * 9 + 6
    table = PackedTable(200)
    preds = np.zeros((200, 2), int)
    preds[h, 1] = 1
    items = (np.arange(3 * TILE) == sample).astype(int)
    table.append(preds, items, np.ones(3 * TILE, int))
    ((tiles, stored),) = table.chunks()
    assert tiles == slice(0, 3)
    assert stored[2, 3, 9, 5] == 1 << 6
    assert np.count_nonzero(stored) == 1


def test_one_row_or_several() -> None:
    problem = random_problem(40, 100)
    table, right = packed(problem), rights(problem)
    np.testing.assert_array_equal(table.right(39), right[39])
    np.testing.assert_array_equal(table.right([39, 0, 39]), right[[39, 0, 39]])
    assert table.right(np.zeros(0, int)).shape == (0, 100)


@pytest.mark.parametrize(
    ("preds", "items", "labels", "message"),
    [
        ([[0, 1]], [0], [1], "one row for each of the 2"),
        ([0, 1], [0], [1], "one row for each of the 2"),
        ([[0.0], [1.0]], [0], [1], "whole numbers"),
        ([[0], [1]], [1], [1], "no item"),
        ([[0], [1]], [-1], [1], "no item"),
        ([[0], [1]], [0.5], [1], "item is of type"),
        ([[0], [1]], [0, 0], [1], "one label for each item"),
        ([[0], [1]], [0], [-1], "never right"),
        ([[0], [1]], [0], [0.5], "not a whole number"),
    ],
)
def test_samples_that_make_no_sense_are_refused(preds: Any, items: Any, labels: Any, message: str) -> None:
    table = PackedTable(2)
    table.append([[0], [1]], [0], [1])
    with pytest.raises(InvalidInputError, match=message):
        table.append(preds, items, labels)
    assert_holds(table, np.array([[False], [True]]))


def test_other_nonsense_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="n_hypotheses is 0"):
        PackedTable(0)
    with pytest.raises(InvalidInputError, match="memory_share is 2"):
        PackedTable(1, memory_share=2)
    with pytest.raises(InvalidInputError, match=r"need a contiguous array of shape \(1, 1, 256\)"):
        PackedTable.from_words(np.zeros((1, 1, 8), np.uint64), 3, 3)
    table = packed(random_problem(3, 3))
    with pytest.raises(InvalidInputError, match="no hypothesis 3"):
        table.right(3)
    with pytest.raises(InvalidInputError, match="no sample 3"):
        table.column(3)
    with pytest.raises(InvalidInputError, match="n_threads is 0"):
        table.append(*random_problem(3, 3), n_threads=0)
    assert table.n_samples == 3


@given(n=st.integers(0, 100), n_threads=st.integers(1, 5), grain=st.integers(0, 60))
def test_every_unit_of_work_is_done_once(n: int, n_threads: int, grain: int) -> None:
    done: list[int] = []
    in_threads(lambda start, stop: done.extend(range(start, stop)), n, n_threads, grain)
    assert sorted(done) == list(range(n))


def test_an_error_in_a_thread_is_raised() -> None:
    def fail(start: int, stop: int) -> None:
        raise RuntimeError(f"{start}")

    with pytest.raises(RuntimeError):
        in_threads(fail, 100, 2, 1)
