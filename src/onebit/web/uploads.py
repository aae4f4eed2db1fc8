"""The server's own folder for uploads and files to be downloaded: gone when it stops, also after it was killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

PREFIX = "onebit-uploads-"
_LOCK = ".lock"


class UploadFolder:
    """A folder that nobody else can read, held by a lock that the system lets go of when the server ends."""

    def __init__(self) -> None:
        _remove_left_behind(Path(tempfile.gettempdir()))
        self._whole, lock = _new_folder()
        self._lock: int | None = lock
        #: Where files go, beside the lock.
        self.path = self._whole / "files"
        self.path.mkdir(0o700)

    def remove_old(self, seconds: float) -> None:
        """Remove the files that were written longer ago than that."""
        for file in self.path.iterdir():
            # Whoever downloads one removes it, too.
            with suppress(FileNotFoundError):
                if time.time() - file.stat().st_mtime > seconds:
                    file.unlink()

    def close(self) -> None:
        shutil.rmtree(self._whole, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _new_folder() -> tuple[Path, int]:
    """A folder and the lock on it.

    Another server that starts at the same time may take it for one that was left behind, until it is locked; then there
    is another.
    """
    while True:
        whole = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = os.open(whole / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (whole / _LOCK).exists():
            return whole, lock
        os.close(lock)


def _remove_left_behind(folder: Path) -> None:
    """Remove the folders of servers that were killed: those whose lock nobody holds."""
    for left in folder.glob(f"{PREFIX}*"):
        # Another user's is another user's to remove.
        with suppress(OSError):
            file = os.open(left / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(file)
