"""Workers as commands name them."""

from __future__ import annotations

import os
import sys

import pytest

from onebit.errors import InvalidInputError
from onebit.passes import open_workers
from onebit.passes import workers as module
from onebit.passes.engine import EngineLostError, run_pass


def place(_: int) -> int:
    return os.getpid()


def exits(_: int) -> int:
    os._exit(3)


def test_one_worker_is_this_process() -> None:
    with open_workers("1") as executor:
        assert executor is None
        assert run_pass(place, range(3), executor) == [os.getpid()] * 3


def test_several_are_processes_and_a_sweep_that_loses_them_says_so() -> None:
    with open_workers(2) as executor:
        found = run_pass(place, range(3), executor)
        assert os.getpid() not in found
        with pytest.raises(EngineLostError, match="the engine was lost with 0 of 2 cases done"):
            run_pass(exits, range(2), executor, called="case")


@pytest.mark.parametrize("where", ["0", "-1", "two", "1.5", ""])
def test_what_names_no_workers(where: str) -> None:
    with pytest.raises(InvalidInputError, match="it must be a number of processes"), open_workers(where):
        pass


def test_a_scheduler_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CONNECT", "0.3s")
    with pytest.raises(InvalidInputError, match="no Dask scheduler answers"), open_workers("tcp://127.0.0.1:9"):
        pass


def test_a_scheduler_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InvalidInputError, match="pip install 'onebit\\[cluster\\]'"), open_workers("tcp://127.0.0.1:9"):
        pass
