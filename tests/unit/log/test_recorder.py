"""A recorded run is replayed bit for bit, wherever it stopped; another table or seed is noticed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.study.runs import N_LABELS, ONE_SHOT, PREDICTIONS, RUNS, fresh, truth_of

from onebit.errors import AlreadyAnsweredError, InvalidInputError, OnebitError, UnknownQuestionError
from onebit.learners.certified import CertifiedLearner, constants
from onebit.log.events import Answered, Asked, Closed, EpochBegan, Event, Finished, LogError, Undone
from onebit.log.journal import NotWrittenError
from onebit.log.recorder import Recorder, replay
from onebit.records import Answer, EpochRecord, Question, RunStatus, Status
from onebit.study.learners import build_selection


class Memory:
    """A sink that keeps events, and can be full."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.full = False

    def append(self, events: Iterable[Event]) -> None:
        if self.full:
            raise NotWrittenError("full")
        self.events.extend(events)


def recorded(name: str, n_answers: int, seed: int = 0, at_a_time: int = 7) -> tuple[Recorder, Memory]:
    """A run that got so many answers, in a random order, with a few taken back."""
    learner, setting = RUNS[name]
    selection, log, rng = fresh(setting, learner), Memory(), np.random.default_rng(seed)
    recorder = Recorder(selection.learner, log)
    held: list[Question] = []
    for _ in range(n_answers):
        new = recorder.ask(at_a_time) if len(held) < at_a_time else Status.WAIT
        held += new if isinstance(new, tuple) else ()
        if not held:
            break
        question = held.pop(int(rng.integers(len(held))))
        recorder.tell(question.id, Answer.CANT_TELL if rng.random() < 0.1 else truth_of(selection, question))
        if learner == "certified" and setting.protocol == "one-shot" and rng.random() < 0.1:
            recorder.undo(question.id)
    return recorder, log


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("n_answers", [0, 1, 60, 10_000])
def test_replay_gives_the_same_state_and_goes_on_the_same(name: str, n_answers: int) -> None:
    learner, setting = RUNS[name]
    live, log = recorded(name, n_answers)
    again = replay(log.events, fresh(setting, learner).learner)
    assert again.digest() == live.digest()
    assert again.open == live.open
    assert again.answers == live.answers
    for number, question in dict(live.open).items():
        for each in (live, again):
            each.tell(number, truth_of(fresh(setting, learner), question))
    assert again.ask(5) == live.ask(5)
    assert again.digest() == live.digest()


def test_the_log_has_epochs_before_their_questions_and_closings_before_the_next() -> None:
    _, log = recorded("one-shot", 400)
    at: dict[str, int] = {}
    for place, event in enumerate(log.events):
        match event:
            case EpochBegan(record):
                at[f"began {record.number}"] = place
                assert record.number == 0 or at[f"closed {record.number - 1}"] < place
            case Closed(closing):
                at[f"closed {closing.epoch}"] = place
            case Asked(question):
                assert f"began {question.epoch}" in at
                assert f"closed {question.epoch}" not in at
    assert "closed 1" in at


def test_another_table_or_seed_is_noticed() -> None:
    _, log = recorded("one-shot", 100)
    for other in (
        build_selection(replace(ONE_SHOT, seed=4), "certified", PREDICTIONS, N_LABELS),
        build_selection(ONE_SHOT, "certified", PREDICTIONS[:, ::-1], N_LABELS),
        build_selection(replace(ONE_SHOT, budget=5), "certified", PREDICTIONS, N_LABELS),
    ):
        with pytest.raises(LogError, match="does not belong to this table or seed"):
            replay(log.events, other.learner)


