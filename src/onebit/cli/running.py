"""A run of ``onebit select``: from the table through its questions to the report."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.status import Status as RichStatus

from onebit.cli.outcome import figures, make_report
from onebit.cli.prices import measured_guesses, measured_labels
from onebit.cli.run_folder import LOG, Source, write_report, write_source
from onebit.cli.terminal import TerminalRater
from onebit.errors import InvalidInputError
from onebit.log.events import Created, LearnerName, TableFacts, check_same
from onebit.log.journal import Journal
from onebit.log.recorder import Recorder, replay
from onebit.raters import ErringRater, Rater, SimulatedRater
from onebit.records import Closing, RunStatus, Setting
from onebit.report import Price, Report
from onebit.study.learners import Selection, build_selection
from onebit.tables import ModelTable, read_table

#: Simulated raters answer so many questions at a time.
AT_A_TIME = 256
#: Least seconds between two looks at the display.
REFRESH = 0.5
#: Predictions above which no other way of choosing is simulated for the price table: it would take too long.
MOST_TO_SIMULATE = 50_000_000


def read_with_bar(source: Source, console: Console) -> ModelTable:
    """Read the table, with a bar if it takes long."""
    columns = TextColumn("reading {task.description}"), BarColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(source.path.name, total=None)
        return read_table(
            source.path,
            id=source.id,
            truth=source.truth,
            show=source.show,
            labels=source.labels,
            progress=lambda done, whole: bar.update(task, completed=done, total=whole),
        )


class Run:
    """One run from table to report."""

    def __init__(self, source: Source, setting: Setting, learner: LearnerName, folder: Path, console: Console) -> None:
        self._source, self._setting, self._learner = source, setting, learner
        self._folder, self._console = folder, console

    def carry_out(self, asks: bool = True) -> tuple[Report, Path]:
        """Ask until the end, or until somebody stops it, if it ``asks``; the report, and where its page is."""
        table = read_with_bar(self._source, self._console)
        n_labels = max(2, table.n_labels)
        self._setting = self._with_kept_seed()
        selection = build_selection(self._setting, self._learner, table.predictions, n_labels)
        start = time.monotonic()
        self._folder.mkdir(parents=True, exist_ok=True)
        facts = TableFacts(table.digest, table.n_models, table.n_items, n_labels)
        # With the truth in the table raters are simulated.
        created = Created(
            self._setting, self._learner, facts, simulated=table.truth is not None, shown=table.items_digest()
        )
        with Journal(self._folder / LOG) as journal:
            is_new = not journal.events
            recorder = self._recorder(journal, selection, created)
            if is_new:
                write_source(self._folder, self._source)
            if asks and recorder.finished is None:
                self._ask(recorder, selection, table)
            result = recorder.result
            seconds = time.monotonic() - start
            if recorder.finished is not None:
                seconds = float(recorder.finished.summary.get("seconds", seconds))
            report = run_report(self._source, created, table, selection, result, seconds)
            if result.status is not RunStatus.RUNNING:
                recorder.finish(result.status, figures(report))
            report = replace(report, n_events=journal.head.n_events, log_digest=journal.head.digest)
        return report, write_report(self._folder, report)

    def _with_kept_seed(self) -> Setting:
        """The setting, with the seed of the log if there is one already and no other was given."""
        path, setting = self._folder / LOG, self._setting
        if not path.exists():
            return setting
        with Journal(path) as journal:
            found = journal.events[0] if journal.events else None
        if not isinstance(found, Created) or (setting.seed_given and setting.seed != found.selection.seed):
            return setting
        return replace(setting, seed=found.selection.seed, seed_given=found.selection.seed_given)

    def _recorder(self, journal: Any, selection: Selection, created: Created) -> Recorder:
        if not journal.events:
            journal.append([created])
            return Recorder(selection.learner, journal)
        try:
            check_same(journal.events[0], created)
        except InvalidInputError as error:
            raise InvalidInputError(f"{self._folder}: {error}") from None
        return replay(journal.events[1:], selection.learner, journal)

    def _ask(self, recorder: Recorder, selection: Selection, table: ModelTable) -> None:
        status = _Status(recorder, table, selection)
        if table.truth is None:
            TerminalRater(recorder, table, selection.row, status.in_words, self._console).run()
            return
        rater = _simulated(table, self._setting)
        try:
            with (
                self._console.status("asking simulated raters") if self._console.is_terminal else nullcontext() as line
            ):
                self._simulate(recorder, selection, rater, status, line)
        except KeyboardInterrupt:
            self._console.print("stopped; the same command goes on")

    def _simulate(
        self, recorder: Recorder, selection: Selection, rater: Rater, status: _Status, line: RichStatus | None
    ) -> None:
        look_at = 0.0
        while isinstance(questions := recorder.ask(AT_A_TIME), tuple):
            recorder.tell_all([(q.id, rater(replace(q, item=selection.row(q.item)))) for q in questions])
            if line is not None and (now := time.monotonic()) > look_at:
                line.update(escape(status.in_words()))
                # A look costs something, so it is a small part of the time.
                look_at = time.monotonic() + max(REFRESH, 10 * (time.monotonic() - now))


def run_report(
    source: Source, created: Created, table: ModelTable, selection: Selection, result: Any, seconds: float
) -> Report:
    """The report of a run as it is now, but for where its log ends."""
    closings = selection.learner.closings
    prices = _prices(table, max(2, table.n_labels), created.selection)
    return make_report(table, source.name, created, result, closings, seconds, prices)


def _prices(table: ModelTable, n_labels: int, setting: Setting) -> tuple[Price, ...]:
    """What the others would have cost on this table; nothing where that cannot be measured."""
    if table.truth is None or table.predictions.size > MOST_TO_SIMULATE:
        return ()
    prices = measured_guesses(table, n_labels, setting)
    if setting.protocol != "labels":
        prices += measured_labels(table, n_labels, setting)
    return prices


def _simulated(table: ModelTable, setting: Setting) -> Rater:
    truth: Any = table.truth
    if setting.f_no + setting.f_yes > 0:
        return ErringRater(truth, f_no=setting.f_no, f_yes=setting.f_yes, seed=setting.seed, anew=True)
    return SimulatedRater(truth)


class _Status:
    """Where a run is, in one line; looked up anew only when an epoch has closed."""

    def __init__(self, recorder: Recorder, table: ModelTable, selection: Selection) -> None:
        self._recorder, self._table, self._learner = recorder, table, selection.learner
        self._n_closings = -1
        self._shown = ""

    def in_words(self) -> str:
        closings = self._learner.closings
        if len(closings) != self._n_closings:
            self._n_closings = len(closings)
            self._shown = self._standing(closings[-1]) if closings else ""
        return f"{len(self._recorder.answers):,} answers so far{self._shown}"

    def _standing(self, last: Closing) -> str:
        return (
            f"; {len(last.survivors)} of {self._table.n_models} models may be the best; leader "
            f"{self._table.models[last.leader]}, within {last.certified_eps:.3g}"
            f"{_to_come(self._recorder.result.forecast)}"
        )


def _to_come(forecast: Any) -> str:
    if forecast is None or forecast.middle is None:
        return ""
    low, high = (f"{forecast.low:,}", "many") if forecast.high is None else (f"{forecast.low:,}", f"{forecast.high:,}")
    return f"; about {forecast.middle:,} answers more ({low} to {high})"
