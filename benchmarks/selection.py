"""How many answers it takes to name the best model within eps = .01 with probability .95, on real prediction tables.

Every row of the design's table, beside the numbers of its prototype: yes/no answers, or labels, until certified. All
rows bet and stop by the same rule; they differ in what they ask and, the first two, in how they estimate (the paper's
phase 1 is solved by the corrective solver here). The certified learner runs with seeds 0 to 9 (mean, and standard error
of the mean); the two that ask about all K labels run with seed 0, up to three
million answers. A stream is simulated by independent draws from the table, and "best" on it means best on the table.
Counts of answers depend on the seed alone; seconds are those of one seed on one core, and noisy.

Two more cases: what an epoch takes to plan and to close, in seconds of the processor; and a million rounds of a stream
at an eps so small that the run cannot end, seconds and memory.
"""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.harness import Case, data_file, prediction_table, run_cases
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.certified.standing import Standing
from onebit.learners.certified.statement import CertifiedResult
from onebit.learners.contract import run
from onebit.learners.items import ItemSource, Pool, Stream
from onebit.randomness import generator
from onebit.raters import SimulatedRater
from onebit.records import AskingProtocol, RunStatus
from onebit.study.constants import MOST_COMPARED
from onebit.study.kinds.selection.all_labels import AllLabels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EPS, DELTA = 0.01, 0.05
N_SEEDS = 10
#: Draws that a simulated stream holds; a run that needs more fails, and says so.
STREAM_LENGTH = 1_000_000
NEVER_SHOWN = 1e-4
FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "answers.svg"

TABLES = ("letter_models.npz", "clinc150_models.npz", "imagenetv2.npz", "mmlu_pro.npz")
#: From the design's prototype, for the tables in this order; None where it was capped (3,153,770) or had no such row.
PROTOTYPE: dict[str, tuple[int | None, ...]] = {
    "uniform over K": (138_706, 2_018_413, None, 4_882),
    "paper's two phases": (71_018, 216_727, None, 3_906),
    "labels, passive, stream": (6_586, 7_306, 15_317, 1_072),
    "one-shot, stream": (3_959, 6_810, 14_168, 1_717),
    "one-shot, pool": (None, None, None, None),
    "labels, passive, pool": (4_023, 4_601, 5_807, 720),
    "labels where survivors differ, pool": (800, 1_107, 2_215, 480),
    "follow-up, pool": (1_039, 1_589, 4_485, 829),
}
MILLION = "one-shot, stream, a million rounds"
PLANNING = "one-shot, pool, planning an epoch"


@dataclass(frozen=True, eq=False)
class Problem:
    """A table: what the models say (N, n), whether that is right, and the truth (n,)."""

    hypotheses: PredictionTable
    said: np.ndarray
    right: np.ndarray
    truth: np.ndarray

    @property
    def accuracy(self) -> np.ndarray:
        return self.right.mean(axis=1)


@dataclass(frozen=True)
class Outcome:
    """One run: the answers it took, the true excess error of what it named, and whether it was capped."""

    n_answers: int
    excess: float
    capped: bool = False


@lru_cache(maxsize=1)
def problem(name: str) -> Problem:
    """The table ``name``, with models that are equal on it: on a stream they are not taken for one."""
    table = prediction_table(name)
    if table is None:
        raise FileNotFoundError(name)
    predictions, truth, n_labels = table
    said = predictions.astype(np.int64)
    return Problem(PredictionTable(said, n_labels), said, said == truth, truth.astype(np.int64))


def certified(kind: str, protocol: AskingProtocol, passive: bool, on: Problem, seed: int) -> Outcome:
    """A run of the certified learner on a pool or a stream."""
    n_items = on.truth.size
    items: ItemSource = Pool(np.arange(n_items))
    truth = on.truth
    if kind == "stream":
        drawn = generator(seed, "stream").integers(0, n_items, STREAM_LENGTH)
        items, truth = Stream(drawn.tolist()), truth[drawn]
    learner = CertifiedLearner(
        on.hypotheses, items, eps=EPS, delta=DELTA, protocol=protocol, passive=passive, seed=seed
    )
    result: CertifiedResult = run(learner, SimulatedRater(truth))
    if result.status is not RunStatus.COMPLETE:
        raise RuntimeError(f"{protocol} on a {kind}, seed {seed}, was not certified: {result.status.value}")
    return Outcome(result.n_answers, on.accuracy.max() - on.accuracy[result.chosen])


