"""Panels on free texts: answers needed, beside one-shot and the judging of everything; and a large table end to end.

The texts are five models' answers to Natural Questions with people's verdicts (EVOUNA, QA-Eval), found by ONEBIT_DATA.
The large table is made here. What is printed stands in docs/protocols.md.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from onebit.learners.contract import run
from onebit.raters import VerdictRater
from onebit.records import Setting
from onebit.study.kinds.selection.selectors import build_selection
from onebit.tables import ModelTable, read_table
from onebit.tables.open_answers import normal_form

ALL_EPS = (0.1, 0.05, 0.03, 0.02)
#: Runs of a panel, which differ much, and of one-shot, which take long.
N_SEEDS, N_SEEDS_ONE_SHOT = 40, 10

#: The large table: so many models and questions, and about as many different texts as questions times four and a half.
N_MODELS, N_QUESTIONS, OWN_WORDING = 20, 5000, 0.19


def answers_needed(
    table: ModelTable, protocol: str, eps: float, seed: int, judge: NDArray[np.float32] | None = None
) -> tuple[int, float]:
    """The answers of one run, and how far its choice is behind the best."""
    setting = Setting(eps, protocol=protocol, seed=seed)  # type: ignore[arg-type]
    selection = build_selection(setting, "certified", table.predictions, table.n_labels, judge)
    result = run(selection.learner, VerdictRater(table.predictions, table.verdicts))  # type: ignore[arg-type]
    accuracy = table.accuracy()
    return result.n_answers, float(accuracy.max() - accuracy[result.chosen])


def natural_questions(folder: Path) -> None:
    """Five models' answers to 3,610 questions, each judged by people."""
    table = read_table(
        folder / "evouna_nq.parquet",
        models="answer_*",
        verdicts="right_*",
        show=["question"],
        reference="reference",
        equal="normalised",
    )
    judges = judges_of(table)
    ways = [("panel", None), ("one-shot", None), *(("panel", name) for name in judges)]
    for eps in ALL_EPS:
        for protocol, name in ways:
            judge = None if name is None else judges[name]
            seeds = range(N_SEEDS if protocol == "panel" else N_SEEDS_ONE_SHOT)
            runs = [answers_needed(table, protocol, eps, seed, judge) for seed in seeds]
            needed = np.array([n for n, _ in runs])
            error, wrong = needed.std(ddof=1) / np.sqrt(needed.size), sum(behind > eps for _, behind in runs)
            way = protocol if name is None else f"{protocol}, {name}"
            print(f"| {eps:g} | {way} | {needed.mean():,.0f} | {error:,.0f} | {wrong} of {needed.size} |", flush=True)


def judges_of(table: ModelTable) -> dict[str, NDArray[np.float32]]:
    """A judge that looks whether a reference occurs in the answer; and three that only mislead."""
    matches = np.zeros(table.predictions.shape, dtype=np.float32)
    for item in range(table.n_items):
        references = [normal_form(each) for each in table.shown(item)["reference"].split("/")]
        for h, code in enumerate(table.predictions[:, item].tolist()):
            text = normal_form(table.labels[code]) if code >= 0 else ""
            matches[h, item] = any(each and each in text for each in references)
    favours = np.full_like(matches, 0.5)
    favours[0] = 1.0
    return {
        "judge: the reference occurs": matches,
        "judge: at random": np.random.default_rng(0).random(matches.shape, dtype=np.float32),
        "judge: the opposite": 1 - matches,
        "judge: one model is always right": favours,
    }


def write_large(path: Path) -> int:
    """A table of texts over several lines, some shared, with verdicts; how many of them differ."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    rng = np.random.default_rng(0)
    columns: dict[str, list[object]] = {
        "question": [f"What is the answer to question {i}?" for i in range(N_QUESTIONS)]
    }
    texts: set[str] = set()
    common = rng.random(N_QUESTIONS) < 0.6
    for h in range(N_MODELS):
        own = rng.random(N_QUESTIONS) < OWN_WORDING
        right = np.where(own, rng.random(N_QUESTIONS) < 0.7 - 0.01 * h, common)
        said = [
            f"## Answer\n\nModel-specific wording {h}, question {i}.\n\n```python\nprint({i})\n```\n"
            + "More words. " * 20
            if own[i]
            else f"## Answer\n\nThe common answer to {i}.\n\n- first\n- second\n" + "More words. " * 20
            for i in range(N_QUESTIONS)
        ]
        texts.update(said)
        columns[f"answer_{h}"] = list(said)
        columns[f"right_{h}"] = right.tolist()
    parquet.write_table(pa.table(columns), path)
    return len(texts)


def large(folder: Path) -> None:
    """``onebit select --verdicts`` on the large table, as a user runs it."""
    path = folder / "large.parquet"
    n_texts = write_large(path)
    onebit = str(Path(sys.executable).with_name("onebit"))
    command = [onebit, "select", str(path), "--models", "answer_*", "--verdicts", "right_*"]
    begun = time.perf_counter()
    done = subprocess.run(
        [*command, "--show", "question", "--eps", "0.02", "--seed", "1", "--out", str(folder / "run"), "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - begun
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    told = json.loads(done.stdout)
    print(
        f"{N_MODELS} models, {N_QUESTIONS:,} questions, {n_texts:,} different texts: {told['answers']:,} answers in "
        f"{seconds:.1f} s, {memory:.0f} MB",
        flush=True,
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        large(Path(folder))
    data = os.environ.get("ONEBIT_DATA")
    if data is None or not (Path(data) / "evouna_nq.parquet").is_file():
        print("evouna_nq.parquet is not in ONEBIT_DATA; Natural Questions are skipped")
    else:
        print("| eps | protocol | answers | standard error | wrong |\n|---|---|---|---|---|")
        natural_questions(Path(data))


if __name__ == "__main__":
    main()
