"""The contract suites, for learners, stores, hypothesis classes and raters of your own.

A suite is a class of tests. Subclass it in a test file under a name that begins with ``Test``, override the factory
that it names, and run pytest: it says whether what you wrote keeps the contract. The suites are those that onebit's own
implementations pass, and ``examples/own_tests.py`` runs one of each kind.
"""

from __future__ import annotations

try:
    import pytest
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        "the suites of onebit.testing run under pytest, which is not installed; pip install pytest", name="pytest"
    ) from None

# Before they are imported, so that a test that fails shows what it compared.
pytest.register_assert_rewrite(*(f"onebit.testing.{name}" for name in ("hypotheses", "learners", "raters", "stores")))

from onebit.testing.hypotheses import ExactSuite, HypothesisSuite  # noqa: E402
from onebit.testing.learners import LearnerSuite, StreamLearnerSuite  # noqa: E402
from onebit.testing.raters import RaterSuite, SteadyRaterSuite  # noqa: E402
from onebit.testing.stores import StoreSuite  # noqa: E402

__all__ = [
    "ExactSuite",
    "HypothesisSuite",
    "LearnerSuite",
    "RaterSuite",
    "SteadyRaterSuite",
    "StoreSuite",
    "StreamLearnerSuite",
]
