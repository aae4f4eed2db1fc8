"""The server's own folder: for nobody else, gone when it stops; the next start removes what a killed one left."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from tests.unit.web.served import Served, bearer

from onebit.web import uploads
from onebit.web.constants import UPLOAD_SECONDS
from onebit.web.uploads import UploadFolder

LEAVE = """
import os, sys, tempfile
tempfile.tempdir = sys.argv[1]
from onebit.web.uploads import UploadFolder
folder = UploadFolder()
(folder.path / "table.csv").write_text("secret")
print(folder.path, flush=True)
os.kill(os.getpid(), 9)
"""


def test_what_a_killed_server_left_is_removed_and_what_is_in_use_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = subprocess.run([sys.executable, "-c", LEAVE, str(tmp_path)], capture_output=True, text=True, check=False)
    path = Path(left.stdout.strip())
    assert path.is_dir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first = UploadFolder()
    assert not path.exists()
    second = UploadFolder()
    assert first.path.is_dir()
    assert stat.S_IMODE(first.path.parent.stat().st_mode) == 0o700
    first.close()
    second.close()
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_starts_at_the_same_time_takes_no_folder_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It removes what is not locked yet, right before it would be."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    lock, others = fcntl.flock, iter([uploads._remove_left_behind])

    def late(file: int, how: int) -> None:
        for remove in others:
            remove(tmp_path)
            assert list(tmp_path.iterdir()) == []
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    folder = UploadFolder()
    assert folder.path.is_dir()
    folder.close()
    assert list(tmp_path.iterdir()) == []


def test_uploads_of_yesterday_make_room_for_the_next(served: Served) -> None:
    """A server that runs for a year would fill its disk."""
    old, new = (served.site.new_upload(".csv") for _ in range(2))
    for file in (old, new):
        file.write_text("id,a\n1,x\n")
    os.utime(old, (time.time() - 2 * UPLOAD_SECONDS,) * 2)
    sent = served.client.post(
        "/api/v1/tables", params={"name": "t.csv"}, content=b"id,a,b\n1,x,y\n", headers=bearer(served.owner)
    )
    assert sent.status_code == 200
    assert not old.exists()
    assert new.exists()
