"""Studies that go on from others, scored on the truth: models that came later, some withdrawn, new items; and twins.

A first run asks about a pool of items. Then somebody who saw all its answers makes a newcomer, withdraws a model, or
adds items, and a sequel with a seed of its own says who is the best now. What was answered before is the same verdict,
so it is not asked again; here everything is answered from one table of verdicts, and what was asked before is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tests.statistical.panel_twins import TakesTheTablesOrder
from tests.statistical.scored import Ints, Scored, Tally

from onebit.estimate.delta import failure_of_sequel
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner, PanelLearner
from onebit.learners.certified.run import CertifiedRun
from onebit.learners.items import Pool
from onebit.raters import SimulatedRater

#: Of the first study; its first sequel has half of it.
DELTA, EPS, N_ITEMS, N_LABELS = 0.4, 0.1, 120, 4
#: Makes the table and truth of the sequel from those before, which items were judged, and chance.
Change = Callable[[Ints, Ints, NDArray[np.bool_], np.random.Generator], tuple[Ints, Ints]]


def models(rng: np.random.Generator, accuracies: tuple[float, ...], n: int = N_ITEMS) -> tuple[Ints, Ints]:
    """Models that are right on so large shares of the items, and the truth."""
    truth = rng.integers(0, N_LABELS, n)
    said = np.empty((len(accuracies), n), dtype=np.int64)
    for row, accuracy in zip(said, accuracies, strict=True):
        is_right = rng.permutation(n) < round(accuracy * n)
        row[:] = np.where(is_right, truth, (truth + rng.integers(1, N_LABELS, n)) % N_LABELS)
    return said, truth


@dataclass(frozen=True, eq=False)
class SequelCase(Scored):
    """A first study of models of these ``accuracies``, and the ``change`` after it; ``n_sequels`` times."""

    change: Change
    accuracies: tuple[float, ...] = (0.7, 0.65, 0.5)
    protocol: str = "panel"
    n_sequels: int = 1
    budget: int | None = 60
    same_seed: bool = False
    learner: type[PanelLearner] = PanelLearner

    @property
    def delta(self) -> float:  # type: ignore[override]
        """With which probability one of the sequels may be wrong."""
        return sum(failure_of_sequel(number, DELTA) for number in range(1, self.n_sequels + 1))

    def _run(
        self, said: Ints, truth: Ints, delta: float, seed: int, budget: int | None, is_sequel: bool
    ) -> CertifiedRun:
        table, items = PredictionTable(said, N_LABELS), Pool(np.arange(truth.size))
        learner: CertifiedRun
        if self.protocol == "panel":
            kind = self.learner if is_sequel else PanelLearner
            learner = kind(table, items, eps=EPS, delta=delta, budget=budget, seed=seed)
        else:
            learner = CertifiedLearner(table, items, eps=EPS, delta=delta, budget=budget, seed=seed)
        rater = SimulatedRater(truth)
        while isinstance(questions := learner.ask(10_000), tuple):
            for question in questions:
                learner.tell(question.id, rater(question))
        _ = learner.result
        return learner

    def tally(self, runs: int, first: int = 0) -> Tally:
        found = Tally(runs)
        for seed in range(first, first + runs):
            rng = np.random.default_rng(seed)
            said, truth = models(rng, self.accuracies)
            last = self._run(said, truth, DELTA, seed, self.budget, is_sequel=False)
            judged = cells(last)
            wrong = False
            for number in range(1, self.n_sequels + 1):
                seen = np.isin(np.arange(truth.size), [item for item, _ in judged])
                said, truth = self.change(said, truth, seen, rng)
                fresh = seed if self.same_seed else int(rng.integers(2**40))
                last = self._run(said, truth, failure_of_sequel(number, DELTA), fresh, None, is_sequel=True)
                wrong |= is_wrong(last, said, truth)
                found.answers += len(cells(last))
                found.asked += len(cells(last) - judged)
                judged |= cells(last)
            found.wrong += wrong
        return found


def cells(learner: CertifiedRun) -> set[tuple[int, int | None]]:
    return {(question.item, question.label) for question in learner._ledger.questions}


def is_wrong(learner: CertifiedRun, said: Ints, truth: Ints) -> bool:
    """Whether a closing ruled out the best, or certified less than it is ahead of the leader."""
    accuracy = (said == truth).mean(axis=1)
    best = accuracy.max()
    return any(
        accuracy[list(closing.survivors)].max() < best - 1e-12
        or best - accuracy[closing.leader] > closing.certified_eps + 1e-12
        for closing in learner.closings
    )


def _newcomer(elsewhere: float) -> Change:
    """A model that says what raters accept wherever they were asked, and is right so often elsewhere."""

    def change(said: Ints, truth: Ints, seen: NDArray[np.bool_], rng: np.random.Generator) -> tuple[Ints, Ints]:
        is_right = seen | (rng.random(truth.size) < elsewhere)
        new = np.where(is_right, truth, (truth + rng.integers(1, N_LABELS, truth.size)) % N_LABELS)
        return np.vstack([said, new]), truth

    return change


def _plain_newcomer(accuracy: float) -> Change:
    def change(said: Ints, truth: Ints, seen: NDArray[np.bool_], rng: np.random.Generator) -> tuple[Ints, Ints]:
        is_right = rng.permutation(truth.size) < round(accuracy * truth.size)
        new = np.where(is_right, truth, (truth + 1) % N_LABELS)
        return np.vstack([said, new]), truth

    return change


def _without_the_best(said: Ints, truth: Ints, seen: NDArray[np.bool_], rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Somebody withdraws the best, and whoever of the others did worst on what was answered is the best of them."""
    accuracy = (said == truth).mean(axis=1)
    return np.delete(said, int(accuracy.argmax()), axis=0), truth


