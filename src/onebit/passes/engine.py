"""One task per shard on an engine that exists: submitted, tried again, written down, and given back in order.

The engine is any ``concurrent.futures.Executor``: threads, processes, or a cluster by
``dask.distributed.Client(...).get_executor()``. A task is a function of a shard that returns arrays; it opens the shard
by its path, so what travels is small. What is done is kept in a folder, one file per shard, if one is named: a run
that loses its engine goes on from there. Nothing is counted twice, since results are added by shard and not as they
come. Sweeps, whose tasks are pieces to measure, run in the same way.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, OnebitError

Shard = TypeVar("Shard")
#: What a task returns: anything but None.
Found = TypeVar("Found")
#: What the task of a shard of a table returns.
Sums = tuple[NDArray[Any], ...]
#: Is told how many shards are done, and of how many.
Progress = Callable[[int, int], None]

#: A shard whose task fails is tried so often again: a worker that dies takes its task with it. Origin: Dask's own.
RETRIES = 3
#: Tasks that are submitted at once; the others wait here, and not in the memory of the engine.
IN_FLIGHT = 64


class ShardError(OnebitError):
    """The task of a shard failed each time it was tried."""


class EngineLostError(OnebitError):
    """The engine takes no tasks any more, or gave up those that it had."""


class Done(Protocol[Found]):
    """Where is kept what is done, by the numbers of the shards."""

    @property
    def place(self) -> str:
        """Where that is, for people."""

    def read(self, number: int) -> Found | None:
        """What was written of a shard; None where nothing was."""

    def write(self, number: int, found: Found, /) -> None:
        """Keep what a task returned, whole or not at all."""


class DoneShards:
    """Results by shard in a folder, one file each, written whole or not at all. ``key`` names the pass."""

    def __init__(self, folder: str | Path, key: str) -> None:
        self.folder = Path(folder) / key
        self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def place(self) -> str:
        return str(self.folder)

    def read(self, number: int) -> Sums | None:
        """What was written of a shard; None where nothing was."""
        try:
            with self._path(number).open("rb") as file, np.load(file, allow_pickle=False) as kept:
                return tuple(kept[name] for name in sorted(kept.files, key=lambda name: int(name[4:])))
        except (FileNotFoundError, BadZipFile, EOFError, ValueError):
            return None

    def write(self, number: int, sums: Sums) -> None:
        handle, path = tempfile.mkstemp(dir=self.folder)
        with os.fdopen(handle, "wb") as file:
            np.savez(file, *sums)
            file.flush()
            os.fsync(file.fileno())
        Path(path).replace(self._path(number))

    def _path(self, number: int) -> Path:
        return self.folder / f"shard-{number}.npz"


def key_of(name: str, parts: Mapping[str, object]) -> str:
    """A name for a pass: two with the same one have the same task, shards and arguments."""
    digest = hashlib.sha256(name.encode())
    for part, value in sorted(parts.items()):
        data = np.ascontiguousarray(value).tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
        digest.update(f"{part} {len(data)} ".encode())
        digest.update(data)
    return f"{name}-{digest.hexdigest()[:24]}"


def run_pass(
    task: Callable[[Shard], Found],
    shards: Sequence[Shard],
    executor: Executor | None = None,
    done: Done[Found] | None = None,
    progress: Progress | None = None,
    called: str = "shard",
) -> list[Found]:
    """What ``task`` returns of each shard, in the order of the shards, whoever did them and when.

    Raises EngineLostError if the engine is gone, and ShardError if a shard failed RETRIES times more than once; with
    ``done``, the same call goes on after either. An InvalidInputError of a task is raised as it is. Errors name a shard
    as it is ``called``.
    """
    results: list[Found | None] = [None if done is None else done.read(number) for number in range(len(shards))]
    pass_ = _Pass(task, shards, executor, done, progress, results, called)
    try:
        pass_.run()
    finally:
        pass_.cancel()
    return [each for each in results if each is not None]


class _Pass(Generic[Found]):
    def __init__(
        self,
        task: Callable[[Any], Found],
        shards: Sequence[Any],
        executor: Executor | None,
        done: Done[Found] | None,
        progress: Progress | None,
        results: list[Found | None],
        called: str,
    ) -> None:
        self._task, self._shards, self._executor, self._done = task, shards, executor, done
        self._called = called
        self._results, self._progress = results, progress
        self._waiting = deque(number for number, found in enumerate(results) if found is None)
        self._running: dict[Future[Found], int] = {}
        self._n_failed = [0] * len(shards)

    def run(self) -> None:
        self._tell()
        while self._waiting or self._running:
            if self._executor is None:
                number = self._waiting.popleft()
                self._keep(number, self._task(self._shards[number]))
                continue
            while self._waiting and len(self._running) < IN_FLIGHT:
                self._submit(self._executor, self._waiting.popleft())
            future = next(iter(wait(self._running, return_when=FIRST_COMPLETED).done))
            self._take(future, self._running.pop(future))

    def cancel(self) -> None:
        for future in self._running:
            future.cancel()

    def _submit(self, executor: Executor, number: int) -> None:
        try:
            self._running[executor.submit(self._task, self._shards[number])] = number
        except Exception as error:
            self._waiting.append(number)
            raise self._lost(error) from error

    def _take(self, future: Future[Found], number: int) -> None:
        try:
            found = future.result()
        except InvalidInputError:
            raise
        except (CancelledError, BrokenExecutor) as error:
            raise self._lost(error) from error
        except Exception as error:
            self._n_failed[number] += 1
            if self._n_failed[number] > RETRIES:
                raise ShardError(
                    f"{self._called} {number} ({self._shards[number]}) failed {RETRIES + 1} times, the last time with "
                    f"{type(error).__name__}: {error}; mend it and call again{self._where()}"
                ) from error
            self._waiting.append(number)
            return
        self._keep(number, found)

    def _keep(self, number: int, found: Found) -> None:
        if self._done is not None:
            self._done.write(number, found)
        self._results[number] = found
        self._tell()

    def _n_done(self) -> int:
        return sum(found is not None for found in self._results)

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self._n_done(), len(self._shards))

    def _lost(self, error: BaseException) -> EngineLostError:
        # What is done already would be done again.
        for future, number in self._running.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                self._keep(number, future.result())
        why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return EngineLostError(
            f"the engine was lost with {self._n_done()} of {len(self._shards)} {self._called}s done ({why}); start "
            f"another and call again{self._where()}"
        )

    def _where(self) -> str:
        if self._done is None:
            return ": with a folder for what is done, it would go on from there"
        return f": it goes on from what is in {self._done.place}"
