"""What a judge saves, and what a bad one costs: answers of a selection with one, beside those without.

Judges are simulated on real prediction tables, with scores that the same output of an item always shares. Right nine
times in ten: it says of an output whether it is right, and errs independently. Graded: a score with noise, right about
as often. By label: it names the right label in 85 of 100 items, otherwise that of some model. Random: uniform scores.
Inverted: the first, turned round. Partial: 1 for what one model says, 0 for all else. Two-faced: right about items that
most models get right, and wrong about all others. Turncoat: right about what the best model says, and wrong about all
else.

The margin of the score was chosen on letter and MMLU-Pro; clinc150 and ImageNetV2 decided nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from benchmarks.harness import Case, data_file, run_cases
from benchmarks.selection import DELTA, EPS, Problem, problem
from numpy.typing import NDArray
from scipy.special import expit, ndtri
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.learners.certified import CertifiedLearner
from onebit.learners.contract import run
from onebit.learners.items import ItemSource, Pool, Stream
from onebit.randomness import generator
from onebit.raters import SimulatedRater
from onebit.records import AskingProtocol, RunStatus

Floats = NDArray[np.float64]
CHOSEN_ON, ONLY_REPORTED = ("letter_models.npz", "mmlu_pro.npz"), ("clinc150_models.npz", "imagenetv2.npz")
WAYS: dict[str, tuple[AskingProtocol, bool]] = {
    "one-shot, pool": ("one-shot", True),
    "one-shot, stream": ("one-shot", False),
    "follow-up, pool": ("follow-up", True),
}
N_SEEDS = 5
#: Runs of a pool end at the close of an epoch, so that a few seeds say little about what a useless judge costs: on the
#: quicker two tables these have more.
MANY_SEEDS, WITH_MANY = 20, ("clinc150_models.npz", "mmlu_pro.npz")
MAY_COST = ("none", "random", "partial", "turncoat")
#: Draws that a simulated stream holds.
STREAM_LENGTH = 200_000
#: How often judges are right, and how far a graded one is moved by what is so, and by chance.
RIGHT, RIGHT_LABELS, SIGNAL, NOISE = 0.9, 0.85, 1.6, 1.3


def judged_right(on: Problem, luck: Floats) -> Floats:
    return np.where(luck < RIGHT, on.right, ~on.right).astype(np.float64)


def graded(on: Problem, luck: Floats) -> Floats:
    scores: Floats = expit(SIGNAL * (2 * on.right - 1) + NOISE * ndtri(luck.clip(1e-9, 1 - 1e-9)))
    return scores


def by_label(on: Problem, luck: Floats) -> Floats:
    n_models, n_items = on.said.shape
    rng = generator(int(1e9 * luck[0, 0]), "label judge")
    some = on.said[rng.integers(0, n_models, n_items), np.arange(n_items)]
    label = np.where(rng.random(n_items) < RIGHT_LABELS, on.truth, some)
    return (on.said == label).astype(np.float64)


def partial(on: Problem, luck: Floats) -> Floats:
    """For a model of the upper half, which is not the best."""
    favourite = np.argsort(-on.accuracy)[on.accuracy.size // 4]
    return (on.said == on.said[favourite]).astype(np.float64)


def two_faced(on: Problem, luck: Floats) -> Floats:
    is_easy = on.right.mean(axis=0) > 0.5
    return np.where(is_easy, on.right, ~on.right).astype(np.float64)


def turncoat(on: Problem, luck: Floats) -> Floats:
    is_best = on.said == on.said[np.argmax(on.accuracy)]
    return np.where(is_best, on.right, ~on.right).astype(np.float64)


JUDGES: dict[str, Callable[[Problem, Floats], Floats] | None] = {
    "none": None,
    "right 9 in 10": judged_right,
    "graded": graded,
    "by label": by_label,
    "random": lambda on, luck: luck,
    "inverted": lambda on, luck: 1 - judged_right(on, luck),
    "partial": partial,
    "two-faced": two_faced,
    "turncoat": turncoat,
}


def luck_of_outputs(on: Problem, seed: int) -> Floats:
    """A uniform number for each output of each item, as a table of the models that give it; shape (N, n)."""
    rng = generator(seed, "judge")
    luck = np.empty(on.said.shape)
    for item in range(on.said.shape[1]):
        outputs, which = np.unique(on.said[:, item], return_inverse=True)
        luck[:, item] = rng.random(outputs.size)[which]
    return luck


def answers(on: Problem, way: str, judge: str, seed: int) -> int:
    """The answers of one run."""
    protocol, is_pool = WAYS[way]
    n_items = on.truth.size
    items: ItemSource = Pool(np.arange(n_items))
    truth = on.truth
    if not is_pool:
        drawn = generator(seed, "stream").integers(0, n_items, STREAM_LENGTH)
        items, truth = Stream(drawn.tolist()), truth[drawn]
    scores = JUDGES[judge]
    learner = CertifiedLearner(
        on.hypotheses,
        items,
        eps=EPS,
        delta=DELTA,
        protocol=protocol,
        seed=seed,
        judge=None if scores is None else scores(on, luck_of_outputs(on, seed)),
    )
    result = run(learner, SimulatedRater(truth))
    if result.status is not RunStatus.COMPLETE:
        raise RuntimeError(f"{way} with the judge {judge}, seed {seed}, was not certified: {result.status.value}")
    if on.accuracy.max() - on.accuracy[result.chosen] > EPS:
        print(f"wrong: {way} with the judge {judge}, seed {seed}")
    return result.n_answers


def cases() -> Iterator[Case]:
    for name in (*ONLY_REPORTED, *CHOSEN_ON):
        if data_file(name) is not None:
            for way in WAYS:
                for judge in JUDGES:
                    many = name in WITH_MANY and way == "one-shot, pool" and judge in MAY_COST
                    yield {"table": name, "way": way, "judge": judge, "seeds": MANY_SEEDS if many else N_SEEDS}


def measure(case: Case) -> Case:
    start = time.perf_counter()
    with threadpool_limits(1):
        found = [answers(problem(case["table"]), case["way"], case["judge"], seed) for seed in range(case["seeds"])]
    return {"answers": round(float(np.mean(found))), "each": found, "seconds": time.perf_counter() - start}


def report(rows: list[Case]) -> None:
    """Answers without a judge, and with each: their ratio, seed by seed, and its standard error."""
    plain = {(row["table"], row["way"]): np.array(row["each"]) for row in rows if row["judge"] == "none"}
    for row in rows:
        ratio = np.array(row["each"]) / plain[row["table"], row["way"]][: row["seeds"]]
        error = ratio.std(ddof=1) / np.sqrt(ratio.size)
        table = row["table"].removesuffix(".npz")
        print(f"{table:18} {row['way']:18} {row['judge']:14} {row['answers']:7,} {ratio.mean():6.2f} +- {error:.2f}")


if __name__ == "__main__":
    report(run_cases("judges", cases(), measure))
