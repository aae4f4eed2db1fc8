"""Errors, wherever they go."""

from __future__ import annotations

import pickle

from onebit.errors import OptionError


def test_an_error_about_an_option_comes_whole_out_of_another_process() -> None:
    """As from ``cross_val_score(..., n_jobs=2)``, which dies of an exception that it cannot read."""
    error = pickle.loads(pickle.dumps(OptionError("budget", "budget is 0; it must be at least 1")))
    assert (type(error), error.option, str(error)) == (OptionError, "budget", "budget is 0; it must be at least 1")
