"""Group commit: many who wait for their events to be durable share one write."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from onebit.study.events import Event


class GroupCommit:
    """Writes events in the order in which they were put; whoever waits first writes for all who wait by then.

    A write that fails raises in everyone who waits for it. Its events stay, in order, before those that come later: the
    next who waits tries again.
    """

    def __init__(self, write: Callable[[int, Sequence[Event]], None], n_written: int) -> None:
        self._write = write
        self._queue: list[Event] = []
        self._n_written = n_written
        self._n_put = n_written
        self._queue_lock, self._write_lock = threading.Lock(), threading.Lock()

    def put(self, events: Sequence[Event]) -> int:
        """Queue events; the ticket to wait with. Who puts must hold a lock that puts what happened in order."""
        with self._queue_lock:
            self._queue.extend(events)
            self._n_put += len(events)
            return self._n_put

    def wait(self, ticket: int) -> None:
        """Return when everything up to the ticket is durable."""
        with self._write_lock:
            if self._n_written >= ticket:
                return
            with self._queue_lock:
                batch = self._queue[:]
            self._write(self._n_written, batch)
            with self._queue_lock:
                del self._queue[: len(batch)]
            self._n_written += len(batch)
