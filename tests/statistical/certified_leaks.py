"""Ways around a certificate that once worked, each beside the behaviour that let them: a twin that must fail.

Whoever ordered the rows knows the seed, or has seen the answers that it led to; rows of a stream are equal by chance;
raters can't tell at random, or repeat their errors; several labels of an item are right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tests.statistical.certified_populations import Floats, Ints, Tally, of_accuracies
from tests.statistical.certified_twins import change_rounds

from onebit.estimate.independent_wealth import Rounds
from onebit.hypotheses.finite import PredictionTable
from onebit.kernels.distinct import distinct_rows
from onebit.learners.certified import CertifiedLearner
from onebit.learners.certified.epoch import KnownAnswers
from onebit.learners.certified.protocols import Ask, Given, Settled, UntilAYes
from onebit.learners.certified.standing import Standing
from onebit.learners.items import Pool, Stream
from onebit.randomness import RoundStream
from onebit.records import Answer, Question

#: No run here needs more.
MOST_ANSWERS = 4_000
Learners = type[CertifiedLearner]


def drive(learner: CertifiedLearner, says: Callable[[Question], Answer]) -> None:
    n_answers = 0
    while n_answers < MOST_ANSWERS and isinstance(asked := learner.ask(10_000), tuple):
        for question in asked:
            learner.tell(question.id, says(question))
        n_answers += len(asked)


def yes_if(right: bool | np.bool_) -> Answer:
    return Answer.YES if right else Answer.NO


# The seed


def known_seed(seed: int, delta: float, kind: Learners, known: bool) -> tuple[CertifiedLearner, Floats]:
    """Somebody put the items on which a model beats the best where seed 0 draws first."""
    rng = np.random.default_rng([seed, 1])
    table, truth = of_accuracies(seed, [255, 225, 210], 300, 4)
    drawn = (RoundStream(0, "rounds").uniforms(0, 2_000)[:, 0] * truth.size).astype(np.int64).tolist()
    places = list(dict.fromkeys([*drawn, *range(truth.size)]))
    ahead = (table[1] == truth).astype(np.int64) - (table[0] == truth)
    order = np.empty(truth.size, dtype=np.int64)
    order[places] = np.lexsort((rng.random(truth.size), -ahead))
    table, truth = table[:, order], truth[order]
    items = Pool(np.arange(truth.size))
    learner = kind(PredictionTable(table, 4), items, eps=0.02, delta=delta, seed=0 if known else seed + 1)
    drive(learner, lambda q: yes_if(q.label == truth[q.item]))
    return learner, (table == truth).mean(axis=1)


def second_study(seed: int, delta: float, kind: Learners, known: bool) -> tuple[CertifiedLearner, Floats]:
    """A model is tuned on the answers of a first study, and competes in a second on the same items."""
    rng = np.random.default_rng([seed, 2])
    n, n_labels = 1_000, 4
    truth = rng.integers(0, n_labels, n)

    def of_accuracy(share: float) -> Ints:
        said: Ints = np.where(rng.random(n) < share, truth, (truth + rng.integers(1, n_labels, n)) % n_labels)
        return said

    table = np.stack([of_accuracy(0.7), of_accuracy(0.6), of_accuracy(0.6)])
    tuned = of_accuracy(0.55)

    def says(q: Question) -> Answer:
        if q.label == truth[q.item]:
            tuned[q.item] = truth[q.item]
        return yes_if(q.label == truth[q.item])

    first = CertifiedLearner(PredictionTable(table, n_labels), Pool(np.arange(n)), eps=0.05, delta=delta, seed=2 * seed)
    drive(first, says)
    table = np.concatenate([table, tuned[None]])
    second = kind(
        PredictionTable(table, n_labels),
        Pool(np.arange(n)),
        eps=0.05,
        delta=delta,
        seed=2 * seed if known else 2 * seed + 1,
    )
    drive(second, lambda q: yes_if(q.label == truth[q.item]))
    return second, (table == truth).mean(axis=1)


# Equal rows of a stream


class MergesEqualRows(CertifiedLearner):
    """Takes rows for one model that are equal on the table, as if it were the population."""

    def __init__(self, hypotheses: PredictionTable, items: Stream, **options: float) -> None:
        super().__init__(hypotheses, items, **options)  # type: ignore[arg-type]
        self._first, self._which = distinct_rows(hypotheses.predictions(np.arange(hypotheses.n_items)))
        self._evidence.__init__(hypotheses, items, self._first, None)  # type: ignore[misc]


def equal_by_chance(n: int, rare: float, n_others: int, eps: float) -> Callable[..., tuple[CertifiedLearner, Floats]]:
    """Two models differ on a share ``rare`` of the population, where one is right; ``n`` rows were drawn from it."""

    def run(seed: int, delta: float, kind: Learners, known: bool) -> tuple[CertifiedLearner, Floats]:
        rng = np.random.default_rng([seed, 3])
        table = np.zeros((2 + n_others, n), dtype=np.int64)
        table[0, rng.random(n) < rare] = 1
        table[2:] = rng.random((n_others, n)) < 0.3
        learner = kind(PredictionTable(table, 2), Stream(range(n)), eps=eps, delta=delta, seed=seed)
        drive(learner, lambda q: yes_if(q.label == 0))
        return learner, np.array([1 - rare, 1.0, *[0.7] * n_others])

    return run


# Can't tell at random


class VoidItems(KnownAnswers):
    """After one can't tell, no label of the item is right."""

    def __init__(self, n_labels: int) -> None:
        super().__init__()
        self._labels, self._void = range(n_labels), set[int]()

    def add(self, item: int, label: int, answer: Answer) -> None:
        super().add(item, label, answer)
        if answer is Answer.CANT_TELL:
            self._void.add(item)

    def of(self, item: int) -> dict[int, bool]:
        return dict.fromkeys(self._labels, False) if item in self._void else super().of(item)


