"""Blocks: what a study keeps besides its log, in pieces of so many items each."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from onebit.store import schema
from onebit.store.database import StoreError

#: A block of a study's data: its kind, number, bytes.
Block = tuple[str, int, bytes]
#: Kinds of blocks: of a selection, predictions, what simulated raters know (right labels or verdicts), outputs that are
#: texts, and what a judge says; of a training, features of examples and of the names of labels, what makes features,
#: and the model as it was lately; of both, what raters are shown.
PREDICTIONS, TRUTH, VERDICTS, OUTPUTS, JUDGE = "predictions", "truth", "verdicts", "outputs", "judge"
FEATURES, NAMES, TRANSFORMER, SNAPSHOT = "features", "names", "transformer", "snapshot"
ITEMS = "items"


def read_blocks(connection: Connection, study_id: int, kind: str) -> Iterator[bytes]:
    """The blocks of a kind, in order."""
    table = schema.blocks
    chosen = (table.c.study_id == study_id) & (table.c.kind == kind)
    numbers = connection.execute(select(table.c.number).where(chosen).order_by(table.c.number)).scalars().all()
    for number in numbers:
        yield read_block(connection, study_id, kind, number)


def read_block(connection: Connection, study_id: int, kind: str, number: int) -> bytes:
    """One block; StoreError if it is missing."""
    data = connection.execute(select(schema.blocks.c.data).where(_chosen(study_id, kind, number))).scalar()
    if data is None:
        raise StoreError(f"block {number} of the {kind} of a study is missing; restore the store from a backup")
    # SQLite keeps the type with the value, and whoever changes a value may change its type.
    if not isinstance(data, bytes):
        raise StoreError("a block of a study holds no bytes; restore the store from a backup")
    return data


def insert_block(connection: Connection, study_id: int, block: Block) -> None:
    """Write a new block."""
    kind, number, data = block
    connection.execute(insert(schema.blocks), {"study_id": study_id, "kind": kind, "number": number, "data": data})


def replace_block(connection: Connection, study_id: int, block: Block) -> None:
    """Keep a block instead of the one of its kind and number."""
    connection.execute(delete(schema.blocks).where(_chosen(study_id, block[0], block[1])))
    insert_block(connection, study_id, block)


def _chosen(study_id: int, kind: str, number: int) -> ColumnElement[bool]:
    table = schema.blocks
    return (table.c.study_id == study_id) & (table.c.kind == kind) & (table.c.number == number)
