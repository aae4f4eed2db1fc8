"""Pieces are measured once and kept; the files and the report come from them."""

from __future__ import annotations

import json
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from onebit.cli.reproduce import reproduce as command
from onebit.errors import InvalidInputError
from onebit.research.experiments import frank_wolfe
from onebit.research.experiments import reproduce as module
from onebit.research.experiments.catalogue import EXPERIMENTS
from onebit.research.experiments.piece import Row, key_of, markdown, shown


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = [{"solver": name, "K": 3, "N": 30, "steps": 40, "seed": 0} for name in frank_wolfe.SOLVERS]
    experiment = replace(frank_wolfe.EXPERIMENT, pieces=lambda full: pieces)
    monkeypatch.setitem(EXPERIMENTS, "frank-wolfe", experiment)


@pytest.mark.usefixtures("small")
def test_writes_everything_and_resumes(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def run() -> list[Path]:
        seen.clear()
        return module.reproduce(
            ["frank-wolfe"], tmp_path, full=False, progress=lambda _, done, n: seen.append((done, n))
        )

    written = run()
    assert seen == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    assert all(path.stat().st_size > 0 for path in written)
    assert {path.suffix for path in written} == {".svg", ".png", ".md", ".json"}
    page = (tmp_path / "results.md").read_text()
    assert "results/frank-wolfe.svg" in page
    assert "Not run yet" in page
    first = {path: path.read_bytes() for path in written}

    pieces = sorted((tmp_path / "results" / "pieces" / "frank-wolfe").iterdir())
    assert len(pieces) == 4
    kept = json.loads(pieces[0].read_text())
    assert kept["counted"] == kept["planned"]
    pieces[0].unlink()
    run()
    assert seen == [(3, 4), (4, 4)]
    # Seeds are fixed: what was measured again is the same, but for the time it took.
    assert json.loads(pieces[0].read_text()) | {"cpu_seconds": 0} == kept | {"cpu_seconds": 0}
    for path in written:
        if path.suffix in (".svg", ".png"):
            assert path.read_bytes() == first[path]


@pytest.mark.usefixtures("small")
def test_workers_measure_the_same(tmp_path: Path) -> None:
    experiment = EXPERIMENTS["frank-wolfe"]

    def rows(folder: str, executor: Executor | None) -> list[Row]:
        measured = module.measured(experiment, tmp_path / folder, False, lambda *_: None, executor)
        return [row | {"cpu_seconds": 0} for row in measured]

    with ThreadPoolExecutor(2) as executor:
        assert rows("there", executor) == rows("here", None)


def test_an_unknown_experiment_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="there is no experiment 'prices'; they are curves, price"):
        command("prices")


def test_keys_tell_settings_apart() -> None:
    assert key_of({"a": 1}) == key_of({"a": 1})
    assert key_of({"a": 1}) != key_of({"a": 2})
    assert "/" not in key_of({"a": "x/y"})


def test_tables() -> None:
    assert shown(None) == ""
    assert shown(12345.6) == "12,346"
    assert shown(0.12345) == "0.123"
    assert markdown([{"a": 1}, {"b": 2.5}]).splitlines() == ["| a | b |", "|---|---|", "| 1 |  |", "|  | 2.5 |"]
