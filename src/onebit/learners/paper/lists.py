"""The sequel's Algorithm 3: hypotheses predict m labels, and a round asks about m labels of one example.

A round's m labels are m questions in a row, "is this label right?", all with the same item; all m are asked, whatever
the answers are. So lists are on the learner contract like everything else, and any rater can answer them one by one.
``ask_lists`` and ``tell_list`` are for a page that shows m labels and asks which of them are right.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError, check_count
from onebit.estimate.bernstein import empirical_bernstein
from onebit.estimate.delta import failure_per_hypothesis
from onebit.explore.hedge import draw_by, hedge_draws
from onebit.explore.mixture import Mixture
from onebit.hypotheses.base import Examples, Labels
from onebit.hypotheses.lists import ListClass
from onebit.kernels.bits import PackedTable
from onebit.kernels.mass import label_mass, list_rewards
from onebit.learners.contract import Learner
from onebit.learners.items import ItemSource, Pool
from onebit.learners.ledger import Ledger
from onebit.learners.paper.final import Conclusion
from onebit.learners.paper.hedge import AT_A_TIME, DRAWS_HYPOTHESIS, Coverage, HedgeResult
from onebit.learners.paper.sequel_sizes import HedgePlan, hedge_rate, largest_weight
from onebit.randomness import PER_ROUND, RoundStream, fresh_seed
from onebit.records import Answer, Question, RunStatus, Status

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ListResult(HedgeResult):
    """The result of Algorithm 3. Rounds count lists; ``n_answers`` counts answers, m for each list.

    ``intervals`` are about the share of a list's m places that hold a right label; ``achieved_eps`` is about their
    number, as eps is: by how many right labels a list of another hypothesis can be ahead on average.
    """

    n_answers: int


class ListLearner(Learner[ListResult]):
    """Algorithm 3 of the sequel: as ``HedgeLearner``, with lists of m labels; for m = 1 it is the same, run for run.

    Sequel: Algorithm 3. Question m r + j is the j-th of round r. Its propensity is the probability that its label is
    in the list: gamma m / K + (1 - gamma) Q. In phase I lists are uniform. Where the hypothesis drawn in phase II gives
    fewer than m labels, its list is filled up with others at random: its own labels are asked for sure, as Theorem 6
    counts on, and the propensity of the others is so much higher.

    >>> from onebit import Pool, SimulatedRater, run
    >>> from onebit.hypotheses.lists import ListTable
    >>> models = ListTable([[[0, 1], [1, 2]], [[0, 1], [0, 2]]], n_labels=4)
    >>> learner = ListLearner(models, Pool(np.arange(2)), HedgePlan(60, 400, list_size=2), seed=0)
    >>> run(learner, SimulatedRater([0, 1])).chosen
    0
    """

    def __init__(self, hypotheses: ListClass, items: ItemSource, plan: HedgePlan, *, seed: int | None = None) -> None:
        if plan.list_size != hypotheses.list_size:
            raise InvalidInputError(
                f"the plan is for lists of {plan.list_size} and the class gives lists of {hypotheses.list_size}"
            )
        if hypotheses.list_size > hypotheses.n_labels:
            raise InvalidInputError(
                f"lists have {hypotheses.list_size} labels, and there are only {hypotheses.n_labels} labels"
            )
        if isinstance(items, Pool):
            hypotheses.check_examples(items.x)
        self._lists, self._items, self._plan = hypotheses, items, plan
        self._m, self._n_labels = hypotheses.list_size, hypotheses.n_labels
        self.seed = fresh_seed() if seed is None else seed
        self._uniforms = RoundStream(self.seed, "rounds")
        n_more = -(-(self._m - 1) // PER_ROUND)
        self._more_uniforms = [RoundStream(self.seed, f"list {i}") for i in range(n_more)]
        self._ledger = Ledger(self._n_labels)
        #: Questions of the last round that were drawn and not yet asked.
        self._rest: tuple[Question, ...] = ()
        self._n_drawn = 0
        self._stream_ended = False
        self._coverage: Coverage | None = None
        self._probability = np.zeros(0)
        self._conclusion: Conclusion | None = None

    def ask(self, n: int = 1) -> tuple[Question, ...] | Status:
        check_count("the number of questions asked for", n)
        self._settle()
        questions = self._rest
        if n > len(questions):
            questions += self._next_rounds(-(-(n - len(questions)) // self._m))
        new, self._rest = questions[:n], questions[n:]
        if not new:
            return Status.WAIT if self._ledger.n_open else Status.DONE
        self._ledger.add(new)
        return new

    def tell(self, question_id: int, answer: Answer | int) -> None:
        self._ledger.record(question_id, answer)

    def ask_lists(self, n: int = 1) -> tuple[tuple[Question, ...], ...] | Status:
        """Up to ``n`` whole lists, each as its m questions: "which of these are right?"."""
        check_count("the number of lists asked for", n)
        if self._rest:
            raise InvalidInputError(f"the last list was asked in part; first ask for its other {len(self._rest)}")
        asked = self.ask(n * self._m)
        if isinstance(asked, Status):
            return asked
        return tuple(asked[i : i + self._m] for i in range(0, len(asked), self._m))

    def tell_list(self, questions: tuple[Question, ...], right: Collection[int]) -> None:
        """Answer a whole list: yes to the labels in ``right``, no to the others."""
        labels = [question.label for question in questions]
        if foreign := set(right) - set(labels):
            raise InvalidInputError(f"the labels {sorted(foreign)} are not in the list, which has {labels}")
        for question in questions:
            self.tell(question.id, Answer.YES if question.label in right else Answer.NO)

    @property
    def result(self) -> ListResult:
        self._settle()
        end, plan = self._conclusion, self._plan
        n_rounds = self._n_answered_rounds()
        return ListResult(
            status=self._status(),
            promise=self._promise(),
            n_rounds=n_rounds,
            chosen=end.chosen if end else None,
            oracle_calls=1 if end else 0,
            intervals=end.intervals if end else None,
            achieved_eps=end.achieved_eps if end else None,
            plan=plan,
            rounds_phase_1=min(n_rounds, plan.n_hedge),
            rounds_phase_2=max(0, n_rounds - plan.n_hedge),
            coverage=self._coverage,
            n_answers=self._ledger.n_answered,
        )

    def _n_answered_rounds(self) -> int:
        answers = self._ledger.answers
        whole = range(0, len(answers) - self._m + 1, self._m)
        return sum(all(answer is not None for answer in answers[i : i + self._m]) for i in whole)

    def _n_wanted(self) -> int:
        """Rounds that the current phase may still draw."""
        end = self._plan.n_hedge if self._coverage is None else self._plan.n_rounds
        return 0 if self._stream_ended else end - self._n_drawn

    def _next_rounds(self, n_rounds: int) -> tuple[Question, ...]:
        """The questions of up to so many new rounds; nothing is lost if the class refuses an example."""
        first, n_rounds = self._n_drawn, min(n_rounds, self._n_wanted())
        uniform = self._uniforms.uniforms(first, n_rounds)
        items = self._items.draw(uniform[:, 0])
        self._stream_ended |= items.size < n_rounds
        try:
            x = self._items.take(items)
            if items.size:
                self._lists.check_examples(x)
            labels, propensity = self._choose(x, uniform[: items.size, 1:], first)
        except Exception:
            self._items.put_back(items)
            raise
        self._n_drawn += items.size
        epoch, m = int(self._coverage is not None), self._m
        return tuple(
            Question((first + i) * m + j, int(item), int(labels[i, j]), float(propensity[i, j]), epoch)
            for i, item in enumerate(items)
            for j in range(m)
        )

    def _choose(self, x: Examples, uniform: Floats, first: int) -> tuple[Labels, Floats]:
        """The labels to ask about, and the probability of each to be in the list; shape (n, m) both."""
        more = [stream.uniforms(first, uniform.shape[0]) for stream in self._more_uniforms]
        guess = random_lists(np.hstack([uniform[:, :1], *more])[:, : self._m], self._n_labels)
        if self._coverage is None:
            return guess, np.full(guess.shape, self._m / self._n_labels)
        labels, propensity = np.empty_like(guess), np.empty(guess.shape)
        for i in range(0, guess.shape[0], AT_A_TIME):
            part = slice(i, i + AT_A_TIME)
            labels[part], propensity[part] = self._from_mixture(x[part], guess[part], uniform[part])
        return labels, propensity

    def _from_mixture(self, x: Examples, guess: Labels, uniform: Floats) -> tuple[Labels, Floats]:
        said = self._lists.predictions(x)
        edges = self._probability.cumsum()
        drawn = np.searchsorted(edges[:-1], uniform[:, 1] * edges[-1], side="right")
        labels = filled_up(said[drawn, np.arange(guess.shape[0])].astype(np.int64), guess)
        gamma = self._plan.gamma
        labels = np.where((uniform[:, 2] < gamma)[:, np.newaxis], guess, labels)
        mass = label_mass(said, labels, self._probability, self._n_labels)
        return labels, (1 - gamma) * mass + gamma * (self._m / self._n_labels)

    def _settle(self) -> None:
        if self._ledger.n_open or self._rest or self._n_wanted() or self._stream_ended:
            return
        if self._coverage is None:
            self._cover()
        elif self._conclusion is None:
            self._conclusion = self._conclude()

    def _cover(self) -> None:
        """Phase I of Algorithm 3: Hedge over the labels that got a yes."""
        items, labels, yes, _ = self._told(0, self._plan.n_hedge)
        round_of, place = np.nonzero(yes)
        gamma, even = self._plan.gamma, self._m / self._n_labels
        drawn = hedge_draws(
            self._packed(items[round_of], labels[round_of, place]),
            round_of,
            self._plan.n_hedge,
            floor=gamma * even,
            gamma=gamma,
            rate=hedge_rate(self._n_labels, gamma, self._plan.sparsity, self._m),
            draw=draw_by(self._uniforms.uniforms(0, self._plan.n_hedge)[:, DRAWS_HYPOTHESIS]),
        )
        self._probability = drawn / self._plan.n_hedge
        support = np.flatnonzero(drawn)
        self._coverage = Coverage(Mixture(tuple(support.tolist()), self._probability[support]), round_of.size)

    def _packed(self, items: NDArray[np.int64], labels: Labels) -> PackedTable:
        """Sample i of the table: who has label i in the list of item i."""
        table = PackedTable(self._lists.n_hypotheses)
        for i in range(0, items.size, AT_A_TIME):
            asked = labels[i : i + AT_A_TIME]
            said = self._lists.predictions(self._items.take(items[i : i + AT_A_TIME]))
            has = (said == asked[:, np.newaxis]).any(axis=2)
            table.append(has.astype(np.int8), np.arange(asked.size), np.ones(asked.size, np.int64))
        return table

    def _conclude(self) -> Conclusion:
        items, labels, yes, propensity = self._told(self._plan.n_hedge, self._plan.n_rounds)
        weight = yes / propensity
        total, squares = np.zeros((2, self._lists.n_hypotheses))
        used = np.flatnonzero(yes.any(axis=1))
        for i in range(0, used.size, AT_A_TIME):
            part = used[i : i + AT_A_TIME]
            list_rewards(
                self._lists.predictions(self._items.take(items[part])), labels[part], weight[part], total, squares
            )
        m, plan = self._m, self._plan
        # Raters may accept more labels than the plan's s, so the range is that of m labels.
        largest = largest_weight(self._n_labels, plan.gamma, m, m)
        failure = failure_per_hypothesis(self._lists.n_hypotheses, plan.delta)
        intervals = empirical_bernstein(total / m, squares / m**2, items.size, largest / m, failure)
        chosen = int(np.argmax(total))
        return Conclusion(chosen, intervals, m * intervals.excess_of(chosen))

    def _told(self, start: int, stop: int) -> tuple[NDArray[np.int64], Labels, NDArray[np.bool_], Floats]:
        """The items of rounds start, ..., stop - 1, shape (n,), and labels, yeses and propensities, shape (n, m)."""
        m = self._m
        questions = self._ledger.questions[start * m : stop * m]
        answers = self._ledger.answers[start * m : stop * m]
        shape = (stop - start, m)
        return (
            np.array([question.item for question in questions[::m]], dtype=np.int64),
            np.array([question.label for question in questions], dtype=np.int64).reshape(shape),
            np.array([answer is Answer.YES for answer in answers]).reshape(shape),
            np.array([question.propensity for question in questions]).reshape(shape),
        )

    def _status(self) -> RunStatus:
        if self._conclusion is not None:
            return RunStatus.COMPLETE
        ended = self._stream_ended and not self._rest and not self._ledger.n_open
        return RunStatus.EXHAUSTED if ended else RunStatus.RUNNING

    def _promise(self) -> str:
        plan, n = self._plan, self._lists.n_hypotheses
        probability = f"{1 - plan.delta:g}"
        if plan.guarantee and self._n_labels == plan.guarantee.n_labels and n <= plan.guarantee.n_hypotheses:
            return (
                f"Theorem 6 of the sequel: no list has more than {plan.guarantee.eps:g} right labels more on average, "
                f"with probability at least {probability}, if no example has more than {plan.sparsity} right labels"
            )
        return (
            "no list has more than achieved_eps right labels more on average, with probability at least "
            f"{probability}, by empirical Bernstein intervals for all {n} hypotheses at once"
        )


def random_lists(uniform: Floats, n_labels: int) -> Labels:
    """A uniformly drawn list of m distinct labels for each row of ``uniform`` (n, m).

    The first label is floor(u K), the next is drawn from the K - 1 that are left, and so on.

    >>> random_lists(np.array([[0.0, 0.0], [0.9, 0.9]]), 3).tolist()
    [[0, 1], [2, 1]]
    """
    lists = np.empty(uniform.shape, dtype=np.int64)
    for j in range(uniform.shape[1]):
        label = (uniform[:, j] * (n_labels - j)).astype(np.int64)
        # Count over the labels that were drawn already, from the lowest up.
        for taken in np.sort(lists[:, :j], axis=1).T:
            label += label >= taken
        lists[:, j] = label
    return lists


def filled_up(lists: Labels, guess: Labels) -> Labels:
    """Lists with negative entries, which get the first labels of a uniformly drawn list that they do not have yet.

    Both have shape (n, m), and so has the result. Of the other labels all sets are equally likely: a random order of
    all labels is one of the others too.

    >>> filled_up(np.array([[4, -1, -1], [0, 1, 2]]), np.array([[2, 4, 0], [5, 4, 3]])).tolist()
    [[4, 2, 0], [0, 1, 2]]
    """
    there = (guess[:, :, np.newaxis] == lists[:, np.newaxis, :]).any(axis=2)
    not_used = np.hstack([lists < 0, there])
    first = np.argsort(not_used, axis=1, kind="stable")[:, : lists.shape[1]]
    return np.take_along_axis(np.hstack([lists, guess]), first, axis=1)
