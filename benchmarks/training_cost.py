"""What an answer costs while a classifier is trained, as features, labels and rows grow, and how much memory it takes.

Each case is a fit of ``YesNoClassifier`` in a process of its own, on clusters made up for it: K centres in a space of
``N_LATENT`` dimensions, seen through d features with noise. Beside the milliseconds per answer stands their ratio to
those of the same protocol with 50 features, 10 labels and the least rows. CPU time of one core; the first question is
waited for once, so it stands apart. Memory is the most that the process held beyond the data and the libraries.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from benchmarks.harness import Case, run_cases
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.classifier import YesNoClassifier

N_LATENT, N_ANSWERS = 20, 1000
#: (features, labels, rows): the first is what the others are held against.
SIZES = (
    (50, 10, 1000),
    (50, 10, 20_000),
    (50, 10, 1_000_000),
    (500, 10, 20_000),
    (5000, 10, 20_000),
    (50, 100, 20_000),
    (50, 500, 20_000),
)
MEBIBYTE = 2**20


def clusters(n_features: int, n_labels: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and their labels. Centres are about two standard deviations apart in each latent dimension."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_labels, n_rows)
    latent = rng.standard_normal((n_labels, N_LATENT), dtype=np.float32)[y]
    latent += 0.5 * rng.standard_normal(latent.shape, dtype=np.float32)
    x = latent @ rng.standard_normal((N_LATENT, n_features), dtype=np.float32)
    x += rng.standard_normal(x.shape, dtype=np.float32)
    return x, y


def fit(case: Case) -> Case:
    x, y = clusters(case["features"], case["labels"], case["rows"])
    x_test, y_test = x[-len(x) // 10 :], y[-len(x) // 10 :]
    # Compile, so that this is not counted.
    some = YesNoClassifier(protocol=case["protocol"], budget=30, seed=0)
    some.fit(x[:500], answer=lambda row, label: bool(y[row] == label), labels=range(case["labels"]))
    moments, before = [], peak()
    start = time.process_time()

    def answer(row: int, label: int) -> bool:
        moments.append(time.process_time())
        return bool(y[row] == label)

    model = YesNoClassifier(protocol=case["protocol"], budget=case["answers"], audit=0, seed=0)
    with threadpool_limits(1):
        model.fit(x, answer=answer, labels=range(case["labels"]))
    spent = time.process_time() - moments[0]
    return {
        "ms per answer": 1e3 * spent / len(moments),
        "s before the first": moments[0] - start,
        "MiB": (peak() - before) / MEBIBYTE,
        "accuracy": float((model.predict(x_test) == y_test).mean()),
    }


def peak() -> int:
    """The most memory that this process ever held, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(case: Case) -> Case:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as alone:
        return alone.submit(fit, case).result()


def report(rows: list[Case]) -> None:
    """A table in Markdown."""
    print("\n| features | labels | rows | protocol | ms per answer | ratio | s before the first | MiB |")
    print("|---" * 8 + "|")
    for row in rows:
        base = next(each for each in rows if each["protocol"] == row["protocol"])
        spent = row["ms per answer"]
        print(
            f"| {row['features']:,} | {row['labels']} | {row['rows']:,} | {row['protocol']} | {spent:.1f} "
            f"| {spent / base['ms per answer']:.1f} | {row['s before the first']:.1f} | {row['MiB']:,.0f} |"
        )


if __name__ == "__main__":
    sizes = [dict(zip(("features", "labels", "rows"), size, strict=True)) for size in SIZES]
    cases = [
        {**size, "protocol": protocol, "answers": N_ANSWERS} for protocol in ("one-shot", "follow-up") for size in sizes
    ]
    report(run_cases("training_cost", cases, measure))
