"""Passes over shards: tried again, written down, never counted twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onebit.errors import InvalidInputError
from onebit.passes.engine import IN_FLIGHT, RETRIES, DoneShards, EngineLostError, ShardError, Sums, key_of, run_pass


def square(shard: int) -> Sums:
    return (np.array([shard**2]), np.array([1.5 * shard]))


class Flaky:
    """Fails so often for each shard, and counts how often each was done."""

    def __init__(self, n_failures: int, error: type[Exception] = OSError) -> None:
        self.n_failures, self.error, self.tried = n_failures, error, Counter[int]()

    def __call__(self, shard: int) -> Sums:
        self.tried[shard] += 1
        if self.tried[shard] <= self.n_failures:
            raise self.error(f"shard {shard} is not there")
        return square(shard)


class Ends(Executor):
    """An engine that takes so many tasks and is gone."""

    def __init__(self, n_tasks: int, error: Exception | None = None) -> None:
        self.n_tasks, self.error = n_tasks, error

    def submit(self, task: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.n_tasks -= 1
        if self.n_tasks < 0 and self.error is not None:
            raise self.error
        if self.n_tasks < 0:
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            future.set_result(task(*args, **options))
        return future


def squares(n: int) -> list[int]:
    return [shard**2 for shard in range(n)]


@pytest.mark.parametrize("engine", ["none", "threads", "processes"])
def test_results_come_in_the_order_of_the_shards(engine: str) -> None:
    n = IN_FLIGHT + 9
    told: list[tuple[int, int]] = []
    engines: dict[str, Callable[[], Executor]] = {
        "threads": lambda: ThreadPoolExecutor(3),
        "processes": lambda: ProcessPoolExecutor(1),
    }
    executor = engines[engine]() if engine in engines else None
    found = run_pass(square, range(n), executor, progress=lambda done, of: told.append((done, of)))
    if executor is not None:
        executor.shutdown()
    assert [int(first[0]) for first, _ in found] == squares(n)
    assert told == [(done, n) for done in range(n + 1)]


def test_a_task_that_fails_is_tried_again_and_counts_once(tmp_path: Path) -> None:
    task, done = Flaky(RETRIES), DoneShards(tmp_path, "pass")
    with ThreadPoolExecutor(2) as executor:
        found = run_pass(task, range(5), executor, done)
    assert [int(first[0]) for first, _ in found] == squares(5)
    assert task.tried == Counter(dict.fromkeys(range(5), RETRIES + 1))


def test_a_task_that_always_fails_is_an_error_that_names_it() -> None:
    with ThreadPoolExecutor(2) as executor, pytest.raises(ShardError, match=r"shard 0 \(0\) failed 4 times"):
        run_pass(Flaky(RETRIES + 1), range(1), executor)


def test_what_is_wrong_in_the_data_is_not_tried_again() -> None:
    task = Flaky(9, InvalidInputError)
    with ThreadPoolExecutor(1) as executor, pytest.raises(InvalidInputError, match="not there"):
        run_pass(task, range(1), executor)
    assert task.tried[0] == 1


@pytest.mark.parametrize("error", [None, RuntimeError("cannot schedule new futures after shutdown")])
def test_a_lost_engine_is_said_and_the_next_goes_on(tmp_path: Path, error: Exception | None) -> None:
    task, done = Flaky(0), DoneShards(tmp_path, "pass")
    with pytest.raises(EngineLostError, match=r"of 6 shards done .*it goes on from what is in"):
        run_pass(task, range(6), Ends(3, error), done)
    found = run_pass(task, range(6), Ends(6), done)
    assert [int(first[0]) for first, _ in found] == squares(6)
    assert max(task.tried.values()) == 1


def test_what_was_half_written_is_done_again(tmp_path: Path) -> None:
    done = DoneShards(tmp_path, "pass")
    done.write(0, square(0))
    done.write(1, square(1))
    path = done._path(1)
    path.write_bytes(path.read_bytes()[:40])
    task = Flaky(0)
    found = run_pass(task, range(2), None, done)
    assert [int(first[0]) for first, _ in found] == [0, 1]
    assert task.tried == Counter({1: 1})


def test_another_pass_has_another_name() -> None:
    names = {
        key_of("votes", {"weight": np.array([1, 2])}),
        key_of("votes", {"weight": np.array([1, 3])}),
        key_of("right", {"weight": np.array([1, 2])}),
        key_of("votes", {"weight": "[1 2]"}),
    }
    assert len(names) == 4
