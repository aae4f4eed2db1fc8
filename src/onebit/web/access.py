"""Who may come in: links for owners and raters, kept in the store as hashes of their tokens.

A token is a link's only secret: 256 random bits that nobody can read back from the store. A link ends by itself, or at
once when it is revoked.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from sqlalchemy import Row, delete, insert, select, update

from onebit.errors import InvalidInputError, OnebitError
from onebit.store.schema import links, pauses
from onebit.store.store import Store
from onebit.web.constants import LINK_DAYS

Kind = Literal["owner", "rater"]


class UnknownLinkError(OnebitError):
    """A link that was never made, has ended, or was revoked."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link as the owner sees it: everything but its token."""

    id: int
    kind: Kind
    study_id: int | None
    rater: str | None
    made_at: str
    expires_at: str
    revoked_at: str | None

    def works(self, now: str) -> bool:
        return self.revoked_at is None and now < self.expires_at


class Access:
    """The links and pauses of one store. Links that were found are remembered, so that most calls need no database."""

    def __init__(self, store: Store, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._store, self._clock = store, clock
        self._known: dict[str, Link] = {}
        with store.reading() as connection:
            self._paused = set(connection.execute(select(pauses.c.study_id)).scalars())

    def make(self, kind: Kind, study_id: int | None = None, rater: str | None = None) -> tuple[Link, str]:
        """A new link and its token, which cannot be had again."""
        if kind == "rater" and (rater is None or not rater.strip() or len(rater) > 200):
            raise InvalidInputError(f"the rater {rater!r} is no name; give a text of at most 200 characters")
        token = secrets.token_urlsafe(32)
        now = self._clock()
        made_at, expires_at = _text(now), _text(now + timedelta(days=LINK_DAYS))
        row = insert(links).values(
            study_id=study_id,
            kind=kind,
            rater=rater,
            token_hash=_hash(token),
            made_at=made_at,
            expires_at=expires_at,
        )
        with self._store.writing() as connection:
            made = connection.execute(row).inserted_primary_key
            number = int(made[0]) if made is not None else 0
        return Link(number, kind, study_id, rater, made_at, expires_at, None), token

    def known(self, token: str) -> Link | None:
        """The link of a token that came before and still works, without asking the store."""
        link = self._known.get(_hash(token))
        return link if link is not None and link.works(_text(self._clock())) else None

    def find(self, token: str) -> Link:
        """The link of a token; UnknownLinkError, which does not say why, if it opens nothing."""
        found = self.known(token)
        if found is not None:
            return found
        hashed = _hash(token)
        with self._store.reading() as connection:
            row = connection.execute(select(links).where(links.c.token_hash == hashed)).first()
        link = None if row is None else _link(row)
        if link is None or not link.works(_text(self._clock())):
            raise UnknownLinkError(
                "this link does not work: it has ended, was revoked, or is mistyped; ask for another"
            )
        self._known[hashed] = link
        return link

    def of_study(self, study_id: int) -> list[Link]:
        """The raters' links of a study, newest first."""
        chosen = select(links).where(links.c.study_id == study_id).order_by(links.c.id.desc())
        with self._store.reading() as connection:
            return [_link(row) for row in connection.execute(chosen).all()]

    def working(self, study_id: int) -> list[Link]:
        """Those of them that work now."""
        now = _text(self._clock())
        return [link for link in self.of_study(study_id) if link.works(now)]

    def revoke(self, link_id: int, study_id: int) -> None:
        """End a rater's link at once."""
        chosen = (links.c.id == link_id) & (links.c.study_id == study_id)
        with self._store.writing() as connection:
            ended = connection.execute(
                update(links).where(chosen & links.c.revoked_at.is_(None)).values(revoked_at=_text(self._clock()))
            )
        if ended.rowcount == 0:
            raise InvalidInputError(f"link {link_id} is not a link of this study, or was revoked before")
        self._known = {key: link for key, link in self._known.items() if link.id != link_id}

    def is_paused(self, study_id: int) -> bool:
        return study_id in self._paused

    def pause(self, study_id: int, paused: bool) -> None:
        """Stop giving out questions of a study, or go on; answers to those given out are taken all the same."""
        with self._store.writing() as connection:
            connection.execute(delete(pauses).where(pauses.c.study_id == study_id))
            if paused:
                connection.execute(insert(pauses).values(study_id=study_id, since=_text(self._clock())))
        (self._paused.add if paused else self._paused.discard)(study_id)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _link(row: Row[tuple[int, ...]]) -> Link:
    return Link(row.id, row.kind, row.study_id, row.rater, row.made_at, row.expires_at, row.revoked_at)
