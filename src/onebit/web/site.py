"""Everything that a server holds: its store, its links, and the studies that it has open."""

from __future__ import annotations

import contextlib
import gc
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

from onebit.errors import InvalidInputError, OnebitError
from onebit.store.store import Entry, Store
from onebit.web.access import Access
from onebit.web.limits import Failures
from onebit.web.room import Room


class NoSuchStudyError(OnebitError):
    """A study that is not in the store."""


class Site:
    """The state of a server. Studies are opened when they are first needed; one at a time, since that takes a while.

    ``folder`` is where tables and images may be read from; ``public_url`` is how raters reach the server.
    """

    def __init__(self, storage: str, folder: Path, public_url: str) -> None:
        self.storage, self.folder, self.public_url = storage, folder.resolve(), public_url.rstrip("/")
        self.store = Store(storage)
        self.access = Access(self.store)
        self.failures = Failures()
        self._uploads = TemporaryDirectory(prefix="onebit-")
        self.uploads = Path(self._uploads.name)
        self._rooms: dict[int, Room] = {}
        self._lock = threading.Lock()

    def entries(self) -> list[Entry]:
        return self.store.entries()

    def entry(self, study_id: int) -> Entry:
        for entry in self.entries():
            if entry.id == study_id:
                return entry
        raise NoSuchStudyError(f"there is no study {study_id} here")

    def room(self, study_id: int) -> Room:
        """The study, opened if it is not; InUseError if another process has it open."""
        room = self._rooms.get(study_id)
        if room is not None:
            return room
        # Imported here: what learns takes seconds to load, and the first page should not wait for it.
        from onebit.study.opening import load_study

        with self._lock:
            if study_id not in self._rooms:
                entry = self.entry(study_id)
                self._rooms[study_id] = Room(load_study(entry.name, storage=self.storage), entry)
            return self._rooms[study_id]

    def open_all(self) -> None:
        """Open and look at what can be opened, before anybody asks; what cannot says why when somebody does."""
        for entry in self.entries():
            with contextlib.suppress(OnebitError):
                self.room(entry.id).overview()
        # What studies hold stays for good. Going through it again for garbage would stop everybody for a while.
        gc.collect()
        gc.freeze()

    def below_folder(self, path: str) -> Path:
        """A file that an owner names; InvalidInputError if it is not below the server's folder."""
        whole = (self.folder / path).resolve()
        if not whole.is_relative_to(self.folder):
            raise InvalidInputError(f"{path!r} is not below the folder in which the server was started")
        return whole

    def link_url(self, kind: str, token: str) -> str:
        return f"{self.public_url}/{'o' if kind == 'owner' else 'r'}/{token}"

    def close(self) -> None:
        with self._lock:
            for room in self._rooms.values():
                room.close()
            self._rooms.clear()
        self.store.close()
        self._uploads.cleanup()
