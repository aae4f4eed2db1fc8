"""What ``onebit study status`` prints."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from onebit.promise import ADVICE
from onebit.records import RunStatus
from onebit.study.quality import Rate
from onebit.study.status import LearningStatus, StudyStatus


def print_status(found: StudyStatus | LearningStatus, console: Console) -> None:
    """What ``status`` shows of a study of either kind."""
    lines = _learning_lines(found) if isinstance(found, LearningStatus) else _selection_lines(found)
    console.print("\n".join(lines), highlight=False, markup=False)
    if found.raters:
        table = Table("rater", "answers", "can't tell", "late", "no to right", "yes to wrong", "changed")
        for each in found.raters:
            counts = (f"{n:,}" for n in (each.n_answers, each.n_cant_tell, each.n_late))
            table.add_row(each.rater, *counts, *map(_shown, (each.f_no, each.f_yes, each.changed)))
        console.print(table, markup=False)
    console.print(
        f"log             {found.n_events:,} events, digest {found.log_digest}", highlight=False, soft_wrap=True
    )
    for warning in found.warnings:
        console.print(f"Warning: {warning}.", highlight=False, markup=False)


def _selection_lines(found: StudyStatus) -> list[str]:
    if found.status is RunStatus.SUSPENDED:
        return [
            f"{found.name}: suspended; {found.status.value}",
            f"certified       nothing; {ADVICE}",
            *_answer_lines(found),
        ]
    eps = "none yet" if found.certified_eps is None else f"{found.certified_eps:.4f}"
    lines = [
        f"{found.name}: {found.status.value}",
        f"certified eps   {eps} (asked for: {found.eps:g})",
        f"leader          {', '.join(found.chosen) or 'none yet'}",
    ]
    if found.survivors is not None:
        lines.append(f"may be best     {len(found.survivors)} of {found.n_models} models")
    lines += _answer_lines(found)
    if found.forecast is not None and found.status is RunStatus.RUNNING:
        low, middle, high = found.forecast
        lines.append(f"still needed    about {middle:,.0f} answers ({low:,.0f} to {high:,.0f})")
    return lines


def _learning_lines(found: LearningStatus) -> list[str]:
    shown = "none yet" if found.accuracy is None else "{:.3f} to {:.3f}".format(*found.accuracy)
    wanted = "" if found.target is None else f" (asked for: {found.target:g})"
    lines = [f"{found.name}: {found.status.value}", f"accuracy        {shown}{wanted}"]
    if found.recent_accuracy is not None:
        lines.append(f"estimate        about {found.recent_accuracy:.2f}, from the last answers and without a promise")
    lines.append(f"confirmed       {found.n_verified:,} labels of {found.n_items:,} items")
    if found.yes_rate is not None:
        lines.append(f"yes             {found.yes_rate:.0%} of the last answers")
    return [*lines, *_answer_lines(found), f"at most         {found.budget:,} answers"]


def _answer_lines(found: StudyStatus | LearningStatus) -> list[str]:
    lines = [f"answers         {found.n_answers:,}, and {found.n_open} questions open"]
    if found.n_cant_tell:
        lines.append(f"can't tell      {found.n_cant_tell:,} ({found.n_cant_tell / found.n_answers:.1%})")
    return lines


def _shown(rate: Rate) -> str:
    return "" if rate.n == 0 else f"{rate.n_wrong} of {rate.n} ({rate.low:.2f} to {rate.high:.2f})"
