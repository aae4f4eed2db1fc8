"""The state of a selection, as commands and pages tell it."""

from __future__ import annotations

from dataclasses import dataclass

from onebit.promise import ADVICE
from onebit.records import RunStatus
from onebit.report import tiers_words, words
from onebit.report.judge_card import JudgeCard, in_a_line
from onebit.report.record import GateLine, PlaceLine
from onebit.study.kinds.kind import StudyStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionStatus(StudyStatus):
    """The state of a selection.

    No model is ahead of ``chosen`` by more than ``certified_eps``, as ``promise`` says; ``survivors`` may be the best.
    ``forecast`` is how many more answers are needed: low, middle, high; None unless somebody looked ahead. ``judge`` is
    the judge's report card, ``sequel`` says what the study goes on from. Of a gate, ``chosen`` is the baseline, ``eps``
    the margin, and ``gate`` what is shown of each candidate. With *top* ``chosen`` has all named; ``placings``, as
    of tiers, what is shown of each model.
    """

    eps: float
    certified_eps: float | None
    chosen: tuple[str, ...]
    survivors: tuple[str, ...] | None
    n_models: int
    forecast: tuple[int, int, int] | None
    judge: JudgeCard | None = None
    gate: tuple[GateLine, ...] = ()
    sequel: str = ""
    placings: tuple[PlaceLine, ...] = ()

    def lines(self) -> list[str]:
        # Zero-argument super() does not know the class that slots made.
        answers = StudyStatus.lines(self)
        judge = [] if self.judge is None else [f"judge           {in_a_line(self.judge)}"]
        if self.status is RunStatus.SUSPENDED:
            return [
                f"{self.name}: suspended; {self.status.value}",
                f"certified       nothing; {ADVICE}",
                *answers,
                *judge,
            ]
        # Before the first answer nothing is shown, and nobody leads.
        is_shown = self.certified_eps is not None and (self.n_answers > 0 or self.certified_eps < 1)
        eps = f"{self.certified_eps:.4f}" if is_shown else "none yet"
        if self.gate:
            return [*self._gate_lines(), *answers, *self._to_come(), *judge]
        if self.placings:
            return [f"{self.name}: {self.status.value}", *self._place_lines(), *answers, *self._to_come(), *judge]
        lines = [
            f"{self.name}: {self.status.value}",
            f"certified eps   {eps} (asked for: {self.eps:g}): {'safe to stop' if self.is_safe_to_stop else 'not yet'}",
            f"leader          {', '.join(self.chosen) if is_shown and self.chosen else 'none yet'}",
        ]
        if self.survivors is not None:
            lines.append(f"may be best     {len(self.survivors)} of {self.n_models} models")
        return [*lines, *answers, *self._to_come(), *judge, *filter(None, [self.sequel])]

    def _to_come(self) -> list[str]:
        if self.forecast is None or self.status is not RunStatus.RUNNING:
            return []
        low, middle, high = self.forecast
        return [f"still needed    about {middle:,} answers ({low:,} to {high:,})"]

    def _gate_lines(self) -> list[str]:
        told = [f"{self.name}: {self.status.value}", f"baseline        {', '.join(self.chosen)} (margin {self.eps:g})"]
        for line in self.gate:
            behind, ahead = words.fraction(line.behind_at_most), words.fraction(line.ahead_at_most)
            told.append(f"{line.name:15} {line.verdict}; behind by at most {behind}, ahead by at most {ahead}")
        return told

    def _place_lines(self) -> list[str]:
        safe = "safe to stop" if self.is_safe_to_stop else "not yet"
        told = [f"aim             within {self.eps:g}: {safe}"]
        return told + [
            f"tier {line.tier:<10} {' = '.join(line.names)} (rank {tiers_words.rank(line)})"
            for line in self.placings[: tiers_words.MOST_LINES]
        ]

    def in_a_line(self) -> str:
        if self.placings and self.survivors is not None and self.n_answers:
            return f"; {len(self.survivors)} of {self.n_models} models not placed yet{self._more_needed()}"
        if self.survivors is None or self.certified_eps is None or self.n_answers == 0:
            return ""
        if self.gate:
            return "; " + "; ".join(f"{line.name} {line.verdict}" for line in self.gate)
        return (
            f"; {len(self.survivors)} of {self.n_models} models may be the best; leader {self.chosen[0]}, within "
            f"{self.certified_eps:.3g}{self._more_needed()}"
        )

    def _more_needed(self) -> str:
        if self.forecast is None or self.status is not RunStatus.RUNNING:
            return ""
        low, middle, high = self.forecast
        return f"; about {middle:,} answers more ({low:,} to {high:,})"
