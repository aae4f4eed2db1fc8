"""Test accuracy of classifiers trained from n yes/no answers, ours and the rivals', on real data.

One-shot: the training rows come in one random order, again and again, and every rival asks one label about each row
that comes; ours passes over rows whose label it knows, and most of those that it is sure of, so it sees more of them
for the same number of answers, and ends once all are known. Follow-up: the items are ours to choose, and "ask until
yes" takes them at random. Everyone sees the same features, rows and seeds.

Ours has the package's settings, the same for all data; docs/learning-results.md says how they were chosen. Those of a
rival are chosen on no test row, for each data set, out of the grid below: the best mean accuracy over all checkpoints
but the last, on a fifth of the training rows that is kept aside (seed 0). Then seeds 0 to 4 shuffle the rows; means and
standard errors. Seconds are CPU seconds of one core and noisy.

"Names read": the labels of clinc150 have names, which the package reads in texts. Only ours and the softmax are told
them; the other lines of ours show what it does without.

``python -m benchmarks.learning [DATA or METHOD ...]`` measures these alone; ``tables`` prints what is measured so far,
and measures nothing.
"""

from __future__ import annotations

import sys
import time
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from benchmarks import rival_classifiers as rivals
from benchmarks.harness import Case, kept_rows, run_cases
from benchmarks.learning_data import N_SEEDS, data, validation
from benchmarks.learning_tables import Checkpoints, report, standing
from benchmarks.rival_classifiers import Data, Rival, Setting, accuracy, with_squares
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.classifier import YesNoClassifier
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.model import mean_belief
from onebit.learners.training.pooled import built_in
from onebit.randomness import generator
from onebit.records import Answer

#: The real data, and what is made of it.
DATA = ("letter", "digits", "letter95", "clinc50", "clinc150")
ALL_CHECKPOINTS = (300, 1000, 3000, 10_000, 30_000)
#: digits has 1,200 rows to train on, which are all known after 3,000 answers.
ALL_DATA: Checkpoints = dict.fromkeys(DATA, ALL_CHECKPOINTS) | {"digits": ALL_CHECKPOINTS[:3]}
ONE_SHOT, FOLLOW_UP, ESTIMATORS, LABELS = (
    "one-shot",
    "follow-up",
    "estimators, follow-up",
    "estimators, labels instead of answers",
)
#: Those who are given labels have half as many.
TABLES: dict[str, Checkpoints] = {
    ONE_SHOT: ALL_DATA,
    FOLLOW_UP: ALL_DATA,
    ESTIMATORS: {"letter": (1000, 3000), "digits": (300, 1000, 3000), "clinc50": (1000, 3000)},
    LABELS: {"letter": (500, 1500), "digits": (150, 500, 1500), "clinc50": (500, 1500)},
}


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
    #: Where it is shown; the first has its checkpoints.
    tables: tuple[str, ...] = (ONE_SHOT,)

    def checkpoints(self, of: str) -> tuple[int, ...]:
        return TABLES[self.tables[0]][of]


def plain_loop(estimator: str, of: tuple[str, ...]) -> Method:
    setting = {"estimator": estimator, "protocol": "follow-up"}
    return Method(rivals.plain_loop, (setting,), of, (FOLLOW_UP, ESTIMATORS))


SMALL = ("letter", "digits")
NUMBERS = (*SMALL, "letter95")
#: What estimators are tried on: a fit of the others takes too long on texts.
WITH = {"logistic": (*SMALL, "clinc50"), "trees": SMALL, "boosting": SMALL}
SQUARECB = tuple(f"--squarecb --gamma_scale {scale}" for scale in (1, 10, 100, 1000))
COVER = ("--cover 4 --nounif", "--cover 4 --nounif --psi 0.01", "--cover 16 --nounif --psi 0.01")
RATES = (0.5, 2.0)
LOGISTIC = grid(base=("logistic",), eps_greedy=(0.2, 0.5), C=(1.0, 10.0))
TREES = grid(base=("trees",), eps_greedy=(0.05, 0.2, 0.5))

#: What these begin with is measured before the others.
FIRST = ("ours", "LinUCB", "softmax", "names alone", "ask until yes", "plain loop", "labels by margin")
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
    "ours, follow-up": Method(ours, grid(protocol=("follow-up",), names=(False,)), tables=(FOLLOW_UP,)),
    "ours, follow-up, names read": Method(
        ours, grid(protocol=("follow-up",), names=(True,)), ("clinc150",), (FOLLOW_UP,)
    ),
    "ask until yes": Method(rivals.ask_until_yes, tables=(FOLLOW_UP,)),
    "full information": Method(rivals.full_information, tables=(FOLLOW_UP,)),
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
        f"{name}, {of}": Method(run, ({"estimator": of, "protocol": "follow-up"},), WITH[of], (table,))
        for of in rivals.estimators(0)
        for name, run, table in (
            ("ours, follow-up", with_estimator, ESTIMATORS),
            ("plain loop", rivals.plain_loop, ESTIMATORS),
            ("labels by margin", rivals.labels_by_margin, LABELS),
        )
    },
    # The same at all checkpoints.
    "plain loop, logistic": plain_loop("logistic", DATA),
    "plain loop, trees": plain_loop("trees", NUMBERS),
}


def measure(case: Case) -> Case:
    on, method = data(case["data"], case["seed"]), METHODS[case["method"]]
    if on is None:
        return {}
    start, checkpoints = time.process_time(), method.checkpoints(case["data"])
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
        return float(np.mean([row.get(str(n), 0.0) for n in METHODS[method].checkpoints(of)[:-1]]))

    best: Setting = max(run_cases("learning", cases, measure), key=score)["setting"]
    return best


def results(method: str, of: str) -> list[Case]:
    """A row for each seed, on the test rows."""
    setting = chosen_setting(method, of)
    cases = [
        {"data": of, "method": method, "seed": seed, "split": "test", "setting": setting} for seed in range(N_SEEDS)
    ]
    return run_cases("learning", cases, measure)


def shown(rows: list[Case]) -> None:
    shown_in = {name: method.tables for name, method in METHODS.items()}
    report(rows, TABLES, shown_in)
    standing(rows, TABLES, shown_in)


if __name__ == "__main__":
    if sys.argv[1:] == ["tables"]:
        shown([row for row in kept_rows("learning") if row["split"] == "test"])
    else:
        if unknown := set(sys.argv[1:]) - {*DATA, *METHODS}:
            sys.exit(f"neither data nor a method: {', '.join(sorted(unknown))}")
        wanted_data = [of for of in DATA if of in sys.argv[1:]] or list(DATA)
        wanted = [name for name in METHODS if name in sys.argv[1:]] or list(METHODS)
        pairs = [(name, of) for of in wanted_data for name in wanted if of in METHODS[name].data]
        # What matters most is measured first.
        pairs.sort(key=lambda pair: not pair[0].startswith(FIRST))
        shown([row for pair in pairs for row in results(*pair)])
