"""The share of uniform guesses that the potential takes, and the variance that it bounds."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.errors import InvalidInputError
from onebit.explore.potential import check_gamma, variance_bound


@pytest.mark.parametrize("gamma", [1e-9, 0.1, 0.5])
def test_every_share_up_to_a_half_is_taken(gamma: float) -> None:
    assert check_gamma(gamma) == gamma


@pytest.mark.parametrize("gamma", [0.0, 0.9e-9, 0.51, 1.0])
def test_a_share_that_leaves_labels_unasked_or_is_most_of_them_is_refused(gamma: float) -> None:
    with pytest.raises(InvalidInputError, match="gamma is"):
        check_gamma(gamma)


def test_the_variance_by_hand() -> None:
    """Eq. (3), gamma = 1/2, K = 4: W_gamma is W / 2 + 1/8, so 3/8, 5/8 and 1/8; right on the first and the last."""
    found = variance_bound(np.array([True, False, True]), np.array([0.5, 1.0, 0.0]), 0.5, 4)
    assert found == pytest.approx((8 / 3 + 8) / 3)
