"""Group commit: many who wait for their events to be durable share one write."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from onebit.log.chain import Chain, Head
from onebit.log.events import Event
from onebit.store.database import InUseError


class GroupCommit:
    """Writes events in the order in which they were put; whoever waits first writes for all who wait by then.

    They are linked when they are put, after the ``head`` of the log. A write that fails raises in everyone who waits
    for it. Its texts stay, in order, before those that come later: the next who waits tries again with the same ones.
    ``write`` says when it wrote. ``publish`` is told what is durable now, in order: the events, where the log ends with
    them, and that time.
    """

    def __init__(
        self,
        write: Callable[[int, Sequence[str]], str],
        head: Head,
        publish: Callable[[Sequence[Event], Head, str], None],
    ) -> None:
        self._write, self._publish = write, publish
        self._queue: list[tuple[Event, str, Head]] = []
        self._chain = Chain(head)
        #: Where the log ends that is durable.
        self.head = head
        #: Another process has written, so nothing of this one can be written any more.
        self.is_lost = False
        self._queue_lock, self._write_lock = threading.Lock(), threading.Lock()

    def put(self, events: Sequence[Event]) -> int:
        """Queue events; the ticket to wait with. Who puts must hold a lock that puts what happened in order."""
        with self._queue_lock:
            self._queue.extend((event, self._chain.link(event), self._chain.head) for event in events)
            return self._chain.head.n_events

    def wait(self, ticket: int) -> None:
        """Return when everything up to the ticket is durable."""
        with self._write_lock:
            if self.head.n_events >= ticket:
                return
            with self._queue_lock:
                batch = self._queue[:]
            try:
                written_at = self._write(self.head.n_events, [text for _, text, _ in batch])
            except InUseError:
                self.is_lost = True
                raise
            with self._queue_lock:
                del self._queue[: len(batch)]
            self.head = batch[-1][2]
            self._publish([event for event, *_ in batch], self.head, written_at)
