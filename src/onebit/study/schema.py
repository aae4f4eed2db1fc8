"""The tables of a store. The first version of each stands in ``migrations``; a change here needs a migration there."""

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

#: The table of predictions and what raters are shown of items, so many items a block.
blocks = Table(
    "blocks",
    metadata,
    Column("study_id", Integer, ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)
