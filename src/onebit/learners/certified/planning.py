"""What is fixed at the beginning of an epoch: what guesses are made with, and the law of the questions.

Everything here may look at all past answers and at the votes of the models, since it is fixed before the next example
is drawn. It decides how soon a run ends, never whether what it says is right.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from onebit.errors import InvalidInputError
from onebit.learners.certified import constants
from onebit.learners.certified.guesses import Guess
from onebit.learners.certified.law import Law, PairsLaw
from onebit.learners.certified.outputs import Floats, Ints
from onebit.learners.certified.pairs import PairsStanding
from onebit.learners.certified.standing import Standing
from onebit.records import EpochRecord


@dataclass(frozen=True, eq=False)
class Plan:
    """The plan of an epoch, as it is recorded."""

    guess: Guess
    law: Law

    @classmethod
    def of_record(
        cls,
        record: EpochRecord,
        names: Ints,
        leader: int,
        law_of: Callable[[int, Ints, Floats, float, float], Law] = Law,
    ) -> Plan:
        """The plan of a log; ``names`` (V,) are the survivors' numbers in it, and ``leader`` is one of these rows."""
        if not {name for name, _ in record.mixture} <= set(names.tolist()):
            raise InvalidInputError(f"epoch {record.number} asks for rivals that do not survive until then")
        if record.merit and len(record.merit) != len(record.trust):
            raise InvalidInputError(
                f"epoch {record.number} has merit for {len(record.merit)} models and trust for {len(record.trust)}; a "
                "model that votes has both"
            )
        row = {name: place for place, name in enumerate(names.tolist())}
        rivals = np.array([row[name] for name, _ in record.mixture], dtype=np.int64)
        needs = np.array([need for _, need in record.mixture], dtype=np.float64)
        law = law_of(leader, rivals, needs, record.gamma, record.sure_from)
        merit = np.array(record.merit) if record.merit else None
        return cls(Guess(np.array(record.trust), np.array(record.guess), merit), law)


class Scores:
    """The scores S(x) of the rounds lately drawn, each by the law of its epoch."""

    def __init__(self) -> None:
        self._latest: deque[Floats] = deque()
        self._n = 0

    def add(self, scores: Floats) -> None:
        self._latest.append(scores)
        self._n += scores.size
        while self._n - self._latest[0].size >= constants.MOST_SCORED:
            self._n -= self._latest.popleft().size

    def sure_from(self) -> float:
        """The score from which on an item is always asked about; 0 while there are too few to say."""
        if self._n < constants.LEAST_SCORED:
            return 0.0
        return round(float(np.quantile(np.concatenate(self._latest), constants.SURE_QUANTILE)), constants.DECIMALS)


def needed_rounds(standing: Standing, n_rounds: int, eps: float) -> Floats:
    """Rounds in which each survivor is ruled out as one ahead of the leader by eps, roughly; 0 for the leader. (V,).

    With D of mean d and second moment V a round wins about (eps - d)^2 / 2V.
    """
    survivors = standing.survivors
    if isinstance(standing, PairsStanding):
        return standing.needed_rounds(n_rounds)
    if n_rounds == 0:
        everybody: Floats = (survivors != standing.leader).astype(np.float64)
        return everybody
    total, squares = (sums[survivors] for sums in standing.moments())
    d, V = total / n_rounds, np.maximum(squares, 1) / n_rounds
    lag = np.maximum(-d - constants.TOO_LOW * np.sqrt(V / n_rounds), 0)
    missing = np.maximum(standing.threshold[standing.leader] - standing.log_wealth(eps, keep=True)[survivors], 0)
    needed: Floats = np.where(survivors == standing.leader, 0.0, missing * 2 * V / (eps + lag) ** 2)
    return needed


def rounds_for(n_raters: int, questions_per_round: float, n_rounds: int, needed: Floats) -> int:
    """Rounds in which so many raters who answer at once seldom wait; fewer where too little is known to ask so much.

    There were ``n_rounds`` so far, and ``needed`` is that of ``needed_rounds``.
    """
    wanted = constants.QUESTIONS_PER_RATER * n_raters / questions_per_round
    return math.ceil(min(wanted, constants.MOST_GROWTH * n_rounds, constants.NEEDED_SHARE * float(needed.max())))


def row_of_leader(standing: Standing) -> int:
    """The leader's place among the survivors."""
    return int(np.flatnonzero(standing.survivors == standing.leader)[0])


def kind_of_law(standing: Standing) -> type[Law]:
    """By which law labels are asked about: where all pairs count, it serves all survivors alike."""
    return PairsLaw if isinstance(standing, PairsStanding) else Law


def law_of_needs(standing: Standing, needed: Floats, sure_from: float, n_left: int | None) -> Law:
    """The law that serves those who need most; ``n_left`` examples are left, None if there is no end to them.

    ``needed`` (V,) is that of ``needed_rounds``. To pass over items saves answers and takes more examples: where these
    may run out first, every item is asked about.
    """
    leader, kind = row_of_leader(standing), kind_of_law(standing)
    rivals = np.flatnonzero(standing.survivors != standing.leader)
    if isinstance(standing, PairsStanding):
        rivals = np.arange(standing.survivors.size)
    most = float(needed[rivals].max())
    needs = np.maximum(needed[rivals] / most, constants.LEAST_NEED) if most > 0 else np.ones(rivals.size)
    is_scarce = n_left is not None and most > n_left
    return kind(leader, rivals, needs.round(constants.DECIMALS), constants.GAMMA, 0.0 if is_scarce else sure_from)


def law_of_nobody(standing: Standing) -> Law:
    """For protocols in which no label is drawn."""
    return Law(row_of_leader(standing), np.empty(0, dtype=np.int64), np.empty(0), 1.0, 0.0)
