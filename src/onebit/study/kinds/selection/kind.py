"""Studies that select the best of N models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from onebit.learners.certified.statement import CertifiedResult
from onebit.learners.contract import BoundedResult, Learner
from onebit.log.events import Created, Event
from onebit.raters import ErringRater, Rater, SimulatedRater
from onebit.records import Answer, Question, RunStatus
from onebit.report import words
from onebit.report.judge_card import JudgeCard
from onebit.report.making import Candidates, make_report
from onebit.report.page import chart_of
from onebit.report.record import Entry as ReportEntry
from onebit.report.record import Price, Report, as_json
from onebit.store.store import Entry, Store
from onebit.study.about import About
from onebit.study.constants import ANSWERED_BEFORE, REHEARSED_ITEMS, REHEARSED_MODELS
from onebit.study.items import Items, read_judge
from onebit.study.kinds.kind import Board, Finding, Standing
from onebit.study.kinds.of_models import OfModels, Told, read_told
from onebit.study.kinds.replayed import end_differences
from onebit.study.kinds.selection.forecast import forecast
from onebit.study.kinds.selection.imagining import Table, answered_by
from onebit.study.kinds.selection.judging import card_of, scores_of
from onebit.study.kinds.selection.mistakes import pick_mistakes
from onebit.study.kinds.selection.prices import (
    counted_prices,
    forecast_prices,
    has_other_ways,
    measured_prices,
    price_of_all_outputs,
)
from onebit.study.kinds.selection.proving import prove_selection
from onebit.study.kinds.selection.rehearsal import Rehearsal, rehearse
from onebit.study.kinds.selection.selectors import build_selection
from onebit.study.kinds.selection.sequel import in_words as sequel_in_words
from onebit.study.kinds.selection.sequel import recalled_cells, sequel_faults
from onebit.study.kinds.selection.status import SelectionStatus
from onebit.study.needed import Needed
from onebit.study.quality import warnings
from onebit.study.view import Seen, Verdicts, View
from onebit.verify.audit import Verdict


class Selection(OfModels):
    """A selection that is open, and what a ``judge`` says of its models' outputs.

    ``recalled`` has what was answered about a row and a label in a study that this one goes on from.
    """

    name = "selection"

    def __init__(
        self,
        study: str,
        created: Created,
        about: About,
        told: Told,
        judge: NDArray[np.float32] | None = None,
        recalled: Mapping[tuple[int, int], Answer] | None = None,
    ) -> None:
        super().__init__(study, created, about, told)
        self.setting, self._recalled = created.selection, recalled or {}
        n_labels = created.table.n_labels
        self._selection = build_selection(self.setting, created.learner, self.predictions, n_labels, judge)
        self.learner, self.needs_verdicts = self._selection.learner, judge is not None
        self.can_foresee = created.learner == "certified"
        #: What forecasts rest on, as soon as somebody made it.
        self._ahead: Rehearsal | None = None

    def row(self, item: int) -> int:
        return self._selection.row(item)

    def recalled(self, question: Question) -> Answer | None:
        return None if question.label is None else self._recalled.get((self.row(question.item), question.label))

    def plausible_labels(self, row: int) -> list[int]:
        return self._selection.plausible_labels(row)

    def status(self, standing: Standing, result: BoundedResult) -> SelectionStatus:
        created, setting = self.created, self.setting
        # What is known of a run that was suspended rests on what was found not to hold.
        is_shown = result.status is not RunStatus.SUSPENDED
        certified = result if isinstance(result, CertifiedResult) else None
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
            forecast=self.forecast(result),
            raters=standing.raters,
            warnings=tuple(warnings(standing.raters, setting.f_no, setting.f_yes, created.overlap)),
            n_events=standing.head.n_events,
            log_digest=standing.head.digest,
            judge=self._card(standing.verdicts),
            gate=self._candidates.gate(certified.gate, setting.baseline) if certified else (),
            placings=self._candidates.placings(certified, setting.tiers) if certified and is_shown else (),
            sequel=self._sequel(standing),
        )

    def _sequel(self, standing: Standing) -> str:
        if self.about.sequel is None:
            return ""
        n_recalled = sum(each.n_answers for each in standing.raters if each.rater == ANSWERED_BEFORE)
        return sequel_in_words(self.about.sequel, self.setting.delta, n_recalled)

    def look_ahead(self, seconds: float, is_stopped: Callable[[], bool] | None = None) -> Any:
        if self.setting.spends:
            # It ends when the budget is used.
            return asdict(Rehearsal(()))
        table = Table(self.predictions, self.created.table.n_labels, self._selection.judge)
        return asdict(rehearse(table, self.setting, seconds=seconds, is_stopped=is_stopped))

    def foresee(self, ahead: Any) -> None:
        self._ahead = msgspec.convert(ahead, Rehearsal)

    def forecast(self, result: BoundedResult) -> tuple[int, int, int] | None:
        if not isinstance(result, CertifiedResult) or result.status is RunStatus.SUSPENDED:
            return None
        needed = self._needed(result)
        return None if needed is None else (needed.low, needed.middle, needed.high)

    def _needed(self, result: CertifiedResult) -> Needed | None:
        """How many more answers of raters are needed; None where nobody looked ahead."""
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
        # Of tiers, what is certified of the best model says little of how far the pairs are.
        so_far = closings[-1] if closings and not self.setting.tiers else None
        needed = forecast(self._ahead, self.setting.eps, so_far, result.n_answers)
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
            **({"placings": [asdict(each) for each in certified.placings]} if certified and certified.placings else {}),
        }

    def recompute(self, log: Sequence[Event], progress: Callable[[int, int], None] | None) -> Finding:
        proof = prove_selection(log, self._selection, progress)
        result = proof.result
        if proof.course is None or not isinstance(result, BoundedResult):
            return Finding(tuple(proof.problems))
        end = [
            *end_differences(proof.course.finished, result, self.summary(result)),
            *sequel_faults(self.about, self.setting.delta, proof.course, self._recalled),
        ]
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
        if self.setting.tiers:
            n_tiers = max(each.tier for each in verdict.placings)
            return f"from {answers}, {len(verdict.placings)} models are in {n_tiers} tiers, and each rank is as told."
        if self.setting.top is not None:
            return (
                f"from {answers}, the best {self.setting.top} are {', '.join(chosen)}: no other is ahead of one of "
                f"them by more than {words.fraction(stated)} (recomputed: {words.fraction(verdict.certified_eps)})."
            )
        return (
            f"from {answers}, no model is ahead of {' = '.join(chosen)} by more than {words.fraction(stated)} "
            f"(recomputed: {words.fraction(verdict.certified_eps)}), and {len(verdict.survivors)} may be the best."
        )

    def simulated_rater(self) -> Rater:
        f_no, f_yes = self.setting.f_no, self.setting.f_yes
        if self._verdicts is not None or self.truth is None or f_no + f_yes == 0:
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
            sentences=(*filter(None, (words.confidence(report), words.against_the_aim(report), status.sequel)),),
            figures={
                "report": report,
                "chart": chart_of(report),
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

    def forecast_prices(self, view: View, progress: Callable[[int, int], None] | None = None) -> tuple[Price, ...]:
        if self.truth is not None or not self.can_foresee or view.finished is None:
            return ()
        table = Table(self.predictions, self.created.table.n_labels, self._selection.judge)
        said = ((self.row(item), label, answer) for item, label, answer in view.said())
        return forecast_prices(table, self.setting, answered_by(said), progress)

    def entries(self, result: BoundedResult) -> tuple[ReportEntry, ...]:
        if not isinstance(result, CertifiedResult) or result.status is RunStatus.SUSPENDED:
            return ()
        return self._candidates.leaderboard(result)

    @cached_property
    def _prices(self) -> tuple[Price, ...]:
        """What other ways to choose would have cost on this table, where that is known."""
        if not has_other_ways(self.setting):
            return (price_of_all_outputs(self.predictions),)
        # Where a budget is spent, other ways have no eps that they could be held to.
        if self.truth is None or self.setting.spends:
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
    told = read_told(store, entry, created, about)
    judge = read_judge(store, entry.id, created.table)
    recalled = recalled_cells(store, entry, created, about)
    return Selection(entry.name, created, about, told, judge, recalled)
