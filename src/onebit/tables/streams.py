"""Files as bytes, those that gzip made unpacked on the way."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from onebit.errors import InvalidInputError

#: How a file that gzip made begins.
GZIP = b"\x1f\x8b"


def is_packed(path: Path) -> bool:
    """Whether gzip made the file, whatever it is called."""
    with path.open("rb") as file:
        return file.read(len(GZIP)) == GZIP


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked; InvalidInputError where they cannot be."""
    try:
        with cast(BinaryIO, gzip.open(path)) if is_packed(path) else path.open("rb") as file:
            yield file
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidInputError(f"{path.name} cannot be unpacked: {error}; make the file again with gzip") from None
