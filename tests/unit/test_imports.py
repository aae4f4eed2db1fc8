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
#: What each part may import, besides itself and the foundation.
ALLOWED = {
    "records": set(),
    "errors": set(),
    "randomness": set(),
    "kernels": set(),
    "hypotheses": {"kernels"},
    "explore": {"kernels", "hypotheses"},
    "estimate": {"kernels"},
    "learners": {"kernels", "hypotheses", "explore", "estimate"},
    "classifier": {"hypotheses", "learners", "raters"},
    "choosing": {"hypotheses", "learners", "raters"},
    "model_file": {"classifier"},
    "raters": set(),
    "tables": set(),
    "report": set(),
    "study": {
        "kernels",
        "hypotheses",
        "explore",
        "estimate",
        "learners",
        "classifier",
        "model_file",
        "raters",
        "tables",
    },
    "digits": {"hypotheses", "learners", "raters"},
    "research": {"kernels", "hypotheses", "explore", "estimate", "learners", "raters", "digits"},
    "web": {"tables", "raters", "study", "report", "learners.schedule", "estimate.certificate"},
    "cli": {
        "classifier",
        "model_file",
        "tables",
        "raters",
        "study",
        "web",
        "report",
        "digits",
        "research",
        "learners.schedule",
        "learners.rates",
        "estimate.certificate",
    },
}


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The modules of onebit that a file imports, as dotted names below ``onebit``."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {a.name.removeprefix("onebit.") for a in node.names if a.name.split(".")[0] == "onebit"}
        assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path} has a relative import"
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("onebit"):
            below = node.module.removeprefix("onebit").removeprefix(".")
            found |= {f"{below}.{alias.name}".removeprefix(".") for alias in node.names}
    return found


MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_one_way(path: Path) -> None:
    part = part_of(path)
    allowed = ALLOWED[part] | FOUNDATION | {part, "__version__"}
    for name in imported(path):
        assert any(name == place or name.startswith(f"{place}.") for place in allowed), f"{part} imports {name}"


def test_import_is_light() -> None:
    heavy = ["numba", "sklearn", "scipy", "rich", "typer"]
    code = f"import onebit, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_resolves() -> None:
    for name in onebit.__all__:
        assert getattr(onebit, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        getattr(onebit, "nonsense")  # noqa: B009
    assert dir(onebit) == onebit.__all__
