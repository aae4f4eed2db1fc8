"""Mutation testing: change one operator or number of the mathematics at a time, and see whether a test notices.

    make mutants                      # a sample of all files below, into docs/mutants.md
    python -m tests.mutants --each 5 --only corrective
    python -m tests.mutants --seed 2  # another sample; its score before tests are written for it is the honest one

First the tests run once, to see which of them come by which line. Then each mutant is put in place of its module in a
process of its own, and the tests that come by its line are run, the quickest first, until one fails. A mutant that no
test kills is printed with its line: either a test is missing, or the change makes no difference (a tolerance, a bound
on the number of steps, an order of equal things). Those that make none are listed, each with the reason, in
``mutants_without_effect.txt``. The score is the share that was killed, of all and of those not listed. What a sample
scored before anybody looked at it is noted in ``mutants_first_pass.txt``, by hand, and copied to the page.

What became of each is kept, so that a run that was stopped goes on where it was; one that lived is tried again when
its tests have changed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.mutating import (
    HEAVY,
    SOURCE,
    Coverage,
    Mutant,
    check_the_unchanged,
    covered_by,
    has_kernels,
    is_killed,
    mutants_of,
)

ROOT = Path(__file__).parents[1]
#: What became of mutants, by the digest of their text.
KEPT = ROOT / "benchmarks" / "results" / "mutants.txt"
#: Those that no test can kill, a line each: ``file: before -> after, in: the line | why``.
WITHOUT_EFFECT = ROOT / "tests" / "mutants_without_effect.txt"
#: What samples scored before tests were written for them, a line each.
FIRST_PASS = ROOT / "tests" / "mutants_first_pass.txt"
PAGE = ROOT / "docs" / "mutants.md"
#: The sample that is on the page.
PAGE_SEED = 0
#: Which tests are about which files.
TESTS = {
    "explore/corrective.py": ["tests/unit/explore/test_corrective.py"],
    "explore/constants.py": ["tests/unit/explore/test_corrective.py", "tests/unit/explore/test_potential.py"],
    "explore/frank_wolfe.py": ["tests/unit/explore/test_frank_wolfe.py", "tests/unit/explore/test_mixture.py"],
    "explore/hedge.py": ["tests/unit/explore/test_hedge.py"],
    "explore": [
        "tests/reference/test_spider.py",
        "tests/reference/test_lemmas.py",
        "tests/unit/explore/test_mixture.py",
        "tests/unit/explore/test_potential.py",
    ],
    "learners/paper": [
        "tests/unit/learners/paper",
        "tests/contracts/test_learners.py",
        "tests/reference/test_sequel_lemmas.py",
    ],
    "research/rivals": ["tests/unit/research/rivals"],
    # These run as Python here, too slow for enumerations.
    "estimate/betting.py": ["tests/unit/estimate/test_betting.py"],
    "estimate/independent_wealth.py": ["tests/unit/estimate/test_betting.py"],
    "estimate/panels.py": ["tests/unit/estimate/test_panels.py"],
    "estimate": ["tests/unit/estimate", "tests/reference/test_certificate_by_enumeration.py"],
}


def part_of(path: Path) -> str:
    """The first entry of ``TESTS`` that the file belongs to."""
    name = path.relative_to(SOURCE / "onebit").as_posix()
    return next(part for part in TESTS if name.startswith(part))


def mutated_files(only: str) -> list[Path]:
    """The files of which mutants are made, of those whose path has ``only`` in it."""
    folders = {part for part in TESTS if not part.endswith(".py")}
    found = {path for part in folders for path in (SOURCE / "onebit" / part).rglob("*.py")}
    # Part by part, in the order above: the tests of the last take longest.
    parts = list(TESTS)
    chosen = (path for path in found if only in path.as_posix())
    return sorted(chosen, key=lambda path: (parts.index(part_of(path)), path))


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: killed, listed as one that makes no difference, or alive."""

    mutant: Mutant
    killed: bool
    #: Why no test can kill it; None where nobody said so.
    reason: str | None

    def __str__(self) -> str:
        word = "killed" if self.killed else "no effect" if self.reason else "LIVES"
        return f"{word}  {self.mutant.name}  (line {self.mutant.line})"


