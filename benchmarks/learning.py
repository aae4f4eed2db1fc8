"""Test accuracy of classifiers trained from n yes/no answers, ours and the rivals', on real data.

One-shot: the training rows come in one random order, again and again, and every learner asks one label about each row
that comes; ours passes over rows whose label it knows, so from the second pass on it sees more of them for the same
number of answers, and ends once all are known. Follow-up: the items are ours to choose, and "ask until yes" takes them
at random. Everyone sees the same features, rows and seeds.

Ours has the package's settings, the same for all data; docs/learning.md says how they were chosen. Those of a rival are
chosen on no test row, for each data set, out of the grid below: the best mean accuracy over all checkpoints but the
last, on a fifth of the training rows that is kept aside (seed 0). Then seeds 0 to 4 shuffle the rows; means and
standard errors. Seconds are CPU seconds of one core and noisy.

clinc50 has the texts of clinc150, and its intents joined at random to 50 labels with shares like those of words: the
first has a fifth of the rows. letter95 has nine letters and a label for all others, which 95% of the training rows
have; of the test rows each label has as many.

"Names read": the labels of clinc150 have names, which the package reads in texts. Only ours and the softmax are told
them; the other lines of ours show what it does without.
"""

from __future__ import annotations

import time
from functools import lru_cache
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
import pyarrow.csv
import pyarrow.parquet
from benchmarks import rival_classifiers as rivals
from benchmarks.harness import Case, data_file, run_cases
from benchmarks.rival_classifiers import Data, Rival, Setting, accuracy, with_squares
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.classifier import YesNoClassifier
from onebit.learners.training.features import Features
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.model import mean_belief
from onebit.learners.training.named import built_in
from onebit.randomness import generator
from onebit.records import Answer

N_SEEDS = 5
N_TRAIN = {"letter": 15_000, "letter95": 15_000, "digits": 1200}
#: Share of the training rows on which settings of rivals are chosen.
VALIDATION = 0.2
#: Labels of clinc50.
N_UNEQUAL = 50
#: letter95: letters that are labels of their own, and the share of all others.
N_RARE, MAIN_SHARE = 9, 0.95
Checkpoints = dict[str, tuple[int, ...]]
#: The real data, and what is made of it.
DATA = ("letter", "digits", "clinc150", "clinc50", "letter95")
#: digits has 1,200 rows to train on, which are all known after 3,000 answers.
ONE_SHOT: Checkpoints = dict.fromkeys(DATA, (300, 1000, 3000, 10_000, 30_000)) | {"digits": (300, 1000, 3000)}
FOLLOW_UP: Checkpoints = dict(ONE_SHOT)
#: For estimators, and for those that are given labels: half as many.
FEW_ANSWERS: Checkpoints = {"letter": (1000, 3000), "digits": (300, 1000), "clinc50": (1000, 3000)}
HALF_AS_MANY: Checkpoints = {"letter": (500, 1500), "digits": (150, 500), "clinc50": (500, 1500)}


def ours(on: Data, checkpoints: tuple[int, ...], seed: int, setting: Setting) -> list[float]:
    """The built-in networks of YesNoClassifier."""
    names = on.names if setting["names"] else None
    model = built_in(on.x.shape[1], on.n_labels, names, generator(seed, "networks"))
    learner = TrainingLearner(
        model,
        on.x,
        on.n_labels,
        budget=checkpoints[-1],
        protocol=setting["protocol"],
        audit=0,
        near_are_alike=True,
        names=names,
        seed=seed,
    )
    found = []
    for before, checkpoint in pairwise((0, *checkpoints)):
        n_left = checkpoint - before
        while n_left and isinstance(questions := learner.ask(n_left), tuple):
            for question in questions:
                learner.tell(question.id, Answer.YES if on.y[question.item] == question.label else Answer.NO)
            n_left -= len(questions)
        _ = learner.result
        found.append(accuracy(mean_belief(model, on.x_test).argmax(axis=1), on))
    return found