@pytest.mark.parametrize("run", ["one-shot", "follow-up", "stream"])
def test_a_log_stays_good_where_plans_come_out_otherwise(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On another machine, whose solver differs in the last bit, or after plans were improved."""
    live, log = recorded(run, 40)

    monkeypatch.setattr(constants, "PRIOR_COEFFICIENTS", (0.5, 0.5, 0.5, 0.5))
    monkeypatch.setattr(constants, "PRIOR_WEIGHT", 1e6)
    monkeypatch.setattr(constants, "EPOCH_SHARE", 0.9)
    again = replay(log.events, fresh(RUNS[run][1]).learner)
    assert again.digest() == live.digest()
    # From here on it is the new plan that is followed.
    selection, learner = fresh(RUNS[run][1]), again.learner
    assert isinstance(learner, CertifiedLearner)
    n_logged = len(learner.epochs)
    while len(learner.epochs) == n_logged and isinstance(asked := again.ask(), tuple):
        for question in asked:
            again.tell(question.id, truth_of(selection, question))
    logged, followed = learner.epochs[n_logged - 1 :]
    assert logged.guess != pytest.approx((0.5,) * 4, abs=1e-3)
    assert followed.guess == pytest.approx((0.5,) * 4, abs=1e-3)


def test_a_plan_that_was_changed_is_noticed() -> None:
    _, log = recorded("one-shot", 200)
    places = [i for i, event in enumerate(log.events) if isinstance(event, EpochBegan)]
    began = log.events[places[1]]
    assert isinstance(began, EpochBegan)
    assert isinstance(began.record, EpochRecord)
    for record, said in (
        (replace(began.record, gamma=0.5), "the log has"),
        (replace(began.record, mixture=((0, 1.0),), survivors=(1, 7)), "does not belong"),
        (replace(began.record, mixture=((99, 1.0),)), "rivals that do not survive"),
        (replace(began.record, leader=0), "an epoch comes out otherwise"),
    ):
        changed = [*log.events]
        changed[places[1]] = EpochBegan(record)
        with pytest.raises(LogError, match=said):
            replay(changed, fresh().learner)


def test_a_changed_log_is_noticed() -> None:
    _, log = recorded("one-shot", 200)
    place = next(i for i, event in enumerate(log.events) if isinstance(event, Closed))
    closed = log.events[place]
    assert isinstance(closed, Closed)
    log.events[place] = Closed(replace(closed.closing, certified_eps=closed.closing.certified_eps / 2))
    with pytest.raises(LogError, match="what an epoch showed"):
        replay(log.events, fresh().learner)
    log.events[place] = closed
    answered = next(event for event in log.events if isinstance(event, Answered))
    with pytest.raises(LogError, match=f"event {len(log.events) + 1} of the log cannot have happened"):
        replay([*log.events, answered], fresh().learner)


def test_what_could_not_be_written_is_written_later_and_done_once() -> None:
    selection, log = fresh(), Memory()
    recorder = Recorder(selection.learner, log)
    log.full = True
    with pytest.raises(NotWrittenError):
        recorder.ask(3)
    log.full = False
    questions = recorder.ask(3)
    assert isinstance(questions, tuple)
    assert [q.id for q in questions] == [0, 1, 2]
    log.full = True
    for _ in range(2):
        with pytest.raises(NotWrittenError):
            recorder.tell(0, Answer.NO)
    with pytest.raises(AlreadyAnsweredError):
        recorder.tell(0, Answer.YES)
    log.full = False
    recorder.tell(0, Answer.NO)
    recorder.undo(0)
    assert [event for event in log.events if isinstance(event, Answered | Undone)] == [
        Answered(0, Answer.NO),
        Undone(0),
    ]
    assert replay(log.events, fresh().learner).digest() == recorder.digest()


def test_what_is_refused_is_not_in_the_log() -> None:
    recorder, log = recorded("one-shot", 5)
    n = len(log.events)
    answered = next(iter(recorder.answers))
    for question_id, answer, error in (
        (10_000, Answer.YES, UnknownQuestionError),
        (answered, Answer.YES, AlreadyAnsweredError),
        (next(iter(recorder.open)), 3, InvalidInputError),
    ):
        with pytest.raises(error):
            recorder.tell(question_id, answer)
    with pytest.raises(OnebitError):
        recorder.undo(next(iter(recorder.open)))
    assert len(log.events) == n


def test_an_undone_question_is_given_again_first() -> None:
    selection = fresh()
    recorder = Recorder(selection.learner, Memory())
    first = recorder.ask(2)
    assert isinstance(first, tuple)
    recorder.tell_all((question.id, Answer.NO) for question in first)
    recorder.undo(first[1].id)
    assert recorder.ask(4) == (first[1],)
    assert recorder.open == {first[1].id: first[1]}


def test_a_learner_that_uses_answers_at_once_takes_none_back() -> None:
    recorder, _ = recorded("uniform", 3)
    with pytest.raises(InvalidInputError, match="used at once"):
        recorder.undo(next(iter(recorder.answers)))


def test_the_end_is_written_once_and_known_again() -> None:
    recorder, log = recorded("follow-up", 10_000)
    assert recorder.ask() is Status.DONE
    for _ in range(2):
        recorder.finish(RunStatus.COMPLETE, {"chosen": 7})
    assert log.events[-1] == Finished(RunStatus.COMPLETE, {"chosen": 7})
    assert sum(isinstance(event, Finished) for event in log.events) == 1
    assert replay(log.events, fresh(RUNS["follow-up"][1]).learner).finished == log.events[-1]
