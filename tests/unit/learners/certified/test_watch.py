"""One batch of a watch: what is asked, and how answers count."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.errors import InvalidInputError, UnknownQuestionError
from onebit.learners.certified.watch import BatchLearner, planned
from onebit.records import Answer, RunStatus, Status, WatchSetting

#: The choice, a rival that differs on every second item, and one that abstains on every third.
SAID = np.zeros((3, 60), dtype=np.int64)
SAID[1, ::2] = 1
SAID[2, ::3] = -1


def setting(
    answers: int = 10, batch: int = 1, carried: tuple[tuple[float, ...], ...] = (), seed: int = 3
) -> WatchSetting:
    return WatchSetting(0.05, 100.0, answers, batch, "", "", carried, seed)


def answered(learner: BatchLearner, say: dict[int, Answer]) -> BatchLearner:
    asked = learner.ask(1000)
    for question in asked if isinstance(asked, tuple) else ():
        if question.label in say:
            learner.tell(question.id, say[question.label])
    return learner


def test_items_are_asked_about_whole_until_there_are_enough() -> None:
    plan = planned(SAID, setting())
    items = list(dict.fromkeys(item for item, _ in plan.questions))
    assert 10 <= len(plan.questions) <= 11
    for item in items:
        assert {label for each, label in plan.questions if each == item} == set(SAID[:, item]) - {-1}
    differing = [item for item in plan.items.tolist() if (SAID[:, item] != SAID[0, item]).any()]
    assert differing == items
    # It goes no further than the last item that is asked about.
    assert plan.items[-1] == items[-1]


def test_whether_an_item_is_asked_about_does_not_depend_on_its_own_outputs() -> None:
    # The one before the last leaves room for one answer, and the last item has two outputs all the same.
    said = np.array([[0] * 40, [1] * 40])
    assert len(planned(said, setting(answers=5)).questions) == 6


def test_what_is_not_answered_speaks_for_the_choice() -> None:
    nothing = BatchLearner(SAID, 2, setting()).result
    against = answered(BatchLearner(SAID, 2, setting()), {0: Answer.YES, 1: Answer.NO}).result
    assert nothing.evidence.tolist() == against.evidence.tolist()
    assert nothing.status is RunStatus.RUNNING
    assert nothing.n_unanswered > 0
    half = answered(BatchLearner(SAID, 2, setting()), {1: Answer.YES}).result
    whole = answered(BatchLearner(SAID, 2, setting()), {0: Answer.NO, 1: Answer.YES}).result
    assert half.evidence[0] < whole.evidence[0]


def test_cant_tell_is_not_a_yes() -> None:
    unsure = answered(BatchLearner(SAID, 2, setting()), {0: Answer.CANT_TELL, 1: Answer.CANT_TELL}).result
    denied = answered(BatchLearner(SAID, 2, setting()), {0: Answer.NO, 1: Answer.NO}).result
    assert unsure.evidence.tolist() == denied.evidence.tolist()
    assert unsure.n_cant_tell == unsure.n_answers


def test_evidence_grows_from_batch_to_batch_until_an_alarm() -> None:
    carried: tuple[tuple[float, ...], ...] = ()
    for batch in range(1, 30):
        now = setting(batch=batch, carried=carried, seed=batch)
        result = answered(BatchLearner(SAID, 2, now), {0: Answer.NO, 1: Answer.YES}).result
        carried = tuple(map(tuple, result.carried.tolist()))
        if result.alarms:
            break
    # A rival that abstains is never ahead.
    assert result.alarms == (1,)
    assert result.evidence[0] >= result.threshold == 200
    assert result.status is RunStatus.COMPLETE


def test_answers_come_in_any_order_and_are_taken_back() -> None:
    learner = BatchLearner(SAID, 2, setting())
    questions = learner.ask(1000)
    assert isinstance(questions, tuple)
    assert learner.ask() is Status.WAIT
    for question in reversed(questions):
        learner.tell(question.id, Answer.YES if question.label else Answer.NO)
    whole = learner.result.evidence.tolist()
    assert learner.ask() is Status.DONE
    learner.untell(questions[0].id)
    learner.tell(questions[0].id, Answer.YES if questions[0].label else Answer.NO)
    assert learner.result.evidence.tolist() == whole
    with pytest.raises(UnknownQuestionError, match="taken back"):
        learner.untell(99)


def test_questions_of_an_item_stand_together() -> None:
    learner = BatchLearner(SAID, 2, setting())
    items = []
    while isinstance(asked := learner.ask(1), tuple):
        items.append(asked[0].item)
    assert items == sorted(items, key=items.index)


@pytest.mark.parametrize("carried", [((1.0,),), ((-1.0,) * 10,) * 2])
def test_evidence_of_the_wrong_form_is_refused(carried: tuple[tuple[float, ...], ...]) -> None:
    with pytest.raises(InvalidInputError, match="carried"):
        BatchLearner(SAID, 2, setting(batch=2, carried=carried))
