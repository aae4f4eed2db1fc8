"""The tables of a store. How each came to be stands in ``migrations``; a change here needs a migration there."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, LargeBinary, MetaData, Table, Text

metadata = MetaData()

#: One row a study; ``about`` is JSON: what raters are shown and how the table is kept.
studies = Table(
    "studies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created_at", Text, nullable=False),
    Column("about", Text, nullable=False),
)

#: The log: ``event`` is JSON. The key keeps two writers from both writing the n-th event; ``writer`` says which did.
events = Table(
    "events",
    metadata,
    Column("study_id", Integer, ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("event", Text, nullable=False),
    Column("writer", Text, nullable=False),
    Column("written_at", Text, nullable=False),
)

#: Predictions or features and what raters are shown of items, so many items a block; and the snapshot of a model.
blocks = Table(
    "blocks",
    metadata,
    Column("study_id", Integer, ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)

#: Links by which owners (of all studies: ``study_id`` is null) and raters come in; of a token only its hash is kept.
links = Table(
    "links",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("study_id", Integer, ForeignKey("studies.id", ondelete="CASCADE")),
    Column("kind", Text, nullable=False),
    Column("rater", Text),
    Column("token_hash", Text, nullable=False, unique=True),
    Column("made_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("revoked_at", Text),
)

#: A study that stands here is put away: lists leave it out unless asked for all.
archives = Table(
    "archives",
    metadata,
    Column("study_id", Integer, ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True),
    Column("since", Text, nullable=False),
)

#: A study that is listed here gives out no questions where it is served.
pauses = Table(
    "pauses",
    metadata,
    Column("study_id", Integer, ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True),
    Column("since", Text, nullable=False),
)
