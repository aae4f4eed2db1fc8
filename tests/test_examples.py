"""Every example runs, the notebook too, and so does the code of the README and of three pages of docs/."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pandas
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path: Path) -> None:
    done = subprocess.run([sys.executable, "-W", "error", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize(
    ("candidate", "options", "code", "line"),
    [
        ("good", [], 0, "pass: good is "),
        ("poor", [], 3, "worse: poor is worse than usual"),
        ("good", ["--budget", "3"], 4, "not yet: good beside usual"),
        ("missing", [], 2, "The gate could not be run."),
    ],
)
def test_the_gate_in_ci_runs_as_a_plain_script(
    tmp_path: Path, candidate: str, options: list[str], code: int, line: str
) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, 400)
    models = {
        name: np.where(rng.random(400) < share, truth, (truth + 1) % 5)
        for name, share in (("usual", 0.7), ("good", 0.9), ("poor", 0.4))
    }
    frame = pandas.DataFrame({"id": range(400), "label": truth, **models})
    frame.to_csv(tmp_path / "predictions.csv", index=False)
    script = ["sh", str(ROOT / "examples" / "gate_in_ci.sh"), "predictions.csv", "usual", candidate, "0.02"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*script, "--id", "id", "--truth", "label", *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")},
    )
    assert done.returncode == code, done.stderr
    assert line in done.stdout
    assert (tmp_path / "summary").read_text() == done.stdout
    # The workflow runs this script.
    assert "sh examples/gate_in_ci.sh" in (ROOT / "examples" / "gate_in_ci.yml").read_text()


def at_hand() -> dict[str, object]:
    """What a reader of the README has: a table of two models, and somebody who answers."""
    rng = np.random.default_rng(0)
    truth = rng.choice(["yes", "no", "perhaps"], 500)
    new, old = (np.where(rng.random(500) < share, truth, "no") for share in (0.9, 0.3))
    texts = [f"text {i}" for i in range(500)]

    def is_right(item: dict[str, str], output: str) -> bool:
        return bool(truth[texts.index(item["text"])] == output)

    df = pandas.DataFrame({"name": [f"item {i}" for i in range(500)], "text": texts, "new": new, "old": old})
    return {"df": df, "is_right": is_right, "texts": texts, "old": old.tolist(), "new": new.tolist()}


def test_the_notebook_runs_and_shows_pictures() -> None:
    notebook = nbformat.read(ROOT / "examples" / "data_frame.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "outputs are made anew, and not kept"
    NotebookClient(notebook, kernel_name="python3", timeout=600).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    shown = [output.data.get("text/html", "") for output in outputs if "data" in output]
    assert any("What ends the run" in page and "<svg" in page and "Leaderboard" in page for page in shown)
    assert any("ahead_at_most" in page for page in shown), "the data frame"


def test_code_of_the_pages_runs_and_says_the_truth() -> None:
    names_of_pages = ("README.md", "docs/python.md", "docs/rivals.md", "docs/sequel.md")
    pages = [(ROOT / name).read_text() for name in names_of_pages]
    blocks = [block for page in pages for block in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)]
    names: dict[str, object] = at_hand()
    for block in blocks:
        exec(block, names)
    for name, chosen in (("better", "new"), ("found", "model 2")):
        found = names[name]
        assert (found.chosen, found.status) == (chosen, "certified")  # type: ignore[attr-defined]
    result = names["result"]
    assert result.chosen == 49  # type: ignore[attr-defined]
    assert round(result.exploration.variance_bound, 1) == 1.9  # type: ignore[attr-defined]
    assert round(result.achieved_eps, 2) == 0.03  # type: ignore[attr-defined]
    assert names["rival"].chosen == 0  # type: ignore[attr-defined]
    certified = names["certified"]
    assert certified.chosen == 49  # type: ignore[attr-defined]
    assert certified.achieved_eps <= 0.05  # type: ignore[attr-defined]
    assert 100 < certified.n_answers < 1000  # type: ignore[attr-defined]
    trained, X, y = names["trained"], names["X"], names["y"]
    assert trained.score(X, y) > 0.98  # type: ignore[attr-defined]
    low, high = trained.accuracy_interval_  # type: ignore[attr-defined]
    assert 0.5 < low < high <= 1
