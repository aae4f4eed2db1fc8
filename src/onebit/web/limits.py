"""How much one address may try, and how much it may send."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable

from onebit.errors import OnebitError
from onebit.web.constants import MOST_ADDRESSES, MOST_FAILURES, WITHIN


class TooManyFailuresError(OnebitError):
    """An address sent too many wrong tokens; for a while it is not listened to."""


class TooLargeError(OnebitError):
    """A request that is larger than is taken."""


class Failures:
    """Counts the wrong tokens of each address."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed: OrderedDict[str, deque[float]] = OrderedDict()

    def check(self, address: str) -> None:
        """TooManyFailuresError while this address has failed too often."""
        failed = self._failed.get(address)
        if failed is None:
            return
        now = self._clock()
        while failed and failed[0] <= now - WITHIN:
            failed.popleft()
        if len(failed) >= MOST_FAILURES:
            raise TooManyFailuresError("too many links from here did not work; wait a minute, and check the link")

    def note(self, address: str) -> None:
        self._failed.setdefault(address, deque(maxlen=MOST_FAILURES)).append(self._clock())
        self._failed.move_to_end(address)
        if len(self._failed) > MOST_ADDRESSES:
            self._failed.popitem(last=False)
