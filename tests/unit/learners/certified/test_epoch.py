"""An epoch: what may be asked in its rounds, what is known already, and how outcomes become rounds of wealth."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from onebit.estimate.independent_wealth import Rounds
from onebit.learners.certified.epoch import Choices, Drawn, Epoch, KnownAnswers, OneShot, exact_rounds
from onebit.learners.certified.guesses import Guess
from onebit.learners.certified.law import Law
from onebit.learners.certified.protocols import Settled
from onebit.records import Answer

Ints = NDArray[np.int64]
#: Five models on six items; row 3 does not survive. Survivors agree on item 2.
SAID = np.array([[0, 1, 2, 0, 0, -1], [1, 1, 2, -1, 0, 1], [1, 0, 2, 0, 1, 2], [3, 3, 3, 3, 3, 3], [2, 1, 2, 0, 1, 1]])
SURVIVORS = np.array([0, 1, 2, 4])
#: The first survivor leads, and every label is asked about as often as any other.
UNIFORM = Law(0, np.array([1, 2, 3]), np.ones(3), 1.0, 0.0)
#: The guess is (share of the survivors' votes + .01) / 1.02, and all of them are scaled to add up to .98.
BY_SHARE = Guess(np.array([1.0, 1.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0, 0.0]))
#: The lowest label that may be asked is asked in every round.
LOWEST = np.zeros((8, 3))


def drawn(*items: int) -> Drawn:
    return Drawn(np.array(items), SAID[:, list(items)])


def known(*answers: tuple[int, int, Answer]) -> KnownAnswers:
    found = KnownAnswers()
    for item, label, answer in answers:
        found.add(item, label, answer)
    return found


def one_shot(on: Drawn, answers: KnownAnswers, f_yes: float = 0.0) -> OneShot:
    return OneShot(choices(on, answers), SURVIVORS, UNIFORM, LOWEST[: on.items.size], f_yes)


def choices(on: Drawn, answers: KnownAnswers) -> Choices:
    return Choices(on, SURVIVORS, 0, BY_SHARE, answers)


def guessed(*shares: float) -> list[float]:
    plain = [min((share + 0.01) / 1.02, 0.97) for share in shares]
    return [0.98 / max(sum(plain), 0.98) * guess for guess in plain]


def outputs_of(rounds: Rounds, i: int) -> list[tuple[float, float, float]]:
    """(q, guess for a rival, guess for the leader) of the outputs of round i."""
    span = slice(rounds.first[i], rounds.first[i + 1])
    triples = zip(rounds.q[span], rounds.for_rival[span], rounds.for_leader[span], strict=True)
    return [(float(q), float(rival), float(leader)) for q, rival, leader in triples]


def test_only_rounds_that_tell_survivors_apart_are_asked_about() -> None:
    asked = one_shot(drawn(0, 2, 5), known())
    assert asked.places.tolist() == [0, 2]
    assert asked.label.tolist() == [0, 1]
    assert asked.propensity == pytest.approx([1 / 3, 1 / 2])


def test_guesses_are_shares_of_the_votes() -> None:
    """Item 0: labels 0, 1, 2 with 1, 2, 1 votes. Item 5: an abstention, and labels 1, 2 with 2 and 1 of 3 votes."""
    rounds = one_shot(drawn(0, 5), known()).rounds(np.array([1, 0]))
    assert outputs_of(rounds, 0) == [pytest.approx((1 / 3, m, m), abs=1e-6) for m in guessed(1 / 4, 2 / 4, 1 / 4)]
    assert outputs_of(rounds, 1) == [
        (1.0, 0.0, 0.0),
        *(pytest.approx((1 / 2, m, m), abs=1e-6) for m in guessed(2 / 3, 1 / 3)),
    ]
    assert rounds.asked.tolist() == [0, 1]
    assert rounds.z.tolist() == [1, 0]
    assert rounds.n_nil == 0
    assert rounds.rows.tolist() == SURVIVORS.tolist()
    assert rounds.code.T.tolist() == [[0, 1, 1, 2], [0, 1, 2, 1]]


def test_a_known_label_is_its_answer_and_is_not_asked() -> None:
    """Item 0 with label 0 known to be wrong: 1 and 2 are left, with 2 and 1 of 3 votes."""
    asked = one_shot(drawn(0), known((0, 0, Answer.NO)))
    assert asked.label.tolist() == [1]
    assert asked.propensity == pytest.approx([1 / 2])
    rounds = asked.rounds(np.array([0]))
    assert outputs_of(rounds, 0) == [
        (1.0, 0.0, 0.0),
        *(pytest.approx((1 / 2, m, m), abs=1e-6) for m in guessed(2 / 3, 1 / 3)),
    ]


def test_where_a_right_label_is_known_others_are_guessed_wrong() -> None:
    """They are asked nevertheless: several labels may be right."""
    asked = one_shot(drawn(0), known((0, 0, Answer.YES)))
    assert asked.label.tolist() == [1]
    assert outputs_of(asked.rounds(np.array([1])), 0) == [(1.0, 1.0, 1.0), (0.5, 0.0, 0.0), (0.5, 0.0, 0.0)]


def test_a_right_label_that_no_survivor_gives_counts_as_known_too() -> None:
    asked = one_shot(drawn(0), known((0, 3, Answer.YES)))
    assert asked.label.tolist() == [0]
    assert [guess for _, guess, _ in outputs_of(asked.rounds(np.array([0])), 0)] == [0.0, 0.0, 0.0]


def test_where_all_labels_are_known_nothing_is_asked() -> None:
    asked = one_shot(drawn(4, 4), known((4, 0, Answer.NO), (4, 1, Answer.YES)))
    assert asked.asked.tolist() == [-1, -1]
    assert asked.label.tolist() == [-1, -1]
    rounds = asked.rounds(np.array([-1, -1]))
    assert outputs_of(rounds, 0) == outputs_of(rounds, 1) == [(1.0, 0.0, 0.0), (1.0, 1.0, 1.0)]
    assert rounds.sums().tolist() == [0, 0, 2, 2]


def test_an_item_at_which_a_rater_cant_tell_is_asked_about_other_labels() -> None:
    asked = one_shot(drawn(0, 1), known((0, 1, Answer.CANT_TELL)))
    assert asked.places.tolist() == [0, 1]
    assert asked.label[0] not in (-1, 1)
    assert asked.rounds(np.array([0, 0])).n_nil == 0


def test_only_a_rival_has_credit_for_an_abstention() -> None:
    rounds = one_shot(drawn(3), known(), f_yes=0.25).rounds(np.array([0]))
    assert outputs_of(rounds, 0)[0] == (1.0, 0.25, 0.0)
    assert outputs_of(rounds, 0)[1] == pytest.approx((1.0, 0.97, 0.97))


def test_what_was_found_is_for_those_asked_and_for_all_models() -> None:
    """Two rounds of one-shot: label 0 of item 0 is wrong, label 1 of item 5 right; the model that went counts too."""
    asked = one_shot(drawn(0, 2, 5), known())
    found = asked.found(np.array([0, -1, 1]))
    assert found.right.tolist() == [False, True]
    assert found.gave.T.tolist() == [[True, False, False, False, False], [False, True, False, False, True]]
    assert found.features.shape == (2, 4)
    assert asked.found(np.array([0, -1])).right.tolist() == [False]


def test_where_the_label_was_found_all_others_are_wrong() -> None:
    """Labels 0, 1, 2 of item 0, of which 1 was found; labels 1 and 2 of item 5, of which none was."""
    on = drawn(0, 2, 5)
    epoch = Epoch(0, on, np.array([True, False, True]), None, choices(on, known()))
    for place, label in ((0, 1), (2, -1)):
        epoch.settle(place, Settled(label))
    found = epoch.found()
    assert found is not None
    assert found.right.tolist() == [False, True, False, False, False]


def test_labels_are_ordered_by_guess_votes_and_number() -> None:
    of = choices(drawn(0, 5), known())
    assert of.outputs.label[of.in_order()].tolist() == [1, 0, 2, 1, 2, -1]


def test_a_beginning_of_an_epoch_is_its_first_rounds() -> None:
    """Five rounds, of which the second is free; three are settled."""
    asked = one_shot(drawn(0, 2, 5, 1, 4), known())
    whole, cut = asked.rounds(np.array([1, -1, 0, 1, 0])), asked.rounds(np.array([1, -1, 0]))
    assert (whole.code.shape, cut.code.shape) == ((4, 4), (4, 2))
    assert (whole.n_nil, cut.n_nil) == (1, 1)
    assert cut.first.tolist() == whole.first[:3].tolist()
    assert outputs_of(cut, 1) == outputs_of(whole, 1)
    assert asked.rounds(np.array([], dtype=np.int64)).code.shape == (4, 0)


def test_exact_rounds_are_the_truth() -> None:
    """Found: label 1 of item 0, nothing on item 1, the free item 2, label 0 of item 3 on which one abstains."""
    rounds = exact_rounds(drawn(0, 1, 2, 3), SURVIVORS, np.array([1, -1, 2, 0]))
    assert rounds.n_nil == 1
    assert (rounds.asked == -1).all()
    assert (rounds.q == 1).all()
    assert (rounds.for_rival == rounds.for_leader).all()
    # X over the contested rounds, for survivors 0, 1, 2 and 4.
    assert rounds.sums().tolist() == [0 + 1, 1 + 0, 1 + 1, 0 + 1]


def test_many_outputs_have_codes_that_fit() -> None:
    """More than 256 models that all say something else."""
    said = np.arange(300)[:, None]
    on = Drawn(np.array([0]), said)
    rounds = exact_rounds(on, np.arange(300), np.array([299]))
    assert rounds.code[:, 0].tolist() == list(range(300))
    assert np.flatnonzero(rounds.sums()).tolist() == [299]


def test_the_settled_prefix_ends_before_the_first_open_round() -> None:
    epoch = Epoch(0, drawn(0, 2, 5, 1), np.array([True, False, True, True]), None)
    assert epoch.settled_prefix().size == 0
    epoch.settle(3, Settled(1))
    assert epoch.settled_prefix().size == 0
    epoch.settle(0, Settled(2, contradicted=True))
    assert epoch.settled_prefix().tolist() == [2, -1]
    assert epoch.checks() == [True]
    epoch.settle(2, Settled(-1, contradicted=False))
    assert epoch.settled_prefix().tolist() == [2, -1, -1, 1]
    assert epoch.unsettled == 0
    assert epoch.checks() == [True, False]
    epoch.unsettle(0)
    assert epoch.settled_prefix().size == 0
    assert epoch.unsettled == 1
