"""onebit: choose the best of N models, or train a classifier, from yes/no answers, with a guarantee.

The names below are imported when first used, so that ``import onebit`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from onebit.compiling import keep_compiled

keep_compiled()

__version__ = "0.2.0"

_HOME = {
    "Answer": "onebit.records",
    "CallableRater": "onebit.raters",
    "CertifiedLearner": "onebit.learners.certified",
    "CostSensitiveClass": "onebit.hypotheses.cost_sensitive",
    "CountingClass": "onebit.hypotheses.counting",
    "CoverPlan": "onebit.learners.paper.schedule",
    "DrawnLabelsRater": "onebit.raters",
    "EstimatorClass": "onebit.hypotheses.estimator",
    "FullInformationLearner": "onebit.learners.paper.full_information",
    "HedgeLearner": "onebit.learners.paper.hedge",
    "HedgePlan": "onebit.learners.paper.sequel_sizes",
    "HypothesisClass": "onebit.hypotheses.base",
    "IntervalClass": "onebit.hypotheses.intervals",
    "Iteration": "onebit.explore.solution",
    "ListLearner": "onebit.learners.paper.lists",
    "ListTable": "onebit.hypotheses.lists",
    "Mixture": "onebit.explore.mixture",
    "ModelList": "onebit.hypotheses.finite",
    "NatarajanLearner": "onebit.learners.paper.cover",
    "OnebitError": "onebit.errors",
    "PanelLearner": "onebit.learners.certified",
    "PaperLearner": "onebit.learners.paper.algorithm1",
    "Plan": "onebit.learners.paper.schedule",
    "Pool": "onebit.learners.items",
    "PredictionTable": "onebit.hypotheses.finite",
    "Question": "onebit.records",
    "RowTraining": "onebit.asking",
    "RowQuestion": "onebit.asking",
    "ShardedTable": "onebit.passes",
    "SimulatedRater": "onebit.raters",
    "Status": "onebit.records",
    "Stream": "onebit.learners.items",
    "StumpClass": "onebit.hypotheses.stumps",
    "TrainingLearner": "onebit.learners.training.learner",
    "TreeClass": "onebit.hypotheses.trees",
    "UniformLearner": "onebit.learners.paper.uniform",
    "YesNoClassifier": "onebit.classifier",
    "build_cover": "onebit.hypotheses.cover",
    "choose": "onebit.choosing",
    "compare": "onebit.selecting",
    "create_learning_study": "onebit.study.opening",
    "create_study": "onebit.study.opening",
    "draw": "onebit.tables.drawing",
    "extend_study": "onebit.study.opening",
    "gate": "onebit.selecting",
    "graph_dimension": "onebit.hypotheses.natarajan",
    "hedge_plan": "onebit.learners.paper.sequel_sizes",
    "load_study": "onebit.study.opening",
    "natarajan_dimension": "onebit.hypotheses.natarajan",
    "plan": "onebit.selecting",
    "run": "onebit.learners.contract",
    "select": "onebit.selecting",
    "theorem_2_plan": "onebit.learners.paper.schedule",
    "theorem_cover": "onebit.learners.paper.schedule",
    "theorem_plan": "onebit.learners.paper.schedule",
    "watch": "onebit.watched",
}

__all__ = sorted([*_HOME, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'onebit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
