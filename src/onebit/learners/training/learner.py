"""The training learner: a classifier from yes/no answers, and a valid interval for its accuracy.

It goes through *epochs*, at the end of which the model learns. In a training epoch it asks what teaches most; in an
audit it asks whether the classifier, now fixed, is right on items set aside at random and never trained on. Which items
and labels an epoch asks about is fixed when it begins, or follows from the answers about the same item, so it does not
matter in which order the answers come; except in an epoch that the budget cuts short.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from onebit.errors import InvalidInputError, check_count, check_fraction
from onebit.estimate.accuracy import AccuracyInterval
from onebit.hypotheses.base import Examples, check_n_labels, n_examples
from onebit.learners.base import Learner, Result
from onebit.learners.ledger import Ledger
from onebit.learners.training.audit import Audits
from onebit.learners.training.choice import uncertain_and_diverse
from onebit.learners.training.epoch import TrainingEpoch, begin_epoch, best_possible, draw_guesses
from onebit.learners.training.model import Bools, Known, Model, mean_belief
from onebit.randomness import RoundStream, generator
from onebit.records import Answer, Question, RunStatus, Status

TrainingProtocol = Literal["one-shot", "follow-up"]

#: A training epoch has this share of the answers so far, and at least so many questions; an audit's has so many.
EPOCH_SHARE, MIN_QUESTIONS, AUDIT_QUESTIONS = 0.02, 10, 50
#: Share of the budget that is kept for the audit, and share of the items that may be set aside for it.
AUDIT_SHARE, MOST_ASIDE = 0.05, 0.2
#: Follow-up: most items that are looked at to choose from.
MOST_LOOKED_AT = 3000
#: Follow-up: share of the items of an epoch that are drawn at random and not chosen, to see how it goes.
RANDOM_SHARE = 0.1
#: Answers about fresh items from which the recent accuracy is estimated.
RECENT = 300

PROMISE = (
    "none on the excess error; the accuracy interval, where there is one, holds for the model as it is, whenever one "
    "looks, if the pool is a random sample of the population"
)


@dataclass(frozen=True)
class VerifiedLabel:
    """A label that a rater confirmed, and the question whose answer was yes."""

    item: int
    label: int
    question: int


@dataclass(frozen=True, eq=False)
class TrainingResult(Result):
    """What was learned so far; ``chosen`` is the model.

    ``accuracy`` is the audit's interval for the model as it is now; None if it was trained since the last audit.
    ``recent_accuracy`` is an estimate from the last answers about fresh items, without a promise.
    """

    n_answers: int
    n_cant_tell: int
    accuracy: AccuracyInterval | None
    recent_accuracy: float | None
    verified: tuple[VerifiedLabel, ...]


class TrainingLearner(Learner[TrainingResult]):
    """Trains ``model`` on the pool ``x`` by yes/no questions. Not in the paper.

    Protocols: *one-shot*, one question about each drawn item (the pool is gone through in random order, again and
    again; what is known is not asked); *follow-up*, items chosen by what they teach, labels asked best guess first
    until a yes. ``budget`` answers in all, of which ``audit`` are kept for the interval (None: a twentieth). With
    ``target``, the run is complete once an audit shows an accuracy of at least that.

    The interval holds with probability at least 1 - delta for the population of which the pool is a random sample.
    There is no promise on the excess error. Each item has one right label; an item at which a rater can't tell is not
    trained on.
    """

    def __init__(
        self,
        model: Model,
        x: Examples,
        n_labels: int,
        *,
        budget: int,
        protocol: TrainingProtocol = "one-shot",
        target: float | None = None,
        audit: int | None = None,
        delta: float = 0.05,
        seed: int = 0,
    ) -> None:
        if protocol not in get_args(TrainingProtocol):
            raise InvalidInputError(f"protocol is {protocol!r}; it must be one-shot or follow-up")
        n_items, self._n_labels = check_count("the number of items", n_examples(x)), check_n_labels(n_labels)
        self._budget = check_count("budget", budget)
        n_aside = _n_aside(audit, n_items, budget, None if target is None else check_fraction("target", target))
        n_random = round(RANDOM_SHARE * (n_items - n_aside)) if protocol == "follow-up" else 0
        shuffled = generator(seed, "order of items").permutation(n_items)
        self._audits = Audits(shuffled[:n_aside].tolist(), check_fraction("delta", delta), target)
        #: Kept to be drawn at random, where items are chosen.
        self._random = deque(shuffled[n_aside : n_aside + n_random].tolist())
        self._trains_on = np.zeros(n_items, dtype=np.bool_)
        self._trains_on[shuffled[n_aside + n_random :]] = True
        self._pass: deque[int] = deque()
        self._model, self._x, self._protocol, self._seed = model, x, protocol, seed
        self._uniforms = RoundStream(seed, "rounds")
        self._ledger = Ledger(self._n_labels)
        self._place_of: dict[int, int] = {}
        self._possible: Bools = np.ones((n_items, self._n_labels), dtype=np.bool_)
        self._asked, self._dropped = np.zeros(n_items, dtype=np.bool_), np.zeros(n_items, dtype=np.bool_)
        self._confirmed_weight = np.zeros(n_items)
        self._verified: list[VerifiedLabel] = []
        self._recent: deque[float] = deque(maxlen=RECENT)
        self._n_rounds = self._n_refits = self._n_cant_tell = self._n_epochs = self._n_passes = 0
        self._questions_per_item = 1.0
        self._audited = False
        self._status = RunStatus.RUNNING
        self._epoch: TrainingEpoch | None = None

    def ask(self, n: int = 1) -> tuple[Question, ...] | Status:
        check_count("the number of questions asked for", n)
        self._settle()
        questions: list[Question] = []
        first, epoch = len(self._ledger.questions), self._epoch
        while epoch is not None and epoch.ready and len(questions) < min(n, self._limit - first):
            number, place = first + len(questions), epoch.ready.popleft()
            item, label, propensity = (of[place].item() for of in (epoch.items, epoch.label, epoch.propensity))
            questions.append(Question(number, item, label, propensity, self._n_epochs - 1))
            self._place_of[number] = place
        self._ledger.add(tuple(questions))
        if questions:
            return tuple(questions)
        return Status.WAIT if self._ledger.n_open else Status.DONE

    def tell(self, question_id: int, answer: Answer | int) -> None:
        question = self._ledger.record(question_id, answer)
        place = self._place_of.pop(question_id)
        self._n_cant_tell += answer is Answer.CANT_TELL
        self._take_in(question, answer)
        # An epoch stays until every question of it is answered.
        if self._epoch is not None:
            self._count(self._epoch, place, question, answer)

    @property
    def result(self) -> TrainingResult:
        self._settle()
        auditing = self._audited or (self._epoch is not None and self._epoch.audits)
        return TrainingResult(
            status=self._status,
            promise=PROMISE,
            n_rounds=self._n_rounds,
            chosen=self._model,
            oracle_calls=self._n_refits,
            intervals=None,
            achieved_eps=None,
            n_answers=self._ledger.n_answered,
            n_cant_tell=self._n_cant_tell,
            accuracy=self._audits.interval if auditing else None,
            recent_accuracy=min(1.0, float(np.mean(self._recent))) if self._recent else None,
            verified=tuple(sorted(self._verified, key=lambda verified: verified.question)),
        )

    def _take_in(self, question: Question, answer: Answer | int) -> None:
        """What an answer says about its item."""
        item, label = question.item, question.label
        self._asked[item] = True
        if label is None or answer is Answer.CANT_TELL:
            self._dropped[item] = True
        elif answer is Answer.NO:
            self._possible[item, label] = False
            # Where raters denied every label one of them erred, and the item would teach nonsense.
            self._dropped[item] |= not self._possible[item].any()
        else:
            self._possible[item] = np.arange(self._n_labels) == label
            self._confirmed_weight[item] = 1 / question.propensity
            self._verified.append(VerifiedLabel(item, label, question.id))

    def _count(self, epoch: TrainingEpoch, place: int, question: Question, answer: Answer | int) -> None:
        epoch.n_asked[place] += 1
        if epoch.audits:
            self._audits.record(answer is Answer.YES)
            return
        if epoch.n_asked[place] == 1 and answer is Answer.YES and question.label == epoch.belief[place].argmax():
            epoch.hit[place] = 1 / question.propensity
        possible = self._possible[question.item]
        if self._protocol == "follow-up" and answer is Answer.NO and possible.sum() > 1:
            epoch.label[place] = best_possible(epoch.belief[place], possible)
            epoch.ready.append(place)

    @property
    def _limit(self) -> int:
        """The number of answers at which the epoch ends at the latest: training leaves those of the audit."""
        auditing = self._epoch is not None and self._epoch.audits
        return self._budget if auditing else self._budget - len(self._audits.aside)

    def _settle(self) -> None:
        """Close the epoch if all its answers are there, and begin the next."""
        while self._status is RunStatus.RUNNING and self._ledger.n_open == 0:
            if self._epoch is not None:
                if self._epoch.ready and self._ledger.n_answered < self._limit:
                    return
                self._close(self._epoch)
            self._epoch = self._next_epoch()
            self._n_epochs += 1
            if self._epoch is None:
                self._status = RunStatus.COMPLETE if self._audits.reached else RunStatus.BUDGET

    def _close(self, epoch: TrainingEpoch) -> None:
        self._n_rounds += epoch.items.size
        self._audited = epoch.audits
        if epoch.audits:
            return
        asked = epoch.n_asked > 0
        self._recent.extend(epoch.hit[epoch.fresh & asked].tolist())
        self._questions_per_item = max(1.0, epoch.n_asked[asked].mean())
        rows = np.flatnonzero(self._asked & ~self._dropped)
        if rows.size:
            known = Known(self._x[rows], self._possible[rows], self._confirmed_weight[rows], self._ledger.n_answered)
            self._model.learn(known, generator(self._seed, f"training after epoch {self._n_epochs - 1}"))
            self._n_refits += 1

    def _next_epoch(self) -> TrainingEpoch | None:
        n_answers = self._ledger.n_answered
        n_to_audit = min(AUDIT_QUESTIONS, self._budget - n_answers)
        if self._audited:
            if aside := self._audits.take(n_to_audit):
                return self._audit_epoch(aside)
            if self._audits.over:
                return None
        recent = float(np.mean(self._recent)) if len(self._recent) == RECENT else None
        n_most = self._budget - n_answers - len(self._audits.aside)
        due = n_most > 0 and not self._audited and self._audits.due(recent, n_answers)
        if n_most > 0 and not due:
            n_questions = min(n_most, max(MIN_QUESTIONS, int(EPOCH_SHARE * n_answers)))
            epoch = self._one_shot(n_questions) if self._protocol == "one-shot" else self._follow_up(n_questions)
            if epoch is not None:
                return epoch
        self._audits.begin(n_answers, last=not due)
        aside = self._audits.take(n_to_audit)
        return self._audit_epoch(aside) if aside else None

    def _audit_epoch(self, aside: list[int]) -> TrainingEpoch:
        items = np.array(aside, dtype=np.int64)
        belief = mean_belief(self._model, self._x[items])
        return begin_epoch(items, belief.argmax(axis=1), np.ones(items.size), belief, fresh=None)

    def _one_shot(self, n_wanted: int) -> TrainingEpoch | None:
        """The next unknown items of this pass through the pool, or of a new one; None if all are known."""
        unknown = self._unknown()
        if not any(unknown[item] for item in self._pass):
            order = generator(self._seed, f"pass {self._n_passes}").permutation(np.flatnonzero(self._trains_on))
            self._pass = deque(order.tolist())
            self._n_passes += 1
        drawn: list[int] = []
        while self._pass and len(drawn) < n_wanted:
            drawn += [item for item in (self._pass.popleft(),) if unknown[item]]
        if not drawn:
            return None
        items = np.array(drawn, dtype=np.int64)
        beliefs = self._model.beliefs(self._x[items])
        uniform = self._uniforms.uniforms(self._n_rounds, items.size)[:, 0]
        label, propensity = draw_guesses(self._model, beliefs, self._possible[items], uniform)
        belief = np.einsum("m,mnk->nk", self._model.weights, beliefs)
        return begin_epoch(items, label, propensity, belief, fresh=~self._asked[items])

    def _follow_up(self, n_questions: int) -> TrainingEpoch | None:
        """The items that would teach most, and some at random; None if all are known."""
        n_wanted = max(1, round(n_questions / self._questions_per_item))
        n_random = min(len(self._random), math.ceil(RANDOM_SHARE * n_wanted))
        candidates = np.flatnonzero(self._unknown())
        if candidates.size > MOST_LOOKED_AT:
            rng = generator(self._seed, f"candidates of epoch {self._n_epochs}")
            candidates = rng.choice(candidates, MOST_LOOKED_AT, replace=False)
        random = np.array([self._random.popleft() for _ in range(n_random)], dtype=np.int64)
        self._trains_on[random] = True
        looked_at = np.concatenate([random, candidates])
        if looked_at.size == 0:
            return None
        possible = self._possible[looked_at]
        belief = mean_belief(self._model, self._x[looked_at]) * possible
        belief /= np.maximum(belief.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)
        chosen = uncertain_and_diverse(belief[n_random:], max(n_wanted - n_random, 0))
        rows = np.concatenate([np.arange(n_random), n_random + chosen])
        label = best_possible(belief[rows], possible[rows])
        fresh = rows < n_random
        return begin_epoch(looked_at[rows], label, np.ones(rows.size), belief[rows], fresh)

    def _unknown(self) -> Bools:
        """Which items are trained on and have more than one label that is possible."""
        unknown: Bools = self._trains_on & ~self._dropped & (self._possible.sum(axis=1) > 1)
        return unknown


def _n_aside(audit: int | None, n_items: int, budget: int, target: float | None) -> int:
    """How many items, each good for one question, are set aside."""
    if audit is None:
        return min(math.ceil(AUDIT_SHARE * budget), int(MOST_ASIDE * n_items), budget - 1)
    check_count("audit", audit, least=0)
    if audit >= min(n_items, budget):
        raise InvalidInputError(
            f"audit is {audit} for {n_items} items and a budget of {budget}; some of each must be left to train on"
        )
    if audit == 0 and target is not None:
        raise InvalidInputError(f"audit is 0 and target {target}; without an audit nothing shows that it is reached")
    return audit
