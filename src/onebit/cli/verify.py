"""``onebit verify`` and ``onebit report``: what a run's folder holds, checked, and told again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onebit.cli.options import AsJson
from onebit.cli.progress import progress_bar
from onebit.cli.terminal import plain

if TYPE_CHECKING:
    from onebit.study.proof import Proof

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder --out of onebit select or onebit learn.")]
FolderOfSelection = Annotated[Path, typer.Argument(metavar="DIR", help="The folder --out of onebit select.")]
Kept = Annotated[
    str | None,
    typer.Option(
        "--digest", help="A digest of the log that was told before; it must be on its way.", show_default=False
    ),
]


def verify(
    folder: Folder,
    as_json: AsJson = False,
    digest: Kept = None,
) -> None:
    """Recompute everything that a run says from its log, its table and its seed, and compare.

    The certificate is recomputed independently of the learner. Exit code 0: all is as the log, its last event and the
    reports say; 1: it is not, and what is wrong is said.
    """
    from onebit.study.folder import StudyFolder
    from onebit.study.proof import verify_study

    place = StudyFolder(folder)
    with progress_bar("recomputing the certificate") as recomputing:
        found = verify_study(place.storage, place.name(), recomputing, digest)
    problems = list(found.problems)
    if not problems:
        with progress_bar("recomputing the report") as recomputing:
            problems = list(place.report_faults(recomputing))
    tell(found, problems, as_json)


def report(folder: FolderOfSelection, as_json: AsJson = False) -> None:
    """Write the report of a selection again, from its log; `onebit study status` tells of a training.

    With --json it is printed as well: what report.json holds.
    """
    from onebit.report.record import as_json as figures
    from onebit.study.folder import StudyFolder

    place = StudyFolder(folder)
    working_out = progress_bar("working out what other ways would have cost")
    with place.open(read_only=True) as study, working_out as progress:
        written = place.write_report(study, progress)
    print(json.dumps(figures(written)) if as_json else f"The report is in {place.page}")


def tell(found: Proof, problems: Sequence[str], as_json: bool) -> None:
    """Print what was recomputed; exit code 1 if there are problems."""
    if as_json:
        print(json.dumps(_figures(found, problems)))
    elif problems:
        print(plain("\n".join(["What is claimed does not hold:", *(f"- {each}" for each in problems)])))
    else:
        print(f"Verified: {plain(found.words)}\nLog: {found.n_events:,} events, digest {found.log_digest}")
    if problems:
        raise typer.Exit(1)


def _figures(found: Proof, problems: Sequence[str]) -> dict[str, Any]:
    verdict, chosen = found.verdict, list(found.chosen)
    return {
        "ok": not problems,
        "problems": list(problems),
        "chosen": chosen[0] if len(chosen) == 1 else chosen or None,
        "certified_eps": found.stated_eps,
        "recomputed_eps": None if verdict is None else verdict.certified_eps,
        "accuracy": None if found.accuracy is None else list(found.accuracy),
        "survivors": None if verdict is None else len(verdict.survivors),
        "answers": found.n_answers,
        "rounds": None if verdict is None else verdict.n_rounds,
        "free_rounds": None if verdict is None else verdict.n_free_rounds,
        "simulated": found.simulated,
        "n_events": found.n_events,
        "log_digest": found.log_digest,
    }
