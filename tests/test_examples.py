"""Every example runs, and so does the code of the README and of docs/python.md."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path: Path) -> None:
    done = subprocess.run([sys.executable, "-W", "error", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_code_of_the_pages_runs_and_says_the_truth() -> None:
    pages = [(ROOT / name).read_text() for name in ("README.md", "docs/python.md")]
    blocks = [block for page in pages for block in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)]
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    result = names["result"]
    assert result.chosen == 49  # type: ignore[attr-defined]
    assert round(result.exploration.variance_bound, 1) == 1.9  # type: ignore[attr-defined]
    assert round(result.achieved_eps, 2) == 0.03  # type: ignore[attr-defined]
    certified = names["certified"]
    assert certified.chosen == 49  # type: ignore[attr-defined]
    assert certified.achieved_eps <= 0.05  # type: ignore[attr-defined]
    assert 100 < certified.n_answers < 1000  # type: ignore[attr-defined]
    trained, X, y = names["trained"], names["X"], names["y"]
    assert trained.score(X, y) > 0.98  # type: ignore[attr-defined]
    low, high = trained.accuracy_interval_  # type: ignore[attr-defined]
    assert 0.5 < low < high <= 1
