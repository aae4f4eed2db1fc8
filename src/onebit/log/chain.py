"""The chain of a log: every event holds the digest of the event before it, so that no single one can be changed.

The digest (sha256, hex) is that of the event's JSON in one form: keys in order, no spaces. So another layout of the
same text is harmless, and any other content, order, gap or insertion is noticed. The digest of the last event stands
for the whole log: whoever keeps it notices a log that was written anew from end to end.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from onebit.log.codec import from_json, to_json
from onebit.log.events import Created, Event, LogError

#: The key under which an event holds the digest of the one before; the first event holds START.
AFTER = "after"
START = ""
#: Made once: a call of json.dumps with options makes its own.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Head:
    """Where a log ends: how many events it has, and the digest of the last."""

    n_events: int = 0
    digest: str = START


def canonical(data: Any) -> str:
    """JSON in the one form that digests are of.

    >>> canonical({"b": 1.50, "a": None})
    '{"a":null,"b":1.5}'
    """
    return _ENCODER.encode(data)


def digest_of(text: str) -> str:
    """sha256 of a text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


class Chain:
    """Links new events after those that a log has; ``head`` is where it ends with them."""

    def __init__(self, head: Head | None = None) -> None:
        self.head = head or Head()

    def link(self, event: Event) -> str:
        """The event as the text to write; whatever is linked next comes after it."""
        text = canonical(to_json(event) | {AFTER: self.head.digest})
        self.head = Head(self.head.n_events + 1, digest_of(text))
        return text


def unlinked(text: str) -> tuple[Event, object]:
    """The event of a text, and what it holds as the digest of the one before; LogError, or ValueError if no JSON."""
    try:
        data = msgspec.json.decode(text)
    except msgspec.DecodeError:
        # Python reads more: half a pair of surrogates, say, which a rater's name may have.
        data = json.loads(text)
    after = data.pop(AFTER, None) if isinstance(data, dict) else None
    return from_json(data), after


class Unchain:
    """Reads the texts of a log in their order, and checks that each follows the one before."""

    def __init__(self) -> None:
        self._n_events = 0
        self._last = ""

    @property
    def head(self) -> Head:
        """Where what was read ends."""
        return Head(self._n_events, _settled_digest(self._last) if self._n_events else START)

    def take(self, text: str) -> Event:
        """The event of the next text; LogError, or ValueError where it is not JSON, if it cannot be the next."""
        event, after = unlinked(text)
        if isinstance(event, Created) != (self._n_events == 0):
            raise LogError("the first event, and no other, must be 'created'")
        if not self._is_last(after):
            raise LogError(
                "it does not follow the event before it: one of the two was changed, or others stood between them"
            )
        self._n_events += 1
        self._last = text
        return event

    def _is_last(self, after: object) -> bool:
        if self._n_events == 0:
            return after == START
        # What onebit wrote is in the one form already; only where somebody laid it out otherwise is it read again.
        return after == digest_of(self._last) or after == _settled_digest(self._last)


def digests(events: Iterable[Event]) -> list[str]:
    """The digest of every event of a log; the last is that of the head."""
    chain = Chain()
    found = []
    for event in events:
        chain.link(event)
        found.append(chain.head.digest)
    return found


def _settled_digest(text: str) -> str:
    return digest_of(canonical(json.loads(text)))
