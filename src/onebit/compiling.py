"""Where compiled kernels are kept, so that they are compiled once and not at every start.

numba keeps them beside the source, or in the user's cache where that cannot be written; where neither can, as in many
containers, it gives up. A folder of one's own among the temporary ones serves there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

#: What numba reads.
VARIABLE = "NUMBA_CACHE_DIR"


def keep_compiled() -> None:
    """Name a folder for compiled kernels where numba would find none. Before numba is imported."""
    if VARIABLE in os.environ:
        return
    cache = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    if not any(_can_write(place) for place in (Path(__file__).parent, cache)):
        os.environ[VARIABLE] = str(private_folder())


def _can_write(place: Path, may: Callable[[Path, int], bool] = os.access) -> bool:
    """Whether a folder can be written, or made."""
    there = next(each for each in (place, *place.parents) if each.exists())
    return may(there, os.W_OK)


def private_folder() -> Path:
    """A temporary folder that stays, and that nobody else can have put anything into: what is in it is run."""
    # Imported here: almost nobody needs it, and every command would wait for it.
    import tempfile

    owner = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    folder = Path(tempfile.gettempdir()) / f"onebit-compiled-{owner}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if hasattr(os, "getuid") and (found.st_uid != owner or found.st_mode & 0o077 or folder.is_symlink()):
            return Path(tempfile.mkdtemp(prefix="onebit-compiled-"))
    except OSError:
        return Path(tempfile.mkdtemp(prefix="onebit-compiled-"))
    return folder
