"""The certified learner: the best of N models within eps, stopping as soon as the answers allow.

An epoch freezes the survivors and the exploration before its first example is drawn. Rounds on which all survivors
agree cost no question. When every round of an epoch is settled, models that are shown to be worse than the leader go,
and the run stops once no survivor can be ahead of the leader by more than eps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, get_args

import numpy as np

from onebit import promise
from onebit.errors import InvalidInputError, UnknownQuestionError, check_count, check_fraction
from onebit.estimate.delta import failure_of_wealth
from onebit.estimate.rater_errors import one_label_is_refuted
from onebit.hypotheses.finite import FiniteClass
from onebit.kernels.distinct import distinct_rows
from onebit.learners.certified import constants
from onebit.learners.certified.asking import Asking, labels_themselves, one_question_each, until_a_yes
from onebit.learners.certified.epoch import Choices, KnownAnswers, OneShot
from onebit.learners.certified.evidence import Evidence, IndependentEvidence, PoolEvidence
from onebit.learners.certified.forecast import Forecast, forecast
from onebit.learners.certified.guesses import Experience, Guess
from onebit.learners.certified.outputs import Floats, Ints, Predictions, contested, several_labels
from onebit.learners.certified.planning import Plan, Scores, law_of_needs, law_of_nobody, needed_rounds, row_of_leader
from onebit.learners.certified.pool_verdicts import PoolVerdicts
from onebit.learners.certified.standing import Known, Standing
from onebit.learners.certified.statement import CertifiedResult
from onebit.learners.contract import Learner
from onebit.learners.items import ItemSource, Pool
from onebit.learners.ledger import Ledger
from onebit.randomness import RoundStream, fresh_seed
from onebit.records import (
    DELTA,
    Answer,
    AskingProtocol,
    Closing,
    EpochPlan,
    EpochRecord,
    Question,
    RunStatus,
    Setting,
    Status,
)


class CertifiedLearner(Learner[CertifiedResult]):
    """Names a model that is within eps of the best of a finite class, with probability at least 1 - delta.

    Not in the paper. Protocols: *one-shot*, one yes/no question per drawn example; *follow-up*, labels are asked about
    the same example until a yes, or until no survivor's label is left; *labels*, the full label, as a reference
    (``passive``: also where survivors agree). On a pool, "best" means best on that pool; one-shot draws it with
    replacement and asks nothing twice, the others draw without. On a stream, equal rows are not taken for equal models.

    "Can't tell" is not a yes to the label asked, and nothing more. One-shot is about verdicts: how often raters accept
    a model's label, several of which may be right. With bounds on errors it is about accuracy: every verdict is wrong
    independently, no to a right label with probability at most ``f_no``, yes to a wrong one with at most ``f_yes``, the
    same for every item and label. Follow-up assumes that raters accept one label per example at most; it checks that on
    some examples, and stops where it is refuted. ``exhaustive``: the one right label is always one of the class's.

    The seed is drawn from the operating system; a given one is for replay and simulation. See ``docs/certificate.md``.
    """

    def __init__(
        self,
        hypotheses: FiniteClass,
        items: ItemSource,
        *,
        eps: float,
        delta: float = DELTA,
        protocol: AskingProtocol = "one-shot",
        passive: bool = False,
        budget: int | None = None,
        seed: int | None = None,
        f_no: float = 0.0,
        f_yes: float = 0.0,
        exhaustive: bool = False,
    ) -> None:
        self._check(protocol, passive, f_no, f_yes, exhaustive)
        self.seed = fresh_seed() if seed is None else seed
        self._eps, self._delta = check_fraction("eps", eps), check_fraction("delta", delta)
        self._budget = None if budget is None else check_count("budget", budget)
        self._protocol, self._passive = protocol, passive
        self._f_yes, self._transfer = f_yes, 1 - f_no - f_yes
        self._exhaustive_labels = hypotheses.n_labels if exhaustive else None
        #: What is promised follows from it.
        self._setting = Setting(
            eps,
            delta,
            protocol,
            population="pool" if isinstance(items, Pool) else "stream",
            seed=self.seed,
            f_no=f_no,
            f_yes=f_yes,
            exhaustive=exhaustive,
        )
        self._pool_said: Predictions | None = None
        if isinstance(items, Pool):
            hypotheses.check_examples(items.x)
            self._pool_said = np.maximum(hypotheses.predictions(items.x), -1)
        # Rows that are equal on a stream so far may differ on what is to come.
        self._first = self._which = np.arange(hypotheses.n_hypotheses)
        if self._pool_said is not None:
            self._first, self._which = distinct_rows(self._pool_said)
            self._pool_said = self._pool_said[self._first]
        self._verdicts: PoolVerdicts | None = None
        if self._pool_said is not None:
            self._verdicts = PoolVerdicts(self._pool_said, f_no=f_no, f_yes=f_yes, delta=self._delta)
        #: Errors of raters that favour one model on a pool do not go away by asking more.
        self._has_slack = self._verdicts is not None and self._verdicts.may_mislead
        self._evidence: Evidence
        self._n_drawn_once: int | None = None
        if self._pool_said is None or protocol == "one-shot":
            slack_of = self._verdicts.slack if self._verdicts is not None and self._has_slack else None
            self._evidence = IndependentEvidence(hypotheses, items, self._first, self._pool_said, slack_of)
        else:
            self._evidence = PoolEvidence(self._pool_said, passive)
            self._n_drawn_once = self._pool_said.shape[1]
        self._uniforms = RoundStream(self.seed, "rounds")
        self._ledger = Ledger(hypotheses.n_labels)
        self._known = KnownAnswers()
        self._standing: Standing | None = None
        #: The forecast of the last standing that somebody read.
        self._foreseen: tuple[Standing | None, Forecast | None] = None, None
        #: The epoch under way.
        self._asking: Asking | None = None
        #: What guesses learn from.
        self._learned: Experience | None = None
        self._scores = Scores()
        self._n_rounds = self._n_free = self._n_checks = self._n_contradicted = 0
        #: Rounds so far in which survivors gave two labels or more.
        self._n_with_two = 0
        self._status = RunStatus.RUNNING
        self.epochs: list[EpochRecord] = []
        self.closings: list[Closing] = []
        self._given: dict[int, EpochRecord] = {}

    def _check(self, protocol: str, passive: bool, f_no: float, f_yes: float, exhaustive: bool) -> None:
        if protocol not in get_args(AskingProtocol):
            raise InvalidInputError(
                f"protocol is {protocol!r}; it must be one of {', '.join(get_args(AskingProtocol))}"
            )
        if passive and protocol != "labels":
            raise InvalidInputError("passive is for the protocol labels; the others ask only where survivors differ")
        if not (f_no >= 0 and f_yes >= 0 and f_no + f_yes < 1):
            raise InvalidInputError(
                f"the error rates are f_no={f_no!r} and f_yes={f_yes!r}; they must not be negative, and add up to less "
                "than 1: otherwise a yes says nothing"
            )
        if protocol != "one-shot" and f_no + f_yes > 0:
            raise InvalidInputError(f"{protocol} needs answers that are right; use one-shot for raters who err")
        if exhaustive and protocol != "follow-up":
            raise InvalidInputError(f"exhaustive is for follow-up, which seeks the right label; {protocol} does not")

    def ask(self, n: int = 1) -> tuple[Question, ...] | Status:
        check_count("the number of questions asked for", n)
        self._settle()
        questions: list[Question] = []
        if self._asking is not None:
            for _ in range(min(n, len(self._asking.ready), self._allowance(self._asking))):
                questions.append(self._asking.next(len(self._ledger.questions) + len(questions)))
        self._ledger.add(tuple(questions))
        if questions:
            return tuple(questions)
        return Status.WAIT if self._ledger.n_open else Status.DONE

    def tell(self, question_id: int, answer: Answer | int) -> None:
        question = self._ledger.record(question_id, answer)
        # After a budget cut the certificate has been given without it.
        if self._asking is not None and question.epoch == self._asking.epoch.number:
            self._asking.tell(question, answer)

    def untell(self, question_id: int) -> None:
        asking = self._asking
        if asking is None or question_id not in asking.questions or self._ledger.answers[question_id] is None:
            raise UnknownQuestionError(
                f"question {question_id!r} has no answer that can be taken back; that is possible while a question of "
                "the same epoch is open"
            )
        asking.check_may_untell(question_id)
        self._ledger.take_back(question_id)
        asking.untell(question_id)

    def adopt(self, record: EpochRecord | EpochPlan) -> None:
        # The plan may be any, so a log stays good where numbers come out otherwise in the last bit, or plans improve.
        if not isinstance(record, EpochRecord):
            raise InvalidInputError(f"epoch {record.number} of the log is one of training, and this is a selection")
        self._given[record.number] = record

    @property
    def result(self) -> CertifiedResult:
        return self.read()()

    def read(self, closes: bool = True) -> Callable[[], CertifiedResult]:
        if closes:
            self._settle()
        n_cant_tell = sum(answer is Answer.CANT_TELL for answer in self._ledger.answers)
        counts = {
            "status": self._status,
            "n_rounds": self._n_rounds,
            "n_answers": self._ledger.n_answered,
            "n_free_rounds": self._n_free,
            "n_cant_tell": n_cant_tell,
            "n_checks": self._n_checks,
            "n_contradicted": self._n_contradicted,
        }
        return partial(self._result_of, self._standing_now().frozen(), tuple(self.closings), counts)

    def _result_of(self, standing: Standing, closings: tuple[Closing, ...], counts: dict[str, Any]) -> CertifiedResult:
        ahead = standing.ahead_at_most()
        foreseen = self._foreseen
        if foreseen[0] is not standing:
            foreseen = standing, forecast(standing, closings, self._eps, self._n_drawn_once)
            self._foreseen = foreseen
        n_items = None if self._pool_said is None else self._pool_said.shape[1]
        setting = self._setting
        return CertifiedResult(
            promise=promise.suspended(setting) if standing.is_suspended else promise.in_full(setting, n_items),
            chosen=int(self._first[standing.leader]),
            achieved_eps=float(ahead.max()),
            eps=self._eps,
            delta=self._delta,
            names=tuple(np.flatnonzero(self._which == standing.leader).tolist()),
            survivors=tuple(self._first[standing.survivors].tolist()),
            ahead_at_most=tuple(ahead.tolist()),
            forecast=foreseen[1],
            **counts,
        )

    def _allowance(self, asking: Asking) -> int:
        return len(asking.ready) if self._budget is None else self._budget - len(self._ledger.questions)

    def _standing_now(self) -> Standing:
        """Who is ahead; the first time, examples are looked at for the vote."""
        if self._standing is None:
            delta = failure_of_wealth(self._delta, self._has_slack)
            self._standing = Standing(self._evidence, eps=self._eps, delta=delta, transfer=self._transfer)
            if self._standing.is_over:
                self._status = RunStatus.COMPLETE
        return self._standing

    def _settle(self) -> None:
        """Close the epoch if it is over, and begin another unless the run is."""
        standing = self._standing_now()
        while self._status is RunStatus.RUNNING:
            if self._asking is None:
                self._begin(standing)
            elif self._asking.epoch.unsettled == 0:
                self._close(self._asking, standing)
            elif self._ledger.n_open == 0 and self._allowance(self._asking) <= 0:
                self._close(self._asking, standing, if_not_over=RunStatus.BUDGET)
            else:
                return

    def _begin(self, standing: Standing) -> None:
        exact = isinstance(self._evidence, PoolEvidence)
        least = constants.MIN_EXACT_ROUNDS if exact else constants.MIN_ROUNDS
        n_rounds = max(least, math.ceil(constants.EPOCH_SHARE * self._n_rounds))
        survivors, number = standing.survivors, len(self.epochs)
        names = self._first[survivors]
        given = self._given.get(number)
        if given is None:
            plan = self._plan(standing)
        else:
            n_rounds, plan = given.n_rounds, Plan.of_record(given, names, row_of_leader(standing))
        uniform = self._uniforms.uniforms(self._n_rounds, n_rounds)
        drawn = self._evidence.draw(survivors, uniform[:, 0])
        if drawn.items.size == 0:
            self._status = RunStatus.EXHAUSTED
            return
        self.epochs.append(self._record(plan, standing, drawn.items.size))
        uniform = uniform[: drawn.items.size]
        if self._protocol == "one-shot":
            choices = Choices(drawn, survivors, plan.law.leader, plan.guess, self._known)
            one_shot = OneShot(choices, survivors, plan.law, uniform[:, 1:], self._f_yes)
            self._asking = one_question_each(number, drawn, one_shot)
        elif self._protocol == "labels":
            self._asking = labels_themselves(number, drawn, survivors, self._passive)
        else:
            checks = self._checks(drawn.said[survivors], uniform)
            choices = Choices(drawn, survivors, plan.law.leader, plan.guess, KnownAnswers())
            self._asking = until_a_yes(number, drawn, choices, checks, self._exhaustive_labels)

    def _record(self, plan: Plan, standing: Standing, n_rounds: int) -> EpochRecord:
        names, law = self._first[standing.survivors], plan.law
        return EpochRecord(
            number=len(self.epochs),
            first_round=self._n_rounds,
            n_rounds=n_rounds,
            leader=int(self._first[standing.leader]),
            survivors=tuple(names.tolist()),
            mixture=tuple(zip(names[law.rivals].tolist(), law.needs.tolist(), strict=True)),
            gamma=law.gamma,
            trust=tuple(plan.guess.trust.tolist()),
            guess=tuple(plan.guess.coefficients.tolist()),
            sure_from=law.sure_from,
        )

    def _checks(self, said: Predictions, uniform: Floats) -> Floats:
        """A uniform number for each round that is checked, NaN for the others; drawn before anything is asked."""
        with_two = several_labels(said)
        number = self._n_with_two + np.cumsum(with_two)
        self._n_with_two += int(with_two.sum())
        chosen = with_two & ((number <= constants.FIRST_CHECKED) | (uniform[:, 1] < constants.CHECKED_SHARE))
        return np.where(chosen, uniform[:, 2], np.nan)

    def _close(self, asking: Asking, standing: Standing, if_not_over: RunStatus = RunStatus.RUNNING) -> None:
        epoch = asking.epoch
        self._evidence.add(epoch, standing.survivors)
        outcome = epoch.settled_prefix()
        if (found := epoch.found()) is not None:
            self._experience(standing).add(found.features, found.right, found.gave)
        if epoch.one_shot is not None:
            self._scores.add(epoch.one_shot.scores)
        self._n_rounds += outcome.size
        if not self._passive:
            agreed = ~contested(epoch.drawn.said[np.ix_(standing.survivors, np.arange(outcome.size))])
            self._n_free += int(agreed.sum())
        for question_id in asking.questions:
            self._learn(question_id)
        self._asking = None
        standing.update(None if asking.questions else self._all_known(standing.survivors))
        # One after the other: a test that has once spoken is not silenced by what comes later.
        for contradicted in epoch.checks():
            self._n_checks, self._n_contradicted = self._n_checks + 1, self._n_contradicted + contradicted
            if one_label_is_refuted(self._n_checks, self._n_contradicted):
                standing.suspend()
        self._status = self._status_after(standing, if_not_over)
        closing = Closing(
            epoch.number,
            self._n_rounds,
            self._ledger.n_answered,
            int(self._first[standing.leader]),
            tuple(self._first[standing.survivors].tolist()),
            standing.certified_eps,
            self._n_checks,
            self._n_contradicted,
        )
        self.closings.append(closing)

    @staticmethod
    def _status_after(standing: Standing, if_not_over: RunStatus) -> RunStatus:
        if standing.is_suspended:
            return RunStatus.SUSPENDED
        if standing.is_shown:
            return RunStatus.COMPLETE
        return RunStatus.EXHAUSTED if standing.is_exact else if_not_over

    def _learn(self, question_id: int) -> None:
        """What was answered about an item of a pool is its verdict from now on."""
        question, answer = self._ledger.questions[question_id], self._ledger.answers[question_id]
        if self._pool_said is not None and isinstance(answer, Answer) and question.label is not None:
            self._known.add(question.item, question.label, answer)

    def _all_known(self, survivors: Ints) -> Known | None:
        if self._verdicts is None or self._protocol != "one-shot":
            return None
        return self._verdicts.all_known(self._known, survivors)

    def _experience(self, standing: Standing) -> Experience:
        if self._learned is None:
            self._learned = Experience(standing.agreement / max(standing.looked_at.shape[1], 1))
        return self._learned

    def _plan(self, standing: Standing) -> Plan:
        """The plan for the next epoch, by everything that was answered so far."""
        if self._protocol == "labels":
            return Plan(Guess(np.empty(0), np.empty(0)), law_of_nobody(standing))
        guess = self._experience(standing).guess()
        if self._protocol == "follow-up":
            return Plan(guess, law_of_nobody(standing))
        needed = needed_rounds(standing, self._n_rounds, self._eps)
        n_unseen = self._evidence.n_unseen(self._n_rounds)
        return Plan(guess, law_of_needs(standing, needed, self._scores.sure_from(), n_unseen))
