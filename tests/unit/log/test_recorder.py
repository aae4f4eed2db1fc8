"""A recorded run is replayed bit for bit, wherever it stopped; another table or seed is noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.study.runs import N_LABELS, ONE_SHOT, PREDICTIONS, RUNS, created, fresh, truth_of

from onebit.errors import AlreadyAnsweredError, InvalidInputError, OnebitError, UnknownQuestionError
from onebit.learners.certified import CertifiedLearner, constants
from onebit.log.events import Answered, Asked, Closed, EpochBegan, Event, Finished, LogError, Undone
from onebit.log.recorder import Recorder, replay
from onebit.records import Answer, EpochRecord, Question, RunStatus, Status
from onebit.study.kinds.selection.selectors import build_selection


def tell(recorder: Recorder, number: int, answer: Answer | int) -> None:
    recorder.take(Answered(number, answer))


def recorded(name: str, n_answers: int, seed: int = 0, at_a_time: int = 7) -> tuple[Recorder, list[Event]]:
    """A run that got so many answers, in a random order, with a few taken back; and its log."""
    learner, setting = RUNS[name]
    selection, rng = fresh(setting, learner), np.random.default_rng(seed)
    recorder = Recorder(selection.learner, created(setting, learner))
    held: list[Question] = []
    for _ in range(n_answers):
        new = recorder.ask(at_a_time) if len(held) < at_a_time else Status.WAIT
        held += new if isinstance(new, tuple) else ()
        if not held:
            break
        question = held.pop(int(rng.integers(len(held))))
        tell(recorder, question.id, Answer.CANT_TELL if rng.random() < 0.1 else truth_of(selection, question))
        if learner == "certified" and setting.protocol == "one-shot" and rng.random() < 0.1:
            recorder.take(Undone(question.id))
            held.append(question)
    return recorder, [created(setting, learner), *recorder.drain()]


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("n_answers", [0, 1, 60, 10_000])
def test_replay_gives_the_same_state_and_goes_on_the_same(name: str, n_answers: int) -> None:
    learner, setting = RUNS[name]
    live, log = recorded(name, n_answers)
    again = replay(log, fresh(setting, learner).learner)
    assert again.digest() == live.digest()
    assert again.course.open == live.course.open
    assert again.course.answers == live.course.answers
    for number, question in dict(live.course.open).items():
        for each in (live, again):
            tell(each, number, truth_of(fresh(setting, learner), question))
    assert again.ask(5) == live.ask(5)
    assert again.digest() == live.digest()


def test_the_log_has_epochs_before_their_questions_and_closings_before_the_next() -> None:
    _, log = recorded("one-shot", 400)
    at: dict[str, int] = {}
    for place, event in enumerate(log):
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
            replay(log, other.learner)


@pytest.mark.parametrize("run", ["one-shot", "follow-up", "stream"])
def test_a_log_stays_good_where_plans_come_out_otherwise(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On another machine, whose solver differs in the last bit, or after plans were improved."""
    live, log = recorded(run, 40)

    monkeypatch.setattr(constants, "PRIOR_COEFFICIENTS", (0.5, 0.5, 0.5, 0.5))
    monkeypatch.setattr(constants, "PRIOR_WEIGHT", 1e6)
    monkeypatch.setattr(constants, "EPOCH_SHARE", 0.9)
    again = replay(log, fresh(RUNS[run][1]).learner)
    assert again.digest() == live.digest()
    # From here on it is the new plan that is followed.
    selection, learner = fresh(RUNS[run][1]), again.learner
    assert isinstance(learner, CertifiedLearner)
    n_logged = len(learner.epochs)
    for question in list(again.course.open.values()):
        tell(again, question.id, truth_of(selection, question))
    while len(learner.epochs) == n_logged and isinstance(asked := again.ask(1), tuple):
        for question in asked:
            tell(again, question.id, truth_of(selection, question))
    logged, followed = learner.epochs[n_logged - 1 :]
    assert logged.guess != pytest.approx((0.5,) * 4, abs=1e-3)
    assert followed.guess == pytest.approx((0.5,) * 4, abs=1e-3)


def test_a_plan_that_was_changed_is_noticed() -> None:
    _, log = recorded("one-shot", 200)
    places = [i for i, event in enumerate(log) if isinstance(event, EpochBegan)]
    began = log[places[1]]
    assert isinstance(began, EpochBegan)
    assert isinstance(began.record, EpochRecord)
    for record, said in (
        (replace(began.record, gamma=0.5), "the log has"),
        (replace(began.record, mixture=((0, 1.0),), survivors=(1, 7)), "does not belong"),
        (replace(began.record, mixture=((99, 1.0),)), "rivals that do not survive"),
        (replace(began.record, leader=0), "an epoch comes out otherwise"),
    ):
        changed = [*log]
        changed[places[1]] = EpochBegan(record)
        with pytest.raises(LogError, match=said):
            replay(changed, fresh().learner)


def test_a_changed_log_is_noticed() -> None:
    _, log = recorded("one-shot", 200)
    place = next(i for i, event in enumerate(log) if isinstance(event, Closed))
    closed = log[place]
    assert isinstance(closed, Closed)
    log[place] = Closed(replace(closed.closing, certified_eps=closed.closing.certified_eps / 2))
    with pytest.raises(LogError, match="what an epoch showed"):
        replay(log, fresh().learner)
    log[place] = closed
    answered = next(event for event in log if isinstance(event, Answered))
    with pytest.raises(LogError, match=f"event {len(log)} .* cannot have happened"):
        replay([*log, answered], fresh().learner)


def test_what_is_refused_is_not_in_the_log() -> None:
    recorder, _ = recorded("one-shot", 5)
    answered = next(iter(recorder.course.answered))
    for question_id, answer, error in (
        (10_000, Answer.YES, UnknownQuestionError),
        (answered, Answer.YES, AlreadyAnsweredError),
        (next(iter(recorder.course.open)), 3, InvalidInputError),
    ):
        with pytest.raises(error):
            tell(recorder, question_id, answer)
    with pytest.raises(OnebitError):
        recorder.take(Undone(next(iter(recorder.course.open))))
    assert recorder.drain() == []


def test_an_undone_question_is_open_again() -> None:
    recorder = Recorder(fresh().learner, created())
    first = recorder.ask(2)
    assert isinstance(first, tuple)
    for question in first:
        tell(recorder, question.id, Answer.NO)
    recorder.take(Undone(first[1].id))
    assert recorder.course.open == {first[1].id: first[1]}
    assert recorder.course.answers == [Answer.NO, None]


def test_a_learner_that_uses_answers_at_once_takes_none_back() -> None:
    recorder, _ = recorded("uniform", 3)
    with pytest.raises(InvalidInputError, match="used at once"):
        recorder.take(Undone(next(iter(recorder.course.answered))))


def test_the_end_is_known_again() -> None:
    recorder, log = recorded("follow-up", 10_000)
    assert recorder.ask(1) is Status.DONE
    recorder.take(Finished(RunStatus.COMPLETE, {"chosen": 7}))
    log += recorder.drain()
    assert log[-1] == Finished(RunStatus.COMPLETE, {"chosen": 7})
    assert replay(log, fresh(RUNS["follow-up"][1]).learner).course.finished == log[-1]
