"""Studies that select the best of N models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from onebit.learners.certified.statement import CertifiedResult
from onebit.learners.contract import BoundedResult, Learner
from onebit.log.events import Created, Event
from onebit.promise import ADVICE
from onebit.raters import ErringRater, Rater, SimulatedRater, VerdictRater
from onebit.records import RunStatus
from onebit.report import words
from onebit.report.charts import evidence_chart
from onebit.report.judge_card import JudgeCard, in_a_line
from onebit.report.making import Candidates, make_report
from onebit.report.record import Entry as ReportEntry
from onebit.report.record import GateLine, Price, Report, as_json
from onebit.store.store import Entry, Store
from onebit.study.about import About
from onebit.study.constants import REHEARSED_ITEMS, REHEARSED_MODELS
from onebit.study.items import Items, read_judge, read_predictions, read_truth, read_verdicts
from onebit.study.kinds.kind import Board, Finding, Kind, Standing, StudyStatus
from onebit.study.kinds.replayed import end_differences, prove_selection
from onebit.study.kinds.selection.forecast import forecast
from onebit.study.kinds.selection.imagining import Table
from onebit.study.kinds.selection.judging import card_of, scores_of
from onebit.study.kinds.selection.mistakes import pick_mistakes
from onebit.study.kinds.selection.prices import counted_prices, measured_prices, price_of_all_outputs
from onebit.study.kinds.selection.rehearsal import Rehearsal, rehearse
from onebit.study.kinds.selection.selectors import build_selection
from onebit.study.needed import Needed
from onebit.study.quality import warnings
from onebit.study.view import Seen, Verdicts, View
from onebit.verify.audit import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionStatus(StudyStatus):
    """The state of a selection.

    No model is ahead of ``chosen`` by more than ``certified_eps``, as ``promise`` says; ``survivors`` may be the best.
    ``forecast`` is how many more answers are needed: low, middle, high; None unless somebody looked ahead. ``judge`` is
    the judge's report card. Of a gate, ``chosen`` is the baseline, ``eps`` the margin, and ``gate`` what is shown of
    each candidate.
    """

    eps: float | None
    certified_eps: float | None
    chosen: tuple[str, ...]
    survivors: tuple[str, ...] | None
    n_models: int
    forecast: tuple[int, int, int] | None
    judge: JudgeCard | None = None
    gate: tuple[GateLine, ...] = ()

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
        eps = "none yet" if self.certified_eps is None else f"{self.certified_eps:.4f}"
        if self.gate:
            return [*self._gate_lines(), *answers, *self._to_come(), *judge]
        aim = "(none asked for: the budget is spent on the choice)"
        if self.eps is not None:
            aim = f"(asked for: {self.eps:g}): {'safe to stop' if self.is_safe_to_stop else 'not yet'}"
        lines = [
            f"{self.name}: {self.status.value}",
            f"certified eps   {eps} {aim}",
            f"leader          {', '.join(self.chosen) or 'none yet'}",
        ]
        if self.survivors is not None:
            lines.append(f"may be best     {len(self.survivors)} of {self.n_models} models")
        return [*lines, *answers, *self._to_come(), *judge]

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

    def in_a_line(self) -> str:
        if self.survivors is None or self.certified_eps is None or self.n_answers == 0:
            return ""
        if self.gate:
            return "; " + "; ".join(f"{line.name} {line.verdict}" for line in self.gate)
        to_come = ""
        if self.forecast is not None and self.status is RunStatus.RUNNING:
            low, middle, high = self.forecast
            to_come = f"; about {middle:,} answers more ({low:,} to {high:,})"
        return (
            f"; {len(self.survivors)} of {self.n_models} models may be the best; leader {self.chosen[0]}, within "
            f"{self.certified_eps:.3g}{to_come}"
        )


class Selection(Kind):
    """A selection that is open: ``predictions`` (N, n), what a ``judge`` says of them, and what simulated raters know.

    That is the ``truth`` (n,), or ``verdicts`` (N, n) as in a ModelTable.
    """

    name = "selection"

    def __init__(
        self,
        study: str,
        created: Created,
        about: About,
        predictions: NDArray[np.integer],
        truth: NDArray[np.int64] | None = None,
        verdicts: NDArray[np.int8] | None = None,
        judge: NDArray[np.float32] | None = None,
    ) -> None:
        super().__init__(study, created, about, truth)
        self._verdicts = verdicts
        self.setting, self.predictions = created.selection, predictions
        self._selection = build_selection(self.setting, created.learner, predictions, created.table.n_labels, judge)
        self.learner, self.needs_verdicts = self._selection.learner, judge is not None
        self.can_foresee = created.learner == "certified"
        #: What forecasts rest on, as soon as somebody made it.
        self._ahead: Rehearsal | None = None

    def row(self, item: int) -> int:
        return self._selection.row(item)

    def plausible_labels(self, row: int) -> list[int]:
        return self._selection.plausible_labels(row)

    def outputs(self, row: int) -> dict[int, tuple[str, ...]]:
        said = self.predictions[:, row]
        return {
            int(label): tuple(self.about.models[h] for h in np.flatnonzero(said == label))
            for label in np.unique(said[said >= 0])
        }

    def status(self, standing: Standing, result: BoundedResult) -> SelectionStatus:
        created, setting = self.created, self.setting
        # What is known of a run that was suspended rests on what was found not to hold.
        is_shown = result.status is not RunStatus.SUSPENDED
        certified = result if isinstance(result, CertifiedResult) else None
        needed = self._needed(certified)
        return SelectionStatus(
            name=standing.name,
            status=result.status,
            promise=result.promise,
            eps=None if setting.spends else setting.eps,
            certified_eps=result.achieved_eps if is_shown else None,
            chosen=self._chosen(result) if is_shown else (),
            survivors=tuple(self.about.models[h] for h in certified.survivors) if certified and is_shown else None,
            n_models=created.table.n_models,
            n_items=created.table.n_items,
            n_answers=result.n_rounds if certified is None else certified.n_answers,
            n_open=standing.n_open,
            n_cant_tell=None if certified is None else certified.n_cant_tell,
            forecast=None if needed is None else (needed.low, needed.middle, needed.high),
            raters=standing.raters,
            warnings=tuple(warnings(standing.raters, setting.f_no, setting.f_yes, created.overlap)),
            n_events=standing.head.n_events,
            log_digest=standing.head.digest,
            judge=self._card(standing.verdicts),
            gate=self._candidates.gate(certified.gate, setting.baseline) if certified else (),
        )

    def look_ahead(self, seconds: float, is_stopped: Callable[[], bool] | None = None) -> Any:
        if self.setting.spends:
            # It ends when the budget is used.
            return asdict(Rehearsal(()))
        table = Table(self.predictions, self.created.table.n_labels, self._selection.judge)
        return asdict(rehearse(table, self.setting, seconds=seconds, is_stopped=is_stopped))

    def foresee(self, ahead: Any) -> None:
        self._ahead = msgspec.convert(ahead, Rehearsal)

    def _needed(self, result: CertifiedResult | None) -> Needed | None:
        """How many more answers of raters are needed; None where nobody looked ahead, or nothing can be shown."""
        if result is None or result.status is RunStatus.SUSPENDED:
            return None
        if result.status is not RunStatus.RUNNING:
            return Needed(0, 0, 0)
        if self.setting.spends and self.setting.budget is not None:
            left = max(self.setting.budget - result.n_answers, 0)
            return Needed(left, left, left).by_raters(
                self.created.overlap, self.about.gold_share + self.about.repeat_share
            )
        if self._ahead is None:
            return None
        closings = self.learner.closings
        needed = forecast(self._ahead, self.setting.eps, closings[-1] if closings else None, result.n_answers)
        return needed.by_raters(self.created.overlap, self.about.gold_share + self.about.repeat_share)

    def _card(self, verdicts: Verdicts) -> JudgeCard | None:
        """The judge's report card; None without a judge."""
        selection = self._selection
        if selection.judge is None:
            return None
        rows = selection.rows[np.array(verdicts.items, dtype=np.int64)]
        labels = np.array(verdicts.labels, dtype=np.int64)
        scores = scores_of(self.predictions, selection.judge, rows, labels)
        weight = verdicts.guess[-1] if verdicts.guess else None
        return card_of(scores, np.array(verdicts.accepted, dtype=np.bool_), weight)

    def summary(self, result: BoundedResult) -> dict[str, Any]:
        certified = result if isinstance(result, CertifiedResult) else None
        return {
            "chosen": list(self._chosen(result)),
            "certified_eps": result.achieved_eps,
            "eps": None if self.setting.spends else self.setting.eps,
            "delta": self.setting.delta,
            "protocol": self.setting.protocol,
            "n_rounds": result.n_rounds,
            "n_free_rounds": None if certified is None else certified.n_free_rounds,
            "n_answers": result.n_rounds if certified is None else certified.n_answers,
            "n_survivors": None if certified is None else len(certified.survivors),
            "promise": result.promise,
            "gate": [] if certified is None else [asdict(each) for each in certified.gate],
        }

    def recompute(self, log: Sequence[Event], progress: Callable[[int, int], None] | None) -> Finding:
        proof = prove_selection(log, self._selection, progress)
        result = proof.result
        if proof.course is None or not isinstance(result, BoundedResult):
            return Finding(tuple(proof.problems))
        end = end_differences(proof.course.finished, result, self.summary(result))
        stated = None if result.status is RunStatus.SUSPENDED else result.achieved_eps
        chosen = () if proof.verdict is None else tuple(self.about.models[h] for h in proof.verdict.names)
        return Finding(
            (*proof.problems, *end),
            proof.verdict,
            stated_eps=stated,
            chosen=chosen,
            words=self._in_words(proof.verdict, stated, chosen),
        )

    def _in_words(self, verdict: Verdict | None, stated: float | None, chosen: tuple[str, ...]) -> str:
        """What was recomputed."""
        if verdict is None:
            return (
                f"the log was replayed, and all is as it says; the learner {self.created.learner} gives no certificate "
                "that could be recomputed."
            )
        answers = f"{verdict.n_answers:,} {'simulated ' if self.created.simulated else ''}answers"
        if stated is None:
            return f"from {answers} nothing is certified, as the study says."
        if verdict.gate:
            told = "; ".join(f"{self.about.models[each.candidate]} {each.verdict}" for each in verdict.gate)
            return f"from {answers}, beside {' = '.join(chosen)}: {told}."
        return (
            f"from {answers}, no model is ahead of {' = '.join(chosen)} by more than {words.fraction(stated)} "
            f"(recomputed: {words.fraction(verdict.certified_eps)}), and {len(verdict.survivors)} may be the best."
        )

    def simulated_rater(self) -> Rater:
        f_no, f_yes = self.setting.f_no, self.setting.f_yes
        if self._verdicts is not None:
            return VerdictRater(self.predictions, self._verdicts)
        if self.truth is None or f_no + f_yes == 0:
            return super().simulated_rater()
        return ErringRater(self.truth, f_no=f_no, f_yes=f_yes, seed=self.setting.seed, anew=True)

    @property
    def rehearsal_key(self) -> tuple[object, ...]:
        setting, judge = self.setting, self._selection.judge
        has_errors = setting.f_no + setting.f_yes > 0
        learner = self.created.learner
        return learner, setting.protocol, setting.population, has_errors, self.predictions.dtype.str, judge is not None

    def rehearsal(self) -> tuple[Learner[Any], Rater]:
        part = np.s_[:REHEARSED_MODELS, :REHEARSED_ITEMS]
        predictions, judge = np.ascontiguousarray(self.predictions[part]), self._selection.judge
        created = self.created
        small = build_selection(
            self.setting,
            created.learner,
            predictions,
            created.table.n_labels,
            None if judge is None else np.ascontiguousarray(judge[part]),
        )
        # As if the last model were right, but where it abstains.
        right = SimulatedRater(np.maximum(predictions[-1], 0))
        return small.learner, lambda question: right(replace(question, item=small.row(question.item)))

    def board(self, status: SelectionStatus, result: BoundedResult, seen: Seen) -> Board:
        report = self._told(result, seen)
        is_over = status.status is not RunStatus.RUNNING
        return Board(
            badge=report.status if report.status in ("certified", "suspended") else "ended" if is_over else "running",
            title="" if words.is_unasked(report) else words.chosen_in_words(report) if report.chosen else "",
            headline=words.headline(report),
            sentences=(words.confidence(report), words.against_the_aim(report)),
            figures={
                "report": report,
                "chart": evidence_chart(report),
                "forecast": _to_come(is_over, status.forecast),
            },
            plain={"report": as_json(report)},
            forecast=status.forecast,
        )

    def report(self, result: BoundedResult, view: View, items: Items) -> Report:
        report = self._told(result, view.seen(), self._prices)
        number = {name: h for h, name in enumerate(self.about.models)}
        best = [number[entry.names[0]] for entry in report.leaderboard]
        said = ((self.row(item), label, answer) for item, label, answer in view.said())
        return replace(report, mistakes=pick_mistakes(said, self.predictions, self.about.models, best, items))

    def entries(self, result: BoundedResult) -> tuple[ReportEntry, ...]:
        if not isinstance(result, CertifiedResult) or result.status is RunStatus.SUSPENDED:
            return ()
        return self._candidates.leaderboard(result)

    @cached_property
    def _prices(self) -> tuple[Price, ...]:
        """What other ways to choose would have cost on this table, where that is known."""
        if self.setting.protocol == "panel" or self.setting.baseline is not None:
            return (price_of_all_outputs(self.predictions),)
        if self.truth is None or self.setting.spends:
            # Where a budget is spent, other ways have no eps that they could be held to.
            # Forecasts take seconds that depend on the machine, and a report is recomputed by whoever verifies it.
            return counted_prices(self.predictions, self.setting)
        return measured_prices(self.predictions, self.truth, self.created.table.n_labels, self.setting)

    @cached_property
    def _candidates(self) -> Candidates:
        accuracy = None
        if self._verdicts is not None:
            accuracy = (self._verdicts == 1).mean(axis=1)
        elif self.truth is not None:
            accuracy = np.array([(row == self.truth).mean() for row in self.predictions])
        return Candidates(
            self.study,
            self.created.table.digest,
            self.about.models,
            self.predictions,
            self.created.table.n_labels if self.about.is_open else len(self.about.labels),
            accuracy,
            self.setting.population,
        )

    def _told(self, result: BoundedResult, seen: Seen, prices: tuple[Price, ...] = ()) -> Report:
        created = self.created
        report = make_report(
            self._candidates,
            self.setting,
            created.learner,
            result,
            seen.closings,
            seen.seconds,
            prices,
            created.simulated,
        )
        # The learner counts the answers of an epoch when it closes; owners count those that came.
        return replace(
            report,
            # A study may be renamed while it is open.
            table=self.study,
            answers=seen.n_answers,
            cant_tell=seen.n_cant_tell,
            n_events=seen.head.n_events,
            log_digest=seen.head.digest,
            judge=self._card(seen.verdicts),
        )

    def _chosen(self, result: BoundedResult) -> tuple[str, ...]:
        if isinstance(result, CertifiedResult):
            return tuple(self.about.models[h] for h in result.names)
        return () if result.chosen is None else (self.about.models[int(result.chosen)],)


def _to_come(is_over: bool, forecast: tuple[int, int, int] | None) -> tuple[str, str]:
    """What is still to come, as a figure and its words."""
    if is_over:
        return "0", "answers still to come"
    if forecast is None:
        return "-", "working out how many answers are still needed"
    low, middle, high = forecast
    return f"{middle:,}", f"more answers needed, likely {low:,} to {high:,}"


def open_it(store: Store, entry: Entry, log: Sequence[Event], created: Created, about: About) -> Selection:
    """A selection of a store, with a fresh learner."""
    predictions = read_predictions(store, entry.id, created.table, about)
    truth, verdicts = read_truth(store, entry.id), read_verdicts(store, entry.id, created.table)
    judge = read_judge(store, entry.id, created.table)
    return Selection(entry.name, created, about, predictions, truth, verdicts, judge)
