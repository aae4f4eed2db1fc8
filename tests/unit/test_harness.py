"""Cases of a benchmark are measured once and kept, here or by workers."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from benchmarks import harness
from benchmarks.harness import Case


@pytest.mark.parametrize("n_workers", [0, 2])
def test_cases_are_kept_and_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], n_workers: int
) -> None:
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    measured: list[int] = []

    def measure(case: Case) -> Case:
        measured.append(case["n"])
        return {"square": case["n"] ** 2}

    def rows(cases: list[Case]) -> list[Case]:
        with ThreadPoolExecutor(2) as executor:
            return harness.run_cases("squares", cases, measure, executor=executor if n_workers else None)

    assert rows([{"n": 3}, {"n": 1}]) == [{"n": 3, "square": 9}, {"n": 1, "square": 1}]
    assert rows([{"n": 1}, {"n": 2}, {"n": 3}]) == [{"n": n, "square": n**2} for n in (1, 2, 3)]
    assert sorted(measured) == [1, 2, 3]
    kept = [json.loads(line) for line in (tmp_path / "squares.jsonl").read_text().splitlines()]
    assert {each["case"]["n"]: each["figures"]["square"] for each in kept} == {1: 1, 2: 4, 3: 9}
    assert "squares" in capsys.readouterr().out
