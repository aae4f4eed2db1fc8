"""The contract under its name of 0.1.0; :mod:`onebit.learners.contract` is where it stands."""

from onebit.learners.contract import EpochLearner, Learner, R, Result, run

__all__ = ["EpochLearner", "Learner", "R", "Result", "run"]
