"""What is frozen when an epoch begins, and what was shown when it closed."""

from __future__ import annotations

from dataclasses import dataclass

from onebit.records.numbers import Count, Finite, Propensity


@dataclass(frozen=True, slots=True)
class EpochPlan:
    """What an epoch of training asks, fixed when it began: ``labels`` about ``items``, drawn with ``propensities``.

    ``guesses`` are the labels that the model held likeliest; in follow-up they are asked first. ``fresh`` says which
    items are a random sample that was never asked about. An epoch that ``audits`` asks whether the guesses are right.
    At most ``most_each`` questions are asked about an item, or its number in ``limits``, where there are any. The items
    ``left`` are no longer asked about from here on: they seem to have none of the labels.
    """

    number: Count
    audits: bool
    items: tuple[Count, ...]
    labels: tuple[Count, ...]
    propensities: tuple[Propensity, ...]
    guesses: tuple[Count, ...]
    fresh: tuple[bool, ...]
    most_each: Count = 1
    limits: tuple[Count, ...] = ()
    left: tuple[Count, ...] = ()


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """What was frozen before the first example of an epoch was drawn. Models are numbered as in the table.

    ``mixture`` holds the rivals of the leader that the law of the questions serves, and by how much: what each needs,
    of what the one needs that needs most. Of several equal models the first stands for all. ``trust`` has the weight of
    each vote behind the guesses, for the survivors of the first epoch in their order, and ``guess`` the coefficients;
    an item whose score is at least ``sure_from`` is always asked about. What a protocol does not use is empty. When it
    began, the ``n_open`` epochs before it were still open: it was planned by what the others had shown. Where a budget
    is spent, ``merit`` has for each vote by how much more it counts at an item, in log-odds, in the order of ``trust``,
    and scores are raised to the power ``sharpness``. Who leads is then reckoned on ``n_viewed`` items, 0 for 2,000.
    """

    number: Count
    first_round: Count
    n_rounds: Count
    leader: Count
    survivors: tuple[Count, ...]
    mixture: tuple[tuple[Count, Finite], ...]
    gamma: Finite
    trust: tuple[Finite, ...] = ()
    guess: tuple[Finite, ...] = ()
    sure_from: Finite = 0.0
    n_open: Count = 0
    merit: tuple[Finite, ...] = ()
    sharpness: Finite = 1.0
    n_viewed: Count = 0

    @property
    def n_closed(self) -> int:
        """How many epochs had closed when it began."""
        return self.number - self.n_open


@dataclass(frozen=True, slots=True)
class Closing:
    """What was shown when an epoch closed, from the first ``n_rounds`` rounds and ``n_answers`` answers of the run.

    In follow-up, one more label was asked in ``n_checks`` rounds to test what the protocol assumes, and
    ``n_contradicted`` of these contradicted it: a second label of an item got a yes, say. Where several best models are
    looked for, ``top`` are those that are named then; where all pairs are compared, the one that leads.
    """

    epoch: Count
    n_rounds: Count
    n_answers: Count
    leader: Count
    survivors: tuple[Count, ...]
    certified_eps: Finite
    n_checks: Count = 0
    n_contradicted: Count = 0
    top: tuple[Count, ...] = ()
