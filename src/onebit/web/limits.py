"""How much one address and one link may try, and how much may be sent."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable

from onebit.errors import OnebitError
from onebit.web.constants import MOST_ADDRESSES, MOST_FAILURES, MOST_REQUESTS, REQUESTS_A_SECOND, WITHIN


class TooManyError(OnebitError):
    """Too many wrong tokens from an address, or too many requests of a link; for a while it is not listened to."""


class TooLargeError(OnebitError):
    """A request that is larger than is taken."""


class Failures:
    """Counts the wrong tokens of each address. Whoever has a link is let in all the same: it is looked up first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, address: str) -> None:
        """A wrong token came from there; TooManyError if that happens too often."""
        with self._lock:
            is_too_many = self._note(address, self._clock())
        if is_too_many:
            raise TooManyError("too many links from here did not work; wait a minute, and check the link")

    def _note(self, address: str, now: float) -> bool:
        failed = self._failed.setdefault(address, deque(maxlen=MOST_FAILURES))
        self._failed.move_to_end(address)
        if len(self._failed) > MOST_ADDRESSES:
            self._failed.popitem(last=False)
        while failed and failed[0] <= now - WITHIN:
            failed.popleft()
        is_too_many = len(failed) >= MOST_FAILURES
        failed.append(now)
        return is_too_many


class Pace:
    """Counts the requests of each link: as many as there is room for, which comes back by and by."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        #: For each link how many requests there was room for, and when.
        self._room: OrderedDict[int, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, link_id: int) -> None:
        """One request; TooManyError if there is no room for it."""
        now = self._clock()
        with self._lock:
            room, before = self._room.pop(link_id, (float(MOST_REQUESTS), now))
            room = min(float(MOST_REQUESTS), room + (now - before) * REQUESTS_A_SECOND)
            self._room[link_id] = (room - 1 if room >= 1 else room), now
            if len(self._room) > MOST_ADDRESSES:
                self._room.popitem(last=False)
        if room < 1:
            raise TooManyError("too many requests by this link; wait a moment")
