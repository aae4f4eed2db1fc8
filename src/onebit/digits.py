"""The demonstration: 60 classifiers of handwritten digits, no labels, and somebody who answers yes or no.

The images are scikit-learn's bundled digits (1797 images of 8 x 8, 10 labels). The models learn from small parts of a
third of them, so that their accuracies are spread; the rest is the pool on which the best is sought.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.contract import BoundedResult, Learner, run
from onebit.learners.items import Pool
from onebit.learners.paper.algorithm1 import PaperLearner, PaperResult
from onebit.learners.paper.full_information import FullInformationLearner
from onebit.learners.paper.schedule import Plan
from onebit.learners.paper.uniform import UniformLearner
from onebit.raters import SimulatedRater
from onebit.records import AskingProtocol

N_LABELS = 10
SIZES = (20, 30, 50, 80, 120)
#: Confirmed samples of phase 1: 20 for each label, enough for a variance bound near 2.
N_CONFIRMED = 20 * N_LABELS
#: Excess error at which the certified learner stops.
CERTIFIED_EPS = 0.02

#: Called with what is going on, the part done and the whole.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Contest:
    """Candidate models on a pool: ``predictions`` (N, n), their names, and the truth that raters know."""

    predictions: NDArray[np.int64]
    names: tuple[str, ...]
    truth: NDArray[np.int64]

    @property
    def accuracy(self) -> NDArray[np.float64]:
        share: NDArray[np.float64] = (self.predictions == self.truth).mean(axis=1)
        return share


@dataclass(frozen=True, eq=False)
class Row:
    """One learner's outcome: what it chose after how many answers, the true excess error, and the eps it can state."""

    learner: str
    answers: int
    chosen: int
    excess: float
    achieved_eps: float | None


def train_models(progress: Progress) -> Contest:
    """Fit twelve kinds of classifier, each on five sizes of training set."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(y.size)
    x, y = x[order] / 16, y[order]
    n_train = y.size // 3
    kinds = _kinds()
    predictions, names = [], []
    for i, (name, model) in enumerate(kinds.items()):
        progress("training 60 models", i, len(kinds))
        for size in SIZES:
            model.fit(x[:size], y[:size])
            predictions.append(model.predict(x[n_train:]))
            names.append(f"{name}, {size} examples")
    progress("training 60 models", len(kinds), len(kinds))
    return Contest(np.array(predictions), tuple(names), y[n_train:].astype(np.int64))


def write_table(contest: Contest, path: Path) -> None:
    """The contest as a table for ``onebit select``: image numbers, right digits, and a column for each model."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["image", "digit", *contest.names])
        for i, digit in enumerate(contest.truth.tolist()):
            rows.writerow([i, digit, *contest.predictions[:, i].tolist()])


def _kinds() -> dict[str, Any]:
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
    from sklearn.naive_bayes import BernoulliNB, MultinomialNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    return {
        "1 neighbour": KNeighborsClassifier(1),
        "5 neighbours": KNeighborsClassifier(5),
        "perceptron": Perceptron(random_state=0),
        "logistic regression": LogisticRegression(max_iter=1000),
        "ridge": RidgeClassifier(),
        "support vectors": SVC(),
        "tree of depth 4": DecisionTreeClassifier(max_depth=4, random_state=0),
        "tree": DecisionTreeClassifier(random_state=0),
        "random forest": RandomForestClassifier(30, random_state=0),
        "extra trees": ExtraTreesClassifier(30, random_state=0),
        "Bernoulli naive Bayes": BernoulliNB(binarize=0.5),
        "multinomial naive Bayes": MultinomialNB(),
    }


def choose(contest: Contest, n_final: int, seed: int, progress: Progress) -> tuple[PaperResult, tuple[Row, ...]]:
    """Algorithm 1, beside it uniform guesses and full labels with as many answers, and the certified learner.

    The certified learner decides itself when it has asked enough for CERTIFIED_EPS.
    """
    hypotheses = PredictionTable(contest.predictions, N_LABELS)
    pool = Pool(np.arange(contest.truth.size))
    paper_learner = PaperLearner(hypotheses, pool, Plan(N_CONFIRMED, n_final), seed=seed)
    expected = N_LABELS * N_CONFIRMED + n_final
    paper = _run(paper_learner, "Algorithm 1", expected, contest, progress)
    n_rounds = paper.n_rounds
    uniform = UniformLearner(hypotheses, pool, n_rounds, seed=seed)
    full = FullInformationLearner(hypotheses, pool, n_rounds, seed=seed)
    return paper, (
        _row("Algorithm 1 (yes/no)", paper, contest),
        _row("uniform guesses (yes/no)", _run(uniform, "uniform guesses", n_rounds, contest, progress), contest),
        _row("full labels", _run(full, "full labels", n_rounds, contest, progress), contest),
        *(_certify(hypotheses, pool, protocol, seed, contest, progress) for protocol in ("one-shot", "follow-up")),
    )


def _certify(
    hypotheses: PredictionTable, pool: Pool, protocol: AskingProtocol, seed: int, contest: Contest, progress: Progress
) -> Row:
    learner = CertifiedLearner(hypotheses, pool, eps=CERTIFIED_EPS, protocol=protocol, seed=seed)
    name = f"certified {protocol}"
    result = run(learner, SimulatedRater(contest.truth), observe=lambda n: progress(name, n, 2 * n))
    progress(name, result.n_answers, result.n_answers)
    excess = float(contest.accuracy.max() - contest.accuracy[result.chosen])
    return Row(name, result.n_answers, result.chosen, excess, result.achieved_eps)


def _run(learner: Learner[Any], name: str, n_expected: int, contest: Contest, progress: Progress) -> Any:
    rater = SimulatedRater(contest.truth)
    return run(learner, rater, observe=lambda n: progress(name, min(n, n_expected), n_expected))


def _row(name: str, result: BoundedResult, contest: Contest) -> Row:
    excess = float(contest.accuracy.max() - contest.accuracy[result.chosen])
    return Row(name, result.n_rounds, result.chosen, excess, result.achieved_eps)
