"""The 64 nearest of each of 20,000 items: what the package does, and libraries made for it.

Seconds are CPU seconds of one core, an index that has to be built included; "recall" is the share of the true
neighbours that were found. hnswlib, pynndescent and faiss-cpu are no dependencies: what is not installed is left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from benchmarks.harness import Case, run_cases
from benchmarks.training_cost import clusters
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.learners.training.constants import MOST_LISTED, N_NEIGHBOURS
from onebit.learners.training.nearest import Nearest

N_LABELS = 150
Search = Callable[[np.ndarray], np.ndarray]


def ours(x: np.ndarray) -> np.ndarray:
    return Nearest(x, np.arange(len(x))).of(np.arange(len(x)))


def scikit_learn(x: np.ndarray) -> np.ndarray:
    found: np.ndarray = NearestNeighbors(n_neighbors=N_NEIGHBOURS + 1).fit(x).kneighbors(x, return_distance=False)
    return found


def faiss(x: np.ndarray, index: str = "Flat") -> np.ndarray:
    library: Any = import_module("faiss")
    library.omp_set_num_threads(1)
    made = library.index_factory(x.shape[1], index)
    made.add(x)
    found: np.ndarray = made.search(x, N_NEIGHBOURS + 1)[1]
    return found


def faiss_hnsw(x: np.ndarray) -> np.ndarray:
    return faiss(x, "HNSW16")


def hnswlib(x: np.ndarray) -> np.ndarray:
    library: Any = import_module("hnswlib")
    made = library.Index("l2", x.shape[1])
    made.init_index(len(x), M=16, ef_construction=100)
    made.set_num_threads(1)
    made.set_ef(2 * N_NEIGHBOURS)
    made.add_items(x)
    found: np.ndarray = made.knn_query(x, N_NEIGHBOURS + 1)[0]
    return found


def pynndescent(x: np.ndarray) -> np.ndarray:
    library: Any = import_module("pynndescent")
    found: np.ndarray = library.NNDescent(x, n_neighbors=N_NEIGHBOURS + 1, n_jobs=1).neighbor_graph[0]
    return found


SEARCHES = {each.__name__: each for each in (ours, scikit_learn, faiss, faiss_hnsw, hnswlib, pynndescent)}


def measure(case: Case) -> Case:
    x, _ = clusters(case["features"], N_LABELS, MOST_LISTED)
    search: Search = SEARCHES[case["search"]]
    try:
        # What is compiled when it is first used is not counted.
        search(x[:1000])
    except ModuleNotFoundError:
        return {}
    with threadpool_limits(1):
        start = time.process_time()
        found = search(x)
        seconds = time.process_time() - start
        some = np.arange(0, len(x), 50)
        truth = ours(x)[some]
    same = [np.isin(mine, theirs).mean() for mine, theirs in zip(truth, found[some], strict=True)]
    return {"seconds": seconds, "recall": float(np.mean(same))}


if __name__ == "__main__":
    run_cases(
        "neighbour_search",
        [{"features": features, "search": search} for features in (50, 300) for search in SEARCHES],
        measure,
    )