@dataclass(frozen=True, slots=True)
class StopsAtCantTell(UntilAYes):
    def step(self, answers: Sequence[Given]) -> Ask | Settled:
        return Settled(-1) if Answer.CANT_TELL in answers else super(StopsAtCantTell, self).step(answers)


class VoidsTheItem(CertifiedLearner):
    """Takes a can't tell for a statement about the item: nobody is right there, and nothing more is asked."""

    def __init__(self, hypotheses: PredictionTable, *args: object, **options: object) -> None:
        super().__init__(hypotheses, *args, **options)  # type: ignore[arg-type]
        self._known = VoidItems(hypotheses.n_labels)

    def _begin(self, standing: Standing) -> None:
        super()._begin(standing)
        for asking, _ in self._rounds:
            for place, script in asking._scripts.items():
                if isinstance(script, UntilAYes):
                    asking._scripts[place] = StopsAtCantTell(script.labels)

    def _close(self, *args: object, **options: object) -> None:
        asking, _ = self._rounds[0]
        if (one_shot := asking.epoch.one_shot) is not None:
            unsure = [asking._answers.get(int(place), []) == [Answer.CANT_TELL] for place in one_shot.places]

            def void(rounds: Rounds) -> Rounds:
                nil = np.array(unsure[: rounds.asked.size], dtype=np.bool_)
                counts = ~np.repeat(nil, np.diff(rounds.first))
                return Rounds(
                    rounds.rows,
                    rounds.code,
                    rounds.first,
                    np.where(counts, rounds.q, 1.0),
                    rounds.for_rival * counts,
                    rounds.for_leader * counts,
                    np.where(nil, -1, rounds.asked),
                    rounds.z,
                    rounds.n_nil,
                )

            change_rounds(asking.epoch, void)
        super()._close(*args, **options)  # type: ignore[arg-type]


def cant_tell(stream: bool, protocol: str) -> Callable[..., tuple[CertifiedLearner, Floats]]:
    """Each verdict is can't tell with probability .3. The best wins where many labels are given, and loses where two.

    On a pool a run is scored by its verdicts, on a stream by their mean.
    """
    n_won, n_lost, n_same, n_models = 30, 20, 50, 6
    n = n_won + n_lost + n_same
    table = np.zeros((n_models, n), dtype=np.int64)
    table[1:, :n_won] = np.arange(1, n_models)[:, None] if protocol == "one-shot" else [[1], [1], [1], [2], [2]]
    table[0, n_won : n_won + n_lost] = 1
    for h in range(1, n_models):
        table[h, n_won + n_lost + h] = 1

    def run(seed: int, delta: float, kind: Learners, known: bool) -> tuple[CertifiedLearner, Floats]:
        rng = np.random.default_rng([seed, 4])
        numbers = rng.integers(0, n, 1_500) if stream else np.arange(n)
        unsure = rng.random((numbers.size, n_models)) < 0.3
        learner = kind(
            PredictionTable(table, n_models),
            Stream(numbers.tolist()) if stream else Pool(numbers),
            eps=0.01,
            delta=delta,
            protocol=protocol,  # type: ignore[arg-type]
            seed=seed,
        )
        drive(learner, lambda q: Answer.CANT_TELL if unsure[q.item, q.label] else yes_if(q.label == 0))
        if stream:
            return learner, 0.7 * (table == 0).mean(axis=1)
        accepted = (table == 0) & ~unsure[np.arange(n), table]
        return learner, accepted.mean(axis=1)

    return run


# Errors on a pool


