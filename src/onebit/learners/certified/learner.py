"""The certified learner: the best of N models within eps, stopping as soon as the answers allow.

An epoch freezes the survivors and the exploration before its first example is drawn. Rounds on which all survivors
agree cost no question. When every round of an epoch is settled, models that are shown to be worse than the leader go,
and the run stops once no survivor can be ahead of the leader by more than eps.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.estimate.betting import usual_bet
from onebit.estimate.delta import failure_of_wealth
from onebit.estimate.rater_errors import one_label_is_refuted
from onebit.hypotheses.finite import FiniteClass
from onebit.learners.certified import constants
from onebit.learners.certified.ahead import items_to_look_at, looked_at, most_under_way, rounds_ahead
from onebit.learners.certified.asking import RoundQuestions, labels_themselves, one_question_each, until_a_yes
from onebit.learners.certified.choosing import ChoiceLaw, Chooser
from onebit.learners.certified.epoch import Choices, Drawn, Epoch, KnownAnswers, OneShot
from onebit.learners.certified.evidence import DrawnEvidence, IndependentEvidence, PoolEvidence
from onebit.learners.certified.guesses import Experience, Guess
from onebit.learners.certified.judges import Judge
from onebit.learners.certified.outputs import Floats, Ints, Predictions, contested, several_labels
from onebit.learners.certified.pairs import pairs_standing
from onebit.learners.certified.planning import (
    Plan,
    Scores,
    kind_of_law,
    law_of_needs,
    law_of_nobody,
    needed_rounds,
    rounds_for,
    row_of_leader,
)
from onebit.learners.certified.pool_verdicts import PoolVerdicts
from onebit.learners.certified.run import CertifiedRun
from onebit.learners.certified.standing import Known, Standing
from onebit.learners.items import ItemSource, Pool
from onebit.randomness import RoundStream, fresh_seed
from onebit.records import DELTA, Answer, AskingProtocol, EpochRecord, RunStatus, Setting


class CertifiedLearner(CertifiedRun):
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

    A ``judge`` scores what the models of a table say, (N, n) from 0 to 1, NaN where it does not: a feature of the
    guesses, which touches no promise. With a ``baseline``, the number of a hypothesis, all others are held against it
    instead (a gate), and ``eps`` is the margin. With ``top``, so many best models are named, and with ``tiers`` all
    pairs are compared. ``spends``: the run ends when its ``budget`` is used, and ``eps`` is what bets are made for;
    one-shot on a pool then asks what decides the choice (``choosing.py``). The seed is drawn from the operating system;
    a given one is for replay and simulation. See ``docs/certificate.md``.
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
        judge: NDArray[np.floating] | None = None,
        baseline: int | None = None,
        top: int | None = None,
        tiers: bool = False,
        spends: bool = False,
    ) -> None:
        self._check(protocol, passive, f_no, f_yes, exhaustive)
        setting = Setting(
            eps,
            delta,
            protocol,
            population="pool" if isinstance(items, Pool) else "stream",
            passive=passive,
            budget=budget,
            seed=fresh_seed() if seed is None else seed,
            f_no=f_no,
            f_yes=f_yes,
            exhaustive=exhaustive,
            baseline=baseline,
            top=top,
            tiers=tiers,
            spends=spends,
        )
        super().__init__(hypotheses, items, setting)
        self._transfer = 1 - f_no - f_yes
        self._exhaustive_labels = hypotheses.n_labels if exhaustive else None
        self._verdicts: PoolVerdicts | None = None
        if self._pool_said is not None:
            self._verdicts = PoolVerdicts(self._pool_said, setting)
        #: Errors of raters that favour one model on a pool do not go away by asking more.
        self._has_slack = self._verdicts is not None and self._verdicts.may_mislead
        self._evidence: DrawnEvidence
        if self._pool_said is None or protocol == "one-shot":
            slack_of = self._verdicts.slack if self._verdicts is not None and self._has_slack else None
            self._evidence = IndependentEvidence(
                hypotheses, items, self._first, self._pool_said, slack_of, passive, usual_bet(eps, exact=False)
            )
        else:
            self._evidence = PoolEvidence(self._pool_said, passive, self.seed, usual_bet(eps, exact=True))
        self._judge = None if judge is None else Judge(hypotheses, items, judge)
        #: Chooses questions and leader where a budget is spent; and the guess that it last believed by.
        self._chooser: Chooser | None = None
        if spends and self._pool_said is not None and protocol == "one-shot":
            self._chooser = Chooser(self._pool_said, self.seed, self._judged)
        self._guess: Guess | None = None
        self._uniforms = RoundStream(self.seed, "rounds")
        self._known = KnownAnswers()
        #: The questions of the epochs under way, and the survivors that each was drawn for.
        self._rounds: list[tuple[RoundQuestions, Ints]] = []
        #: Rounds that were drawn so far, and what was needed when it was last estimated, after so many.
        self._n_drawn = 0
        self._needed: tuple[int, float] | None = None
        #: Items that stand for those to come: some of the pool, or those of a stream that were drawn last.
        self._looked_at: Drawn | None = None
        #: What guesses learn from.
        self._learned: Experience | None = None
        self._scores = Scores()
        #: How many questions a round of the last epoch had.
        self._questions_per_round = 1.0
        #: Rounds so far in which survivors gave two labels or more.
        self._n_with_two = 0

    def _check(self, protocol: str, passive: bool, f_no: float, f_yes: float, exhaustive: bool) -> None:
        if protocol == "panel":
            raise InvalidInputError("protocol is 'panel', which judges every output of an item; use PanelLearner")
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

    def _first_standing(self) -> Standing:
        delta = failure_of_wealth(self._setting.delta, self._has_slack)
        if self._setting.baseline is not None:
            return self._gate(self._evidence, self._setting.baseline, delta, self._transfer)
        setting = self._setting
        placed = pairs_standing(setting, self._evidence, self._pool_said, self._first.size, delta, self._transfer)
        if placed is not None:
            return placed
        return Standing(self._evidence, eps=setting.eps, delta=delta, transfer=self._transfer, spends=setting.spends)

    def _size(self, standing: Standing) -> int:
        """The rounds of the next epoch: at least a share of those so far, and more where raters would wait."""
        exact = isinstance(self._evidence, PoolEvidence)
        least = constants.MIN_EXACT_ROUNDS if exact else constants.MIN_ROUNDS
        n_rounds = max(least, math.ceil(constants.EPOCH_SHARE * self._n_rounds))
        if self._n_raters == 1:
            return n_rounds
        needed = needed_rounds(standing, self._n_rounds, self._setting.eps)
        return max(n_rounds, rounds_for(self._n_raters, self._questions_per_round, self._n_rounds, needed))

    @property
    def _is_for_many(self) -> bool:
        """Whether epochs may begin while others are under way, as step 22 of docs/certificate.md has it."""
        return self._n_raters > 1 and self._setting.protocol == "one-shot" and self._chooser is None

    def _n_ahead(self, standing: Standing) -> int:
        if not self._is_for_many or self._n_drawn - self._n_rounds >= self._most_needed(standing):
            return 0
        n_questions = [rounds.n_questions for rounds, _ in self._rounds]
        if n_questions[-1] == 0 or len(n_questions) >= constants.QUESTIONS_PER_RATER:
            # What is drawn is asked already: nothing new can be asked before answers come.
            return 0
        return max(0, most_under_way(self._n_raters, self._n_used) - sum(n_questions))

    def _most_needed(self, standing: Standing) -> float:
        """Rounds that seem to be needed still, by those of closed epochs; before the first closing nobody knows."""
        if self._n_rounds == 0:
            return math.inf
        if self._needed is None or self._needed[0] != self._n_rounds:
            needed = needed_rounds(standing, self._n_rounds, self._setting.eps)
            self._needed = self._n_rounds, float(needed.max())
        return self._needed[1]

    def _plan_ahead(self, standing: Standing) -> tuple[int, Plan]:
        """Rounds and plan of an epoch that may begin while others are under way."""
        if self._looked_at is None and self._pool_said is not None:
            items = items_to_look_at(self.seed, self._pool_said.shape[1])
            self._looked_at = Drawn(items, self._pool_said[:, items], judged=self._judged(items))
        plan, n_questions = looked_at(self._plan(standing), self._looked_at, standing.survivors, self._known)
        return rounds_ahead(self._n_raters, n_questions, self._n_rounds, self._most_needed(standing)), plan

    def _begin(self, standing: Standing) -> None:
        survivors, number = standing.survivors, len(self.epochs)
        names = self._first[survivors]
        given = self._given.get(number)
        if given is not None:
            if self._chooser is not None:
                # Logs from before it was recorded looked at the least.
                self._chooser.look_at(given.n_viewed or constants.LEAST_VIEWED)
            law_of = kind_of_law(standing) if self._chooser is None else partial(ChoiceLaw, sharpness=given.sharpness)
            n_rounds, plan = given.n_rounds, Plan.of_record(given, names, row_of_leader(standing), law_of)
        elif self._chooser is not None:
            n_rounds, plan = self._chosen_plan(self._chooser, standing)
        elif self._is_for_many:
            n_rounds, plan = self._plan_ahead(standing)
        else:
            n_rounds, plan = self._size(standing), self._plan(standing)
        uniform = self._uniforms.uniforms(self._n_drawn, n_rounds)
        drawn = self._evidence.draw(survivors, uniform[:, 0])
        if drawn.items.size == 0:
            if given is not None and given.n_open:
                raise InvalidInputError(f"epoch {number} of the log has rounds, and nothing is left to draw")
            # What is under way may end the run otherwise.
            self._status = self._status if self._under_way else RunStatus.EXHAUSTED
            return
        drawn = replace(drawn, judged=self._judged(drawn.items))
        self.epochs.append(self._record(plan, standing, drawn.items.size))
        uniform = uniform[: drawn.items.size]
        if self._setting.protocol == "one-shot":
            choices = Choices(drawn, survivors, plan.law.leader, plan.guess, self._known)
            one_shot = OneShot(choices, survivors, plan.law, uniform[:, 1:], self._setting.f_yes)
            rounds = one_question_each(number, drawn, one_shot, [earlier for earlier, _ in self._rounds])
        elif self._setting.protocol == "labels":
            rounds = labels_themselves(number, drawn, survivors, self._setting.passive)
        else:
            checks = self._checks(drawn.said[survivors], uniform)
            choices = Choices(drawn, survivors, plan.law.leader, plan.guess, KnownAnswers())
            rounds = until_a_yes(number, drawn, choices, checks, self._exhaustive_labels)
        self._n_drawn += drawn.items.size
        if self._pool_said is None:
            self._looked_at = drawn
        self._rounds.append((rounds, survivors))
        self._under_way.append(rounds)

    def _judged(self, items: Ints) -> Floats | None:
        """What a judge says of the outputs of ``items``, as log-odds, (N, m); None without a judge."""
        return None if self._judge is None else self._judge.log_odds(items)[self._first]

    def _record(self, plan: Plan, standing: Standing, n_rounds: int) -> EpochRecord:
        names, law = self._first[standing.survivors], plan.law
        return EpochRecord(
            number=len(self.epochs),
            first_round=self._n_drawn,
            n_rounds=n_rounds,
            leader=int(self._first[standing.leader]),
            survivors=tuple(names.tolist()),
            mixture=tuple(zip(names[law.rivals].tolist(), law.needs.tolist(), strict=True)),
            gamma=law.gamma,
            trust=tuple(plan.guess.trust.tolist()),
            guess=tuple(plan.guess.coefficients.tolist()),
            sure_from=law.sure_from,
            n_open=len(self._under_way),
            merit=() if plan.guess.merit is None else tuple(plan.guess.merit.tolist()),
            sharpness=law.sharpness if isinstance(law, ChoiceLaw) else 1.0,
            n_viewed=0 if self._chooser is None else self._chooser.n_viewed,
        )

    def _checks(self, said: Predictions, uniform: Floats) -> Floats:
        """A uniform number for each round that is checked, NaN for the others; drawn before anything is asked."""
        with_two = several_labels(said)
        number = self._n_with_two + np.cumsum(with_two)
        self._n_with_two += int(with_two.sum())
        chosen = with_two & ((number <= constants.FIRST_CHECKED) | (uniform[:, 1] < constants.CHECKED_SHARE))
        return np.where(chosen, uniform[:, 2], np.nan)

    def _close(self, standing: Standing, if_not_over: RunStatus = RunStatus.RUNNING) -> None:
        rounds, survivors = self._rounds.pop(0)
        epoch, questions = rounds.epoch, rounds.questions
        self._evidence.add(epoch, survivors)
        outcome = epoch.settled_prefix()
        if (found := epoch.found()) is not None:
            self._experience(standing).add(found.features, found.right, found.gave)
        if epoch.one_shot is not None:
            self._scores.add(epoch.one_shot.scores)
        self._n_rounds += outcome.size
        self._questions_per_round = max(len(questions), 1) / max(outcome.size, 1)
        if not self._setting.passive:
            agreed = ~contested(epoch.drawn.said[np.ix_(survivors, np.arange(outcome.size))])
            self._n_free += int(agreed.sum())
        for question_id in questions:
            self._learn(question_id)
        score = None if self._chooser is None else self._belief(self._chooser, standing, epoch)
        standing.update(None if questions else self._all_known(standing.survivors), score)
        # One after the other: a test that has once spoken is not silenced by what comes later.
        for contradicted in epoch.checks():
            self._n_checks, self._n_contradicted = self._n_checks + 1, self._n_contradicted + contradicted
            if one_label_is_refuted(self._n_checks, self._n_contradicted):
                standing.suspend()
        self._status = self._status_after(standing, if_not_over)
        self._note_closing(standing)

    def _learn(self, question_id: int) -> None:
        """What was answered about an item of a pool is its verdict from now on."""
        question, answer = self._ledger.questions[question_id], self._ledger.answers[question_id]
        if self._pool_said is not None and isinstance(answer, Answer) and question.label is not None:
            self._known.add(question.item, question.label, answer)

    def _all_known(self, survivors: Ints) -> Known | None:
        if self._verdicts is None or self._setting.protocol != "one-shot":
            return None
        return self._verdicts.all_known(self._known, survivors)

    def _experience(self, standing: Standing) -> Experience:
        if self._learned is None:
            agreement = standing.agreement / max(standing.looked_at.shape[1], 1)
            self._learned = Experience(agreement, self._judge is not None, names_leader=self._chooser is None)
        return self._learned

    def _plan(self, standing: Standing) -> Plan:
        """The plan for the next epoch, by everything that was answered so far."""
        if self._setting.protocol == "labels":
            return Plan(Guess(np.empty(0), np.empty(0)), law_of_nobody(standing))
        guess = self._experience(standing).guess()
        if self._setting.protocol == "follow-up":
            return Plan(guess, law_of_nobody(standing))
        needed = needed_rounds(standing, self._n_rounds, self._setting.eps)
        n_unseen = self._evidence.n_unseen(self._n_drawn)
        return Plan(guess, law_of_needs(standing, needed, self._scores.sure_from(), n_unseen))

    def _belief(self, chooser: Chooser, standing: Standing, epoch: Epoch) -> Floats:
        """On how many items each model seems to be accepted after this epoch, -inf if it is ruled out; (N,)."""
        score, survivors = np.full(self._first.size, -np.inf), standing.survivors
        if epoch.one_shot is not None:
            chooser.add(epoch, epoch.one_shot)
        self._guess = chooser.guess(self._experience(standing).guess())
        view = chooser.view(survivors, self._guess, self._known)
        score[survivors] = chooser.accepted(view)
        return score

    def _chosen_plan(self, chooser: Chooser, standing: Standing) -> tuple[int, Plan]:
        """Rounds and plan of the next epoch, where a budget is spent."""
        leader, survivors = row_of_leader(standing), standing.survivors
        self._guess = self._guess or chooser.guess(self._experience(standing).guess())
        view = chooser.view(survivors, self._guess, self._known)
        law = chooser.law(view, chooser.lead(view, survivors, leader).weights(), leader)
        n_questions = max(constants.CHOICE_QUESTIONS, math.ceil(constants.CHOICE_SHARE * self._ledger.n_answered))
        if self._n_raters > 1:
            n_questions = max(n_questions, constants.QUESTIONS_PER_RATER * self._n_raters)
        return chooser.n_rounds(view, law, n_questions), Plan(self._guess, law)
