"""What raters are shown, kept at hand by its bytes: a small file whose texts repeat may unpack to gigabytes."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.unit.study.runs import PREDICTIONS, TRUTH

from onebit.errors import InvalidInputError
from onebit.store.store import Store
from onebit.study import items
from onebit.study.opening import create_study
from onebit.study.study import Study
from onebit.tables.record import make_table

#: Items of a block, and characters of the text of each.
N, LENGTH = 50, 1000
ITEM = 1100


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(items, "PER_BLOCK", N)
    with new_study(tmp_path) as made:
        yield made


def new_study(folder: Path) -> Study:
    texts = pa.array(["x" * LENGTH] * PREDICTIONS.shape[1])
    models = tuple(f"model {h}" for h in range(len(PREDICTIONS)))
    table = make_table(PREDICTIONS.astype("int8"), models, tuple("abcde"), TRUTH, "t", show={"text": texts})
    return create_study(table, "s", storage=f"sqlite:///{folder}/my.db", eps=0.1)


@pytest.fixture
def blocks_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the blocks that are read from the store."""
    numbers: list[int] = []
    read = Store.block

    def noting(store: Store, study_id: int, kind: str, number: int) -> bytes:
        numbers.append(number)
        time.sleep(0.01)
        return read(store, study_id, kind, number)

    monkeypatch.setattr(Store, "block", noting)
    return numbers


def test_as_many_blocks_stay_at_hand_as_their_bytes_allow(
    study: Study, blocks_read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items, "AT_HAND_BYTES", 3 * N * ITEM)
    for _ in range(2):
        for block in (0, 1, 2):
            assert study.item(block * N).shown == {"text": "x" * LENGTH}
    assert blocks_read == [0, 1, 2]
    study.item(3 * N)
    study.item(2 * N)
    study.item(0)
    assert blocks_read == [0, 1, 2, 3, 0]


def test_one_block_stays_however_large(study: Study, blocks_read: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items, "AT_HAND_BYTES", 1)
    for row in (0, 1, N - 1):
        study.item(row)
    assert blocks_read == [0]


def test_those_who_ask_at_once_read_a_block_once(study: Study, blocks_read: list[int]) -> None:
    threads = [threading.Thread(target=study.item, args=(0,)) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert blocks_read == [0]


def test_texts_that_are_too_much_together_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items, "MOST_BLOCK", 100_000)
    with pytest.raises(InvalidInputError, match=r"300 items or outputs, .* show less of them"):
        new_study(tmp_path)
    with Store(f"sqlite:///{tmp_path}/my.db") as store:
        assert store.entries() == []
