"""Who does the tasks of a pass or a sweep, as commands name them: this process, several, or a Dask cluster."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager

from onebit.errors import InvalidInputError

#: How long a scheduler may take to answer.
CONNECT = "10s"


@contextmanager
def open_workers(where: str | int = 1) -> Iterator[Executor | None]:
    """An engine for ``run_pass``: so many processes, or the cluster of a Dask scheduler at ``tcp://HOST:PORT``.

    One process is this one: there is no engine then. Workers of a cluster need the same onebit, and whatever else the
    tasks are made of.
    """
    named = str(where)
    if "://" in named:
        with _cluster(named) as executor:
            yield executor
    elif not named.isdecimal() or int(named) < 1:
        raise InvalidInputError(
            f"workers is {named!r}; it must be a number of processes, at least 1, or the address of a Dask scheduler, "
            "tcp://HOST:PORT"
        )
    elif int(named) == 1:
        yield None
    else:
        # Spawned: threads that run here would be in an unknown state in a copy of this process.
        with ProcessPoolExecutor(int(named), mp_context=multiprocessing.get_context("spawn")) as executor:
            yield executor


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client
    except ImportError:
        raise InvalidInputError(
            f"workers is {address!r}, a Dask scheduler, and distributed is not installed; pip install 'onebit[cluster]'"
        ) from None
    try:
        client = Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"no Dask scheduler answers at {address}: {error}") from None
    with client:
        yield client.get_executor()
