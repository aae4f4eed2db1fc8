"""Where the certified learner stands: who leads, who may still be the best, and what is shown about the gap.

Everything here follows from the evidence by docs/certificate.md, steps 4 to 6.
"""

from __future__ import annotations

import math
from copy import copy

import numpy as np

from onebit.learners.evidence import Evidence
from onebit.learners.outputs import Bools, Floats, plurality
from onebit.learners.schedule import failure_per_leader

#: On the way the certified eps is one of eps, eps * STEP, eps * STEP^2, ..., 1.
STEP = 1.1
#: Steps between 0 and the certified eps in which "ahead by at most" is told, and the certified eps in the end.
FINE_STEPS = 10


class Standing:
    """The leader, the survivors and the certified eps. Rows count the distinct hypotheses.

    With raters who err, ``transfer`` is the least that a gap in yes-rates can be of the gap in accuracy.
    """

    def __init__(self, evidence: Evidence, *, eps: float, delta: float, transfer: float = 1.0) -> None:
        self._evidence, self._transfer = evidence, transfer
        #: What the hypotheses say on the examples of the vote, (N, m).
        self.looked_at = evidence.look()
        agreement = (self.looked_at == plurality(self.looked_at)).sum(axis=1)
        #: The log-wealth that shows something against each leader.
        self.threshold = -np.log(failure_per_leader(agreement, delta))
        self.survivors = np.arange(agreement.size)
        self.leader = int(np.argmax(agreement))
        self.is_exact = self.survivors.size == 1
        n_steps = math.ceil(math.log(1 / eps) / math.log(STEP))
        #: What the certified eps may be, and its place among them.
        self._ladder = [*(eps * STEP**k for k in range(n_steps)), 1.0]
        self._place = n_steps
        self._ahead: Floats | None = None
        self._frozen: Standing | None = None

    def frozen(self) -> Standing:
        """The standing as it is now, whatever is updated later; what is worked out about it stays worked out."""
        if self._frozen is None:
            self._frozen = copy(self)
            self._frozen._evidence = self._evidence.frozen()
        return self._frozen

    @property
    def certified_eps(self) -> float:
        """No model is ahead of the leader by more, as of the last update."""
        return 0.0 if self.is_exact else self._ladder[self._place]

    @property
    def is_over(self) -> bool:
        return self.is_exact or self._place == 0

    def update(self, exact_score: Floats | None) -> None:
        """Draw all conclusions from the evidence; ``exact_score`` (N,) where it is known who is how good."""
        self._ahead = self._frozen = None
        score = self._evidence.score if exact_score is None else exact_score
        self.leader = int(self.survivors[np.argmax(score[self.survivors])])
        behind = self._shown(0.0, keep=True)
        behind[self.leader] = False
        self.survivors = self.survivors[~behind[self.survivors]]
        exact = exact_score is not None or self.n_left() == 0
        self.is_exact = exact or self.survivors.size == 1
        if not self.is_exact:
            self._climb()

    def _climb(self) -> None:
        """Find the certified eps on the ladder, from where it was."""
        while self._place > 0 and self._is_shown(self._ladder[self._place - 1], keep=True):
            self._move(self._place - 1)
        # Another leader has other rivals, and less may be shown about them.
        while self._place < len(self._ladder) - 1 and not self._is_shown(self._ladder[self._place], True):
            self._move(self._place + 1)

    def _move(self, place: int) -> None:
        self._evidence.wealth.forget(self._transfer * self._ladder[self._place])
        self._place = place

    def log_wealth(self, c: float, keep: bool = False) -> Floats:
        """Of every hypothesis against the leader, at a gap c in accuracy."""
        return self._evidence.wealth.log_wealth(self.leader, self._transfer * c, keep)

    def moments(self) -> tuple[Floats, Floats]:
        """The sums of D against the leader over all rounds, and of its square; each of shape (N,)."""
        return self._evidence.moments(self.leader)

    def n_left(self) -> int | None:
        """How many rounds there can be at most, where items are drawn without replacement."""
        return self._evidence.n_left(self.survivors)

    def _shown(self, c: float, keep: bool = False) -> Bools:
        """For which hypotheses it is shown that, if it is the best, it is ahead of the leader by less than c."""
        shown: Bools = self.log_wealth(c, keep) >= self.threshold[self.leader]
        return shown

    def _is_shown(self, c: float, keep: bool = False) -> bool:
        """Whether it is shown for all survivors; the leader is not ahead of itself."""
        rivals = self.survivors[self.survivors != self.leader]
        return bool(self._shown(c, keep)[rivals].all())

    def ahead_at_most(self) -> Floats:
        """For each survivor: if it is the best, it is ahead of the leader by at most this. 0 for the leader.

        The largest is the certified eps, told more finely than on the way. Goes through all rounds a few times, once
        after each update.
        """
        if self._ahead is not None:
            return self._ahead
        bound = np.full(self.survivors.size, self.certified_eps)
        for c in np.linspace(0, self.certified_eps, FINE_STEPS, endpoint=False)[::-1]:
            shown = self._shown(c)[self.survivors]
            bound[shown] = np.minimum(bound[shown], c)
            if not shown.any():
                break
        bound[self.survivors == self.leader] = 0.0
        self._ahead = bound
        return bound
