"""Where a server finds files: the folder that owners may name files of, and where uploads lie."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from onebit.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Folders:
    """``folder`` is where tables and media may be read from; ``uploads`` is the server's own."""

    folder: Path
    uploads: Path

    def below_folder(self, path: str) -> Path:
        """A file that an owner names; InvalidInputError if it is not below the server's folder."""
        whole = (self.folder / path).resolve()
        if not whole.is_relative_to(self.folder):
            raise InvalidInputError(f"{path!r} is not below the folder in which the server was started")
        return whole
