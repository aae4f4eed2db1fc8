"""How a model learns what is known: after each epoch, from earlier answers, and before it is audited.

With a guide, which is a built-in model beside an estimator, the guide learns first, and the estimator may be taught
what the guide holds likely (``guide.py``). Not in the paper.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from onebit.hypotheses.base import Examples
from onebit.learners.training.around import Around
from onebit.learners.training.constants import GUESSED, GUESSED_LAST, GUESSES_AT_END, GUESSES_EACH, MOST_GUESSED
from onebit.learners.training.guide import Guide
from onebit.learners.training.knowledge import Knowledge
from onebit.learners.training.model import Ints, Model, mean_belief, take
from onebit.randomness import generator


class Teaching:
    """Teaches ``model``, and its ``guide``, what is ``known`` of the pool ``x``.

    ``asks_once``: the protocol is one-shot. ``around``: who is near whom, if that means anything. Whatever is drawn has
    a name of its own under ``seed``, so that it does not hang on what was taught before.
    """

    def __init__(
        self,
        model: Model,
        guide: Guide | None,
        x: Examples,
        known: Knowledge,
        seed: int,
        asks_once: bool,
        around: Around | None = None,
    ) -> None:
        self._model, self._guide, self._x, self._known = model, guide, x, known
        self._seed, self._asks_once, self._around = seed, asks_once, around

    def after_epoch(self, number: int, new: Ints, n_answers: int) -> None:
        """Teach all that is known after epoch ``number``, which asked about the items ``new`` for the first time."""
        self._teach(self._known.taught(), f"training after epoch {number}", n_answers, new)

    def earlier(self, n_answers: int) -> None:
        """Teach answers from before the run in two halves: the second shows who knows most once the first is learned.

        Else who is heeded would be as before the first answer.
        """
        items = self._known.taught()
        half = generator(self._seed, "halves of earlier answers").permutation(items)[: items.size // 2]
        if half.size:
            self._teach(np.sort(half), "half of the earlier answers", round(half.size / items.size * n_answers))
        self._teach(items, "earlier answers", n_answers, np.setdiff1d(items, half))

    def before_audit(self, n_answers: int) -> None:
        """Fit an estimator to all that is known; the built-in model has learned it."""
        items = self._known.taught()
        if self._guide is not None and items.size:
            self._teach(items, "the end of training", n_answers, is_final=True)

    def _teach(
        self, items: Ints, what_for: str, n_answers: int, new: Ints | None = None, is_final: bool = False
    ) -> None:
        """Teach what ``n_answers`` answers say of ``items``, of which ``new`` ones have just come."""
        lessons = replace(self._known.lessons(self._x, items, n_answers), items=items, around=self._around)
        if new is not None:
            lessons = replace(lessons, is_new=np.isin(items, new))
            if self._guide is not None and new.size:
                own = mean_belief(self._model, take(self._x, new))
                self._guide.judge(new, self._known.possible[new], own)
        if self._guide is not None:
            guide, possible = self._guide, lessons.possible
            if not is_final:
                guide.learn(items, lessons, generator(self._seed, f"guide, {what_for}"))
            left = partial(guide.left, items, possible) if self._asks_once else None
            # In one-shot rows with noes alone are many, and are taught; others beside them changed nothing.
            with_likely = None if self._asks_once else partial(self._with_likely, guide, items, is_final)
            lessons = replace(lessons, left=left, is_final=is_final, with_likely=with_likely)
        self._model.learn(lessons, generator(self._seed, what_for))

    def _with_likely(
        self, guide: Guide, items: Ints, is_final: bool, rows: Ints, labels: Ints
    ) -> tuple[Examples, Ints]:
        """``rows`` of ``items``, then examples never asked about; and which of ``labels`` those likely have."""
        free = np.flatnonzero(self._known.trains_on & ~self._known.asked)
        n_most = min((GUESSES_AT_END if is_final else GUESSES_EACH) * rows.size, MOST_GUESSED)
        some = generator(self._seed, "examples with a likely label").permutation(free)[:n_most]
        others, likely = guide.likely(some, GUESSED_LAST if is_final else GUESSED)
        wanted = np.isin(likely, labels)
        return take(self._x, np.concatenate([items[rows], others[wanted]])), likely[wanted]
