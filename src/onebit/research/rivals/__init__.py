"""The systems that the paper builds on or compares itself with, on the same learner contract; see docs/rivals.md.

Uniform guesses and full labels are in ``learners/paper``. The learner of Daniely, Sabato, Ben-David and Shalev-Shwartz
(2011) for Natarajan classes is :class:`onebit.learners.paper.uniform.UniformLearner` on the infinite class: uniform
guesses, then ERM. What the theorems of all of them ask for is in ``learners/paper/rates.py``. Each module says where
its constants were found, or derives what it promises. Those of ``labelled.py`` ask for
labels to choose a model, and are no learners.
"""

from onebit.research.rivals.banditron import BanditronLearner
from onebit.research.rivals.coda import Coda
from onebit.research.rivals.exp4 import Exp4Learner
from onebit.research.rivals.explore_first import ExploreFirstLearner
from onebit.research.rivals.iltcb import IltcbLearner
from onebit.research.rivals.labelled import RandomLabels
from onebit.research.rivals.model_picker import ModelPicker
from onebit.research.rivals.model_selector import ModelSelector
from onebit.research.rivals.policy_elimination import PolicyEliminationLearner
from onebit.research.rivals.randomized_ucb import RandomizedUcbLearner
from onebit.research.rivals.sparse_regret import SparseRegretLearner

__all__ = [
    "BanditronLearner",
    "Coda",
    "Exp4Learner",
    "ExploreFirstLearner",
    "IltcbLearner",
    "ModelPicker",
    "ModelSelector",
    "PolicyEliminationLearner",
    "RandomLabels",
    "RandomizedUcbLearner",
    "SparseRegretLearner",
]
