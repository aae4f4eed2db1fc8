"""The tables of the learning benchmark, and the rival that was made faster: it asks what it asked before."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.learning_tables import Checkpoints, report, standing
from benchmarks.rival_classifiers import Data, linucb

TABLES: dict[str, Checkpoints] = {"one-shot": {"letter": (10, 20)}, "follow-up": {"letter": (10, 20)}}
SHOWN_IN: dict[str, tuple[str, ...]] = {
    "ours": ("one-shot",),
    "LinUCB": ("one-shot",),
    "softmax, names": ("one-shot",),
    "full information": ("follow-up",),
}


def rows(method: str, *reached: tuple[float, float]) -> list[dict]:
    return [
        {"data": "letter", "method": method, "seed": seed, "10": first, "20": second, "seconds": 2.0}
        for seed, (first, second) in enumerate(reached)
    ]


MEASURED = [
    *rows("ours", (0.5, 0.9), (0.7, 0.9)),
    *rows("LinUCB", (0.4, 0.95), (0.4, 0.95)),
    *rows("softmax, names", (1, 1)),
]


def test_a_table_has_means_and_standard_errors_of_what_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    report(MEASURED, TABLES, SHOWN_IN)
    said = capsys.readouterr().out
    assert "| letter, one-shot | 10 | 20 | seeds | seconds |" in said
    assert "| ours | 0.600 ± 0.100 | 0.900 ± 0.000 | 2 | 2 |" in said
    assert "| softmax, names | 1.000 | 1.000 | 1 | 2 |" in said
    assert "follow-up" not in said


def test_ours_is_held_against_the_best_rival_that_is_told_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    standing(MEASURED, TABLES, SHOWN_IN)
    said = capsys.readouterr().out
    assert "| ours | +0.200 ± 0.100 (LinUCB) | -0.050 ± 0.000 (LinUCB) |" in said


def test_linucb_is_what_its_formula_says() -> None:
    """Widths by the inverse of the whole matrix, anew for every question; 150 questions are more than two blocks."""
    rng = np.random.default_rng(0)
    x, width = rng.standard_normal((100, 4)), 0.3
    y = np.argmax(x[:, :3], axis=1)
    on = Data(x, y, x, y, 3)
    rows = np.hstack([x, np.ones((100, 1))])
    A, b = np.tile(np.eye(5), (3, 1, 1)), np.zeros((3, 5))
    for t in range(150):
        row = rows[t % 100]
        inverse = np.linalg.inv(A)
        hopes = [(inverse[k] @ b[k]) @ row + width * np.sqrt(row @ inverse[k] @ row) for k in range(3)]
        asked = int(np.argmax(hopes))
        A[asked] += np.outer(row, row)
        b[asked] += row * (asked == y[t % 100])
    theta = np.stack([np.linalg.solve(A[k], b[k]) for k in range(3)])
    assert linucb(on, (150,), 0, {"width": width}) == [pytest.approx(np.mean((rows @ theta.T).argmax(axis=1) == y))]


def test_an_estimator_is_held_against_the_same_estimator(capsys: pytest.CaptureFixture[str]) -> None:
    named = ("ours, follow-up, trees", "plain loop, trees", "plain loop, logistic")
    measured = [row for name, reached in zip(named, (0.5, 0.6, 0.9), strict=True) for row in rows(name, (reached, 1.0))]
    standing(measured, TABLES, dict.fromkeys(named, ("follow-up",)))
    assert "| ours, follow-up, trees | -0.100 (plain loop, trees)" in capsys.readouterr().out
