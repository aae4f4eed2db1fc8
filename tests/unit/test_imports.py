"""Imports go one way, and ``import onebit`` is quick because it imports nothing heavy."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import onebit

SOURCE = Path(onebit.__file__).parent
FOUNDATION = {"records", "errors", "randomness"}
#: What each part may import, besides itself and the foundation. Each stands after all that it imports.
ALLOWED: dict[str, set[str]] = {
    "compiling": set(),
    "errors": set(),
    "randomness": set(),
    "records": set(),
    # What a certificate promises, in words: learners state it, and what stands below tells it.
    "promise": set(),
    "kernels": set(),
    "hypotheses": {"kernels"},
    "explore": {"kernels", "hypotheses"},
    "estimate": {"kernels"},
    # The second implementation of a certificate shares nothing with the first.
    "verify": set(),
    "learners": {"promise", "kernels", "hypotheses", "explore", "estimate"},
    "raters": set(),
    "tables": set(),
    "passes": {"kernels", "hypotheses", "learners.certified.constants", "tables"},
    "asking": {"learners", "raters"},
    "classifier": {"asking", "hypotheses", "learners", "raters"},
    "choosing": {"hypotheses", "learners", "raters"},
    "model_file": {"classifier"},
    "digits": {"hypotheses", "learners", "raters"},
    "log": {"learners.contract"},
    "report": {"promise", "learners.contract", "learners.certified.statement"},
    "store": {"log"},
    "study": {
        "hypotheses",
        "explore",
        "estimate",
        "verify",
        "learners",
        "raters",
        "tables",
        "passes.engine",
        "classifier",
        "model_file",
        "log",
        "store",
        "promise",
        "report",
    },
    "selected": {"report", "study"},
    "selecting": {"raters", "tables", "report", "study", "selected"},
    "watched": {"store", "study", "selecting"},
    "web": {"tables", "raters", "log", "store", "study", "report", "learners.paper.schedule", "verify"},
    "cli": {
        "promise",
        "tables",
        "passes.engine",
        "passes.survey",
        "passes.workers",
        "raters",
        "classifier",
        "model_file",
        "digits",
        "log",
        "store",
        "study",
        "report",
        "web",
        "verify",
        "learners.paper.schedule",
        "learners.paper.rates",
        "learners.paper.sequel_sizes",
        "research",
    },
}
#: The contract suites may import all that users may implement; nothing imports them.
ALLOWED["testing"] = {"hypotheses", "learners.contract", "learners.items", "raters", "log", "store"}
#: The families of learners do not see each other, only what stands beside them.
FAMILIES = ("paper", "certified", "training")
#: Research stands last and may import all that stands above it; the command line sees it, so it does not see that.
ALLOWED["research"] = set(ALLOWED) - {"cli", "testing"}
#: What the extra ``research`` installs, and joblib, which scikit-learn brings along: that is no promise to the base.
EXTRA = {"matplotlib", "joblib"}


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def modules_named(path: Path) -> set[str]:
    """Everything that a file imports, at its top or in a function, as dotted names."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path} has a relative import"
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def imported(path: Path) -> set[str]:
    """The modules of onebit that a file imports, as dotted names below ``onebit``."""
    return {name.removeprefix("onebit.") for name in modules_named(path) if name.split(".")[0] == "onebit"}


MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_one_way(path: Path) -> None:
    part = part_of(path)
    allowed = ALLOWED[part] | FOUNDATION | {part, "__version__"}
    for name in imported(path):
        assert any(name == place or name.startswith(f"{place}.") for place in allowed), f"{part} imports {name}"


def test_each_part_stands_after_what_it_imports() -> None:
    order = list(ALLOWED)
    for part, allowed in ALLOWED.items():
        for name in allowed if part != "research" else ():
            assert name == "research" or order.index(name.split(".")[0]) < order.index(part), f"{part} before {name}"


