"""An epoch of the certified learner: the rounds that were drawn, what is asked in them, and how they end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from onebit.estimate.independent_wealth import Rounds
from onebit.learners.certified.guesses import Guess
from onebit.learners.certified.law import Law, draw
from onebit.learners.certified.outputs import Bools, Floats, Ints, Outputs, Predictions, contested
from onebit.learners.certified.protocols import Settled
from onebit.records import Answer


@dataclass(frozen=True, eq=False)
class Drawn:
    """The rounds of an epoch: items (m,) in the order drawn, and what the N hypotheses say there (N, m).

    ``n_left`` is the number of items that the first was drawn from, where draws are without replacement. ``judged``
    (N, m) is what a judge says of it, as log-odds, where there is a judge.
    """

    items: Ints
    said: Predictions
    n_left: int = 0
    judged: Floats | None = None


class KnownAnswers:
    """What was answered about the items of a pool in earlier epochs."""

    def __init__(self) -> None:
        self._accepted: dict[int, dict[int, bool]] = {}

    def add(self, item: int, label: int, answer: Answer) -> None:
        # Can't tell is not a yes, and says nothing about other labels of the item.
        self._accepted.setdefault(item, {})[label] = answer is Answer.YES

    def has(self, items: Ints) -> Bools:
        """About which of ``items`` something was answered."""
        some: Bools = np.isin(items, list(self._accepted))
        return some

    def of(self, item: int) -> dict[int, bool]:
        """The labels of ``item`` whose answer is known, and whether they were accepted."""
        return self._accepted.get(item, {})

    def score(self, said: Predictions, survivors: Ints) -> Floats | None:
        """On how many items each hypothesis is accepted, up to what is the same for all survivors; shape (N,).

        None unless all labels that survivors give to items on which they differ have their answer.
        """
        score = np.zeros(said.shape[0])
        for item in np.flatnonzero(contested(said[survivors])).tolist():
            answers = self.of(item)
            if any(label >= 0 and label not in answers for label in said[survivors, item].tolist()):
                return None
            score += [answers.get(label, False) for label in said[:, item].tolist()]
        return score


@dataclass(frozen=True, eq=False)
class Found:
    """What an epoch found out about labels: their ``features`` (m, n_features), who ``gave`` them (N, m), the verdict.

    ``right`` (m,) says whether a label was accepted.
    """

    features: Floats
    right: Bools
    gave: Bools


class Choices:
    """The labels that may be asked in the contested rounds of an epoch, and the guesses about them.

    Everything here is fixed before anything is asked. ``places`` are the rounds that may tell survivors apart;
    ``unknown`` says which of their ``outputs`` have no answer yet, ``is_right`` (n_outputs,) is 1 where it was a yes.
    """

    def __init__(self, drawn: Drawn, survivors: Ints, leader: int, guess: Guess, known: KnownAnswers) -> None:
        self.places = np.flatnonzero(contested(drawn.said[survivors]))
        self.outputs = Outputs.of(drawn.said[np.ix_(survivors, self.places)])
        self.unknown = self.outputs.label >= 0
        self.is_right = np.zeros(self.unknown.size)
        self._said = drawn.said[:, self.places]
        settled = np.zeros(self.places.size, dtype=np.bool_)
        items = drawn.items[self.places]
        for i in np.flatnonzero(known.has(items)).tolist():
            answers = known.of(int(items[i]))
            settled[i] = any(answers.values())
            for output in range(self.outputs.first[i], self.outputs.first[i + 1]):
                if (label := int(self.outputs.label[output])) in answers:
                    self.unknown[output], self.is_right[output] = False, answers[label]
        judged = None if drawn.judged is None else self._of_outputs(drawn.judged[np.ix_(survivors, self.places)])
        #: Whether an answer says how far to believe the votes: where they are counted as if nothing was answered, a
        #: label is likelier than they say once another had a no.
        self.tells_of_votes = np.full(items.size, True) if guess.merit is None else ~known.has(items)
        # Merit takes a no into account, so the votes are counted as if there was none.
        counted = self.unknown if guess.merit is None else self.outputs.label >= 0
        self._features = guess.features(self.outputs, self._said, leader, counted, judged)
        belief = guess.of(self._features, self.outputs, counted)
        if guess.merit is not None:
            belief = guess.weighed(belief, self.outputs, self._said, self.unknown)
        # Where a right label is known, the others are hardly right as well.
        self.guess = np.where(settled[self.outputs.example], 0.0, belief)

    def _of_outputs(self, value: Floats) -> Floats:
        """The values of the outputs, from those (V, m) of who gives them, which are equal where the outputs are."""
        of_outputs = np.zeros(self.outputs.label.size)
        of_outputs[self.outputs.code + self.outputs.first[:-1]] = value
        return of_outputs

    def found(self, outputs: Ints, right: Bools) -> Found:
        """That these ``outputs`` (m,) are right or not."""
        gave = self._said[:, self.outputs.example[outputs]] == self.outputs.label[outputs]
        return Found(self._features[outputs], right, gave)

    def found_by_label(self, outcome: Ints) -> Found:
        """What is known of all labels of the first rounds, whose right label is ``outcome``, -1 for none."""
        n = self.outputs.first[np.searchsorted(self.places, outcome.size)]
        outputs = np.flatnonzero(self.outputs.label[:n] >= 0)
        label = outcome[self.places[self.outputs.example[outputs]]]
        return self.found(outputs, self.outputs.label[outputs] == label)

    def in_order(self) -> Ints:
        """All outputs, example by example: the likeliest first, then by falling votes, then by rising label."""
        order: Ints = np.lexsort((self.outputs.label, -self.outputs.votes, -self.guess, self.outputs.example))
        return order


class OneShot:
    """At most one question in each contested round: with which probability each output is asked, and which is.

    Everything but ``asked`` is fixed before it is drawn what to ask; docs/certificate.md, steps 2, 9 and 14.
    """

    def __init__(self, of: Choices, survivors: Ints, law: Law, uniform: Floats, f_yes: float = 0.0) -> None:
        self._of, self._survivors = of, survivors
        self.places, self.outputs = of.places, of.outputs
        label, example = law.of(of.outputs, of.unknown, of.guess)
        self._q = np.where(of.unknown, label * example[of.outputs.example], 1.0)
        #: About the outputs: how likely each is right, as far as it is not known.
        self.guess = of.guess
        self._guess = of.guess + of.is_right
        self._for_rival = self._guess + f_yes * (of.outputs.label < 0)
        scores = of.outputs.per_example(law.scores(of.outputs, of.unknown, of.guess))
        #: S of the rounds in which something can be asked.
        self.scores = scores[example > 0]
        self.asked: Ints = draw(of.outputs.first, label, example, uniform[of.places])

    @property
    def label(self) -> Ints:
        """The label to ask in each of the rounds ``places``, or -1 for nothing."""
        return np.where(self.asked >= 0, self.outputs.label[self.outputs.first[:-1] + self.asked], -1)

    @property
    def propensity(self) -> Floats:
        """That of the label to ask."""
        return np.where(self.asked >= 0, self._q[self.outputs.first[:-1] + self.asked], 1.0)

    def found(self, outcome: Ints) -> Found:
        """What the rounds that ended with ``outcome`` found."""
        asked = np.flatnonzero(self.asked[: np.searchsorted(self.places, outcome.size)] >= 0)
        asked = asked[self._of.tells_of_votes[asked]]
        return self._of.found(self.outputs.first[asked] + self.asked[asked], outcome[self.places[asked]] == 1)

    def rounds(self, outcome: Ints) -> Rounds:
        """The rounds that ended with ``outcome``: 1 for yes, 0 for anything else. Shape (n_rounds,)."""
        m = int(np.searchsorted(self.places, outcome.size))
        first = self.outputs.first[: m + 1]
        end = first[-1]
        return Rounds(
            self._survivors,
            self.outputs.code[:, :m],
            first,
            self._q[:end],
            self._for_rival[:end],
            self._guess[:end],
            self.asked[:m],
            outcome[self.places[:m]].astype(np.float64),
            outcome.size - m,
        )


def exact_rounds(drawn: Drawn, survivors: Ints, label: Ints) -> Rounds:
    """Rounds in which the right ``label`` was found, -1 for none: D is known, nothing is weighted."""
    said = drawn.said[survivors, : label.size]
    places = np.flatnonzero(contested(said))
    outputs = Outputs.of(said[:, places])
    right = ((outputs.label == label[places][outputs.example]) & (outputs.label >= 0)).astype(np.float64)
    nothing_asked, z = np.full(places.size, -1), np.zeros(places.size)
    exactly, n_nil = np.ones(right.size), label.size - places.size
    return Rounds(survivors, outputs.code, outputs.first, exactly, right, right, nothing_asked, z, n_nil)


class Epoch:
    """An epoch under way: what was drawn, and how its rounds ended.

    The ``outcome`` of a round is that of its script (``protocols.py``), and -1 where nothing was asked.
    """

    def __init__(
        self, number: int, drawn: Drawn, costs: Bools, one_shot: OneShot | None, choices: Choices | None = None
    ) -> None:
        self.number, self.drawn, self.one_shot, self._choices = number, drawn, one_shot, choices
        n = drawn.items.size
        self.unsettled = int(costs.sum())
        self.is_settled = ~costs
        self.outcome = np.full(n, -1, dtype=np.int64)
        self.propensity = np.ones(n)
        #: For each round that was checked, whether that contradicted what is assumed.
        self._checked: dict[int, bool] = {}

    def settle(self, place: int, settled: Settled) -> None:
        self.outcome[place] = settled.outcome
        self.is_settled[place] = True
        self.unsettled -= 1
        if settled.contradicted is not None:
            self._checked[place] = settled.contradicted

    def unsettle(self, place: int) -> None:
        self.outcome[place] = -1
        self.is_settled[place] = False
        self.unsettled += 1
        self._checked.pop(place, None)

    def settled_prefix(self) -> Ints:
        """The outcomes before the first round that is unsettled: wealth uses a beginning, never a selection."""
        n = self.is_settled.size if self.is_settled.all() else int(np.argmin(self.is_settled))
        return self.outcome[:n]

    def settled_later(self) -> Ints:
        """The rounds after that beginning that are settled all the same: they count for who leads, not for wealth."""
        n = self.settled_prefix().size
        later: Ints = n + np.flatnonzero(self.is_settled[n:])
        return later

    def checks(self) -> list[bool]:
        """What the checks in that beginning found, in the order drawn."""
        n = self.settled_prefix().size
        return [self._checked[place] for place in sorted(self._checked) if place < n]

    def found(self) -> Found | None:
        """What that beginning found out about labels; None where the label itself was asked for."""
        outcome = self.settled_prefix()
        if self.one_shot is not None:
            return self.one_shot.found(outcome)
        return None if self._choices is None else self._choices.found_by_label(outcome)
