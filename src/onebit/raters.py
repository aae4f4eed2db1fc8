"""Raters: whoever answers "is this label right?"; simulated ones who err, can't tell, or answer late.

What a simulated rater says depends on its seed, the item and the label alone: asked again, it says the same; unless it
is made to err anew.
"""

from __future__ import annotations

import hashlib
import math
from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from onebit.errors import InvalidInputError, OnebitError, check_count, check_fraction
from onebit.records import Answer, Question, Status

Rater = Callable[[Question], Answer | int]

#: How often the answer to one question may be lost before the simulation is given up.
MOST_ATTEMPTS = 1000


class SimulatedRater:
    """A rater who knows the true label of every item and never errs; asked for a label, it gives the label.

    >>> SimulatedRater([2, 0])(Question(id=0, item=1, label=2, propensity=0.5, epoch=0))
    <Answer.NO: 'no'>
    """

    def __init__(self, truth: ArrayLike) -> None:
        labels = np.asarray(truth)
        if labels.ndim != 1 or labels.dtype.kind not in "iu":
            raise InvalidInputError(
                f"the truth has shape {labels.shape} and type {labels.dtype}; give one whole number for each item"
            )
        self._truth = labels.tolist()

    def __call__(self, question: Question) -> Answer | int:
        truth: int = self._truth[question.item]
        if question.label is None:
            return truth
        return Answer.YES if question.label == truth else Answer.NO


class VerdictRater:
    """A rater who says about each output what ``verdicts`` (N, n) say, where models say ``predictions`` (N, n).

    1 is yes, 0 is no, and anything else can't tell; of equal outputs the first model's verdict counts.

    >>> VerdictRater([[0], [1]], [[1], [1]])(Question(id=0, item=0, label=1, propensity=1.0, epoch=0))
    <Answer.YES: 'yes'>
    """

    def __init__(self, predictions: ArrayLike, verdicts: ArrayLike) -> None:
        self._predictions, self._verdicts = np.asarray(predictions), np.asarray(verdicts)

    def __call__(self, question: Question) -> Answer:
        says = np.flatnonzero(self._predictions[:, question.item] == question.label)
        if question.label is None or says.size == 0:
            raise InvalidInputError(
                f"question {question.id} is about label {question.label} of item {question.item}, and no model gives "
                "it; verdicts are about outputs"
            )
        verdict = self._verdicts[says[0], question.item]
        return {1: Answer.YES, 0: Answer.NO}.get(int(verdict), Answer.CANT_TELL)


class ErringRater:
    """A rater who says no to the right label with probability ``f_no``, and yes to a wrong one with ``f_yes``.

    A single number is the same for every item and label, as a certificate about accuracy requires; an array has a
    rate for each item. With ``anew`` every question is answered on its own; otherwise an error is repeated. Asked
    for the label itself it raises InvalidInputError: the rates do not say what it
    would give.

    >>> ErringRater([2, 0], f_no=1.0, f_yes=0.0)(Question(id=0, item=1, label=0, propensity=0.5, epoch=0))
    <Answer.NO: 'no'>
    """

    def __init__(
        self, truth: ArrayLike, *, f_no: ArrayLike, f_yes: ArrayLike, seed: int = 0, anew: bool = False
    ) -> None:
        self._anew = anew
        self._knows = SimulatedRater(truth)
        self._f_no = _Rate("f_no", f_no, n_items=np.size(truth))
        self._f_yes = _Rate("f_yes", f_yes, n_items=np.size(truth))
        self._seed = check_count("seed", seed, least=0)

    def __call__(self, question: Question) -> Answer:
        if question.label is None:
            raise InvalidInputError(
                f"question {question.id} asks for the label itself; this rater's errors are those of yes/no answers. "
                "Use SimulatedRater, or a protocol that asks about labels"
            )
        right = self._knows(question) is Answer.YES
        rate = self._f_no if right else self._f_yes
        asked = (question.id,) if self._anew else (question.item, question.label)
        errs = _uniform(self._seed, "errs", *asked) < rate.at(question.item)
        return Answer.YES if right != errs else Answer.NO