def with_estimator(on: Data, checkpoints: tuple[int, ...], seed: int, setting: Setting) -> list[float]:
    """YesNoClassifier with an estimator, once for each checkpoint."""
    found = []
    for budget in checkpoints:
        estimator = rivals.estimators(seed)[setting["estimator"]]
        model = YesNoClassifier(estimator, protocol=setting["protocol"], budget=budget, audit=0, seed=seed)
        model.fit(on.x, answer=lambda row, label: bool(on.y[row] == label), labels=range(on.n_labels))
        found.append(accuracy(model.predict(on.x_test), on))
    return found


def squared(rival: Rival) -> Rival:
    return lambda on, checkpoints, seed, setting: rival(with_squares(on), checkpoints, seed, setting)


def grid(**choices: tuple) -> tuple[Setting, ...]:
    return tuple(dict(zip(choices, chosen, strict=True)) for chosen in product(*choices.values()))


class Method(NamedTuple):
    run: Rival
    settings: tuple[Setting, ...] = ({},)
    data: tuple[str, ...] = DATA
    checkpoints: Checkpoints = ONE_SHOT


SMALL = ("letter", "digits")
NUMBERS = (*SMALL, "letter95")
ALL = (*SMALL, "clinc50")
SQUARECB = tuple(f"--squarecb --gamma_scale {scale}" for scale in (1, 10, 100, 1000))
COVER = ("--cover 4 --nounif", "--cover 4 --nounif --psi 0.01", "--cover 16 --nounif --psi 0.01")
RATES = (0.5, 2.0)
LOGISTIC = grid(base=("logistic",), eps_greedy=(0.2, 0.5), C=(1.0, 10.0))
TREES = grid(base=("trees",), eps_greedy=(0.05, 0.2, 0.5))

#: In the order in which they are run.
METHODS = {
    "ours, one-shot": Method(ours, grid(protocol=("one-shot",), names=(False,))),
    "ours, one-shot, names read": Method(ours, grid(protocol=("one-shot",), names=(True,)), ("clinc150",)),
    "LinUCB": Method(rivals.linucb, grid(width=(0.03, 0.1, 0.5))),
    "LinUCB, random features": Method(rivals.linucb_random, grid(width=(0.1, 0.5), kernel=(0.1, 0.5)), NUMBERS),
    "softmax, exact likelihood": Method(rivals.softmax, grid(eps_greedy=(0.05, 0.2))),
    "softmax, exact likelihood, names read": Method(
        rivals.softmax, grid(eps_greedy=(0.05, 0.2), names=(True,)), ("clinc150",)
    ),
    "names alone, no answer": Method(rivals.names_alone, data=("clinc150",)),
    "ours, follow-up": Method(ours, grid(protocol=("follow-up",), names=(False,)), checkpoints=FOLLOW_UP),
    "ours, follow-up, names read": Method(ours, grid(protocol=("follow-up",), names=(True,)), ("clinc150",), FOLLOW_UP),
    "ask until yes": Method(rivals.ask_until_yes, checkpoints=FOLLOW_UP),
    "full information": Method(rivals.full_information, checkpoints=FOLLOW_UP),
    "LinUCB, squares": Method(squared(rivals.linucb), grid(width=(0.1, 0.5)), ("letter",)),
    "softmax, exact likelihood, squares": Method(squared(rivals.softmax), grid(eps_greedy=(0.05, 0.2)), ("letter",)),
    "uniform, yes rows": Method(rivals.uniform),
    "Banditron": Method(rivals.banditron, grid(gamma=(0.02, 0.05, 0.2))),
    "VW squarecb": Method(rivals.vowpal_wabbit, grid(explore=SQUARECB, rate=RATES, quadratic=(False,))),
    "VW squarecb, squares": Method(
        rivals.vowpal_wabbit, grid(explore=SQUARECB, rate=RATES, quadratic=(True,)), ("letter",)
    ),
    "VW cover": Method(rivals.vowpal_wabbit, grid(explore=COVER, rate=RATES, quadratic=(False,)), SMALL),
    "contextualbandits, logistic": Method(rivals.contextual_bandits, LOGISTIC),
    "contextualbandits, logistic, squares": Method(squared(rivals.contextual_bandits), LOGISTIC, ("letter",)),
    "contextualbandits, trees": Method(rivals.contextual_bandits, TREES, SMALL),
    **{
        f"{name}, {of}": Method(run, ({"estimator": of, "protocol": "follow-up"},), ALL, checkpoints=found)
        for of in rivals.estimators(0)
        for name, run, found in (
            ("ours, follow-up", with_estimator, FEW_ANSWERS),
            ("plain loop", rivals.plain_loop, FEW_ANSWERS),
            ("labels by margin", rivals.labels_by_margin, HALF_AS_MANY),
        )
    },
}


