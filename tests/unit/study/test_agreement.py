"""Agreement of raters by standard measures, against published examples and scikit-learn."""

from __future__ import annotations

from collections import Counter
from typing import cast

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from onebit.study.agreement import cohen_kappa, krippendorff_alpha

#: Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), B: binary data, two observers, no missing data.
MEG, OWEN = (0, 1, 0, 0, 0, 0, 0, 0, 1, 0), (1, 1, 1, 0, 0, 1, 0, 0, 0, 0)
#: C: nominal data, any number of observers, missing data.
MANY = [
    (1, 1, 1),
    (2, 2, 3, 2),
    (3, 3, 3, 3),
    (3, 3, 3, 3),
    (2, 2, 2, 2),
    (1, 2, 3, 4),
    (4, 4, 4, 4),
    (1, 1, 2, 1),
    (2, 2, 2, 2),
    (5, 5, 5),
    (1, 1),
    (3,),
]


def test_alpha_is_that_of_the_published_examples() -> None:
    assert krippendorff_alpha(zip(MEG, OWEN, strict=True)) == pytest.approx(0.095, abs=5e-4)
    assert krippendorff_alpha(MANY) == pytest.approx(0.743, abs=5e-4)


def test_alpha_is_not_defined_where_nothing_can_differ() -> None:
    assert krippendorff_alpha([]) is None
    assert krippendorff_alpha([("yes",), ("no",)]) is None
    assert krippendorff_alpha([("yes", "yes"), ("yes", "yes")]) is None


def test_kappa_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.integers(0, 3, (2, 40))
        pairs = Counter(zip(a.tolist(), b.tolist(), strict=True))
        assert cohen_kappa(cast("Counter[tuple[object, object]]", pairs)) == pytest.approx(cohen_kappa_score(a, b))


def test_kappa_is_not_defined_where_all_say_the_same() -> None:
    assert cohen_kappa({}) is None
    assert cohen_kappa({("yes", "yes"): 4}) is None
