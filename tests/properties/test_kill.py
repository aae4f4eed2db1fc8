"""kill -9 under load, and a disk that is full: nothing that was acknowledged is lost, nothing counts twice.

``ONEBIT_KILLS`` sets how often a process is killed, ``ONEBIT_RACES`` how often two raters race for one question.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.study.runs import PREDICTIONS

from onebit.errors import AlreadyAnsweredError
from onebit.log.events import LogError
from onebit.store.database import StoreError
from onebit.study.opening import create_study, load_study
from onebit.study.study import Offer

N_KILLS = int(os.environ.get("ONEBIT_KILLS", "10"))
N_RACES = int(os.environ.get("ONEBIT_RACES", "500"))
ROOT = Path(__file__).parents[2]


def in_own_process(module: str, *arguments: str, before: tuple[str, ...] = ()) -> Any:
    command = [*before, sys.executable, "-W", "error", "-m", module, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_kills(kind: str, storage: str) -> str:
    """Kill a study of that kind again and again; what was seen, in words."""
    found = in_own_process("tests.properties.killed_study", kind, storage, str(N_KILLS), "1")
    assert found["lost"] == []
    assert found["n_doubled"] == 0
    assert found["state_is_the_log"]
    assert found["n_logged"] >= found["n_acknowledged"] > 5 * N_KILLS
    assert found["n_undone"] > 0
    return (
        f"{N_KILLS} kills of a {kind} on {storage.split(':')[0]}: {found['n_acknowledged']} answers acknowledged, none "
        f"lost or doubled; resumed within {found['slowest_start']:.1f} s"
    )


def test_killed_at_random_moments(storage: str, measured: Callable[[str], None]) -> None:
    measured(check_kills("selection", storage))


def test_training_is_killed_at_random_moments(tmp_path: Path, measured: Callable[[str], None]) -> None:
    measured(check_kills("learning", f"sqlite:///{tmp_path}/studies.db"))


def test_two_raters_race_for_one_question(storage: str) -> None:
    # Raters who may err are asked again and again, so there is always something to ask.
    study = create_study(PREDICTIONS, "s", storage=storage, eps=1e-4, delta=1e-9, f_no=1e-3, lease_seconds=1e-9)
    taken: list[int] = []
    # A rater who fails breaks it, so that the other does not wait for ever.
    barrier = threading.Barrier(2, timeout=60)
    current: list[Offer] = []

    def work(rater: str) -> None:
        for _ in range(N_RACES):
            # Leases end at once, so both are given the same question.
            barrier.wait()
            offer = study.ask(rater)
            assert isinstance(offer, Offer)
            current.append(offer)
            barrier.wait()
            try:
                study.tell(current[-1].id, False, rater=rater)
                taken.append(current[-1].id)
            except AlreadyAnsweredError:
                pass

    threads = [threading.Thread(target=work, args=(rater,)) for rater in ("ann", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(set(taken)) == study.status().n_answers == N_RACES
    study.close()


def check_full_disk(found: dict[str, Any]) -> None:
    assert found["refused"]
    assert "cannot be written" in found["said"]
    assert found["n_acknowledged"] == found["n_kept"] > 0
    assert found["works_again"]
    assert found["state_is_the_log"]


def test_files_that_may_not_grow(tmp_path: Path) -> None:
    check_full_disk(in_own_process("tests.properties.full_disk", f"sqlite:///{tmp_path}/studies.db"))


def test_a_tiny_disk_that_is_full(tmp_path: Path) -> None:
    # A disk of our own, that nobody else sees and that goes with the process.
    own = ("unshare", "--map-root-user", "--mount")
    if shutil.which("unshare") is None or subprocess.run([*own, "true"], capture_output=True, check=False).returncode:
        pytest.skip("user namespaces are not allowed here")
    mount = f"mount -t tmpfs -o size=1500k none {tmp_path} && head -c 1000000 /dev/zero > {tmp_path}/ballast"
    shell = (*own, "sh", "-c", f'{mount} && exec "$@"', "sh")
    storage, ballast = f"sqlite:///{tmp_path}/studies.db", f"{tmp_path}/ballast"
    check_full_disk(in_own_process("tests.properties.full_disk", storage, ballast, before=shell))


@pytest.mark.parametrize("size", [0.3, 0.7, 0.95, 0.999])
def test_a_truncated_store_says_what_to_do(tmp_path: Path, size: float) -> None:
    path = tmp_path / "studies.db"
    create_study(PREDICTIONS, "s", storage=f"sqlite:///{path}", eps=0.1).close()
    content = path.read_bytes()
    path.write_bytes(content[: int(size * len(content))])
    with pytest.raises((StoreError, LogError), match="restore"):
        load_study("s", storage=f"sqlite:///{path}")


def test_a_file_that_is_no_store_says_so(tmp_path: Path) -> None:
    path = tmp_path / "studies.db"
    path.write_text("Dear diary, " * 1000)
    with pytest.raises(StoreError, match="damaged or no store"):
        load_study("s", storage=f"sqlite:///{path}")
