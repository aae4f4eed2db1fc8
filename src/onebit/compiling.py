"""Where compiled kernels are kept, so that they are compiled once and not at every start.

numba keeps them beside the source, or in the user's cache where that cannot be written; where neither can, as in many
containers, it gives up. A folder of one's own among the temporary ones serves there. Every command begins with this, so
it imports nothing that Python has not loaded already, unless it has to.
"""

from __future__ import annotations

import os
from collections.abc import Callable

#: What numba reads.
VARIABLE = "NUMBA_CACHE_DIR"


def keep_compiled() -> None:
    """Name a folder for compiled kernels where numba would find none. Before numba is imported."""
    if VARIABLE in os.environ:
        return
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not any(_can_write(place) for place in (os.path.dirname(__file__), cache)):
        os.environ[VARIABLE] = private_folder()


def _can_write(place: str, may: Callable[[str, int], bool] = os.access) -> bool:
    """Whether a folder can be written, or made."""
    there = os.path.abspath(place)
    while not os.path.exists(there):
        there = os.path.dirname(there)
    return may(there, os.W_OK)


def private_folder() -> str:
    """A temporary folder that stays, and that nobody else can have put anything into: what is in it is run."""
    import tempfile

    owner = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    folder = os.path.join(tempfile.gettempdir(), f"onebit-compiled-{owner}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.lstat(folder)
        is_others = hasattr(os, "getuid") and (found.st_uid != owner or found.st_mode & 0o077)
    except OSError:
        is_others = True
    return tempfile.mkdtemp(prefix="onebit-compiled-") if is_others or os.path.islink(folder) else folder