def all_labels(mixes: bool, on: Problem, seed: int) -> Outcome:
    """A run that asks about all K labels in every round."""
    learner = AllLabels(on.said, on.truth, on.hypotheses.n_labels, eps=EPS, delta=DELTA, seed=seed)
    cost = learner.run(mixes)
    return Outcome(cost.n_answers, on.accuracy.max() - on.accuracy[cost.chosen], cost.given_up)


METHODS: dict[str, Callable[[Problem, int], Outcome]] = {
    "uniform over K": partial(all_labels, False),
    "paper's two phases": partial(all_labels, True),
    "labels, passive, stream": partial(certified, "stream", "labels", True),
    "one-shot, stream": partial(certified, "stream", "one-shot", False),
    "one-shot, pool": partial(certified, "pool", "one-shot", False),
    "labels, passive, pool": partial(certified, "pool", "labels", True),
    "labels where survivors differ, pool": partial(certified, "pool", "labels", False),
    "follow-up, pool": partial(certified, "pool", "follow-up", False),
}


def cases() -> Iterator[Case]:
    present = [name for name in TABLES if data_file(name) is not None]
    for name in present:
        for method in METHODS:
            n_seeds = 1 if method in ("uniform over K", "paper's two phases") else N_SEEDS
            yield {"table": name, "method": method, "seeds": n_seeds}
    if "letter_models.npz" in present:
        yield {"table": "letter_models.npz", "method": PLANNING, "seeds": 1}
    if "imagenetv2.npz" in present:
        yield {"table": "imagenetv2.npz", "method": MILLION, "seeds": 1}


def measure(case: Case) -> Case:
    if case["method"] == MILLION:
        return in_own_process(case["table"])
    on = problem(case["table"])
    if case["method"] == PLANNING:
        return planning(on)
    start = time.perf_counter()
    with threadpool_limits(1):
        outcomes = [METHODS[case["method"]](on, seed) for seed in range(case["seeds"])]
    seconds = (time.perf_counter() - start) / case["seeds"]
    answers = np.array([each.n_answers for each in outcomes])
    capped = any(each.capped for each in outcomes)
    known = PROTOTYPE[case["method"]][TABLES.index(case["table"])]
    return {
        "answers": f"> {MOST_COMPARED:,}" if capped else round(float(answers.mean())),
        "standard error": round(float(answers.std(ddof=1)) / math.sqrt(answers.size)) if answers.size > 1 else None,
        "prototype": known,
        "ratio": None if known is None or capped else float(answers.mean()) / known,
        "largest excess": float(max(each.excess for each in outcomes)),
        "seconds": seconds,
    }


class Timed(CertifiedLearner):
    """Notes the seconds of the processor that each epoch takes to begin and to close."""

    seconds: list[float]

    def _begin(self, standing: Standing) -> None:
        start = time.process_time()
        super()._begin(standing)
        self.seconds.append(time.process_time() - start)

    def _close(self, standing: Standing, if_not_over: RunStatus = RunStatus.RUNNING) -> None:
        start = time.process_time()
        super()._close(standing, if_not_over)
        self.seconds[-1] += time.process_time() - start


def planning(on: Problem) -> Case:
    """Of the second run, since the first compiles."""
    with threadpool_limits(1):
        for _ in range(2):
            learner = Timed(on.hypotheses, Pool(np.arange(on.truth.size)), eps=EPS, delta=DELTA, seed=0)
            learner.seconds = []
            result = run(learner, SimulatedRater(on.truth))
    figures = {"seconds": float(np.mean(learner.seconds)), "seconds at most": max(learner.seconds)}
    return {"answers": result.n_answers, "epochs": len(learner.seconds), **figures}


def in_own_process(name: str) -> Case:
    """The million rounds in a process of their own, for the memory that they alone take."""
    command = [sys.executable, "-m", "benchmarks.selection", name]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: Case = json.loads(done.stdout.splitlines()[-1])
    return figures


