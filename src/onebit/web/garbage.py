"""Python's search for garbage, in a server that holds much for good.

A whole search goes through everything that is held while everybody waits, some tenths of a second with 100,000 answers,
and comes every few seconds where many raters answer. So what it has left, studies nearly all of it, is not gone through
again until one of them is let go.
"""

from __future__ import annotations

import gc
from typing import Any

#: The number of a search that goes through everything.
WHOLE = 2


def spare_what_is_held() -> None:
    """From now on each search goes through what came since the last whole one; until ``search_all``."""
    if _set_aside not in gc.callbacks:
        gc.callbacks.append(_set_aside)
    gc.collect()


def search_all() -> None:
    """The next search goes through everything: something large may have become garbage."""
    gc.unfreeze()


def spare_nothing() -> None:
    """Search as Python does by itself."""
    if _set_aside in gc.callbacks:
        gc.callbacks.remove(_set_aside)
    gc.unfreeze()


def _set_aside(phase: str, about: dict[str, Any]) -> None:
    if phase == "stop" and about["generation"] == WHOLE:
        gc.freeze()
