"""Everything that a server holds: its store, its links, and the studies that it has open."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from onebit.errors import OnebitError
from onebit.store.database import InUseError
from onebit.store.store import Entry, Store
from onebit.web import garbage
from onebit.web.access import Access
from onebit.web.constants import KEEP_EVERY, LOOK_AHEAD_EVERY, UPLOAD_SECONDS
from onebit.web.elsewhere import ElsewhereError
from onebit.web.folders import Folders
from onebit.web.limits import Failures, Pace
from onebit.web.room import Room
from onebit.web.uploads import UploadFolder
from onebit.web.workroom import Workroom

if TYPE_CHECKING:
    from onebit.study.study import Study


class NoSuchStudyError(OnebitError):
    """A study that is not in the store."""


class Site:
    """The state of a server. Studies are opened when they are first needed; one at a time, since that takes a while.

    ``folder`` is where tables and media may be read from; ``public_url`` is how raters reach the server. ``address`` is
    how other servers of the same store reach it, where there are several.
    """

    def __init__(self, storage: str, folder: Path, public_url: str, address: str | None = None) -> None:
        self.address = address
        self.storage, self.folder, self.public_url = storage, folder.resolve(), public_url.rstrip("/")
        self.store = Store(storage)
        self.access = Access(self.store)
        self.failures, self.pace = Failures(), Pace()
        self._uploads = UploadFolder()
        self.uploads = self._uploads.path
        self.workroom = Workroom(storage, Folders(self.folder, self.uploads))
        self._rooms: dict[int, Room] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def entries(self) -> list[Entry]:
        return self.store.entries()

    def entry(self, study_id: int) -> Entry:
        for entry in self.entries():
            if entry.id == study_id:
                return entry
        raise NoSuchStudyError(f"there is no study {study_id} here")

    def room(self, study_id: int) -> Room:
        """The study, opened if it is not; InUseError if another process has it open, ElsewhereError if a server has.

        One that another process has written to meanwhile is opened again, as soon as that process lets go of it.
        """
        room = self._rooms.get(study_id)
        if room is not None and not room.study.is_lost:
            return room
        # Imported here: what learns takes seconds to load, and the first page should not wait for it.
        from onebit.study.opening import load_study

        self._check_is_not_elsewhere(study_id)
        with self._lock:
            room = self._rooms.get(study_id)
            if room is not None and room.study.is_lost:
                del self._rooms[study_id]
                room.close()
            if study_id not in self._rooms:
                entry = self.entry(study_id)
                self._rooms[study_id] = self._open(load_study, entry)
            return self._rooms[study_id]

    def _open(self, load: Callable[..., Study], entry: Entry) -> Room:
        try:
            return Room(load(entry.name, storage=self.storage, address=self.address), entry)
        except InUseError:
            # Another server may just have been quicker.
            self._check_is_not_elsewhere(entry.id)
            raise

    def _check_is_not_elsewhere(self, study_id: int) -> None:
        url = self.holder(study_id)
        if url is not None:
            raise ElsewhereError(url)

    def holder(self, study_id: int) -> str | None:
        """The address of another server that has the study open; None where there is none."""
        if self.address is None:
            return None
        found = self.store.holder(study_id)
        return None if found == self.address else found

    def opened(self, study_id: int) -> Room | None:
        """The study if it is open."""
        return self._rooms.get(study_id)

    def delete(self, study_id: int) -> Entry:
        """Delete a study with its answers and links; InUseError if another process has it open."""
        entry = self.entry(study_id)
        self._check_is_not_elsewhere(study_id)
        for link in self.access.working(study_id):
            self.access.revoke(link.id, study_id)
        self._close(study_id)
        self.store.delete(entry.name)
        return entry

    def rename(self, study_id: int, name: str) -> None:
        """Give a study another name; InUseError if another process has it open."""
        self.room(study_id).rename(self.store, name)

    def open_all(self) -> None:
        """Open and look at what can be opened, before anybody asks; what cannot says why when somebody does."""
        # Of several servers, each opens what it is asked for.
        for entry in self.entries() if self.address is None else ():
            with contextlib.suppress(OnebitError):
                self.room(entry.id).overview()
        # Afterwards: raters come first.
        self.workroom.prepare()
        garbage.spare_what_is_held()

    def keep_locks(self) -> None:
        """Stay the writer of what is open, until the site is closed: a database that is started anew forgets it."""
        while not self._closed.wait(KEEP_EVERY):
            for study_id, room in list(self._rooms.items()):
                try:
                    room.study.keep_lock()
                except InUseError:
                    self._let_go(study_id)
                except OnebitError:
                    # Whoever needs the study is told what is wrong.
                    pass

    def _let_go(self, study_id: int) -> None:
        """Another process has the study by now: of several servers, requests go to that one."""
        if self.address is not None:
            self._close(study_id)

    def _close(self, study_id: int) -> None:
        """Let go of a study, if it is open."""
        with self._lock:
            room = self._rooms.pop(study_id, None)
            if room is not None:
                room.close()
        garbage.search_all()

    def keep_forecasts(self) -> None:
        """Look ahead in what is open, one study after the other, until the site is closed; nobody waits for it."""
        while not self._closed.wait(LOOK_AHEAD_EVERY):
            for room in list(self._rooms.values()):
                # A study without a forecast goes on without one.
                with contextlib.suppress(OnebitError):
                    room.look_ahead(self.workroom)

    def new_upload(self, ending: str) -> Path:
        """Where the next upload goes; those of yesterday make room for it."""
        self._uploads.remove_old(UPLOAD_SECONDS)
        return self.uploads / f"{uuid.uuid4().hex}{ending}"

    def link_url(self, kind: str, token: str) -> str:
        return f"{self.public_url}/{'o' if kind == 'owner' else 'r'}/{token}"

    def close(self) -> None:
        self._closed.set()
        with self._lock:
            for room in self._rooms.values():
                room.close()
            self._rooms.clear()
        self.store.close()
        self._uploads.close()
        garbage.spare_nothing()
