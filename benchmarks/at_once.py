"""What it costs in answers that many raters answer at once: epochs then have more questions, so that few raters wait.

The runs of ``selection.py`` on a pool, with seeds 0 to 9, at eps = .01 and delta = .05: with one rater, as at the
terminal, and with ten and a hundred, who hold three questions each, as the page does, and think 1 to 3 seconds about
each. ``answers`` are those that were given when the run ended; what raters still held then is not needed any more.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass, field

import numpy as np
from benchmarks.harness import Case, data_file, run_cases
from benchmarks.page_raters import AT_HAND
from benchmarks.selection import problem
from benchmarks.study import THINKING

from onebit.learners.certified import CertifiedLearner
from onebit.learners.items import Pool
from onebit.raters import SimulatedRater
from onebit.records import Question, RunStatus, Status

EPS, DELTA = 0.01, 0.05
N_SEEDS = 10
TABLES = ("letter_models.npz", "mmlu_pro.npz")


@dataclass(eq=False)
class Hand:
    """What a rater holds, and the answer that can still be taken back: it is sent with the next one."""

    questions: list[Question] = field(default_factory=list)
    unsent: Question | None = None


class Crowd:
    """Raters who answer until nothing is left to ask, as the page lets them; time is simulated."""

    def __init__(self, learner: CertifiedLearner, rater: SimulatedRater, n_raters: int, seed: int) -> None:
        self._learner, self._rater = learner, rater
        self._rng = random.Random(f"{seed} {n_raters}")
        self._hands = [Hand() for _ in range(n_raters)]
        #: Who presses a key when, and who waits for others.
        self._keys: list[tuple[float, int]] = []
        self._waiting: set[int] = set()
        self._now = 0.0
        self.n_keys = self.n_waits = 0

    def run(self) -> None:
        goes_on = all(self._take(who) for who in range(len(self._hands)))
        while goes_on and self._keys:
            self._now, who = heapq.heappop(self._keys)
            hand = self._hands[who]
            self._send(hand)
            hand.unsent = hand.questions.pop(0)
            goes_on = all(self._take(each) for each in sorted({who, *self._waiting}))
            self.n_keys += 1
            self.n_waits += who in self._waiting

    def _take(self, who: int) -> bool:
        """Get questions, and think about the first; whether the run goes on."""
        hand = self._hands[who]
        asked = self._ask(AT_HAND - len(hand.questions))
        if not hand.questions and not isinstance(asked, tuple):
            self._send(hand)
            asked = self._ask(AT_HAND)
        hand.questions += asked if isinstance(asked, tuple) else ()
        if hand.questions:
            self._waiting.discard(who)
            heapq.heappush(self._keys, (self._now + THINKING * self._rng.uniform(0.5, 1.5), who))
        else:
            self._waiting.add(who)
        return asked is not Status.DONE

    def _ask(self, n: int) -> tuple[Question, ...] | Status:
        """As a study does: no rater is given more ahead than others can have, too."""
        n_ready = self._learner.n_ready
        share = n if n_ready is None else -(-n_ready // len(self._hands))
        return self._learner.ask(max(1, min(n, share)))

    def _send(self, hand: Hand) -> None:
        if hand.unsent is not None:
            self._learner.tell(hand.unsent.id, self._rater(hand.unsent))
            hand.unsent = None


def one_run(case: Case, seed: int) -> tuple[int, int, float]:
    """The answers and epochs of one run, and the share of keys after which a rater waited."""
    on = problem(case["table"])
    learner = CertifiedLearner(
        on.hypotheses, Pool(np.arange(on.truth.size)), eps=EPS, delta=DELTA, protocol=case["protocol"], seed=seed
    )
    learner.expect(case["raters"])
    crowd = Crowd(learner, SimulatedRater(on.truth), case["raters"], seed)
    crowd.run()
    result = learner.result
    if result.status is not RunStatus.COMPLETE:
        raise RuntimeError(f"seed {seed} was not certified: {result.status.value}")
    return result.n_answers, len(learner.epochs), crowd.n_waits / crowd.n_keys


def measure(case: Case) -> Case:
    runs = np.array([one_run(case, seed) for seed in range(N_SEEDS)])
    answers = runs[:, 0]
    return {
        "answers": float(answers.mean()),
        "standard error": float(answers.std(ddof=1) / np.sqrt(N_SEEDS)),
        "epochs": float(runs[:, 1].mean()),
        "waited": float(runs[:, 2].mean()),
    }


if __name__ == "__main__":
    run_cases(
        "at_once",
        [
            {"table": table, "protocol": protocol, "raters": n_raters}
            for table in TABLES
            if data_file(table) is not None
            for protocol in ("one-shot", "follow-up")
            for n_raters in (1, 10, 100)
        ],
        measure,
    )
