"""Mutation testing: change one operator or number of the mathematics at a time, and see whether a test notices.

    make mutants                      # a sample of all files below
    python -m tests.mutants --each 5 --only corrective

First the tests run once, to see which of them come by which line. Then each mutant is put in place of its module in a
process of its own, and the tests that come by its line are run, the quickest first, until one fails. A mutant that no
test kills is printed with its line: either a test is missing, or the change makes no difference (a tolerance, a bound
on the number of steps, an order of equal things). The score is the share that was killed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.abc
import importlib.machinery
import json
import os
import random
import signal
import sys
import tempfile
import time
import types
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

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
#: Seconds of a mutant after which it counts as killed: it runs on and on.
TIMEOUT = 600
#: What every process has imported before it is split off; none of it imports the package.
HEAVY = ("numpy", "scipy.stats", "scipy.optimize", "scipy.linalg", "numba", "sklearn.base")


@dataclass(frozen=True)
class Mutant:
    """One change of one file: ``text`` is the whole file with it, ``what`` says where and how."""

    path: Path
    line: int
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
            yield Mutant(path, line, f"line {line}: {before}  ->  {ast.unparse(twin)}", ast.unparse(copy))


def _changes(node: ast.AST) -> Iterator[tuple[str, object]]:
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OTHER:
        yield "op", OTHER[type(node.op)]()
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER:
        yield "ops", OTHER[type(node.ops[0])]()
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        yield "value", node.value + 1


def part_of(path: Path) -> str:
    """The first entry of ``TESTS`` that the file belongs to."""
    name = path.relative_to(SOURCE / "onebit").as_posix()
    return next(part for part in TESTS if name.startswith(part))


@dataclass(frozen=True)
class Coverage:
    """Which tests come by which line of a file, and how long each takes; what is run on import is every test's."""

    at: dict[str, dict[str, list[int]]]
    seconds: dict[str, float]

    def tests_at(self, mutant: Mutant) -> list[str]:
        """The tests that come by the mutant's line, the quickest first; all of its file if it is run on import."""
        lines = self.at.get(str(mutant.path), {})
        found = [test for test, seen in lines.items() if mutant.line in seen] or list(self.seconds)
        return sorted(found, key=lambda test: self.seconds[test])


class Watcher:
    """A plugin of pytest that notes the lines of the files watched, test by test."""

    def __init__(self, watched: set[str]) -> None:
        self._watched = watched
        self.coverage = Coverage({}, {})

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        seen: dict[str, set[int]] = {}

        def on_line(frame: types.FrameType, event: str, _: object) -> Any:
            seen.setdefault(frame.f_code.co_filename, set()).add(frame.f_lineno)
            return on_line

        def on_call(frame: types.FrameType, event: str, _: object) -> Any:
            return on_line if frame.f_code.co_filename in self._watched else None

        start = time.perf_counter()
        sys.settrace(on_call)
        yield
        sys.settrace(None)
        self.coverage.seconds[item.nodeid] = time.perf_counter() - start
        for path, lines in seen.items():
            self.coverage.at.setdefault(path, {})[item.nodeid] = sorted(lines)


class OneModule(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the mutant in place of its module, and leaves all other modules alone."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant
        self._name = ".".join(mutant.path.relative_to(SOURCE).with_suffix("").parts)

    def find_spec(self, name: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        return importlib.machinery.ModuleSpec(name, self, origin=str(self._mutant.path))

    def exec_module(self, module: types.ModuleType) -> None:
        module.__file__ = str(self._mutant.path)
        exec(compile(self._mutant.text, str(self._mutant.path), "exec"), module.__dict__)


def run_tests(tests: list[str], plugins: list[object]) -> int:
    """What pytest says of these tests, stopping at the first that fails, with nothing printed."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        return int(pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests], plugins=plugins))


@contextlib.contextmanager
def _never_back() -> Iterator[None]:
    """A process that was split off ends here, whatever happens in it."""
    try:
        yield
    finally:
        os._exit(1)


def covered_by(tests: list[str], watched: set[str]) -> Coverage:
    """Run the tests once and see where they come by; in a process of its own, since it imports the package."""
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder) / "coverage.json"
        process = os.fork()
        if process == 0:
            with _never_back():
                watcher = Watcher(watched)
                if run_tests(tests, [watcher]) == 0:
                    note.write_text(json.dumps([watcher.coverage.at, watcher.coverage.seconds]))
        os.waitpid(process, 0)
        if not note.exists():
            raise SystemExit(f"the tests fail as they are: {' '.join(tests)}")
        return Coverage(*json.loads(note.read_text()))


def is_killed(mutant: Mutant, tests: list[str]) -> bool:
    """Whether one of the tests fails with the mutant in place of its module, or runs on and on."""
    process = os.fork()
    if process == 0:
        with _never_back():
            signal.alarm(TIMEOUT)
            sys.meta_path.insert(0, OneModule(mutant))
            os._exit(min(run_tests(tests, []), 1))
    return os.waitpid(process, 0)[1] != 0


def mutated_files(only: str) -> list[Path]:
    """The files of which mutants are made, of those whose path has ``only`` in it."""
    folders = {part for part in TESTS if not part.endswith(".py")}
    found = {path for part in folders for path in (SOURCE / "onebit" / part).rglob("*.py")}
    # Part by part, in the order above: the tests of the last take longest.
    parts = list(TESTS)
    chosen = (path for path in found if only in path.as_posix())
    return sorted(chosen, key=lambda path: (parts.index(part_of(path)), path))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=3, help="mutants of each file, drawn at random")
    parser.add_argument("--only", default="", help="files whose path has this in it")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(SOURCE))
    for name in HEAVY:
        __import__(name)
    n_killed = n_mutants = 0
    known: dict[tuple[str, ...], Coverage] = {}
    files = mutated_files(options.only)
    for path in files:
        candidates = list(mutants_of(path))
        drawn = random.Random(f"{options.seed} {path.name}").sample(candidates, min(options.each, len(candidates)))
        tests = tuple(TESTS[part_of(path)])
        if drawn and tests not in known:
            known[tests] = covered_by(list(tests), {str(each) for each in files})
        for mutant in drawn:
            killed = is_killed(mutant, known[tests].tests_at(mutant))
            n_mutants, n_killed = n_mutants + 1, n_killed + killed
            print(f"{'killed' if killed else 'LIVES'}  {path.relative_to(SOURCE)} {mutant.what}", flush=True)
    print(f"{n_killed} of {n_mutants} mutants killed")


if __name__ == "__main__":
    main()
