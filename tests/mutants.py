"""Mutation testing: change one operator or number of the mathematics at a time, and see whether a test notices.

    make mutants                      # a sample of all files below, about a minute for each mutant on one core
    python -m tests.mutants --each 5 --only corrective

A mutant that no test kills is printed with its line: either a test is missing, or the change makes no difference (a
tolerance, a bound on the number of steps, an order of equal things). The score is the share that was killed.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
#: Which tests are about which files.
TESTS = {
    "explore/corrective.py": ["tests/unit/explore/test_corrective.py"],
    "explore/hedge.py": ["tests/unit/explore/test_hedge.py"],
    "explore": [
        "tests/reference/test_spider.py",
        "tests/reference/test_lemmas.py",
        "tests/unit/explore/test_mixture.py",
    ],
    "learners/paper": ["tests/unit/learners/paper", "tests/contracts/test_learners.py"],
    "research/rivals": ["tests/unit/research/rivals"],
    "estimate": ["tests/unit/estimate", "tests/reference/test_certificate_by_enumeration.py"],
}
OTHER = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
#: Seconds after which a mutant counts as killed: it runs on and on.
TIMEOUT = 600


@dataclass(frozen=True)
class Mutant:
    """One change of one file: ``text`` is the whole file with it, ``what`` says where and how."""

    path: Path
    what: str
    text: str


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every operator replaced by its opposite and every number by one more, one at a time."""
    tree = ast.parse(path.read_text())
    for i, node in enumerate(ast.walk(tree)):
        for place, new in _changes(node):
            copy = deepcopy(tree)
            twin = next(each for j, each in enumerate(ast.walk(copy)) if j == i)
            before = ast.unparse(twin)
            if place == "ops":
                twin.ops[0] = new  # type: ignore[attr-defined]
            else:
                setattr(twin, place, new)
            line = getattr(node, "lineno", 0)
            yield Mutant(path, f"line {line}: {before}  ->  {ast.unparse(twin)}", ast.unparse(copy))


def _changes(node: ast.AST) -> Iterator[tuple[str, object]]:
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OTHER:
        yield "op", OTHER[type(node.op)]()
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER:
        yield "ops", OTHER[type(node.ops[0])]()
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        yield "value", node.value + 1


def tests_of(path: Path) -> list[str]:
    name = path.relative_to(SOURCE / "onebit").as_posix()
    return next(tests for part, tests in TESTS.items() if name.startswith(part))


def is_killed(mutant: Mutant) -> bool:
    """Whether the tests of the file fail with the mutant in place of it, in a copy of the package."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(SOURCE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        (Path(folder) / mutant.path.relative_to(SOURCE)).write_text(mutant.text)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
        try:
            done = subprocess.run(
                [*command, *tests_of(mutant.path)],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": folder},
                capture_output=True,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=3, help="mutants of each file, drawn at random")
    parser.add_argument("--only", default="", help="files whose path has this in it")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folders = {part.split("/")[0] if part.count("/") == 0 else part for part in TESTS}
    found = {path for part in folders for path in [SOURCE / "onebit" / part] if path.is_file()}
    found |= {path for part in folders for path in (SOURCE / "onebit" / part).rglob("*.py")}
    n_killed = n_mutants = 0
    for path in sorted(each for each in found if options.only in each.as_posix()):
        candidates = list(mutants_of(path))
        drawn = random.Random(f"{options.seed} {path.name}").sample(candidates, min(options.each, len(candidates)))
        for mutant in drawn:
            killed = is_killed(mutant)
            n_mutants, n_killed = n_mutants + 1, n_killed + killed
            print(f"{'killed' if killed else 'LIVES'}  {path.relative_to(SOURCE)} {mutant.what}", flush=True)
    print(f"{n_killed} of {n_mutants} mutants killed")


if __name__ == "__main__":
    main()
