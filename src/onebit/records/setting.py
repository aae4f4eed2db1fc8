"""What a selection or a training was created with, as its log keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from onebit.randomness import fresh_seed
from onebit.records.numbers import Count, Finite

#: How certified learners ask: one question about an example, labels until a yes, every output, or the label itself.
AskingProtocol = Literal["one-shot", "follow-up", "panel", "labels"]
#: As above, or by what the table looks like.
ProtocolChoice = Literal["auto", "one-shot", "follow-up", "panel", "labels"]
#: How a classifier is trained: one question about each item drawn, or items chosen and asked about until a yes.
TrainingProtocol = Literal["one-shot", "follow-up"]
#: What "best" is about: the items of a table, or the distribution that they were drawn from.
Population = Literal["pool", "stream"]
#: How the best model is looked for: with a certificate, or for comparison by Algorithm 1 or by uniform guesses.
SelectorName = Literal["certified", "paper", "uniform"]
#: Probability with which a statement may be wrong, unless another is given.
DELTA = 0.05
#: Answers for each item where training is given no budget.
ANSWERS_PER_ITEM = 2


@dataclass(frozen=True, slots=True)
class Setting:
    """What a selection was created with; nothing of it changes later.

    Raters are taken to say no to a right label with probability at most ``f_no``, and yes to a wrong one with at most
    ``f_yes``. ``exhaustive``: the right label of every item is one of the table's labels. ``seed_given``: somebody
    chose the seed; otherwise it came from the operating system. With a ``baseline``, the number of a model, it is a
    gate: every other model is held against that one, and ``eps`` is the margin. With ``top``, so many best models are
    looked for and not one; with ``tiers``, all pairs of models are compared. ``spends``: the run goes on until its
    ``budget`` is used, and ``eps`` is only what its bets are made for.
    """

    eps: Finite
    delta: Finite = DELTA
    protocol: AskingProtocol = "one-shot"
    population: Population = "pool"
    passive: bool = False
    budget: Count | None = None
    seed: Count = field(default_factory=fresh_seed)
    f_no: Finite = 0.0
    f_yes: Finite = 0.0
    exhaustive: bool = False
    seed_given: bool = True
    baseline: Count | None = None
    top: Count | None = None
    tiers: bool = False
    spends: bool = False

    @property
    def ranks(self) -> bool:
        """Whether more is looked for than the best model, or how candidates compare with one: top, or tiers."""
        return self.top is not None or self.tiers


@dataclass(frozen=True, slots=True)
class TrainingSetting:
    """What the training of a classifier was created with; nothing of it changes later.

    At most ``budget`` answers, of which ``audit`` (None: a share) are kept for the accuracy interval, which may be
    wrong with probability ``delta``. With ``target``, training ends once that accuracy is shown. ``seed_given``,
    ``f_no`` and ``f_yes`` as in :class:`Setting`.
    """

    budget: Count
    protocol: TrainingProtocol = "one-shot"
    target: Finite | None = None
    audit: Count | None = None
    delta: Finite = DELTA
    seed: Count = field(default_factory=fresh_seed)
    seed_given: bool = True
    f_no: Finite = 0.0
    f_yes: Finite = 0.0
