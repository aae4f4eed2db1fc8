"""The rows that classifiers are trained and tried on: real data, and what is made of it.

clinc50 has the texts of clinc150, and its intents joined at random to 50 labels with shares like those of words: the
first has a fifth of the rows. letter95 has nine letters and a label for all others, which 95% of the training rows
have; of the test rows each label has as many.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow.csv
import pyarrow.parquet
from benchmarks.harness import data_file
from benchmarks.rival_classifiers import Data
from sklearn.datasets import load_digits

from onebit.learners.training.features import Features
from onebit.randomness import generator

N_SEEDS = 5
N_TRAIN = {"letter": 15_000, "letter95": 15_000, "digits": 1200}
#: Share of the training rows on which settings of rivals are chosen.
VALIDATION = 0.2
#: Labels of clinc50.
N_UNEQUAL = 50
#: letter95: letters that are labels of their own, and the share of all others.
N_RARE, MAIN_SHARE = 9, 0.95


def data(name: str, seed: int) -> Data | None:
    """The rows in the order of ``seed``; None if the file is missing."""
    if name not in ("clinc150", "clinc50"):
        return numbers(name, seed)
    on = texts(seed)
    if on is None or name == "clinc150":
        return on
    y, y_test = (unequal(of, on.n_labels) for of in (on.y, on.y_test))
    return on._replace(y=y, y_test=y_test, n_labels=N_UNEQUAL, names=None)


# Their features take five seconds.
@lru_cache(maxsize=N_SEEDS)
def texts(seed: int) -> Data | None:
    path = data_file("clinc150.parquet")
    if path is None:
        return None
    table = pyarrow.parquet.read_table(path)
    text, label, split = (np.array(table[name].to_pylist(), dtype=object) for name in ("text", "label", "split"))
    known = label != "oos"
    x, split, (names, y) = text[known], split[known], np.unique(label[known].astype(str), return_inverse=True)
    train = generator(seed, "order of rows").permutation(np.flatnonzero(split == "train"))
    return prepared(x, y, names, train, np.flatnonzero(split == "test"))


def numbers(name: str, seed: int) -> Data | None:
    if name == "digits":
        x, y = load_digits(return_X_y=True)
        names = np.unique(y)
    else:
        path = data_file("letter.csv")
        if path is None:
            return None
        letters, *columns = (np.array(column.to_pylist()) for column in pyarrow.csv.read_csv(path).columns)
        x, (names, y) = np.stack(columns, axis=1), np.unique(letters, return_inverse=True)
    train, test = np.split(generator(seed, "order of rows").permutation(len(y)), [N_TRAIN[name]])
    if name == "letter95":
        y, names = np.minimum(y, N_RARE), np.append(names[:N_RARE], "others")
        train, test = mostly_one(y, train), balanced(y, test)
    return prepared(x, y, names, train, test)


def prepared(x: np.ndarray, y: np.ndarray, names: np.ndarray, train: np.ndarray, test: np.ndarray) -> Data:
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