@pytest.mark.parametrize("family", FAMILIES)
def test_families_of_learners_do_not_see_each_other(family: str) -> None:
    others = tuple(f"learners.{other}" for other in FAMILIES if other != family)
    for path in sorted((SOURCE / "learners" / family).rglob("*.py")):
        assert not [name for name in imported(path) if name.startswith(others)], path
    for path in sorted((SOURCE / "learners").glob("*.py")):
        seen = tuple(f"learners.{each}" for each in FAMILIES)
        assert not [name for name in imported(path) if name.startswith(seen)], path


def test_the_checker_sees_records_and_randomness_alone() -> None:
    """Whatever is claimed is recomputed by code that shares nothing with the learner."""
    for path in sorted((SOURCE / "verify").rglob("*.py")):
        seen = {name.split(".")[0] for name in imported(path)}
        assert seen <= FOUNDATION | {"verify"}, path


def test_learners_read_no_clock_and_no_file() -> None:
    for path in sorted((SOURCE / "learners").rglob("*.py")):
        packages = {name.split(".")[0] for name in modules_named(path)}
        assert not packages & {"time", "datetime", "os", "pathlib", "io", "socket", "sqlite3"}, path


def test_only_the_command_that_reproduces_sees_research() -> None:
    outside = [path for path in MODULES if part_of(path) != "research"]
    sees = {
        path.relative_to(SOURCE)
        for path in outside
        if any(f"{each}.".startswith("research.") for each in imported(path))
    }
    assert sees == {Path("cli/reproduce.py")}
    assert not [home for home in onebit._HOME.values() if home.startswith("onebit.research")]


def test_nothing_sees_the_suites_and_only_they_see_pytest() -> None:
    outside = [path for path in MODULES if part_of(path) != "testing"]
    for path in outside:
        packages = {name.split(".")[0] for name in modules_named(path)}
        assert "pytest" not in packages, path
        assert not [name for name in imported(path) if f"{name}.".startswith("testing.")], path
    assert not [home for home in onebit._HOME.values() if home.startswith("onebit.testing")]


def test_without_pytest_the_suites_say_so_in_one_sentence() -> None:
    code = "import sys; sys.modules['pytest'] = None; import onebit.testing"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith("the suites of onebit.testing run under pytest, which is not installed; pip install pytest")
    assert "During handling" not in done.stderr


def test_only_research_imports_what_its_extra_installs() -> None:
    for path in MODULES:
        packages = {name.split(".")[0] for name in modules_named(path)}
        assert part_of(path) == "research" or not packages & EXTRA, f"{path} imports {packages & EXTRA}"


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("onebit", ["numba", "sklearn", "scipy", "rich", "typer", *sorted(EXTRA), "onebit.research"]),
        ("onebit.cli.main", ["sklearn", "jinja2", *sorted(EXTRA), "onebit.research"]),
        # Raters wait while a server starts again: what serves a selection.
        (
            "onebit.web.app, onebit.study.kinds.selection.kind",
            ["sklearn", "scipy.stats", "scipy.optimize", "pandas", *sorted(EXTRA), "onebit.research"],
        ),
    ],
)
def test_import_is_light(module: str, heavy: list[str]) -> None:
    code = f"import {module}, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_resolves() -> None:
    for name in onebit.__all__:
        assert getattr(onebit, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        getattr(onebit, "nonsense")  # noqa: B009
    assert dir(onebit) == onebit.__all__


#: Names of what differs between kinds of studies; who asks for them belongs to a kind.
OF_A_KIND = {
    "SelectionSpec",
    "TrainingSpec",
    "Setting",
    "TrainingSetting",
    "Selection",
    "Training",
    "SelectionStatus",
    "TrainingStatus",
    "CertifiedResult",
    "TrainingResult",
    "ModelTable",
    "Data",
}
#: Where that is asked all the same: the two functions that take arrays or tables, the log's own two settings, and what
#: only a selection has.
MAY_ASK = {"study/opening.py", "log/events.py", "report/making.py"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nobody_else_asks_of_which_kind_a_study_is(path: Path) -> None:
    place = path.relative_to(SOURCE).as_posix()
    if place.startswith(("study/kinds/", "learners/", "research/")) or place in MAY_ASK:
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            asked = {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
            assert not asked & OF_A_KIND, f"{place}, line {node.lineno}, asks for {', '.join(asked & OF_A_KIND)}"
