"""The share of uniform guesses that the potential takes."""

from __future__ import annotations

import pytest

from onebit.errors import InvalidInputError
from onebit.explore.potential import check_gamma


@pytest.mark.parametrize("gamma", [1e-9, 0.1, 0.5])
def test_every_share_up_to_a_half_is_taken(gamma: float) -> None:
    assert check_gamma(gamma) == gamma


@pytest.mark.parametrize("gamma", [0.0, 0.9e-9, 0.51, 1.0])
def test_a_share_that_leaves_labels_unasked_or_is_most_of_them_is_refused(gamma: float) -> None:
    with pytest.raises(InvalidInputError, match="gamma is"):
        check_gamma(gamma)