class CountsOnFreshErrors(CertifiedLearner):
    """Asks the same again on a pool, and takes what it hears for independent of what it heard before."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self._has_slack = False
        self._evidence._wealth._slack = None  # type: ignore[attr-defined]

    def _learn(self, question_id: int) -> None:
        pass


def errors(repeated: bool, n_right: list[int], n: int, eps: float) -> Callable[..., tuple[CertifiedLearner, Floats]]:
    """Raters err with probability .1 either way, as the learner is told; asked again, they may say the same."""

    def run(seed: int, delta: float, kind: Learners, known: bool) -> tuple[CertifiedLearner, Floats]:
        table, truth = of_accuracies(64, n_right, n, 3)
        rng = np.random.default_rng([seed, 5])
        errs = rng.random((n, 3)) < 0.1
        items = Pool(np.arange(n))
        learner = kind(PredictionTable(table, 3), items, eps=eps, delta=delta, seed=seed, f_no=0.1, f_yes=0.1)

        def says(q: Question) -> Answer:
            err = errs[q.item, q.label] if repeated else rng.random() < 0.1
            return yes_if((q.label == truth[q.item]) != err)

        drive(learner, says)
        return learner, (table == truth).mean(axis=1)

    return run


# Several right labels in follow-up


class NeverSuspends(CertifiedLearner):
    """Believes in one right label, whatever the checks say."""

    @property
    def _n_contradicted(self) -> int:
        return 0

    @_n_contradicted.setter
    def _n_contradicted(self, value: int) -> None:
        pass


def several_right(share: float, stream: bool) -> Callable[..., tuple[CertifiedLearner, Floats]]:
    """The best is alone in what it says, which is right as often as what the others say; on a share both are."""
    n, n_models = 400, 6

    def run(seed: int, delta: float, kind: Learners, known: bool) -> tuple[CertifiedLearner, Floats]:
        rng = np.random.default_rng([seed, 6])
        table: Ints = np.zeros((n_models, n), dtype=np.int64)
        table[0] = 1
        for h in range(1, n_models):
            table[h, rng.permutation(n)[:20]] = 2
        # Label 1 is right on 10 points more than label 0, and the two overlap.
        right: NDArray[np.bool_] = np.zeros((n, 3), dtype=np.bool_)
        both = int(share * n)
        right[:both, :2] = True
        right[both : both + (n - both) * 6 // 10, 1] = True
        right[both + (n - both) * 6 // 10 :, 0] = True
        numbers = rng.integers(0, n, 6_000) if stream else np.arange(n)
        items = Stream(numbers.tolist()) if stream else Pool(numbers)
        learner = kind(PredictionTable(table, 3), items, eps=0.02, delta=delta, protocol="follow-up", seed=seed)
        drive(learner, lambda q: yes_if(bool(right[numbers[q.item], q.label])))
        return learner, right[np.arange(n), table].mean(axis=1)

    return run


@dataclass(frozen=True)
class Leak:
    """A setting that broke certificates; ``twin`` is the learner that lets it, or the same with ``known`` seeds."""

    run: Callable[..., tuple[CertifiedLearner, Floats]]
    twin: Learners = CertifiedLearner

    def tally(self, runs: int, delta: float) -> Tally:
        return self._tally(runs, delta, CertifiedLearner, known=False)

    def of_twin(self, runs: int, delta: float) -> Tally:
        return self._tally(runs, delta, self.twin, known=True)

    def _tally(self, runs: int, delta: float, kind: Learners, known: bool) -> Tally:
        found = Tally()
        for seed in range(runs):
            learner, accuracy = self.run(seed, delta, kind, known)
            found.add(accuracy, learner)
        return found


LEAKS = {
    "rows ordered by who knows the seed": Leak(known_seed),
    "a second study with the seed of the first": Leak(second_study),
    "equal rows of a stream, 100": Leak(equal_by_chance(100, 0.006, 0, 0.005), MergesEqualRows),
    "equal rows of a stream, 200": Leak(equal_by_chance(200, 0.003, 0, 0.002), MergesEqualRows),
    "equal rows of a stream, 2000": Leak(equal_by_chance(2_000, 2e-4, 2, 1e-4), MergesEqualRows),
    "can't tell at random, pool": Leak(cant_tell(False, "one-shot"), VoidsTheItem),
    "can't tell at random, follow-up on a stream": Leak(cant_tell(True, "follow-up"), VoidsTheItem),
    "errors that repeat on a pool": Leak(errors(True, [33, 31, 31, 30], 60, 0.02), CountsOnFreshErrors),
    "two right labels in follow-up": Leak(several_right(0.5, stream=False), NeverSuspends),
    "two right labels in follow-up, stream": Leak(several_right(0.5, stream=True), NeverSuspends),
}
#: What must hold as well, and has no twin.
SOUND = {
    "can't tell at random, stream": Leak(cant_tell(True, "one-shot")),
    "errors anew on a pool": Leak(errors(False, [33, 31, 31, 30], 60, 0.02)),
    "errors that repeat on a larger pool": Leak(errors(True, [320, 300, 290, 200], 400, 0.04)),
    "errors that seldom mislead a pool": Leak(errors(True, [380, 230, 220], 400, 0.1)),
    "follow-up where many items have two right labels": Leak(several_right(0.9, stream=False)),
}
