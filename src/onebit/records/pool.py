"""Which rows of a large pool a training chooses from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onebit.errors import check_count
from onebit.randomness import generator

#: Rows of a pool that a training chooses from: all of them up to so many, and more only with a budget that may need
#: them, so many for each answer. Origin: follow-up chooses out of 20,000 (``MOST_LISTED`` of the learner) as long as
#: one of these is unknown, and keeps a tenth of the pool to be drawn at random; one-shot looks at about 20 rows per
#: answer at most (``MOST_PASSED_OVER``). So for 10,000 answers what would be asked of the whole pool is asked of these.
MOST_POOL, ROWS_PER_ANSWER = 200_000, 2


def rows_of_pool(n_rows: int, budget: int | None, seed: int) -> NDArray[np.int64] | None:
    """The rows that are chosen from, rising: any set of so many is as likely as any other. None: all ``n_rows``.

    They are drawn without regard to what is in them, so what is drawn from them at random is drawn at random from the
    whole pool: an audit of such rows is an audit of the pool.

    >>> rows_of_pool(MOST_POOL, None, seed=0) is None
    True
    >>> rows_of_pool(10**9, None, seed=0).size
    200000
    """
    if n_rows <= MOST_POOL:
        return None
    n_wanted = max(MOST_POOL, 0 if budget is None else ROWS_PER_ANSWER * check_count("budget", budget))
    if n_rows <= n_wanted:
        return None
    rows: NDArray[np.int64] = np.sort(generator(seed, "rows of the pool").choice(n_rows, n_wanted, replace=False))
    return rows
