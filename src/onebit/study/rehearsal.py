"""A small run beside a study, before anybody waits for the real one.

What learns is compiled when it is first used, which takes seconds on a machine where nothing is kept from an earlier
run. A rehearsal uses all of it in the background, on a part of the study's own table, while the first question is read;
afterwards it lies on disk, and a rehearsal takes a moment.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

from onebit.errors import OnebitError
from onebit.study.constants import REHEARSED_ANSWERS

if TYPE_CHECKING:
    from onebit.study.kinds.kind import Kind

#: What was rehearsed in this process: the same again would find everything compiled.
_rehearsed: set[tuple[object, ...]] = set()


class Rehearsal:
    """A rehearsal in a thread of its own, from ``start`` to ``stop`` or the end of its ``with``."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._play, name="rehearsal")

    def start(self) -> None:
        """Begin, unless the same was begun before."""
        key = self._kind.rehearsal_key
        if key not in _rehearsed:
            _rehearsed.add(key)
            self._thread.start()

    def stop(self) -> None:
        """End it after the answer that it is at, and wait for that: a compiler must not be left alone at the exit."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _play(self) -> None:
        try:
            learner, rater = self._kind.rehearsal()
            for _ in range(REHEARSED_ANSWERS):
                questions = learner.ask(1)
                if self._stopped.is_set() or not isinstance(questions, tuple):
                    break
                learner.tell(questions[0].id, rater(questions[0]))
            _ = learner.result
        except OnebitError:
            # A part of a table may be too small for what the whole is asked; the study itself will say what is wrong.
            return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