def million_rounds(name: str) -> Case:
    on = problem(name)
    drawn = generator(0, "stream").integers(0, on.truth.size, 1_000_000)
    rater = SimulatedRater(on.truth[drawn])
    learner = CertifiedLearner(on.hypotheses, Stream(drawn.tolist()), eps=NEVER_SHOWN, delta=DELTA, seed=0)
    before, start = peak_megabytes(), time.perf_counter()
    with threadpool_limits(1):
        result = run(learner, rater)
    seconds = time.perf_counter() - start
    return {
        "answers": result.n_answers,
        "largest excess": float(on.accuracy.max() - on.accuracy[result.chosen]),
        "seconds": seconds,
        "rounds": result.n_rounds,
        "MB before": before,
        "MB at most": peak_megabytes(),
    }


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report(rows: list[Case]) -> None:
    """One line for each method and table, in the order of the design's table: ours, the prototype's, their ratio."""
    print(f"{'':36} {'':16} {'answers':>12} {'+-':>5} {'prototype':>10} {'ratio':>6} {'excess':>7} {'seconds':>8}")
    for method in METHODS:
        for row in (row for row in rows if row["method"] == method):
            table = row["table"].removesuffix(".npz")
            answers = row["answers"] if isinstance(row["answers"], str) else f"{row['answers']:,}"
            error = "" if row["standard error"] is None else f"{row['standard error']:,}"
            prototype = "" if row["prototype"] is None else f"{row['prototype']:,}"
            ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
            print(
                f"{method:36} {table:16} {answers:>12} {error:>5} {prototype:>10} {ratio:>6} "
                f"{row['largest excess']:7.4f} {row['seconds']:8.2f}"
            )


#: What the picture shows, like beside like: on a stream every example is drawn anew, a pool is settled item by item.
#: What each is called there, and its colour.
SHOWN = {
    "independent draws": {
        "uniform over K": ("yes/no: uniform guesses over all K labels", "#c9ccd3"),
        "paper's two phases": ("yes/no: the paper's two phases", "#8f96a3"),
        "labels, passive, stream": ("labels: of every example", "#e3b778"),
        "one-shot, stream": ("yes/no: onebit, one question per example", "#3b7dd8"),
    },
    "a fixed pool": {
        "labels, passive, pool": ("labels: of every example", "#e3b778"),
        "labels where survivors differ, pool": ("labels: where models that may be best differ", "#b07d2b"),
        "one-shot, pool": ("yes/no: onebit, one question per example", "#3b7dd8"),
        "follow-up, pool": ("yes/no: onebit, follow-up questions", "#174a96"),
    },
}


def draw(rows: list[Case]) -> None:
    """The picture of the README: what each way of asking costs, on a logarithmic axis."""
    from matplotlib import pyplot as plt
    from matplotlib.patches import Rectangle

    found = {(row["table"], row["method"]): row for row in rows}
    plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": 9, "svg.hashsalt": "onebit"})
    figure, axes = plt.subplots(len(SHOWN), len(TABLES), figsize=(10, 5.6), sharey="row")
    for line, (source, methods) in zip(axes, SHOWN.items(), strict=True):
        for axis, table in zip(line, TABLES, strict=True):
            for place, (method, (_, colour)) in enumerate(methods.items()):
                _bar(axis, place, found[table, method], colour)
            axis.set_yscale("log")
            axis.set_ylim(100, 10 * max(_count(found[at]) for at in found if at[1] in methods))
            axis.set_xticks([])
            axis.spines[["top", "right"]].set_visible(False)
        line[0].set_ylabel(f"answers until certified,\n{source}")
    for axis, table in zip(axes[0], TABLES, strict=True):
        n_models, n_labels = problem(table).said.shape[0], problem(table).hypotheses.n_labels
        axis.set_title(f"{table.split('.')[0].split('_models')[0]}\n{n_models} models, K = {n_labels}", fontsize=9)
    named = dict(each for methods in SHOWN.values() for each in methods.values())
    handles = [Rectangle((0, 0), 1, 1, color=colour) for colour in named.values()]
    figure.legend(handles, list(named), loc="lower center", ncol=2, frameon=False)
    figure.tight_layout(rect=(0, 0.12, 1, 1))
    FIGURE.parent.mkdir(exist_ok=True)
    figure.savefig(FIGURE, metadata={"Date": None})
    print(f"drawn: {FIGURE}")


def _bar(axis: Axes, place: int, row: Case, colour: str) -> None:
    """One bar with its number; two standard errors of the mean to either side, where there is more than one run."""
    count = _count(row)
    error = 2 * (row["standard error"] or 0)
    axis.bar(place, count, color=colour, width=0.8, yerr=error or None, error_kw={"linewidth": 0.9, "capsize": 2})
    text = "over 3M" if count == MOST_COMPARED else f"{count:,}"
    axis.text(place, 1.2 * (count + error), text, ha="center", fontsize=7)


def _count(row: Case) -> int:
    """The answers; of a run that gave up, as many as it was granted."""
    return MOST_COMPARED if isinstance(row["answers"], str) else int(row["answers"])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(million_rounds(sys.argv[1])))
    else:
        found = run_cases("selection", cases(), measure)
        report(found)
        if len({row["table"] for row in found}) == len(TABLES):
            draw(found)
