"""Who may come in: links for owners and raters, kept in the store as hashes of their tokens.

A token is a link's only secret: 256 random bits that nobody can read back from the store. A link ends by itself, or at
once when it is revoked. The store is asked with every call, so that what one server or command changes holds at once on
every other.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, update

from onebit.errors import InvalidInputError, OnebitError
from onebit.store.schema import links, pauses
from onebit.store.store import Store
from onebit.web.constants import LINK_DAYS, MOST_OWNER_LINKS

Kind = Literal["owner", "rater"]

#: Whether the link's study is paused is asked along: raters ask for both with every question.
_FIND = (
    "SELECT id, kind, study_id, rater, made_at, expires_at, revoked_at,"
    " EXISTS (SELECT 1 FROM pauses WHERE pauses.study_id = links.study_id) AS is_paused"
    " FROM links WHERE token_hash = ?"
)
_PAUSED = "SELECT 1 FROM pauses WHERE study_id = ?"


class UnknownLinkError(OnebitError):
    """A link that was never made, has ended, or was revoked."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link as the owner sees it: everything but its token. ``rater`` is the name of whoever has it.

    ``is_paused``: of a link that was found by its token, whether its study gave out no questions then.
    """

    id: int
    kind: Kind
    study_id: int | None
    rater: str | None
    made_at: str
    expires_at: str
    revoked_at: str | None
    is_paused: bool = False

    def works(self, now: str) -> bool:
        return self.revoked_at is None and now < self.expires_at


class SteadyClock:
    """The time on the wall, as it was at the start and as much later as has passed: setting the clock ends no link."""

    def __init__(self) -> None:
        self._began, self._since = datetime.now(UTC), _passed()

    def __call__(self) -> datetime:
        return self._began + timedelta(seconds=_passed() - self._since)


class Access:
    """The links and pauses of one store."""

    def __init__(self, store: Store, clock: Callable[[], datetime] | None = None) -> None:
        self._store, self._clock = store, clock or SteadyClock()

    def make(self, kind: Kind, study_id: int | None = None, rater: str | None = None) -> tuple[Link, str]:
        """A new link and its token, which cannot be had again.

        Of owners' links without a name, which servers make when they start, the newest few work and no others.
        """
        _check_name(kind, rater)
        with self._store.writing() as connection:
            made = self._insert(connection, kind, study_id, rater)
            if kind == "owner" and rater is None:
                nameless = (links.c.kind == "owner") & links.c.rater.is_(None)
                newest = select(links.c.id).where(nameless).order_by(links.c.id.desc()).limit(MOST_OWNER_LINKS)
                self._end(connection, nameless & links.c.id.not_in(newest.scalar_subquery()))
        return made

    def rotate(self, link_id: int) -> tuple[Link, str]:
        """A new link for whoever has this one, which ends."""
        with self._store.writing() as connection:
            row = connection.execute(select(links).where(links.c.id == link_id)).first()
            if row is None or not self._end(connection, links.c.id == link_id):
                raise InvalidInputError(f"link {link_id} is not there, or was revoked before; make a new one")
            return self._insert(connection, row.kind, row.study_id, row.rater)

    def find(self, token: str) -> Link:
        """The link of a token; UnknownLinkError, which does not say why, if it opens nothing."""
        row = self._store.look_up(_FIND, _hash(token))
        link = None if row is None else replace(_link(row), is_paused=bool(row.is_paused))
        if link is None or not link.works(_text(self._clock())):
            raise UnknownLinkError(
                "this link does not work: it has ended, was revoked, or is mistyped; ask for another"
            )
        return link

    def all(self) -> list[Link]:
        """Every link, newest first."""
        return self._chosen(links.c.id.is_not(None))

    def of_study(self, study_id: int) -> list[Link]:
        """The raters' links of a study, newest first."""
        return self._chosen(links.c.study_id == study_id)

    def of_owners(self) -> list[Link]:
        """The owners' links that work now, newest first."""
        return [link for link in self._chosen(links.c.kind == "owner") if self.works(link)]

    def working(self, study_id: int) -> list[Link]:
        """The raters' links of a study that work now."""
        return [link for link in self.of_study(study_id) if self.works(link)]

    def works(self, link: Link) -> bool:
        """Whether a link, as it was read, works now."""
        return link.works(_text(self._clock()))

    def revoke(self, link_id: int, study_id: int | None = None) -> None:
        """End a link at once: a rater's of this study, or, without a study, an owner's."""
        theirs = links.c.kind == "owner" if study_id is None else links.c.study_id == study_id
        whose = "an owner" if study_id is None else "this study"
        with self._store.writing() as connection:
            if not self._end(connection, (links.c.id == link_id) & theirs):
                raise InvalidInputError(f"link {link_id} is not a link of {whose}, or was revoked before")

    def hand_on(self, study_id: int, to: int) -> int:
        """Let the raters' links of a study that work now open another one, and pause it; how many they are."""
        theirs = (links.c.study_id == study_id) & (links.c.kind == "rater") & links.c.revoked_at.is_(None)
        with self._store.writing() as connection:
            working = theirs & (links.c.expires_at > _text(self._clock()))
            moved = connection.execute(update(links).where(working).values(study_id=to)).rowcount
            self._pause(connection, study_id, True)
        return moved

    def end_others(self, link: Link) -> int:
        """End every other link of owners at once; how many worked until now."""
        with self._store.writing() as connection:
            return self._end(connection, (links.c.kind == "owner") & (links.c.id != link.id))

    def is_paused(self, study_id: int) -> bool:
        return self._store.look_up(_PAUSED, study_id) is not None

    def pause(self, study_id: int, paused: bool) -> None:
        """Stop giving out questions of a study, or go on; answers to those given out are taken all the same."""
        with self._store.writing() as connection:
            self._pause(connection, study_id, paused)

    def _pause(self, connection: Connection, study_id: int, paused: bool) -> None:
        connection.execute(delete(pauses).where(pauses.c.study_id == study_id))
        if paused:
            connection.execute(insert(pauses).values(study_id=study_id, since=_text(self._clock())))

    def _insert(self, connection: Connection, kind: Kind, study_id: int | None, rater: str | None) -> tuple[Link, str]:
        token, now = secrets.token_urlsafe(32), self._clock()
        made_at, expires_at = _text(now), _text(now + timedelta(days=LINK_DAYS))
        row = {"study_id": study_id, "kind": kind, "rater": rater, "made_at": made_at, "expires_at": expires_at}
        made = connection.execute(insert(links).values(token_hash=_hash(token), **row)).inserted_primary_key
        number = int(made[0]) if made is not None else 0
        return Link(number, kind, study_id, rater, made_at, expires_at, None), token

    def _end(self, connection: Connection, which: ColumnElement[bool]) -> int:
        ended = update(links).where(which & links.c.revoked_at.is_(None)).values(revoked_at=_text(self._clock()))
        return connection.execute(ended).rowcount

    def _chosen(self, which: ColumnElement[bool]) -> list[Link]:
        query = select(links).where(which).order_by(links.c.id.desc())
        with self._store.reading() as connection:
            return [_link(row) for row in connection.execute(query).all()]


def _check_name(kind: Kind, name: str | None) -> None:
    if name is None and kind == "owner":
        return
    if name is None or not name.strip() or len(name) > 200:
        raise InvalidInputError(f"the {kind} {name!r} is no name; give a text of at most 200 characters")


def _passed() -> float:
    # With the time in which the machine slept, where the system tells it.
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _link(row: Row[Any]) -> Link:
    return Link(row.id, row.kind, row.study_id, row.rater, row.made_at, row.expires_at, row.revoked_at)
