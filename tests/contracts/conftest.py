"""Stores for the contract suite: a file of SQLite, and PostgreSQL from the wheel ``pgserver``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

_numbers = count()


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A PostgreSQL server of this session's own."""
    folder = tmp_path_factory.mktemp("postgres")
    before = os.environ.get("XDG_RUNTIME_DIR")
    # The wheel keeps its sockets and logs there, and wants the folder to be ours.
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    from pgserver.postgres_server import get_server

    server = get_server(folder / "data", cleanup_mode="stop")
    # Nobody pulls the plug on a test; without this, stopping alone takes seconds.
    server.psql("ALTER SYSTEM SET fsync = off;")
    server.psql("SELECT pg_reload_conf();")
    try:
        yield server
    finally:
        server.cleanup()
        if before is None:
            del os.environ["XDG_RUNTIME_DIR"]
        else:
            os.environ["XDG_RUNTIME_DIR"] = before


@pytest.fixture(params=["sqlite", "postgresql"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store that is empty."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/studies.db"
    server = request.getfixturevalue("postgres")
    name = f"studies_{next(_numbers)}"
    server.psql(f"CREATE SCHEMA {name};")
    return f"{server.get_uri()}&options=-csearch_path%3D{name}"
