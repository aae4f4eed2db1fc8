"""The certified learner: the best of N models within eps, at any stopping time. ``learner.py`` is where to begin."""

from onebit.learners.certified.learner import CertifiedLearner
from onebit.learners.certified.panel import PanelLearner
from onebit.learners.certified.statement import CertifiedResult

__all__ = ["CertifiedLearner", "CertifiedResult", "PanelLearner"]
