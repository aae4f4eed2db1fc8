"""What the tests of the certified learner share: a small problem, and every protocol on a pool and on a stream."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.problems import models_of_accuracy

from onebit.hypotheses.finite import FiniteClass, PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.certified.constants import LOOKED_AT_EACH, LOOKED_AT_MOST
from onebit.learners.contract import run
from onebit.learners.items import ItemSource, Pool, Stream
from onebit.records import Answer, AskingProtocol, EpochRecord, Question

Ints = NDArray[np.int64]
N_LABELS, N_ITEMS = 4, 60
TABLE, TRUTH = models_of_accuracy(np.random.default_rng(3), np.array([0.4, 0.75, 0.6, 0.85]), N_ITEMS, N_LABELS)
#: Some abstain here and there, and nobody is right on the last two items.
TABLE[0, ::7] = TABLE[2, ::5] = -1
TABLE[:, -2:] = np.where(TABLE[:, -2:] == TRUTH[-2:], (TRUTH[-2:] + 1) % N_LABELS, TABLE[:, -2:])
ACCURACY = (TABLE == TRUTH).mean(axis=1)
BEST = int(np.argmax(ACCURACY))
CLASS = PredictionTable(TABLE, N_LABELS)
#: The examples of the streams below, and how many of them are only looked at, for the vote.
EXAMPLES = np.random.default_rng(4).integers(0, N_ITEMS, 20_000)
N_LOOKED_AT = min(LOOKED_AT_MOST, LOOKED_AT_EACH * len(TABLE))

Told = list[tuple[Question, Answer | int]]
Rater = Callable[[Question], Answer | int]


@dataclass(frozen=True)
class Kind:
    """A protocol on a pool or a stream."""

    protocol: AskingProtocol
    passive: bool
    pool: bool

    def learner(self, hypotheses: FiniteClass = CLASS, examples: Ints = EXAMPLES, **options: Any) -> CertifiedLearner:
        items: ItemSource = Pool(np.arange(N_ITEMS)) if self.pool else Stream(examples.tolist())
        chosen = {"eps": 0.1, "delta": 0.1, "seed": 1, **options}
        return CertifiedLearner(hypotheses, items, protocol=self.protocol, passive=self.passive, **chosen)

    def example(self, question: Question, examples: Ints = EXAMPLES) -> int:
        return question.item if self.pool else int(examples[question.item])

    def answer(self, question: Question, examples: Ints = EXAMPLES) -> Answer | int:
        truth = int(TRUTH[self.example(question, examples)])
        if question.label is None:
            return truth
        return Answer.YES if question.label == truth else Answer.NO

    def wrong_answer(self, question: Question) -> Answer | int:
        if question.label is None:
            return (int(self.answer(question)) + 1) % N_LABELS  # type: ignore[arg-type]
        return Answer.NO if self.answer(question) is Answer.YES else Answer.YES


PROTOCOLS: tuple[AskingProtocol, ...] = ("one-shot", "follow-up", "labels")
KINDS = {
    f"{protocol}{'-passive' * passive}-{'pool' if pool else 'stream'}": Kind(protocol, passive, pool)
    for protocol in PROTOCOLS
    for passive in ((False, True) if protocol == "labels" else (False,))
    for pool in (True, False)
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
ONE_SHOT_POOL, FOLLOW_UP_POOL = KINDS["one-shot-pool"], KINDS["follow-up-pool"]
ONE_SHOT_STREAM = KINDS["one-shot-stream"]
one_shot = pytest.mark.parametrize("kind", [KINDS["one-shot-pool"], KINDS["one-shot-stream"]], ids=["pool", "stream"])
follow_up = pytest.mark.parametrize(
    "kind", [KINDS["follow-up-pool"], KINDS["follow-up-stream"]], ids=["pool", "stream"]
)
streams = pytest.mark.parametrize(
    "kind", [k for k in KINDS.values() if not k.pool], ids=[n for n in KINDS if "stream" in n]
)


def run_telling(kind: Kind, learner: CertifiedLearner, at_a_time: int = 256, rater: Rater | None = None) -> Told:
    """Run to the end; the questions and answers in the order told."""
    told: Told = []

    def telling(question: Question) -> Answer | int:
        answer = (rater or kind.answer)(question)
        told.append((question, answer))
        return answer

    run(learner, telling, at_a_time)
    return told


def run_until(kind: Kind, learner: CertifiedLearner, n_epochs: int, examples: Ints = EXAMPLES) -> None:
    """Answer until so many epochs have begun."""
    while len(learner.epochs) < n_epochs and isinstance(questions := learner.ask(10_000), tuple):
        for question in questions:
            learner.tell(question.id, kind.answer(question, examples))


def everything(learner: CertifiedLearner) -> dict[str, Any]:
    """All that a run says, to be compared bit by bit."""
    return {
        "result": asdict(replace(learner.result, measure=None, approach=None)),
        "epochs": list(learner.epochs),
        "closings": list(learner.closings),
    }


def by_epoch(told: Told) -> dict[int, list[tuple[Any, ...]]]:
    """The questions of each epoch without their order and numbers, which follow-ups may have otherwise."""
    found = defaultdict(list)
    for q, _ in told:
        found[q.epoch].append((q.item, -1 if q.label is None else q.label, q.propensity))
    return {epoch: sorted(questions) for epoch, questions in found.items()}


def said_by(record: EpochRecord, example: int) -> list[int]:
    return [int(label) for label in TABLE[list(record.survivors), example]]


def guesses_of(record: EpochRecord, example: int, A: list[int], answered: set[int]) -> dict[int, float]:
    """Step 2: the guess about each label of A, where those ``answered`` have a verdict; equal rows are none here."""
    weight: dict[int, float] = defaultdict(float)
    answered = answered & set(said_by(record, example))
    for trust, label in zip(record.trust, TABLE[:, example].tolist(), strict=True):
        if label >= 0 and label not in answered:
            weight[label] += trust
    share = {a: weight[a] / sum(weight.values()) for a in A}
    odds = {a: math.log((share[a] + 0.01) / (1 - share[a] + 0.01)) for a in A}
    one, own, top, leader = record.guess
    right = {}
    for a in A:
        score = one + own * odds[a] + top * max(odds.values()) + leader * (TABLE[record.leader, example] == a)
        right[a] = min(max(1 / (1 + math.exp(-score)), 0.005), 0.97)
    together = max(sum(right.values()), 0.98)
    return {a: round(p * 0.98 / together, 6) for a, p in right.items()}


def law_of(record: EpochRecord, example: int, A: list[int], verdicts: dict[int, Answer]) -> tuple[list[float], float]:
    """Step 2: the probability of each label of A given that the item is asked about, and that of the item."""
    guess = guesses_of(record, example, A, set(verdicts))
    if Answer.YES in verdicts.values():
        guess = dict.fromkeys(A, 0.0)
    scores = []
    for a in A:
        is_leaders = TABLE[record.leader, example] == a
        relevance = sum(need for row, need in record.mixture if (TABLE[row, example] == a) != is_leaders)
        scores.append(math.sqrt(relevance * (guess[a] * (1 - guess[a]) + 0.02)))
    law = [(1 - record.gamma) * score / sum(scores) + record.gamma / len(A) for score in scores]
    p = min(max(sum(scores) / record.sure_from, 0.15), 1.0) if record.sure_from else 1.0
    return law, p
