"""The law of a rival's questions is the one that its propensities say."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.explore.mixture import Mixture
from onebit.hypotheses.finite import PredictionTable
from onebit.research.rivals.law import Law

#: Three hypotheses on two items; the last abstains on the second.
TABLE = PredictionTable([[0, 1], [2, 1], [0, -1]], n_labels=3)
MIXTURE = Mixture.of([0, 1, 2], np.array([0.5, 0.3, 0.2]))


@pytest.mark.parametrize("law", [Law(None, 1.0), Law(MIXTURE, 0.4), Law(MIXTURE, 0.0)])
def test_frequencies_are_the_propensities(law: Law) -> None:
    n = 60_000
    x = np.arange(n) % 2
    label, propensity = law.draw(TABLE, x, np.random.default_rng(0).random((n, 3)))
    table = law.table(TABLE, np.array([0, 1]), 2)
    assert propensity == pytest.approx(table[x, label])
    for item in (0, 1):
        shares = np.bincount(label[x == item], minlength=3) / (n / 2)
        # Four standard deviations of a share: a false alarm in about one of 2,000 runs of the nine shares.
        assert np.abs(shares - table[item]).max() < 4 * np.sqrt(0.25 / (n / 2))


def test_table_by_hand() -> None:
    expected = [[0.6 * 0.7 + 0.4 / 3, 0.4 / 3, 0.6 * 0.3 + 0.4 / 3]]
    who_abstains = 0.6 * 0.2 / 3 + 0.4 / 3
    expected.append([who_abstains, 0.6 * 0.8 + who_abstains, who_abstains])
    assert Law(MIXTURE, 0.4).table(TABLE, np.array([0, 1]), 2) == pytest.approx(np.array(expected))