class DrawnLabelsRater:
    """A rater of a world without one true label per item: each question draws the label of its item anew.

    ``chances`` (n, K) are P(y | x) of each item; a row may add up to less than 1, and then the item has no right label
    with what is missing. This is the paper's setting, in which y is random given x: an item that is drawn twice may
    have two labels. For questions that are rounds of their own, as those of the paper's and the sequel's learners and
    of one-shot on a stream; a protocol that asks several questions about one label, or remembers verdicts, needs one.

    >>> DrawnLabelsRater([[0.0, 1.0]])(Question(id=0, item=0, label=1, propensity=0.5, epoch=0))
    <Answer.YES: 'yes'>
    """

    def __init__(self, chances: ArrayLike, *, seed: int = 0) -> None:
        table = np.asarray(chances, dtype=np.float64)
        if table.ndim != 2 or not (table >= 0).all() or not (table.sum(axis=1) <= 1 + 1e-9).all():
            raise InvalidInputError(
                f"the chances have shape {table.shape}, sums from {table.sum(axis=-1).min(initial=1):g} to "
                f"{table.sum(axis=-1).max(initial=0):g}; give a row for each item, whose entries are at least 0 and "
                "add up to 1 at most"
            )
        self._edges = table.cumsum(axis=1)
        self._seed = check_count("seed", seed, least=0)

    def __call__(self, question: Question) -> Answer | int:
        # The label of a round is drawn by its number, so it is the same if the question is asked again.
        drawn = int(np.searchsorted(self._edges[question.item], _uniform(self._seed, "label", question.id), "right"))
        if question.label is None:
            if drawn == self._edges.shape[1]:
                raise InvalidInputError(
                    f"item {question.item} has no right label in round {question.id}; ask yes or no"
                )
            return drawn
        return Answer.YES if question.label == drawn else Answer.NO


class UnsureRater:
    """Another rater, who can't tell on some items: on each with ``probability``, one number or one for each item.

    Whether it can tell depends on the item and not on the label asked.
    """

    def __init__(self, rater: Rater, probability: ArrayLike, *, seed: int = 0) -> None:
        self._rater = rater
        self._probability = _Rate("the probability of can't tell", probability)
        self._seed = check_count("seed", seed, least=0)

    def __call__(self, question: Question) -> Answer | int:
        cant_tell = _uniform(self._seed, "can't tell", question.item) < self._probability.at(question.item)
        return Answer.CANT_TELL if cant_tell else self._rater(question)


class CallableRater:
    """A rater behind a function: ``answer(item, label)`` says True for yes, False for no, None for can't tell.

    An :class:`Answer` is taken as it is; anything else is refused, since a text such as "no" would count as true. Asked
    for the label itself it raises InvalidInputError.
    """

    def __init__(self, answer: Callable[[int, int], bool | Answer | None]) -> None:
        self._answer = answer

    def __call__(self, question: Question) -> Answer:
        if question.label is None:
            raise InvalidInputError(
                f"question {question.id} asks for the label itself; this rater says yes or no to a label. Give a "
                "function of the question that returns a label"
            )
        said = self._answer(question.item, question.label)
        if said is None:
            return Answer.CANT_TELL
        if isinstance(said, Answer):
            return said
        if not isinstance(said, bool | np.bool_):
            raise InvalidInputError(f"the answer was {said!r}; it must be True, False, None or an Answer")
        return Answer.YES if said else Answer.NO


class RandomDelays:
    """How long answers take: exponential with the mean given, one number or one for each item; some are lost.

    Each attempt at a question has a delay of its own; a lost answer takes forever.
    """

    def __init__(self, mean: ArrayLike = 1.0, *, lost: float = 0.0, seed: int = 0) -> None:
        self._mean = _Rate("the mean delay", mean, most=math.inf)
        # An answer that is always lost would be waited for without end.
        self._lost = lost if lost == 0 else check_fraction("the share of lost answers", lost)
        self._seed = check_count("seed", seed, least=0)

    def __call__(self, question: Question, attempt: int) -> float:
        if _uniform(self._seed, "lost", question.id, attempt) < self._lost:
            return math.inf
        return -self._mean.at(question.item) * math.log1p(-_uniform(self._seed, "delay", question.id, attempt))


