"""Mutants of a file, and whether one of some tests notices: what ``mutants.py`` makes its score from."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.abc
import importlib.machinery
import json
import os
import resource
import sys
import tempfile
import time
import types
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).parents[1] / "src"
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
#: Seconds of processor time after which a mutant counts as killed: it runs on and on.
TIMEOUT = 300
#: Plugins that take a second to load, and that no test here needs, are left out.
QUIET = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:schemathesis", "-p", "no:anyio")
#: What every process has imported before it is split off; none of it imports the package.
HEAVY = ("numpy", "scipy.stats", "scipy.optimize", "scipy.linalg", "numba", "sklearn.base")


@dataclass(frozen=True)
class Mutant:
    """One change of one file: ``text`` is the whole file with it, ``what`` says how."""

    path: Path
    line: int
    what: str
    text: str

    @property
    def name(self) -> str:
        """The file, the change and the text of its line; its number may move."""
        line = self.path.read_text().splitlines()[self.line - 1].strip() if self.line else ""
        return f"{self.path.relative_to(SOURCE / 'onebit').as_posix()}: {self.what}, in: {line}"

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


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
            yield Mutant(path, line, f"{before} -> {ast.unparse(twin)}", ast.unparse(copy))


def _changes(node: ast.AST) -> Iterator[tuple[str, object]]:
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OTHER:
        yield "op", OTHER[type(node.op)]()
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER:
        yield "ops", OTHER[type(node.ops[0])]()
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        yield "value", node.value + 1


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
        return int(pytest.main([*QUIET, *tests], plugins=plugins))


@contextlib.contextmanager
def _never_back() -> Iterator[None]:
    """A process that was split off ends here, whatever happens in it."""
    try:
        yield
    finally:
        os._exit(1)


def has_kernels(path: Path) -> bool:
    """Whether numba compiles something of this file."""
    return "njit" in path.read_text()


def _compile_nothing() -> None:
    """Kernels run as Python: compiled ones are kept by file and bytecode, and a changed number is not in these.

    So a mutant would run the code of another; and nobody sees which lines of a compiled kernel a test comes by.
    """
    import numba

    # numba reads its settings at run time.
    vars(numba.config)["DISABLE_JIT"] = True


def covered_by(tests: list[str], watched: set[str], compile_nothing: bool) -> Coverage:
    """Run the tests once and see where they come by; in a process of its own, since it imports the package."""
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder) / "coverage.json"
        process = os.fork()
        if process == 0:
            with _never_back():
                if compile_nothing:
                    _compile_nothing()
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
            resource.setrlimit(resource.RLIMIT_CPU, (TIMEOUT, TIMEOUT))
            if has_kernels(mutant.path):
                _compile_nothing()
            sys.meta_path.insert(0, OneModule(mutant))
            os._exit(min(run_tests(tests, []), 1))
    return os.waitpid(process, 0)[1] != 0


def check_the_unchanged(mutant: Mutant, coverage: Coverage) -> None:
    """The file as it is must live, put in place as mutants are, or all of them would seem killed."""
    unchanged = replace(mutant, text=ast.unparse(ast.parse(mutant.path.read_text())))
    if is_killed(unchanged, coverage.tests_at(mutant)[:3]):
        raise SystemExit(f"the tests fail with {mutant.path.name} unchanged: no mutant of it can be judged")