@lru_cache(maxsize=1)
def data(name: str, seed: int) -> Data | None:
    """The rows in the order of ``seed``; None if the file is missing."""
    rng = generator(seed, "order of rows")
    if name in ("clinc150", "clinc50"):
        path = data_file("clinc150.parquet")
        if path is None:
            return None
        table = pyarrow.parquet.read_table(path)
        text, label, split = (np.array(table[name].to_pylist(), dtype=object) for name in ("text", "label", "split"))
        known = label != "oos"
        x, split, (names, y) = text[known], split[known], np.unique(label[known].astype(str), return_inverse=True)
        if name == "clinc50":
            y, names = unequal(y, names.size), np.arange(N_UNEQUAL).astype(str)
        train, test = rng.permutation(np.flatnonzero(split == "train")), np.flatnonzero(split == "test")
    else:
        if name in ("letter", "letter95"):
            path = data_file("letter.csv")
            if path is None:
                return None
            letters, *columns = (np.array(column.to_pylist()) for column in pyarrow.csv.read_csv(path).columns)
            x, (names, y) = np.stack(columns, axis=1), np.unique(letters, return_inverse=True)
        else:
            x, y = load_digits(return_X_y=True)
            names = np.unique(y)
        train, test = np.split(rng.permutation(len(y)), [N_TRAIN[name]])
        if name == "letter95":
            y, names = np.minimum(y, N_RARE), np.append(names[:N_RARE], "others")
            train, test = mostly_one(y, train), balanced(y, test)
    features = Features(x[train], seed=0)
    return Data(features(x[train]), y[train], features(x[test]), y[test], names.size, features.of_names(names))


def unequal(y: np.ndarray, n_intents: int) -> np.ndarray:
    """Intents joined to labels, the r-th of which has a share of about 1 / r, as words have (Zipf)."""
    shares = 1 / np.arange(1, N_UNEQUAL + 1)
    sizes = np.maximum(1, np.floor(n_intents * shares / shares.sum())).astype(np.int64)
    sizes[0] += n_intents - sizes.sum()
    label = np.empty(n_intents, dtype=np.int64)
    label[generator(0, "joined intents").permutation(n_intents)] = np.repeat(np.arange(N_UNEQUAL), sizes)
    found: np.ndarray = label[y]
    return found


