"""Tables from outside are read in a process of their own: what takes too much is refused, and nobody else notices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.web.served import Served, bearer, write_table

from onebit.errors import InvalidInputError, OnebitError, OptionError
from onebit.store.store import Store
from onebit.study.constants import IMAGINED
from onebit.web import tasks
from onebit.web.constants import AT_WORK, IN_LINE
from onebit.web.folders import Folders
from onebit.web.workroom import WorkLimits, Workroom

CHOSEN = {"id": "id", "show": ["text"], "protocol": "one-shot"}


def workroom(folder: Path, **limits: Any) -> Workroom:
    return Workroom(f"sqlite:///{folder}/studies.db", Folders(folder.resolve(), folder), WorkLimits(**limits))


def test_what_is_done_there_is_what_would_be_done_here(tmp_path: Path) -> None:
    write_table(tmp_path / "table.csv")
    room = workroom(tmp_path)
    body = {"path": "table.csv", **CHOSEN, "eps": 0.2}
    folders = Folders(tmp_path.resolve(), tmp_path)
    assert room.do("columns", body) == tasks.columns("", folders, body)
    assert room.do("plan", body)["answers"] == tasks.plan("", folders, body)["answers"]
    number = room.do("create", {**body, "name": "made there"})
    with Store(f"sqlite:///{tmp_path}/studies.db") as store:
        assert [(entry.id, entry.name) for entry in store.entries()] == [(number, "made there")]
    storage = f"sqlite:///{tmp_path}/studies.db"
    ahead = room.do("look_ahead", {"study": "made there"})
    assert ahead == json.loads(json.dumps(tasks.look_ahead(storage, folders, {"study": "made there"})))
    assert len(ahead["courses"]) == len(IMAGINED)


def test_refusals_come_back_with_their_field(tmp_path: Path) -> None:
    write_table(tmp_path / "table.csv")
    room = workroom(tmp_path)
    with pytest.raises(OptionError, match="there is no column 'no'") as caught:
        room.do("plan", {"path": "table.csv", "protocol": "one-shot", "id": "no"})
    assert caught.value.option == "id"
    with pytest.raises(InvalidInputError, match="not below the folder"):
        room.do("columns", {"path": "/etc/passwd"})


def test_a_table_that_takes_too_much_memory_is_refused(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "large.npz", preds=np.zeros((2, 50 * 2**20), dtype=np.int8))
    with pytest.raises(OptionError, match="memory"):
        workroom(tmp_path, n_bytes=64 * 2**20).do("plan", {"path": "large.npz", "protocol": "one-shot"})


def test_who_forks_may_be_killed_and_the_next_task_has_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the system does where memory runs out: the task is refused in words, and the server goes on."""
    write_table(tmp_path / "table.csv")
    room, body = workroom(tmp_path), {"path": "table.csv", **CHOSEN}

    def killed(process: object) -> None:
        raise EOFError("unexpected EOF")

    with monkeypatch.context() as patched:
        patched.setattr("multiprocessing.context.ForkServerProcess.start", killed)
        with pytest.raises(OptionError, match="memory"):
            room.do("columns", body)
    assert room.do("columns", body)["columns"]


def test_a_table_that_takes_too_long_is_refused(tmp_path: Path) -> None:
    write_table(tmp_path / "table.csv")
    with pytest.raises(OptionError, match="more than the 0 seconds"):
        workroom(tmp_path, seconds=0.0).do("plan", {"path": "table.csv", **CHOSEN})


SLOW = """import os, pathlib, time
from onebit.web import tasks

def wait(storage, folders, body):
    pathlib.Path(body["path"]).write_text(str(os.getpid()))
    time.sleep(120)

tasks.wait = wait
"""
SERVER = """import sys
from pathlib import Path
from onebit.web import workroom
from onebit.web.folders import Folders

workroom.PRELOADED.append("slow_task")
folder = Path(sys.argv[1])
workroom.Workroom("", Folders(folder, folder)).do("wait", {"path": str(folder / "number")})
"""


def is_running(process_id: int) -> bool:
    """Whether it is there, and not only what nobody has asked about yet."""
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def eventually(is_so: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.05)
    return is_so()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_a_server_that_is_killed_leaves_no_work_behind(tmp_path: Path) -> None:
    (tmp_path / "slow_task.py").write_text(SLOW)
    number = tmp_path / "number"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    with subprocess.Popen([sys.executable, "-c", SERVER, str(tmp_path)], env=environment) as server:
        assert eventually(lambda: number.exists() and number.read_text() != "", 60)
        worker = int(number.read_text())
        assert is_running(worker)
        server.kill()
    assert eventually(lambda: not is_running(worker), 20)


def test_more_tasks_than_can_wait_are_refused_and_raters_are_served(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waits keeps a thread of the server, and raters need them, too."""
    is_over = threading.Event()

    def work(room: Workroom, task: str, body: Any) -> dict[str, Any]:
        if task != "plan":
            raise OnebitError("there is no forecast")
        is_over.wait(60)
        return {}

    monkeypatch.setattr(Workroom, "_do", work)
    told: list[Any] = []

    def plan() -> None:
        told.append(served.post("plan", served.owner, path="table.csv", **CHOSEN))

    with served.client:
        threads = [threading.Thread(target=plan) for _ in range(60)]
        for thread in threads:
            thread.start()
        try:
            until = time.monotonic() + 30
            while len(told) < 60 - AT_WORK - IN_LINE and time.monotonic() < until:
                time.sleep(0.05)
            assert [each.status_code for each in told] == [503] * (60 - AT_WORK - IN_LINE)
            assert "try again" in told[0].json()["error"]
            assert served.ask(served.ann)
        finally:
            is_over.set()
            for thread in threads:
                thread.join()
    assert sum(each.status_code == 200 for each in told) == AT_WORK + IN_LINE


def test_raters_are_served_while_a_trap_is_read(served: Served) -> None:
    """An NPZ of a hundred kB that takes more than there is, from the page: raters go on, and the site lives."""
    folder = served.site.folder
    np.savez_compressed(folder / "large.npz", preds=np.zeros((2, 50 * 2**20), dtype=np.int8))
    served.site.workroom = workroom(folder, n_bytes=64 * 2**20)
    served.ask(served.ann)
    told: list[Any] = []

    def plan() -> None:
        told.append(served.post("plan", served.owner, path="large.npz", protocol="one-shot"))

    thread = threading.Thread(target=plan)
    thread.start()
    longest = 0.0
    while thread.is_alive():
        began = time.monotonic()
        assert served.ask(served.ann)
        longest = max(longest, time.monotonic() - began)
    assert told[0].status_code == 422
    assert longest < 5
    assert served.client.get("/api/v1/studies", headers=bearer(served.owner)).status_code == 200
