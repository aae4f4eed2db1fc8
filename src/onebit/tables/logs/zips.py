"""Zips whose members may be packed by Zstandard, which Python's own reader does not know before 3.14."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path

import pyarrow as pa

from onebit.errors import InvalidInputError
from onebit.tables.limits import check_unpacked

#: The method's number in a zip, and the length of what stands before a member's name there.
ZSTANDARD, LOCAL_HEADER = 93, 30


class Zip:
    """A zip that is read; InvalidInputError where it is damaged, or unpacks to too much."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = zipfile.ZipFile(path)
        except zipfile.BadZipFile as error:
            raise self._damaged(error) from None
        self.names = self._file.namelist()
        check_unpacked(path, sum(each.file_size for each in self._file.infolist()))

    def __enter__(self) -> Zip:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, name: str) -> bytes:
        """The bytes of a member."""
        info = self._file.getinfo(name)
        try:
            return self._read_zstandard(info) if info.compress_type == ZSTANDARD else self._file.read(name)
        except (zipfile.BadZipFile, RuntimeError, zlib.error, OSError, struct.error, pa.ArrowException) as error:
            raise self._damaged(error) from None

    def _read_zstandard(self, info: zipfile.ZipInfo) -> bytes:
        with self._path.open("rb") as file:
            file.seek(info.header_offset)
            # The last two numbers are the lengths of what follows before the data.
            lengths = struct.unpack("<HH", file.read(LOCAL_HEADER)[-4:])
            file.seek(sum(lengths), 1)
            packed = file.read(info.compress_size)
        unpacked: bytes = pa.decompress(packed, info.file_size, codec="zstd", asbytes=True)
        return unpacked

    def _damaged(self, error: Exception) -> InvalidInputError:
        return InvalidInputError(f"{self._path.name} is damaged: {str(error).splitlines()[0]}; copy it again")
