"""An append-only file of events, one JSON object a line: the log of a run that needs no database.

Each event holds the digest of the one before (``chain``); opening the file checks that.
What was appended is on the disk when ``append`` returns. A process that is killed while it writes leaves a torn last
line; it was never acknowledged, and is cut off when the file is opened again. Damage anywhere else is an error.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from onebit.errors import OnebitError
from onebit.log.chain import Chain, Head, Unchain
from onebit.log.events import Event, LogError, OtherVersionError


class InUseError(OnebitError):
    """Another process is writing to this log; there is one writer at a time."""


class NotWrittenError(OnebitError):
    """The log could not be written, so nothing was acknowledged; what was before is kept."""


class Journal:
    """A log in a file, open for writing by this process alone.

    ``events`` is what was in it when it was opened; a new file has none. ``head`` is where it ends now. The lock is the
    system's own, on the open file, so a process that dies lets go of it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        is_new = not self.path.exists()
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise NotWrittenError(f"{self.path} cannot be opened for writing: {error.strerror}") from error
        try:
            self._lock()
            if is_new:
                _sync_folder(self.path.parent)
            whole = self._whole_lines()
            self.events, self.head = self._read(whole)
            self._end = len(whole)
        except BaseException:
            os.close(self._file)
            raise

    def append(self, events: Iterable[Event]) -> None:
        """Write events after the last; they are on the disk when this returns.

        Raises NotWrittenError where that fails (the disk is full, say). Then none of them is in the log, and they may
        be appended again.
        """
        # The head moves when they are written, so that a second attempt writes the same.
        chain = Chain(self.head)
        lines = "".join(chain.link(event) + "\n" for event in events).encode()
        try:
            # A write that failed before may have left part of a line.
            os.ftruncate(self._file, self._end)
            os.lseek(self._file, self._end, os.SEEK_SET)
            left = memoryview(lines)
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except OSError as error:
            raise NotWrittenError(
                f"{self.path} cannot be written: {error.strerror}; nothing was acknowledged, and what was there is "
                "kept. Make space, and go on"
            ) from error
        self._end += len(lines)
        self.head = chain.head

    def close(self) -> None:
        """Let go of the file and its lock."""
        os.close(self._file)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUseError(
                f"another process is writing to {self.path}; a log has one writer. Wait for it to end, or stop it"
            ) from None

    def _whole_lines(self) -> bytes:
        with open(self._file, "rb", closefd=False) as file:
            content = file.read()
        return content[: content.rfind(b"\n") + 1]

    def _read(self, lines: bytes) -> tuple[tuple[Event, ...], Head]:
        events: list[Event] = []
        unchain = Unchain()
        for number, line in enumerate(lines.splitlines(), start=1):
            try:
                events.append(unchain.take(line.decode()))
            except OtherVersionError:
                raise
            except (LogError, ValueError) as error:
                reason = str(error) if isinstance(error, LogError) else "it is not JSON"
                raise LogError(
                    f"{self.path}, line {number}: {reason}. The file was changed after it was written: restore a copy, "
                    f"or keep its first {number - 1} lines and lose every answer after them"
                ) from error
        return tuple(events), unchain.head


def _sync_folder(folder: Path) -> None:
    """Make a new file's name durable, not only its content."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
