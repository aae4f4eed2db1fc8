"""An audit: a run gone through again, epoch by epoch, and its claims held against what was recomputed.

What is common to all protocols is here: who is left after each closing, and whether the certified eps is shown. What
had to be asked, and what the answers are worth, is each protocol's own: ``certificate.py`` for rounds that are drawn
one by one, ``panel.py`` for panels.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from onebit.records import Closing, Comparison, EpochRecord, Placing, Question
from onebit.verify.contest import Contest
from onebit.verify.gate import GateCheck
from onebit.verify.intervals import Accepted, Sights
from onebit.verify.pairs import PairsCheck, TiersCheck, TopCheck
from onebit.verify.recount import EPS_STEP, LOG_TOLERANCE
from onebit.verify.settle import TOLERANCE, Given

#: Of problems of one kind in one epoch so many are told.
MOST_TOLD = 5


@dataclass(frozen=True)
class Verdict:
    """Whether a log bears out its claims; if not, ``problems`` says in sentences what is wrong.

    The rest is what was recomputed, up to the last closing that could be checked: the leader ``chosen``, with all
    ``names`` that predict as it does, the ``survivors``, and the ``certified_eps``, the least that is shown, to 1e-4.
    Models are numbered as in the table. On ``n_free_rounds`` of ``n_rounds`` rounds the survivors agreed
    and nothing was asked. Of a gate, ``chosen`` is the baseline, no candidate is behind it by more than
    ``certified_eps``, and ``gate`` has what is shown of each. Of several best models ``names`` has all, and
    ``placings``, as of tiers, what is shown of each model.
    """

    ok: bool
    problems: tuple[str, ...]
    chosen: int
    names: tuple[int, ...]
    survivors: tuple[int, ...]
    certified_eps: float
    n_answers: int
    n_rounds: int
    n_free_rounds: int
    gate: tuple[Comparison, ...] = ()
    placings: tuple[Placing, ...] = ()
    #: How often models are accepted, in intervals, which takes a while; None where none are told.
    accepted: Callable[[], Accepted] | None = field(default=None, compare=False)


class Audit(ABC):
    """A run gone through again, epoch by epoch."""

    def __init__(self, scene: Contest) -> None:
        self._scene, self._setting = scene, scene.setting
        self._problems: list[str] = []
        self._survivors = scene.distinct
        self._leader: int | None = None
        #: What the last closing certified, if rightly.
        self._certified = 1.0
        #: Who was left after so many closings.
        self._left_after = [self._survivors]
        #: How many epochs had closed when the last one began, and the rounds that were drawn so far.
        self._n_closed = self._n_drawn = 0
        self._n_rounds = self._n_free = self._n_answers = 0
        self._n_checks = self._n_contradicted = 0
        self._suspended = False
        #: What of delta the wealth may use up.
        self._delta = self._setting.delta
        #: What a gap in accuracy is at least worth in verdicts.
        self._transfer = 1.0
        self._gate: GateCheck | None = None
        self._pairs: PairsCheck | None = None

    def begin(self) -> None:
        """What is known before the first epoch: what the table alone decides."""
        if self._setting.ranks:
            kind = TiersCheck if self._setting.tiers else TopCheck
            self._pairs = kind(self._scene, self._wealth_of_all, self._known_ahead, lambda: self._delta)
            self._survivors = self._pairs.first_survivors()
        if self._setting.baseline is not None:
            self._gate = GateCheck(self._scene, self._wealth_of, self._known_ahead, lambda: self._delta)
            self._survivors = self._gate.first_survivors()
        self._left_after = [self._survivors]

    def _wealth_of(self, rival: int, leader: int, c: float) -> float:
        """Of one pair, at a gap c in accuracy."""
        return float(self._log_wealth([rival], leader, self._transfer * c)[0])

    def _wealth_of_all(self, rivals: Sequence[int], leader: int, c: float) -> NDArray[np.float64]:
        """Of several rivals, at a gap c in accuracy."""
        return self._log_wealth(rivals, leader, self._transfer * c)

    def _known_ahead(self, rival: int, leader: int) -> float | None:
        """By how much the rival is ahead at most, where all verdicts are known and wealth does not say it; or None."""
        return None

    @abstractmethod
    def _record_faults(self, number: int, epoch: EpochRecord) -> Iterator[str]:
        """What is wrong with the record of an epoch."""

    @abstractmethod
    def _settle(
        self, number: int, epoch: EpochRecord, asked: list[tuple[Question, Given]], closes: bool, may_be_cut: bool
    ) -> bool:
        """Check what an epoch asked and, if it ``closes``, count its answers; whether its closing can be checked."""

    @abstractmethod
    def _log_wealth(self, rivals: Sequence[int], leader: int, c: float) -> NDArray[np.float64]:
        """Of each rival against "it is ahead of the leader by c or more"; shape (n_rivals,)."""

    @abstractmethod
    def _known_gap(self, leader: int) -> float | None:
        """By how much the best survivor can be ahead of the leader, where all is known; otherwise None."""

    @abstractmethod
    def _sights(self) -> Sights:
        """What was seen of each model."""

    def tell(self, sentences: Iterable[str]) -> bool:
        """Note problems; whether there were any."""
        found = list(sentences)
        self._problems += found[:MOST_TOLD]
        if len(found) > MOST_TOLD:
            self._problems.append(f"... and {len(found) - MOST_TOLD} more like this")
        return bool(found)

    def verdict(self, n_answers: int) -> Verdict:
        # Before the first epoch, the model that agrees most with the vote.
        chosen = int(self._scene.shares.argmax()) if self._leader is None else self._leader
        names: tuple[int, ...] = self._scene.names(chosen)
        gate: tuple[Comparison, ...] = ()
        if self._gate is not None and self._setting.baseline is not None:
            chosen, gate = self._setting.baseline, self._gate.comparisons(self._suspended)
            names = (chosen,)
        placings: tuple[Placing, ...] = ()
        if self._pairs is not None:
            chosen, placings = self._pairs.named[0], self._pairs.placings(self._suspended)
            names = tuple(name for each in self._pairs.named for name in self._scene.names(each))
            certified_eps = 1.0 if self._suspended else self._pairs.least_eps()
        elif gate:
            certified_eps = max(each.behind_at_most for each in gate)
        else:
            certified_eps = self._least_eps(chosen, self._certified)
        return Verdict(
            ok=not self._problems,
            problems=tuple(self._problems),
            chosen=chosen,
            names=names,
            survivors=self._survivors,
            certified_eps=certified_eps,
            n_answers=n_answers,
            n_rounds=self._n_rounds,
            n_free_rounds=self._n_free,
            gate=gate,
            placings=placings,
            # Of a gate, of ranks and of a run that was suspended, no intervals are told.
            accepted=None
            if gate or self._pairs or self._suspended
            else partial(self._sights().accepted, self._scene, chosen),
        )

    def check_epoch(
        self,
        number: int,
        epoch: EpochRecord,
        asked: list[tuple[Question, Given]],
        closing: Closing | None,
        may_be_cut: bool,
    ) -> bool:
        """Check an epoch and its closing; whether what follows can be checked as well."""
        found = (*self._common_faults(number, epoch), *self._record_faults(number, epoch))
        if self.tell(f"epoch {number}: {fault}" for fault in found):
            return False
        self._leader = epoch.leader if self._leader is None else self._leader
        if self._suspended:
            self.tell([f"epoch {number} was begun after the run was suspended"])
            return False
        self._n_closed, self._n_drawn = epoch.n_closed, self._n_drawn + epoch.n_rounds
        is_settled = self._settle(number, epoch, asked, closing is not None, may_be_cut)
        if closing is None:
            # Epochs that began while this one was open can be checked as well.
            return True
        faults = (f"closing of epoch {number}: {fault}" for fault in self._closing_faults(number, closing))
        if not is_settled or self.tell(faults):
            return False
        self._left_after.append(self._survivors)
        return True

    def _common_faults(self, number: int, epoch: EpochRecord) -> Iterator[str]:
        """What may be wrong with a record whatever the protocol."""
        if epoch.number != number:
            yield f"its record has the number {epoch.number}"
        if not self._n_closed <= epoch.n_closed < len(self._left_after):
            yield (
                f"it says that {epoch.n_open} epochs were open when it began; of the {number} before it at least "
                f"{self._n_closed} had closed, and {len(self._left_after) - 1} ever did"
            )
        elif epoch.survivors != self._left_after[epoch.n_closed]:
            yield f"its survivors are {epoch.survivors}, but {self._left_after[epoch.n_closed]} were left"
        if epoch.first_round != self._n_drawn:
            yield f"it has {epoch.n_rounds} rounds from {epoch.first_round}, but the next round is {self._n_drawn}"
        if epoch.leader not in epoch.survivors:
            yield f"its leader {epoch.leader} is not a survivor"
        models = [model for model, _ in epoch.mixture]
        if not set(models) <= set(epoch.survivors) or len(set(models)) < len(models):
            yield f"its mixture is over {models}; these must be survivors, each once"

    def _closing_faults(self, number: int, closing: Closing) -> Iterator[str]:
        if closing.epoch != number:
            yield f"it is recorded for epoch {closing.epoch}"
        if (closing.n_rounds, closing.n_answers) != (self._n_rounds, self._n_answers):
            yield (
                f"it counts {closing.n_rounds} rounds and {closing.n_answers} answers; there were {self._n_rounds} and "
                f"{self._n_answers}"
            )
        if (closing.n_checks, closing.n_contradicted) != (self._n_checks, self._n_contradicted):
            yield (
                f"it counts {closing.n_checks} checks, {closing.n_contradicted} contradicted; there were "
                f"{self._n_checks} and {self._n_contradicted}"
            )
        if closing.leader not in self._survivors:
            yield f"its leader {closing.leader} is not one of the survivors {self._survivors}"
            return
        self._leader = closing.leader
        if self._suspended:
            self._survivors, self._certified = self._scene.distinct, 1.0
            if self._gate is not None:
                self._gate.suspend()
            if self._pairs is not None:
                self._pairs.suspend(closing)
            if closing.survivors != self._survivors or closing.certified_eps < 1:
                yield (
                    f"raters accepted a second label in {self._n_contradicted} of {self._n_checks} checks, so nothing "
                    f"is shown; but it certifies eps {closing.certified_eps!r} and has survivors {closing.survivors}"
                )
            return
        if self._gate is not None:
            yield from self._gate.closing_faults(closing, self._survivors)
            self._survivors = self._gate.left
            return
        if self._pairs is not None:
            yield from self._pairs.closing_faults(closing, self._survivors)
            self._survivors = self._pairs.left
            return
        evidence = self._evidence(closing.leader, 0.0)
        gone = {h for h, above in evidence.items() if above > LOG_TOLERANCE and h != closing.leader}
        # Rounding may decide about those at the threshold: there the log is believed.
        unsure = {h for h, above in evidence.items() if abs(above) <= LOG_TOLERANCE and h not in closing.survivors}
        left = tuple(h for h in self._survivors if h not in gone | (unsure - {closing.leader}))
        self._survivors = left
        if closing.survivors != left:
            yield f"its survivors are {closing.survivors}, but the answers leave {left}"
        self._certified = closing.certified_eps if self._is_shown(closing.leader, closing.certified_eps) else 1.0
        if self._certified != closing.certified_eps:
            least = self._least_eps(closing.leader)
            yield f"it certifies eps {closing.certified_eps!r}, but the answers show no less than {least:.4f}"

    def _evidence(self, leader: int, c: float) -> dict[int, float]:
        """By how much each survivor's log-wealth against the leader at threshold c exceeds what is needed; step 5."""
        needed = math.log(1 / (self._scene.shares[leader] * self._delta))
        wealth = self._log_wealth(self._survivors, leader, c)
        return dict(zip(self._survivors, (wealth - needed).tolist(), strict=True))

    def _is_shown(self, leader: int, c: float) -> bool:
        """Whether it is shown that no survivor is ahead of the leader by more than c."""
        # Written so that NaN shows nothing.
        if not c >= 0:
            return False
        if c >= 1 or self._is_shown_by_wealth(leader, c):
            return True
        gap = self._known_gap(leader)
        return gap is not None and gap <= c + TOLERANCE

    def _is_shown_by_wealth(self, leader: int, c: float) -> bool:
        # Step 14: with raters who err, answers differ by s c where accuracies differ by c.
        evidence = self._evidence(leader, self._transfer * c)
        return all(above >= -LOG_TOLERANCE for h, above in evidence.items() if h != leader)

    def _least_eps(self, leader: int, shown: float = 1.0) -> float:
        """The least eps, up to EPS_STEP, that is shown; ``shown`` is."""
        if self._suspended:
            return 1.0
        gap = self._known_gap(leader)
        if gap is not None:
            return gap
        low, high = 0.0, min(shown, 1.0)
        while high - low > EPS_STEP:
            middle = (low + high) / 2
            low, high = (low, middle) if self._is_shown_by_wealth(leader, middle) else (middle, high)
        return high
