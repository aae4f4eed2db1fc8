"""What a budget buys: the chance of naming the best model after 50, 100, 200 and 500 answers, and the mean regret.

On the four real tables and on four that are made (``budget_tables.py``): bad consensus, two labels, many poor models,
one model far ahead. ``best`` is the model that is right most often on the pool, ``regret`` by how much the named one is
right less often. Pools are 1,000 items that the seed draws, or whole tables, on which seeds differ in the questions.

Methods: a budget that is spent (one-shot on a pool, ``--budget`` without ``--eps``); the certified learner to eps .01
with a budget (one-shot, follow-up, and labels, which asks for labels); random labels; Model Selector, ModelPicker and
CODA, rebuilt from their publications in ``research/rivals``, which ask for labels. The unit is one answer: a yes or no,
or a label; at 2 s per answer and 5 s per label, 100 answers take as long as 40 labels. CODA wants soft scores and has
hard predictions here; it takes up to a second per label, so it has fewer seeds, budgets up to 100 and pools alone. On a
whole table seeds of Model Selector differ in ties alone, and it takes long there: it has fewer seeds, too.

``python -m benchmarks.budgets [SEEDS [METHOD, TABLE, pools or whole ...]]``; every part of a few seeds is kept, and a
second call goes on, also with more seeds. Whole tables come after all pools.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial

import numpy as np
from benchmarks.budget_tables import MADE, REAL, Table, table
from benchmarks.harness import Case, print_rows, run_cases
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.raters import SimulatedRater
from onebit.records import AskingProtocol
from onebit.records.selection_spec import eps_of_budget
from onebit.research.rivals.coda import Coda
from onebit.research.rivals.labelled import LabelledRival, RandomLabels
from onebit.research.rivals.model_picker import ModelPicker
from onebit.research.rivals.model_selector import ModelSelector

BUDGETS = (50, 100, 200, 500)
SEEDS = 40
POOL = 1000
SIZES = {"pools": POOL, "whole": None}
#: Labels that take as long as so many answers: 2 s per yes or no, 5 s per label.
IN_THE_TIME = {50: 20, 100: 40, 200: 80, 500: 200}
LABELS = tuple(sorted({*BUDGETS, *IN_THE_TIME.values()}))
#: Seeds of a part, which is kept at once.
PART = 5
CODA_SEEDS, CODA_LABELS = 5, (20, 40, 50, 80, 100)
SELECTOR_SEEDS_ON_ALL = 5
Named = list[tuple[int, float | None]]


def by_labels(rival: type[LabelledRival], on: Table, seed: int, budgets: tuple[int, ...]) -> Named:
    """The model named after so many labels; nothing is certified."""
    asking = rival(on.said, on.n_labels, np.random.default_rng([seed, 1]))
    named: Named = []
    for n in range(1, max(budgets) + 1):
        if (item := asking.next()) is not None:
            asking.tell(item, int(on.truth[item]))
        if n in budgets:
            named.append((asking.leader(), None))
    return named


def spent(on: Table, seed: int, budgets: tuple[int, ...]) -> Named:
    """The model named where a budget is spent: one run to the largest, and its last closing within each budget."""
    hypotheses, items, most = PredictionTable(on.said, on.n_labels), Pool(np.arange(on.truth.size)), max(budgets)
    learner = CertifiedLearner(hypotheses, items, eps=eps_of_budget(most), budget=most, seed=seed, spends=True)
    first = int(learner.result.chosen)
    run(learner, SimulatedRater(on.truth), 1)
    named: Named = []
    for budget in budgets:
        closed = [(each.leader, each.certified_eps) for each in learner.closings if each.n_answers <= budget]
        named.append(closed[-1] if closed else (first, 1.0))
    return named


def certified(protocol: AskingProtocol, on: Table, seed: int, budgets: tuple[int, ...]) -> Named:
    """The model named by the certified learner on its way to eps .01, one run for each budget."""
    named: Named = []
    for budget in budgets:
        items = Pool(np.arange(on.truth.size))
        learner = CertifiedLearner(
            PredictionTable(on.said, on.n_labels),
            items,
            eps=0.01,
            protocol=protocol,
            budget=budget,
            seed=seed,
        )
        result = run(learner, SimulatedRater(on.truth), 1)
        named.append((int(result.chosen), result.achieved_eps))
    return named


METHODS: dict[str, Callable[[Table, int, tuple[int, ...]], Named]] = {
    "random labels": partial(by_labels, RandomLabels),
    "Model Selector": partial(by_labels, ModelSelector),
    "ModelPicker": partial(by_labels, ModelPicker),
    "CODA": partial(by_labels, Coda),
    "budget spent": spent,
    "certified, one-shot": partial(certified, "one-shot"),
    "certified, follow-up": partial(certified, "follow-up"),
    "certified, labels": partial(certified, "labels"),
}
COUNTS = {"random labels": LABELS, "Model Selector": LABELS, "ModelPicker": LABELS, "CODA": CODA_LABELS}


@lru_cache(maxsize=1)
def whole(name: str) -> Table:
    found = table(name)
    if found is None:
        raise FileNotFoundError(name)
    return found


def n_seeds(method: str, items: int | None, seeds: int) -> int:
    """How many seeds a method has."""
    if method == "CODA":
        return min(seeds, CODA_SEEDS) if items is not None else 0
    return min(seeds, SELECTOR_SEEDS_ON_ALL) if method == "Model Selector" and items is None else seeds


def cases(seeds: int, sizes: list[str], methods: list[str], tables: list[str]) -> Iterator[Case]:
    present = [name for name in tables if table(name) is not None]
    for items in (SIZES[size] for size in sizes):
        for first in range(0, seeds, PART):
            for name in present:
                for method in methods:
                    n = min(PART, n_seeds(method, items, seeds) - first)
                    if n > 0:
                        yield {"table": name, "items": items, "method": method, "first": first, "seeds": n}


def measure(case: Case) -> Case:
    """For each seed and budget: the regret, and what was certified."""
    budgets, start = COUNTS.get(case["method"], BUDGETS), time.process_time()
    regrets, shown = [], []
    with threadpool_limits(1):
        for seed in range(case["first"], case["first"] + case["seeds"]):
            on = whole(case["table"]).pool(seed, case["items"])
            accuracy = on.accuracy
            named = METHODS[case["method"]](on, seed, budgets)
            regrets.append([float(accuracy.max() - accuracy[model]) for model, _ in named])
            shown.append([eps for _, eps in named])
    return {"regrets": regrets, "shown": shown, "seconds": time.process_time() - start}


def together(parts: list[Case]) -> list[Case]:
    """One row per table, size and method, from all of its parts."""
    rows = []
    for key in dict.fromkeys((part["items"], part["table"], part["method"]) for part in parts):
        of = [part for part in parts if (part["items"], part["table"], part["method"]) == key]
        budgets, regrets = COUNTS.get(key[2], BUDGETS), np.concatenate([part["regrets"] for part in of])
        row: Case = {"table": key[1], "items": key[0], "method": key[2], "seeds": len(regrets)}
        row |= {f"best {n}": round(100 * float(np.mean(each == 0))) for n, each in zip(budgets, regrets.T, strict=True)}
        row |= {f"regret {n}": float(np.mean(each)) for n, each in zip(budgets, regrets.T, strict=True)}
        shown = [each for part in of for each in part["shown"]]
        if None not in shown[0]:
            eps = np.mean(np.array(shown, dtype=np.float64), axis=0)
            row |= {f"eps {n}": float(each) for n, each in zip(budgets, eps, strict=True)}
        rows.append(row | {"seconds": sum(part["seconds"] for part in of)})
    return rows


def report(rows: list[Case]) -> None:
    """All rows, and the means over the tables, at equal counts and at equal seconds."""
    print_rows("budgets", rows)
    for items in dict.fromkeys(row["items"] for row in rows):
        print(f"mean over the tables, {'whole tables' if items is None else f'pools of {items:,}'}: best named, %")
        for method in dict.fromkeys(row["method"] for row in rows):
            of = [row for row in rows if row["method"] == method and row["items"] == items]
            counts = {f"{method}": {n: n for n in BUDGETS}}
            if method in COUNTS:
                counts[f"{method}, in the time"] = IN_THE_TIME
            for told, count in counts.items():
                found = [[row[f"best {count[n]}"] for row in of if f"best {count[n]}" in row] for n in BUDGETS]
                shown = [f"{np.mean(each):4.0f}" if each else "   -" for each in found]
                print(f"  {told:36} {' '.join(shown)}   ({len(of)} tables)")
    print(f"{sum(row['seconds'] for row in rows) / 60:.0f} minutes of one core in all")


if __name__ == "__main__":
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    if unknown := set(sys.argv[2:]) - {*SIZES, *METHODS, *REAL, *MADE}:
        sys.exit(f"neither a method, nor a table, nor pools or whole: {', '.join(sorted(unknown))}")

    def named(of: Iterable[str]) -> list[str]:
        return [name for name in of if name in sys.argv[2:]] or list(of)

    of_all = cases(seeds, named(SIZES), named(METHODS), named((*REAL, *MADE)))
    found = run_cases("budgets", of_all, measure, prints=False)
    report(together(found))
