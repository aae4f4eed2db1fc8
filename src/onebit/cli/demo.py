"""``onebit demo``: the best of 60 digit classifiers from yes/no answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from onebit.cli.select import run_selection
from onebit.records import SelectionSpec


def demo(
    answers: Annotated[int, typer.Option(min=2, help="Answers in phase 2 of Algorithm 1.")] = 40_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the run; the same seed gives the same run.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for the table, the log and the report.")] = Path("onebit-demo"),
) -> None:
    """Choose the best of 60 digit classifiers without labels, by yes/no answers of a simulated rater.

    Algorithm 1 of the paper runs end to end, beside uniform guesses and full labels with the same number of answers,
    and the certified learner, which stops as soon as its answers show that nobody is ahead by more than 0.02. Its
    report is written as ``onebit select`` writes it, beside the table, which is yours to try other commands on.
    """
    # Imported here: scikit-learn takes a second that --help should not.
    from onebit import digits
    from onebit.report import words
    from onebit.study.folder import PAGE, StudyFolder

    folder = out / f"seed-{seed}"
    StudyFolder(folder).check_is_free()
    console = Console()
    with _Bars(console) as bars:
        contest = digits.train_models(bars.show)
        paper, rows = digits.choose(contest, answers, seed, bars.show)

    accuracy, exploration = contest.accuracy, paper.exploration
    console.print(
        f"\n{accuracy.size} models, {contest.truth.size} images without labels, 10 labels. "
        f"Hidden accuracies: {accuracy.min():.3f} to {accuracy.max():.3f}."
    )
    if exploration is not None:
        console.print(
            f"Phase 1: {paper.rounds_phase_1:,} uniform guesses confirmed {exploration.n_confirmed} labels; the "
            f"mixture found on them (support {len(exploration.mixture.hypotheses)}) explores with variance at most "
            f"{exploration.variance_bound:.2f} on those, uniform guesses with up to {10 * accuracy.max():.1f}."
        )
        console.print(f"Phase 2: {paper.rounds_phase_2:,} questions drawn from that mixture.\n")
    table = Table("learner", "answers", "chosen model", "excess error", "eps proven")
    for column in table.columns[1:2] + table.columns[3:]:
        column.justify = "right"
    for row in rows:
        table.add_row(
            row.learner, f"{row.answers:,}", contest.names[row.chosen], f"{row.excess:.4f}", f"{row.achieved_eps:.4f}"
        )
    console.print(table)
    console.print(
        "The excess error, known here because the truth is, is at most the eps proven with probability "
        f"{1 - paper.plan.delta:.0%}: by intervals for all models at once; in the last two rows, by the certificate.",
    )
    out.mkdir(parents=True, exist_ok=True)
    table_path = out / "digits.csv"
    digits.write_table(contest, table_path)
    spec = SelectionSpec(eps=digits.CERTIFIED_EPS, protocol="follow-up", seed=seed, id="image", truth="digit")
    report = run_selection(spec, [table_path], folder, Console(stderr=True))
    console.print(f"\n[b]{report.chosen[0]}[/]: {words.headline(report)}", highlight=False, soft_wrap=True)
    console.print(f"The report is in {folder / PAGE}; the table is {table_path}", highlight=False, soft_wrap=True)


class _Bars(Progress):
    """A progress bar for each thing that is going on."""

    def __init__(self, console: Console) -> None:
        super().__init__(TextColumn("{task.description:20}"), BarColumn(), TimeElapsedColumn(), console=console)
        self._known: dict[str, TaskID] = {}

    def show(self, name: str, done: int, total: int) -> None:
        if name not in self._known:
            self._known[name] = self.add_task(name, total=total)
        self.update(self._known[name], completed=done)