def _new_items(said: Ints, truth: Ints, seen: NDArray[np.bool_], rng: np.random.Generator) -> tuple[Ints, Ints]:
    """As many items again, on which the models are as good as others were before."""
    more, right = models(rng, tuple((said == truth).mean(axis=1)[::-1].tolist()), truth.size)
    return np.hstack([said, more]), np.concatenate([truth, right])


def _judged_first(change: Change) -> Change:
    """The same, with the rows in an order that begins with what was judged."""

    def sorted_change(said: Ints, truth: Ints, seen: NDArray[np.bool_], rng: np.random.Generator) -> tuple[Ints, Ints]:
        said, truth = change(said, truth, seen, rng)
        order = np.argsort(~seen, kind="stable")
        return said[:, order], truth[order]

    return sorted_change


CASES: dict[str, SequelCase] = {
    "a newcomer as good as the best": SequelCase(_plain_newcomer(0.7)),
    "a newcomer barely ahead": SequelCase(_plain_newcomer(0.72)),
    "a newcomer far ahead": SequelCase(_plain_newcomer(0.95)),
    "a newcomer fitted to what was answered": SequelCase(_newcomer(0.35)),
    "a newcomer fitted to what was answered, one-shot": SequelCase(_newcomer(0.35), protocol="one-shot"),
    "a newcomer fitted to what was answered, worse by more than eps": SequelCase(_newcomer(0.1)),
    "the best is withdrawn, the others are equal": SequelCase(_without_the_best, (0.7, 0.6, 0.6, 0.6)),
    "new items on which others are better": SequelCase(_new_items),
    "three newcomers, one after the other": SequelCase(_newcomer(0.3), n_sequels=3),
}
TWINS: dict[str, SequelCase] = {
    "items that were judged come first": SequelCase(_judged_first(_newcomer(0.1)), learner=TakesTheTablesOrder),
    "the seed of the first study again": SequelCase(_newcomer(0.0), (0.6, 0.5, 0.4), same_seed=True),
}
