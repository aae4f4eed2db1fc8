"""Small disks of their own, which can be full, and bits that flip on them.

Disks are files with a file system, mounted where nobody else sees them; that needs Linux and its administrator.
Without, a store is on the common disk, and a full disk is not tried.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from onebit.errors import OnebitError
from onebit.study.checking import Health, check_store

#: Bytes of a disk: some three times what a store takes.
DISK = 700 * 2**20
#: Set where this process may mount disks that nobody else sees.
OWN_MOUNTS = "ONEBIT_OWN_MOUNTS"


def own_mounts() -> None:
    """Begin this program again where it may mount disks that nobody else sees, if that can be had."""
    own = ["unshare", "--mount"]
    if OWN_MOUNTS in os.environ or shutil.which("unshare") is None or shutil.which("mkfs.ext4") is None:
        return
    if subprocess.run([*own, "true"], capture_output=True, check=False).returncode == 0:
        os.environ[OWN_MOUNTS] = "1"
        os.execvp("unshare", [*own, sys.executable, *sys.orig_argv[1:]])


@contextlib.contextmanager
def disk(folder: Path) -> Iterator[bool]:
    """A folder that is a small disk while this is entered; whether it is."""
    folder.mkdir()
    if OWN_MOUNTS not in os.environ:
        yield False
        return
    image = folder.with_name(f"{folder.name}.img")
    with image.open("wb") as file:
        file.truncate(DISK)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
    subprocess.run(["mount", "-o", "loop", image, folder], check=True)
    try:
        yield True
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@contextlib.contextmanager
def filled(folder: Path) -> Iterator[None]:
    """A disk that is full while this is entered."""
    ballast = folder / "ballast"
    try:
        with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            size = 2**20
            while size >= 512:
                try:
                    os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), size)
                except OSError:
                    size //= 2
        yield
    finally:
        ballast.unlink()


def flip(path: Path, draw: random.Random) -> None:
    """Flip one bit of a file."""
    with path.open("r+b") as file:
        place = draw.randrange(max(1, path.stat().st_size))
        file.seek(place)
        was = file.read(1)
        file.seek(place)
        file.write(bytes([was[0] ^ (1 << draw.randrange(8))]))


def found_whole(url: str) -> list[Health]:
    """What a check says of a store before anything is done to it, which must be good."""
    found = check_store(url)
    if problems := [each.problem for each in found if each.problem is not None]:
        raise AssertionError(f"a store that nothing was done to is damaged: {problems}")
    return found


def found_in(url: str, whole: list[Health]) -> str:
    """Whether a store that is damaged is noticed to be, or is as it was, or neither."""
    try:
        found = check_store(url)
    except OnebitError:
        return "noticed"
    return "noticed" if any(each.problem for each in found) else "harmless" if found == whole else "unnoticed"