def mostly_one(y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """``rows`` without most of those with a rare label, so that the last label has MAIN_SHARE."""
    main, rare = (np.flatnonzero((y[rows] == N_RARE) == is_main) for is_main in (True, False))
    n_rare = round(main.size * (1 - MAIN_SHARE) / MAIN_SHARE)
    # Spread over the stream.
    some = rare[np.arange(n_rare) * rare.size // n_rare]
    kept: np.ndarray = rows[np.sort(np.concatenate([main, some]))]
    return kept


def balanced(y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """As many of ``rows`` of each label as the rarest has."""
    n_each = np.bincount(y[rows]).min()
    return np.concatenate([rows[y[rows] == label][:n_each] for label in range(N_RARE + 1)])


def validation(on: Data, equally: bool = False) -> Data:
    """The last training rows take the place of the test rows; ``equally``: rows of rare labels several times."""
    n_train = round((1 - VALIDATION) * len(on.y))
    rows = np.arange(n_train, len(on.y))
    if equally:
        of_each = [rows[on.y[rows] == label] for label in np.unique(on.y[rows])]
        rows = np.concatenate([np.resize(each, max(map(len, of_each))) for each in of_each])
    return on._replace(x=on.x[:n_train], y=on.y[:n_train], x_test=on.x[rows], y_test=on.y[rows])


def measure(case: Case) -> Case:
    on, method = data(case["data"], case["seed"]), METHODS[case["method"]]
    if on is None:
        return {}
    start, checkpoints = time.process_time(), method.checkpoints[case["data"]]
    if case["split"] == "validation":
        on, checkpoints = validation(on, case["data"] == "letter95"), checkpoints[:-1]
    with threadpool_limits(1):
        found = method.run(on, checkpoints, case["seed"], case["setting"])
    figures: Case = {str(n): reached for n, reached in zip(checkpoints, found, strict=True)}
    return figures | {"seconds": time.process_time() - start}


def chosen_setting(method: str, of: str) -> Setting:
    """The setting with the best mean accuracy on the validation rows, over all checkpoints but the last."""
    settings = METHODS[method].settings
    if len(settings) == 1:
        return settings[0]
    cases = [{"data": of, "method": method, "seed": 0, "split": "validation", "setting": each} for each in settings]

    def score(row: Case) -> float:
        return float(np.mean([row.get(str(n), 0.0) for n in METHODS[method].checkpoints[of][:-1]]))

    best: Setting = max(run_cases("learning", cases, measure), key=score)["setting"]
    return best


def results(method: str, of: str) -> list[Case]:
    """A row for each seed, on the test rows."""
    setting = chosen_setting(method, of)
    cases = [
        {"data": of, "method": method, "seed": seed, "split": "test", "setting": setting} for seed in range(N_SEEDS)
    ]
    return run_cases("learning", cases, measure)


def report(rows: list[Case]) -> None:
    """Tables in Markdown: mean and standard error over the seeds, and CPU seconds of one seed."""
    titles = ("one-shot", "follow-up", "estimators, follow-up", "estimators, labels instead of answers")
    for protocol, title in zip((ONE_SHOT, FOLLOW_UP, FEW_ANSWERS, HALF_AS_MANY), titles, strict=True):
        for of, checkpoints in protocol.items():
            print(f"\n| {of}, {title} | " + " | ".join(f"{n:,}" for n in checkpoints) + " | seeds | seconds |")
            print("|---" * (len(checkpoints) + 3) + "|")
            for name, method in METHODS.items():
                runs = [row for row in rows if (row["data"], row["method"]) == (of, name) and "seconds" in row]
                if method.checkpoints is protocol and runs:
                    print(line(name, np.array([[row[str(n)] for n in checkpoints] for row in runs]), runs))


def line(name: str, values: np.ndarray, runs: list[Case]) -> str:
    n_seeds, mean = len(values), values.mean(axis=0)
    cells = [f"{m:.3f}" for m in mean]
    if n_seeds > 1:
        error = values.std(axis=0, ddof=1) / np.sqrt(n_seeds)
        cells = [f"{cell} ± {e:.3f}" for cell, e in zip(cells, error, strict=True)]
    seconds = np.mean([row["seconds"] for row in runs])
    return f"| {name} | " + " | ".join(cells) + f" | {n_seeds} | {seconds:.0f} |"


if __name__ == "__main__":
    pairs = [(name, of) for of in ONE_SHOT for name, method in METHODS.items() if of in method.data]
    report([row for pair in pairs for row in results(*pair)])