def tried(files: list[Path], n_each: int, seed: int) -> Iterator[Verdict]:
    """A sample of the mutants of each file, one after the other, with what became of them."""
    known: dict[tuple[tuple[str, ...], bool], Coverage] = {}
    reasons = dict(line.rsplit(" | ", 1) for line in WITHOUT_EFFECT.read_text().splitlines() if " | " in line)
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    KEPT.touch()
    kept = set(KEPT.read_text().splitlines())
    for path in files:
        candidates = list(mutants_of(path))
        drawn = random.Random(f"{seed} {path.name}").sample(candidates, min(n_each, len(candidates)))
        tests, as_python = TESTS[part_of(path)], has_kernels(path)
        at = (tuple(tests), as_python)
        for mutant in drawn:
            killed_note, lived_note = f"{mutant.digest} killed", f"{mutant.digest} lived through {_digest(tests)}"
            if not {killed_note, lived_note} & kept:
                if at not in known:
                    known[at] = covered_by(tests, {str(each) for each in files}, as_python)
                    check_the_unchanged(mutant, known[at])
                note = killed_note if is_killed(mutant, known[at].tests_at(mutant)) else lived_note
                kept.add(note)
                with KEPT.open("a") as notes:
                    notes.write(f"{note}\n")
            yield Verdict(mutant, killed_note in kept, reasons.get(mutant.name))


def _digest(tests: list[str]) -> str:
    """Of the tests' text: what lived through others may not live through these."""
    files = sorted(path for each in tests for path in [ROOT / each, *(ROOT / each).rglob("*.py")] if path.is_file())
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def page(verdicts: list[Verdict], n_each: int, seed: int) -> str:
    """The score of each part and of all, and those that were not killed."""
    rows = [(part, [each for each in verdicts if part_of(each.mutant.path) == part]) for part in TESTS]
    rows.append(("**all**", verdicts))
    lines = [
        "# Mutants: what the tests of the mathematics notice",
        "",
        "This page is written by `make mutants` (`tests/mutants.py`); do not edit it. One operator or number is",
        "changed at a time, and the tests that come by its line are run until one fails; statistical tests are not",
        "among them.",
        f"At most {n_each} mutants of each file are drawn (seed {seed}). *No effect*: no test can fail, for the reason",
        "given. The score is killed / (tried - no effect).",
        "",
        "| part | tried | killed | no effect | live | score |",
        "|---|---|---|---|---|---|",
    ]
    for part, mine in rows:
        killed, equal = sum(each.killed for each in mine), sum(_is_equal(each) for each in mine)
        score = f"{killed / (len(mine) - equal):.0%}" if len(mine) > equal else ""
        lines.append(f"| {part} | {len(mine)} | {killed} | {equal} | {len(mine) - killed - equal} | {score} |")
    for title, chosen in (
        ("Live", [each for each in verdicts if not each.killed and not each.reason]),
        ("No effect", [each for each in verdicts if _is_equal(each)]),
    ):
        if chosen:
            lines += ["", f"## {title}", ""]
            lines += [f"- `{each.mutant.name}`" + (f": {each.reason}" if each.reason else "") for each in chosen]
    lines += ["", "## First passes", ""]
    lines += ["What samples scored before tests were written for those that lived: what to expect of a new one.", ""]
    lines += [f"- {note}" for note in FIRST_PASS.read_text().splitlines()]
    return "\n".join(lines) + "\n"


def _is_equal(verdict: Verdict) -> bool:
    return not verdict.killed and verdict.reason is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=3, help="mutants of each file, drawn at random")
    parser.add_argument("--only", default="", help="files whose path has this in it; the page is then not written")
    parser.add_argument("--seed", type=int, default=PAGE_SEED, help="another sample; the page is then not written")
    options = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(SOURCE))
    for name in HEAVY:
        __import__(name)
    verdicts = []
    for verdict in tried(mutated_files(options.only), options.each, options.seed):
        verdicts.append(verdict)
        print(verdict, flush=True)
    print(f"{sum(each.killed for each in verdicts)} of {len(verdicts)} mutants killed")
    if not options.only and options.seed == PAGE_SEED:
        PAGE.write_text(page(verdicts, options.each, options.seed))


if __name__ == "__main__":
    main()
