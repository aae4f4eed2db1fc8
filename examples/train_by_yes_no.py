"""Train a classifier by yes/no answers: depth-2 trees on the iris flowers, through an exact ERM oracle.

There are infinitely many trees, so the run is Algorithm 1 without a promise; a cover (own_class.py) would give one.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_iris

from onebit import PaperLearner, Plan, Pool, SimulatedRater, TreeClass, run


def main() -> None:
    x, y = load_iris(return_X_y=True)
    trees = TreeClass(n_features=4, n_labels=3)
    learner = PaperLearner(trees, Pool(x), Plan(n_confirmed=60, n_final=600), seed=1)
    result = run(learner, SimulatedRater(y.astype(np.int64)))
    right = (trees.predict(result.chosen, x) == y).mean()
    print(f"{result.n_rounds} yes/no answers, {result.oracle_calls} calls of the ERM oracle")
    print(f"the tree found is right on {right:.3f} of the flowers: {result.chosen}")


if __name__ == "__main__":
    main()
