"""What simulations of decisions share: how a small table is asked about, and how what was said is counted."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, norm

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner, PanelLearner
from onebit.learners.certified.outputs import Bools
from onebit.learners.certified.run import CertifiedRun
from onebit.learners.certified.standing import Standing
from onebit.learners.items import ItemSource, Pool, Stream
from onebit.raters import ErringRater, Rater, SimulatedRater, UnsureRater
from onebit.records import AskingProtocol, RunStatus

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: The chance that a learner which errs with probability delta is failed by one comparison.
FALSE_ALARM = 1e-6
#: More than any run here takes from a stream.
STREAM_LENGTH = 6000
#: What is a difference of accuracies and what is rounding.
ROUNDING = 1e-12
#: What makes a learner: the options of a case, and the seed.
Kind = Callable[..., CertifiedRun]


@dataclass
class Tally:
    """What happened in ``runs`` runs: ``wrong`` have at some time said something that is not so.

    ``complete`` ended by themselves. There were so many ``answers``, ``asked`` of them anew.
    """

    runs: int = 0
    wrong: int = 0
    complete: int = 0
    answers: int = 0
    asked: int = 0

    def most(self, delta: float) -> int:
        """What a probability of delta exceeds with probability at most FALSE_ALARM."""
        return int(binom.ppf(1 - FALSE_ALARM, self.runs, delta))

    def __str__(self) -> str:
        new = f", {self.asked / self.runs:.0f} of them new" if self.asked else ""
        return f"{self.runs} runs, {self.wrong} wrong, {self.answers / self.runs:.0f} answers on average{new}"


class Scored(ABC):
    """A population on which a promise is scored: it is wrong with probability ``delta`` at most."""

    delta: float

    @abstractmethod
    def tally(self, runs: int, first: int = 0) -> Tally:
        """What happens in so many runs, with seeds from ``first`` on."""


@dataclass(frozen=True, eq=False)
class AskedCase(Scored):
    """A table (N, n), its truth (n,), and how it is asked about; ``unsure`` is how often raters can't tell."""

    said: Ints
    truth: Ints
    eps: float = 0.1
    delta: float = 0.2
    protocol: AskingProtocol = "panel"
    stream: bool = False
    f_no: float = 0.0
    f_yes: float = 0.0
    unsure: float = 0.0
    kind: Kind | None = None

    @property
    @abstractmethod
    def aim(self) -> dict[str, Any]:
        """The options that say what is looked for."""

    @abstractmethod
    def says_wrong(self, learner: CertifiedRun) -> bool:
        """Whether something that a run said is not so. What is shown stays shown, so the last result has all of it."""

    @property
    def accuracy(self) -> Floats:
        """How often each model is right; can't tell at random scales it."""
        accuracy: Floats = (1 - self.unsure) * (self.said == self.truth).mean(axis=1)
        return accuracy

    def learner(self, seed: int) -> tuple[CertifiedRun, Ints]:
        """A learner, and what the numbers in its questions stand for."""
        n = self.truth.size
        numbers = np.random.default_rng([seed, 2]).integers(0, n, STREAM_LENGTH) if self.stream else np.arange(n)
        items: ItemSource = Stream(numbers.tolist()) if self.stream else Pool(numbers)
        given: dict[str, Any] = {"eps": self.eps, "delta": self.delta, "seed": seed, **self.aim}
        if self.protocol != "panel":
            given |= {"protocol": self.protocol, "f_no": self.f_no, "f_yes": self.f_yes}
        kind: Kind = self.kind or (PanelLearner if self.protocol == "panel" else CertifiedLearner)
        n_labels = int(max(self.said.max(), self.truth.max())) + 1
        return kind(PredictionTable(self.said, n_labels), items, **given), numbers

    def rater(self, seed: int) -> Rater:
        if self.f_no + self.f_yes > 0:
            return ErringRater(self.truth, f_no=self.f_no, f_yes=self.f_yes, seed=seed, anew=True)
        rater = SimulatedRater(self.truth)
        return rater if self.unsure == 0 else UnsureRater(rater, self.unsure, seed=seed)

    def tally(self, runs: int, first: int = 0) -> Tally:
        found = Tally(runs)
        for seed in range(first, first + runs):
            learner, numbers = self.learner(seed)
            rater = self.rater(seed)
            while isinstance(questions := learner.ask(10_000), tuple):
                for question in questions:
                    learner.tell(question.id, rater(replace(question, item=int(numbers[question.item]))))
            found.wrong += self.says_wrong(learner)
            found.complete += learner.result.status is RunStatus.COMPLETE
            found.answers += learner.result.n_answers
        return found

    def by(self, kind: Kind) -> Self:
        """The same with another learner."""
        return replace(self, kind=kind)


class LooksAgainAndAgain(Standing):
    """Takes a test of fixed size (McNemar's, in its normal form) for one that may be looked at after every epoch.

    It shares delta as it should.
    """

    def _are_behind(self, g: int, c: float, keep: bool = False) -> Bools:
        total, squares = self._evidence.moments(g)
        z = (c * self._evidence.n_drawn - total) / np.sqrt(np.maximum(squares, 1))  # type: ignore[attr-defined]
        enough: Bools = z >= norm.isf(math.exp(-self.threshold[g]) / 2)
        return enough | (c >= 1)


def standing_as(change: type) -> Kind:
    """A panel whose standing has the methods of ``change`` in place of its own."""

    class Twin(PanelLearner):
        def _first_standing(self) -> Standing:
            standing = super()._first_standing()
            standing.__class__ = type(change.__name__, (change, type(standing)), {})
            return standing

    return Twin