R_co = TypeVar("R_co", covariant=True)


class AskTell(Protocol[R_co]):
    """What :func:`run_with_delays` needs of a learner."""

    @property
    def result(self) -> R_co: ...

    def ask(self, n: int = 1) -> tuple[Question, ...] | Status: ...

    def tell(self, question_id: int, answer: Answer | int) -> None: ...


def run_with_delays(
    learner: AskTell[R_co],
    rater: Rater,
    delay: Callable[[Question, int], float],
    *,
    n_raters: int = 4,
    patience: float = 10.0,
) -> R_co:
    """Run a learner with several raters who answer late, out of order, or not at all.

    Each of ``n_raters`` holds one question at a time and answers as ``rater`` does, ``delay(question, attempt)`` later.
    What has not come within ``patience`` is lost, and the same question is given out again as the next attempt:
    none is ever dropped, since answers that are missing for a reason would bias what is left. Time is simulated.
    """
    check_count("n_raters", n_raters)
    if not patience > 0:
        raise InvalidInputError(f"patience is {patience!r}; it must be above 0, or every answer would be lost")
    now, n_given = 0.0, 0
    again: deque[tuple[Question, int]] = deque()
    held: list[tuple[float, int, Question, int, bool]] = []
    while True:
        while len(held) < n_raters and (given := again.popleft() if again else _new_question(learner)) is not None:
            question, attempt = given
            wait = _checked_delay(delay(question, attempt), question, attempt)
            heappush(held, (now + min(wait, patience), n_given, question, attempt, wait <= patience))
            n_given += 1
        if not held:
            return learner.result
        now, _, question, attempt, came = heappop(held)
        if came:
            learner.tell(question.id, rater(question))
        else:
            again.append((question, attempt + 1))


def _new_question(learner: AskTell[object]) -> tuple[Question, int] | None:
    asked = learner.ask(1)
    return (asked[0], 0) if isinstance(asked, tuple) else None


def _checked_delay(wait: float, question: Question, attempt: int) -> float:
    if not wait >= 0:
        raise InvalidInputError(f"the delay of question {question.id} is {wait!r}; it must be at least 0")
    if attempt >= MOST_ATTEMPTS:
        raise OnebitError(
            f"the answer to question {question.id} was lost {attempt} times; make delays shorter or patience longer"
        )
    return wait


class _Rate:
    """A number from 0 to ``most`` for every item: the same for all, or one for each."""

    def __init__(self, name: str, value: ArrayLike, n_items: int | None = None, most: float = 1.0) -> None:
        rates = np.asarray(value)
        if rates.dtype.kind not in "iuf" or rates.ndim > 1:
            raise InvalidInputError(f"{name} is {value!r}; give a number, or an array with one for each item")
        if rates.ndim == 1 and n_items is not None and rates.size != n_items:
            raise InvalidInputError(f"{name} has {rates.size} numbers for {n_items} items; give one, or one for each")
        # Written so that NaN is refused too.
        if not ((rates >= 0) & (rates <= most) & np.isfinite(rates)).all():
            raise InvalidInputError(f"{name} is {value!r}; it must be from 0 to {most:g}, and finite")
        self._name = name
        self._rates: float | list[float] = rates.astype(np.float64).tolist()

    def at(self, item: int) -> float:
        if isinstance(self._rates, float):
            return self._rates
        if not 0 <= item < len(self._rates):
            raise InvalidInputError(f"{self._name} was given for items 0 to {len(self._rates) - 1}, not for {item}")
        return self._rates[item]


def _uniform(seed: int, name: str, *key: int) -> float:
    """A number on [0, 1) that depends on nothing but the seed, the name of its use and the key."""
    digest = hashlib.blake2b("/".join(map(str, (seed, name, *key))).encode(), digest_size=8).digest()
    # A double holds 53 bits; more could round up to 1.
    return (int.from_bytes(digest, "big") >> 11) / 2**53
