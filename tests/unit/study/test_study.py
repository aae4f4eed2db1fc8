"""A study and its raters: leases, late answers, tokens, undo, overlap, checks."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.problems import models_of_accuracy
from tests.unit.study.runs import PREDICTIONS, TRUTH

from onebit.errors import AlreadyAnsweredError, InvalidInputError, UnknownQuestionError
from onebit.learners.certified import CertifiedLearner
from onebit.log.events import (
    Answered,
    CheckAnswered,
    Checked,
    Closed,
    Disputed,
    Event,
    Finished,
    Offered,
    Undone,
    Voted,
)
from onebit.records import Answer, EpochRecord, RunStatus, Status
from onebit.store.store import Store
from onebit.study.desk import NotYoursError, WithdrawnError
from onebit.study.kinds.selection.status import SelectionStatus
from onebit.study.opening import create_study, load_study
from onebit.study.proof import verify_study
from onebit.study.quality import RaterQuality, majority_rate, rate, warnings
from onebit.study.study import Offer, Receipt, Study, Undo


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/studies.db"


class Desk:
    """A study under test, with its clock and its log."""

    def __init__(self, storage: str, **options: Any) -> None:
        self.storage, self.clock = storage, Clock()
        self.study = create_study(PREDICTIONS, "s", storage=storage, eps=options.pop("eps", 0.1), **options)
        self.study._clock = self.clock

    def offer(self, rater: str | None = None) -> Offer:
        offer = self.study.ask(rater)
        assert isinstance(offer, Offer)
        return offer

    def reopen(self) -> None:
        self.study.close()
        self.study = load_study("s", storage=self.storage)
        self.study._clock = self.clock

    def log(self, *kinds: type[Event]) -> list[Event]:
        with Store(self.storage) as store:
            return [event for event in store.log(1).events if isinstance(event, kinds)]


@pytest.fixture
def desk(storage: str) -> Iterator[Desk]:
    made = Desk(storage)
    yield made
    made.study.close()


def truth(offer: Offer) -> bool:
    return bool(TRUTH[offer.item] == offer.label)


def answer_all(study: Study, rater: str = "ann") -> None:
    while isinstance(offer := study.ask(rater), Offer):
        study.tell(offer, truth(offer))


def test_a_rater_keeps_the_question_until_it_is_answered(desk: Desk) -> None:
    first = desk.offer("ann")
    assert desk.offer("ann") == first
    assert desk.offer("bob").id != first.id
    desk.study.tell(first, True)
    assert desk.offer("ann").id not in (first.id, 1)


def test_several_at_hand_keep_their_order_and_are_nobody_elses(desk: Desk) -> None:
    hand = desk.study.ask_several("ann", 3)
    assert isinstance(hand, tuple)
    assert len(set(hand)) == 3
    assert desk.study.ask_several("ann", 3) == hand
    assert desk.study.ask("ann") == hand[0]
    others = desk.study.ask_several("bob", 2)
    assert isinstance(others, tuple)
    assert not {offer.id for offer in others} & {offer.id for offer in hand}
    desk.study.tell(hand[0], True)
    after = desk.study.ask_several("ann", 3)
    assert isinstance(after, tuple)
    assert after[:2] == hand[1:]
    assert len(after) == 3


def test_without_names_every_call_gives_another_question(desk: Desk) -> None:
    assert [desk.offer().id for _ in range(3)] == [0, 1, 2]


def test_a_lease_that_ends_is_offered_again_with_the_same_label_and_propensity(desk: Desk) -> None:
    first = desk.offer("ann")
    desk.clock.now += 59
    assert desk.offer("bob").id == 1
    desk.clock.now += 2
    again = desk.offer("cem")
    assert (again.id, again.item, again.label) == (first.id, first.item, first.label)
    assert desk.log(Offered) == [Offered(0, "cem")]
    # No question was drawn for it, so there is one propensity, that of the log.
    assert len(desk.study._course.questions) == 2


def test_a_late_answer_is_taken_once_and_flagged(desk: Desk) -> None:
    first = desk.offer("ann")
    desk.clock.now += 100
    assert desk.offer("bob").id == first.id
    assert desk.study.tell(first, False) == Receipt(late=True)
    with pytest.raises(AlreadyAnsweredError, match="somebody else"):
        desk.study.tell(first.id, True, rater="bob")
    (answered,) = desk.log(Answered)
    assert answered == Answered(0, Answer.NO, "ann", None, late=True)
    assert desk.study.status().raters[0].n_late == 1
    assert desk.offer("bob").id == 1


def test_a_rater_who_comes_back_late_still_has_the_question(desk: Desk) -> None:
    first = desk.offer("ann")
    desk.clock.now += 100
    assert desk.offer("ann") == first
    assert desk.study.tell(first, False) == Receipt(late=False)


def test_asking_keeps_a_question_for_a_stated_time_and_no_longer(desk: Desk) -> None:
    first = desk.offer("ann")
    # A lease of 60 seconds, and three times that by asking.
    for _ in range(23):
        desk.clock.now += 10
        assert desk.offer("ann") == first
        assert desk.offer("bob").id != first.id
    desk.clock.now += 11
    # Who has it still sees it, once, while nobody else does.
    hand = desk.study.ask_several("ann", 3)
    assert isinstance(hand, tuple)
    assert len({offer.id for offer in hand}) == 3
    assert first in hand
    assert desk.offer("cy").id == first.id
    assert first not in (desk.study.ask_several("ann", 3) or ())  # type: ignore[operator]
    # The first to answer counts, and is late.
    assert desk.study.tell(first, False) == Receipt(late=True)


def test_answering_and_taking_back_keeps_a_question_for_one_more_lease(desk: Desk) -> None:
    first = desk.offer("ann")
    for _ in range(2):
        desk.study.tell(first, True)
        assert desk.study.undo(first) is Undo.UNDONE
        desk.clock.now += 30
    assert desk.offer("bob").id == first.id


def test_asking_again_and_again_costs_no_memory(desk: Desk) -> None:
    desk.offer("ann")
    desk.clock.now += 1000
    for _ in range(500):
        desk.offer("ann")
    assert len(desk.study._desk._free) <= 1


def test_the_wall_clock_does_not_matter(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.study._clock = time.monotonic
    first, real = desk.offer("ann"), time.time()
    for jump in (86_400, -86_400):
        monkeypatch.setattr(time, "time", lambda jump=jump: real + jump)
        assert desk.offer("ann") == first
        assert desk.offer(f"other {jump}").id != first.id
    assert desk.study.tell(first, False) == Receipt(late=False)


def test_taking_back_twice_is_taking_back_once(desk: Desk) -> None:
    """The reply to the first was lost, and the page asks again."""
    first = desk.offer("ann")
    desk.study.tell(first, True)
    assert [desk.study.undo(first) for _ in range(2)] == [Undo.UNDONE] * 2
    assert len(desk.log(Undone)) == 1
    with pytest.raises(NotYoursError):
        desk.study.undo(first.id, rater="bob")


def test_what_was_given_to_whom(desk: Desk) -> None:
    first, second = desk.offer("ann"), desk.offer("bob")
    assert desk.study.was_given(first.item, "ann")
    assert not desk.study.was_given(second.item, "ann")
    desk.study.tell(first, True)
    assert desk.study.was_given(first.item, "ann")
    assert not desk.study.was_given(10**9, "ann")


def test_two_raters_may_have_made_the_same_token(storage: str) -> None:
    desk = Desk(storage, overlap=3)
    first = desk.offer("ann")
    assert desk.offer("bob").id == desk.offer("cy").id == first.id
    assert desk.study.tell(first.id, True, rater="ann", token="t") == Receipt()
    # Nobody else's vote is acknowledged by it: not one that was not cast, and not one that says something else.
    assert desk.study.tell(first.id, True, rater="bob", token="t") == Receipt()
    assert desk.study.tell(first.id, False, rater="cy", token="t") == Receipt()
    assert desk.study.tell(first.id, False, rater="cy", token="t") == Receipt(repeated=True)
    desk.reopen()
    assert desk.study.tell(first.id, True, rater="bob", token="t") == Receipt(repeated=True)
    votes = [(event.rater, event.answer) for event in desk.log(Voted) if isinstance(event, Voted)]
    assert votes == [("ann", Answer.YES), ("bob", Answer.YES), ("cy", Answer.NO)]
    assert verify_study(storage, "s").ok
    desk.study.close()


def test_a_token_of_somebody_else_opens_nothing(desk: Desk) -> None:
    first = desk.offer("ann")
    desk.study.tell(first, True, token="t")
    with pytest.raises(NotYoursError):
        desk.study.tell(first.id, True, rater="bob", token="t")


def test_the_same_token_is_the_same_answer_also_after_a_restart(desk: Desk) -> None:
    hand = desk.study.ask_several("ann", 2)
    assert isinstance(hand, tuple)
    first, second = hand
    assert desk.study.tell(first, True, token="t") == Receipt()
    assert desk.study.tell(first, True, token="t") == Receipt(repeated=True)
    desk.reopen()
    assert desk.study.tell(first, True, token="t") == Receipt(repeated=True)
    for offer, answer in ((first, False), (second, True)):
        with pytest.raises(InvalidInputError, match="token"):
            desk.study.tell(offer, answer, token="t")
    # A named rater who repeats an answer means the same one, token or not.
    assert desk.study.tell(first, True).repeated
    with pytest.raises(AlreadyAnsweredError, match="from you"):
        desk.study.tell(first, False)
    assert len(desk.log(Answered)) == 1


def test_only_who_was_asked_may_answer(desk: Desk) -> None:
    first = desk.offer("ann")
    with pytest.raises(NotYoursError, match="not given to 'bob'"):
        desk.study.tell(first.id, True, rater="bob")
    with pytest.raises(NotYoursError):
        desk.study.tell(first.id, True)
    with pytest.raises(UnknownQuestionError, match="never given"):
        desk.study.tell(99, True, rater="ann")
    with pytest.raises(InvalidInputError, match="no name"):
        desk.study.ask(" ")
    with pytest.raises(InvalidInputError, match=r"Answer\.YES"):
        desk.study.tell(first, 3)
    assert desk.log(Answered) == []


def test_after_a_restart_holders_have_their_lease_anew_and_the_nameless_none(desk: Desk) -> None:
    named, nameless = desk.offer("ann"), desk.offer()
    desk.clock.now = time.monotonic()
    desk.reopen()
    assert desk.offer("bob").id == nameless.id
    assert desk.offer("cem").id == 2
    assert desk.offer("ann") == named


def test_undo_gives_the_question_back_and_the_last_answer_counts(desk: Desk) -> None:
    first = desk.offer("ann")
    desk.study.tell(first, True, token="a")
    assert desk.study.undo(first) is Undo.UNDONE
    assert desk.study.status().n_answers == 0
    # What was on its way twice does not come back to life.
    assert desk.study.tell(first, True, token="a").repeated
    assert desk.study.status().n_answers == 0
    assert desk.offer("bob").id == 1
    assert desk.offer("ann") == first
    desk.study.tell(first, False, token="b")
    assert desk.study._course.answers[0] is Answer.NO
    assert [type(event) for event in desk.log(Answered, Undone)] == [Answered, Undone, Answered]
    digest = desk.study.digest()
    desk.reopen()
    assert desk.study.digest() == digest


def test_after_an_undo_the_question_that_was_shown_comes_again_too(desk: Desk) -> None:
    first = desk.offer("ann")
    desk.study.tell(first, True)
    second = desk.offer("ann")
    desk.study.undo(first)
    assert desk.offer("ann") == first
    desk.study.tell(first, False)
    assert desk.offer("ann") == second


def test_one_cannot_take_back_what_others_answered(desk: Desk) -> None:
    first = desk.offer("ann")
    desk.study.tell(first, True)
    with pytest.raises(NotYoursError, match="your own"):
        desk.study.undo(first.id, rater="bob")


def test_a_wish_that_comes_after_the_epoch_is_a_dispute(desk: Desk) -> None:
    first = desk.offer("ann")
    desk.study.tell(first, True)
    answer_all(desk.study)
    before = desk.study.digest()
    assert desk.study.undo(first) is Undo.DISPUTED
    n_events = desk.study.head.n_events
    assert desk.study.undo(first) is Undo.DISPUTED
    assert desk.study.head.n_events == n_events
    assert desk.study.digest() == before
    assert desk.log(Disputed) == [Disputed(0, "ann")]
    desk.reopen()
    assert desk.study.digest() == before


def test_waiting_for_others_then_done(desk: Desk) -> None:
    held = desk.offer("ann")
    for _ in range(1000):
        offer = desk.study.ask("bob")
        if isinstance(offer, Status):
            break
        desk.study.tell(offer, truth(offer))
    assert offer is Status.WAIT
    desk.study.tell(held, truth(held))
    answer_all(desk.study, "bob")
    assert desk.study.ask("ann") is Status.DONE
    status = desk.study.status()
    assert isinstance(status, SelectionStatus)
    assert status.status is RunStatus.COMPLETE
    assert status.chosen == ("model 7",)
    (finished,) = desk.log(Finished)
    assert isinstance(finished, Finished)
    assert finished.summary["certified_eps"] == status.certified_eps


def test_a_hand_whose_leases_have_ended_is_dealt_once(storage: str) -> None:
    desk = Desk(storage)
    first = desk.study.ask_several("ann", 1)
    assert isinstance(first, tuple)
    desk.clock.now += 100
    again = desk.study.ask_several("ann", 3)
    assert isinstance(again, tuple)
    assert again[0] == first[0]
    assert len({offer.id for offer in again}) == len(again) == 3
    desk.study.close()


def test_a_majority_of_several_answers(storage: str) -> None:
    desk = Desk(storage, overlap=3)
    offers = [desk.offer(name) for name in ("ann", "bob", "cem")]
    assert {offer.id for offer in offers} == {0}
    assert desk.offer("dan").id == 1
    desk.study.tell(offers[0], True)
    assert desk.study.status().n_answers == 0
    desk.study.tell(offers[1], False)
    desk.reopen()
    desk.study.tell(offers[2], False)
    assert desk.study._course.answers == [Answer.NO, None]
    assert len(desk.log(Voted)) == 3
    assert desk.log(Answered) == [Answered(0, Answer.NO)]
    # Without bob's vote there is no majority, and the question is open.
    assert desk.study.undo(offers[1]) is Undo.UNDONE
    assert desk.study._course.answers == [None, None]
    desk.study.tell(offers[1], True)
    assert desk.study._course.answers == [Answer.YES, None]
    # With or without cem's vote it is yes.
    assert desk.study.undo(offers[2]) is Undo.UNDONE
    assert desk.study._course.answers == [Answer.YES, None]
    digest = desk.study.digest()
    desk.reopen()
    assert desk.study.digest() == digest
    desk.study.close()


def test_a_vote_after_the_majority_changes_nothing_and_is_kept(storage: str) -> None:
    desk = Desk(storage, overlap=3)
    offers = [desk.offer(name) for name in ("ann", "bob", "cem")]
    for offer, said in zip(offers, (True, True, False), strict=True):
        desk.study.tell(offer, said)
    assert desk.study._course.answers == [Answer.YES]
    assert len(desk.log(Voted)) == 3
    with pytest.raises(InvalidInputError, match="give the rater's name"):
        desk.study.ask()
    desk.study.close()


def test_a_vote_that_is_taken_back_leaves_the_answer_of_the_others(storage: str) -> None:
    """Four voted, since one was late: without ann it is two against one, and nobody else would be asked."""
    desk = Desk(storage, overlap=3)
    offers = {name: desk.offer(name) for name in ("ann", "bob", "cem")}
    desk.clock.now += 1000
    offers["dan"] = desk.offer("dan")
    assert {offer.id for offer in offers.values()} == {0}
    for name, said in (("ann", True), ("bob", True), ("cem", False), ("dan", False)):
        desk.study.tell(offers[name], said)
    assert desk.study._course.answers == [Answer.YES]
    assert desk.study.undo(offers["ann"]) is Undo.UNDONE
    assert desk.study._course.answers == [Answer.NO]
    desk.reopen()
    assert desk.study._course.answers == [Answer.NO]
    desk.study.close()
    assert verify_study(storage, "s").ok


def test_checks_never_enter_the_estimate_and_show_who_errs(storage: str) -> None:
    gold = {row: int(TRUTH[row]) for row in range(60)}
    desk = Desk(storage, eps=0.02, gold=gold, gold_share=0.3, repeat_share=0.2)
    rng = np.random.default_rng(1)
    for _ in range(400):
        for name, error in (("ann", 0.0), ("bob", 0.5)):
            offer = desk.study.ask(name)
            if isinstance(offer, Offer):
                desk.study.tell(offer, truth(offer) != (rng.random() < error))
    status = desk.study.status()
    ann, bob = status.raters
    n_checks = len(desk.log(CheckAnswered))
    assert n_checks == sum(rate.n for each in (ann, bob) for rate in (each.f_no, each.f_yes, each.changed))
    assert min(ann.f_no.n, ann.f_yes.n, ann.changed.n) > 5
    assert status.n_answers == len(desk.log(Answered)) == ann.n_answers + bob.n_answers
    assert (ann.f_no.n_wrong, ann.f_yes.n_wrong, ann.changed.n_wrong) == (0, 0, 0)
    assert bob.f_no.low > 0.1
    assert all(warning.startswith("bob") for warning in status.warnings)
    assert len(status.warnings) == 3
    checks = desk.log(Checked)
    golds = [check for check in checks if isinstance(check, Checked) and check.repeats is None]
    assert {check.expected for check in golds} == {Answer.YES, Answer.NO}
    assert all((check.label == gold[check.item]) == (check.expected is Answer.YES) for check in golds)
    asked = [(check.rater, check.item) for check in golds]
    assert len(asked) == len(set(asked))
    desk.reopen()
    assert desk.study.status().raters == status.raters
    desk.study.close()


def test_raters_who_accept_any_right_label_pass_gold(storage: str) -> None:
    """Every item has two right labels, and a rater who says yes to both is not accused."""
    right = {row: (int(TRUTH[row]), (int(TRUTH[row]) + 1) % 4) for row in range(60)}
    desk = Desk(storage, eps=0.02, gold=right, gold_share=0.5)
    for _ in range(200):
        offer = desk.study.ask("ann")
        if isinstance(offer, Offer):
            desk.study.tell(offer, offer.label in right.get(offer.item, (int(TRUTH[offer.item]),)))
    checks = [check for check in desk.log(Checked) if isinstance(check, Checked)]
    for check in checks:
        assert (check.label in right[check.item]) == (check.expected is Answer.YES)
    asked_about = {right[check.item].index(check.label) for check in checks if check.expected is Answer.YES}
    assert asked_about == {0, 1}
    (ann,) = desk.study.status().raters
    assert ann.f_no.n + ann.f_yes.n > 20
    assert ann.f_no.n_wrong + ann.f_yes.n_wrong == 0
    desk.study.close()


def test_with_overlap_raters_are_held_against_what_a_majority_like_them_would_do() -> None:
    rater = RaterQuality("ann", 100, 0, 0, rate(9, 40), rate(0, 40), rate(0, 0))
    assert rater.f_no.low > 0.1
    (alone,) = warnings([rater], 0.1, 0.1)
    assert "a rate of at least 0.108; the study was created for at most 0.100" in alone
    assert majority_rate(rater.f_no.low, 3) < 0.1
    assert warnings([rater], 0.1, 0.1, overlap=3) == []
    (together,) = warnings([rater], 0.02, 0.1, overlap=3)
    assert (
        "so a majority of 3 like this one would in at least 0.033; the study was created for at most 0.020" in together
    )


def test_a_given_seed_serves_one_study(storage: str) -> None:
    desk = Desk(storage, seed=5)
    assert (desk.study.created.setting.seed, desk.study.created.setting.seed_given) == (5, True)
    with pytest.raises(InvalidInputError, match=r"the seed 5 is that of the study .* never used twice"):
        create_study(PREDICTIONS, "another", storage=storage, eps=0.1, seed=5)
    with create_study(PREDICTIONS, "another", storage=storage, eps=0.1) as other:
        assert not other.created.setting.seed_given
    with create_study(PREDICTIONS, "third", storage=storage, eps=0.1) as third:
        assert third.created.setting.seed != other.created.setting.seed
    desk.study.close()


def test_exhaustive_is_for_follow_up(storage: str) -> None:
    with pytest.raises(InvalidInputError, match="exhaustive is given with the protocol one-shot"):
        create_study(PREDICTIONS, "s", storage=storage, eps=0.1, exhaustive=True, protocol="one-shot")
    with create_study(PREDICTIONS, "s", storage=storage, eps=0.1, exhaustive=True) as study:
        assert (study.created.selection.exhaustive, study.created.selection.protocol) == (True, "follow-up")


def test_a_check_is_taken_back_like_any_answer(storage: str) -> None:
    desk = Desk(storage, gold={0: int(TRUTH[0])}, gold_share=0.5)
    while True:
        offer = desk.offer("ann")
        desk.study.tell(offer, not truth(offer))
        if desk.log(Checked):
            break
    assert desk.study.undo(offer) is Undo.UNDONE
    assert desk.offer("ann") == offer
    desk.study.tell(offer, truth(offer))
    rates = desk.study.status().raters[0]
    assert rates.f_no.n + rates.f_yes.n == 1
    assert rates.f_no.n_wrong + rates.f_yes.n_wrong == 0
    desk.reopen()
    assert desk.study.status().raters[0] == rates
    desk.study.close()


@pytest.mark.parametrize("protocol", ["follow-up", "labels"])
def test_other_protocols(storage: str, protocol: Any) -> None:
    desk = Desk(storage, protocol=protocol, population="stream", eps=0.3)
    while isinstance(offer := desk.study.ask("ann"), Offer):
        desk.study.tell(offer, int(TRUTH[offer.item]) if offer.label is None else truth(offer))
    assert desk.study.result.status is RunStatus.COMPLETE
    desk.study.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"overlap": 2}, "odd"),
        ({"overlap": 0}, "at least 1"),
        ({"overlap": 3, "protocol": "labels"}, "yes/no"),
        ({"lease_seconds": 0}, "lease"),
        ({"gold_share": 0.1}, "no gold"),
        ({"gold_share": 0.9, "gold": {0: 0}}, "at least 0 and at most 0.5"),
        ({"gold": {0: 99}}, "label 99"),
        ({"descriptions": {"cat": "a pet"}}, "no label"),
        ({"media": "picture"}, "media_root"),
        ({"eps": 2}, "eps"),
        ({"protocol": "follow-up", "f_no": 0.1}, "one-shot"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    storage: str, tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInputError, match=said):
        create_study(PREDICTIONS, "s", storage=storage, **({"eps": 0.1} | options))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("my.db", "no URL"),
        ("sqlite://", "in memory"),
        ("sqlite:////nowhere/at/all.db", "folder"),
        ("mysql://x/y", "neither"),
    ],
)
def test_storage_that_is_none(url: str, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        load_study("s", storage=url)


def test_who_only_reads_does_not_see_an_epoch_closed_that_is_open(storage: str) -> None:
    desk = Desk(storage)
    learner: Any = desk.study.kind.learner
    offer = desk.offer("ann")
    while learner._rounds[0][0].epoch.unsettled:
        offer = desk.offer("ann")
        desk.study.tell(offer, truth(offer))
    n_closed = len(desk.log(Closed))
    with load_study("s", storage=storage, read_only=True) as looking:
        seen = looking.status()
        assert isinstance(seen, SelectionStatus)
        assert len(looking.kind.learner.closings) == n_closed
    # The last answer of the epoch was not used yet, by anybody.
    assert desk.study.undo(offer) is Undo.UNDONE
    with load_study("s", storage=storage, read_only=True) as looking:
        again = looking.status()
        assert isinstance(again, SelectionStatus)
        assert (again.certified_eps, again.survivors, again.chosen) == (seen.certified_eps, seen.survivors, seen.chosen)
    desk.study.close()


def test_the_learner_hears_how_many_raters_are_there(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[int] = []
    monkeypatch.setattr(desk.study.kind.learner, "expect", heard.append)
    for rater in ("ann", "bob", "cem"):
        desk.offer(rater)
    desk.clock.now += 50
    desk.offer("ann")
    desk.clock.now += 20
    desk.offer("bob")  # cem has been away for more than a minute
    desk.offer()  # nobody knows who this is, so it says nothing about how many there are
    assert heard == [1, 2, 3, 3, 2]


def test_raters_who_share_each_question_count_together(storage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(storage, overlap=3)
    heard: list[int] = []
    monkeypatch.setattr(desk.study.kind.learner, "expect", heard.append)
    for rater in "abcd":
        desk.offer(rater)
    assert heard == [1, 1, 1, 2]
    desk.study.close()


def test_near_the_end_of_an_epoch_nobody_holds_more_than_a_fair_share(desk: Desk) -> None:
    learner = desk.study.kind.learner
    hands: dict[str, tuple[Offer, ...]] = {}
    for rater in ("ann", "bob"):
        dealt = desk.study.ask_several(rater, 5)
        assert isinstance(dealt, tuple)
        hands[rater] = dealt
    assert [len(hand) for hand in hands.values()] == [5, 5]
    while (learner.n_ready or 0) > 3:
        desk.study.tell(hands["ann"][0], True)
        dealt = desk.study.ask_several("ann", 5)
        assert isinstance(dealt, tuple)
        hands["ann"] = dealt
    n_ready = learner.n_ready
    assert n_ready is not None
    new = desk.study.ask_several("cem", 5)
    assert isinstance(new, tuple)
    assert len(new) == -(-n_ready // 3)


def test_a_study_with_many_raters_has_epochs_that_overlap_and_verifies(
    storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody is kept waiting near the end, so that raters hold something when it comes.
    monkeypatch.setattr(CertifiedLearner, "_most_needed", lambda *_: math.inf)
    close, right = models_of_accuracy(np.random.default_rng(1), np.array([0.7, 0.73, 0.76]), 400, 5)
    raters, hands = [f"rater {i}" for i in range(40)], dict[str, Offer]()
    study = create_study(close, "s", storage=storage, eps=0.05, seed=1)
    for turn, rater in enumerate(itertools.cycle(raters)):
        # Everybody answers what was held before, and is given another question.
        if rater in hands:
            held = hands.pop(rater)
            study.tell(held, bool(right[held.item] == held.label))
        if isinstance(offer := study.ask(rater), Offer):
            hands[rater] = offer
        if study.is_over:
            break
        if turn == 100:
            before = study.digest()
            study.close()
            study = load_study("s", storage=storage)
            assert study.digest() == before
    epochs = [each for each in study.kind.learner.epochs if isinstance(each, EpochRecord)]
    assert epochs[0].n_rounds == 64
    assert max(each.n_open for each in epochs) > 0
    # What raters hold when it ends is not needed any more, and they are told so.
    assert hands
    n_answers = study.status().n_answers
    for rater, held in hands.items():
        with pytest.raises(WithdrawnError, match="not needed any more"):
            study.tell(held, True)
        assert study.ask_several(rater, 3) is Status.DONE
    assert (study.status().n_open, study.status().n_answers) == (0, n_answers)
    study.close()
    assert verify_study(storage, "s").ok
