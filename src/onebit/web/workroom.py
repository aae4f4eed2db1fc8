"""Where files from outside are read: a process of its own for each, with limits of memory and time.

A table that is a trap (a few bytes that claim terabytes, a text that takes minutes) then harms nobody who answers
meanwhile, and nothing of it stays. What comes back is JSON, never an object of that process.
"""

from __future__ import annotations

import json
import os
import resource
import select
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from typing import Any

from onebit.errors import InvalidInputError, OnebitError, OptionError
from onebit.web.constants import AT_WORK, IN_LINE, NICE, WORK_BYTES, WORK_SECONDS
from onebit.web.fields import in_fields
from onebit.web.folders import Folders

#: What every process begins with, so that none waits for it.
PRELOADED = [
    "onebit.study.creation",
    "onebit.study.foresight",
    "onebit.study.kinds.selection.making",
    "onebit.study.kinds.training.making",
    "onebit.web.tasks",
]
#: Processes are forked from one that has no threads: this one has, and some may hold a lock just then.
_CONTEXT = get_context("forkserver")
#: What is told of a process that ended without a result.
ENDED = {"ended": True}


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """What one task may take: bytes beyond what it begins with, and seconds, of the clock and of the processor."""

    n_bytes: int = WORK_BYTES
    seconds: float = WORK_SECONDS


class FullError(OnebitError):
    """Too many tasks wait already."""


class Workroom:
    """Does tasks, a few at a time; some may wait, and the others are refused."""

    def __init__(self, storage: str, folders: Folders, limits: WorkLimits | None = None) -> None:
        self._storage, self._folders, self._limits = storage, folders, limits or WorkLimits()
        self._places = threading.BoundedSemaphore(AT_WORK)
        self._line = threading.BoundedSemaphore(AT_WORK + IN_LINE)
        _CONTEXT.set_forkserver_preload(PRELOADED)

    def prepare(self) -> None:
        """Load what tasks need, before somebody waits for one."""
        forkserver.ensure_running()

    def do(self, task: str, body: Mapping[str, Any], is_patient: bool = False) -> Any:
        """What a function of ``onebit.web.tasks`` gives; OptionError where the table cannot be, or takes too much.

        FullError where too many wait; who ``is_patient`` keeps no thread from others, and waits with any number.
        """
        if is_patient:
            return self._do(task, body)
        if not self._line.acquire(blocking=False):
            raise FullError(
                f"the server is at work on {AT_WORK} tables, and {IN_LINE} others wait; try again in a minute"
            )
        try:
            return self._do(task, body)
        finally:
            self._line.release()

    def _do(self, task: str, body: Mapping[str, Any]) -> Any:
        source = "path" if "path" in body else "upload"
        with self._places:
            ours, theirs = _CONTEXT.Pipe(duplex=False)
            given = (theirs, self._limits, task, self._storage, self._folders, dict(body))
            process = _CONTEXT.Process(target=_work, args=given, daemon=True)
            try:
                process.start()
            except (EOFError, OSError):
                # Who forks was killed, as the system does where memory runs out; the next task has another.
                ours.close()
                return _result(ENDED, source, self._limits)
            finally:
                theirs.close()
            try:
                told = json.loads(ours.recv_bytes()) if ours.poll(self._limits.seconds) else None
            except EOFError:
                told = ENDED
            finally:
                process.kill()
                process.join()
                ours.close()
        return _result(told, source, self._limits)


def _result(told: Any, source: str, limits: WorkLimits) -> Any:
    if told is None:
        raise OptionError(
            source, f"the table takes more than the {limits.seconds:.0f} seconds that the server gives it"
        )
    if "ended" in told:
        raise OptionError(
            source,
            f"the table cannot be read with the {limits.n_bytes / 2**20:,.0f} MB of memory that the server gives it",
        )
    if "error" not in told:
        return told["done"]
    if told["option"] is not None:
        raise OptionError(told["option"], told["error"])
    raise (InvalidInputError if told["is_input"] else OnebitError)(told["error"])


def _work(
    results: Connection, limits: WorkLimits, task: str, storage: str, folders: Folders, body: dict[str, Any]
) -> None:
    """In the process: keep to the limits, do the task, tell the result."""
    from onebit.web import tasks

    os.nice(NICE)
    threading.Thread(target=_end_with_reader, args=(results,), daemon=True).start()
    _limit(limits)
    do: Callable[[str, Folders, dict[str, Any]], Any] = getattr(tasks, task)
    try:
        told = {"done": do(storage, folders, body)}
    except OnebitError as error:
        is_input = isinstance(error, InvalidInputError)
        told = {"error": in_fields(str(error)), "option": getattr(error, "option", None), "is_input": is_input}
    except (MemoryError, RecursionError):
        told = ENDED
    # The server may have been killed this very moment.
    with suppress(BrokenPipeError):
        results.send_bytes(json.dumps(told).encode())


def _end_with_reader(results: Connection) -> None:
    """End this process once nobody can read its result: a server that was killed must not leave work behind."""
    gone = select.poll()
    # No event is asked for: what comes anyway is that the other end of the pipe was closed.
    gone.register(results.fileno(), 0)
    gone.poll()
    os._exit(1)


def _limit(limits: WorkLimits) -> None:
    # A second more, so that whoever waits says what happened.
    seconds = int(limits.seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    # Elsewhere there is no such limit that holds for what is asked for by mmap.
    if sys.platform != "linux":
        return
    with open("/proc/self/statm") as file:
        n_pages = int(file.read().split()[5])
    most = n_pages * resource.getpagesize() + limits.n_bytes
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
