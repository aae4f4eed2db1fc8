"""What one batch of fresh items of a watch was created with, as its log keeps it, and what a watch tells."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from onebit.randomness import fresh_seed
from onebit.records.numbers import Count, Finite

#: While nothing is wrong, a false alarm comes once in so many batches on average at most, unless another is given.
FALSE_ALARM_EVERY = 1000
#: A batch asks about items until so many answers are asked for, unless another number is given.
ANSWERS_PER_BATCH = 20


@dataclass(frozen=True, slots=True)
class WatchSetting:
    """What a batch of a watch was created with; nothing of it changes later. Model 0 of its table is the choice.

    An alarm says that a rival was ahead of the choice by more than ``eps`` on a batch; while that is not so, it comes
    once in ``false_alarm_every`` batches on average at most. ``of`` is the digest of the first event of the study that
    is watched, ``after`` that of the log before this one: of the study, or of the last batch as far as it had come.
    ``carried`` has the evidence of each rival (N - 1, n_bets) from there. ``batch`` counts from 1.
    """

    eps: Finite
    false_alarm_every: Finite
    answers: Count
    batch: Count
    of: str
    after: str
    carried: tuple[tuple[Finite, ...], ...]
    seed: Count = field(default_factory=fresh_seed)
    seed_given: bool = True
    protocol: Literal["panel"] = "panel"


@dataclass(frozen=True, slots=True)
class WatchSoFar:
    """What the next batch of a watch takes over: from the study that is watched, or from the batch before.

    ``models`` are the choice and its rivals, in this order; None before the first batch, whose table decides it. The
    rest is as in :class:`WatchSetting`.
    """

    chosen: str
    models: tuple[str, ...] | None
    eps: float
    false_alarm_every: float | None
    batch: int
    of: str
    after: str
    carried: tuple[tuple[float, ...], ...]
