"""The second implementation of a watch comes to the same as the first, and finds what was tampered with."""

from __future__ import annotations

import numpy as np
import pytest

from onebit.learners.certified.watch import BatchLearner
from onebit.records import Answer, Question, WatchSetting
from onebit.verify.watch import verify_batch


def run(seed: int, n_rivals: int, n: int, share: float) -> tuple[WatchSetting, np.ndarray, BatchLearner]:
    """A batch with random outputs, abstentions and answers, a ``share`` of which come."""
    rng = np.random.default_rng(seed)
    said = rng.integers(-2, 3, (n_rivals + 1, n))
    carried = tuple(tuple(row) for row in rng.exponential(5, (n_rivals, 10)).tolist())
    setting = WatchSetting(0.05, 50.0, 30, 2, "", "", carried, seed)
    learner = BatchLearner(said, 3, setting)
    asked = learner.ask(1000)
    for question in asked if isinstance(asked, tuple) else ():
        if rng.random() < share:
            learner.tell(question.id, list(Answer)[rng.integers(3)])
    return setting, said, learner


def told(learner: BatchLearner) -> tuple[list[Question], list[Answer | int | None]]:
    return learner._ledger.questions, learner._ledger.answers


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [1.0, 0.6])
def test_both_come_to_the_same(seed: int, share: float) -> None:
    setting, said, learner = run(seed, n_rivals=3, n=[15, 200][seed % 2], share=share)
    found, result = verify_batch(setting, said, *told(learner)), learner.result
    assert found.problems == ()
    assert np.array(found.carried) == pytest.approx(result.carried)
    assert found.alarms == result.alarms
    assert found.evidence == pytest.approx(result.evidence.tolist())


def test_a_rival_that_wins_everything_has_an_alarm_in_both() -> None:
    said = np.array([[0] * 50, [1] * 50])
    setting = WatchSetting(0.05, 50.0, 60, 1, "", "", (), 5)
    learner = BatchLearner(said, 2, setting)
    asked = learner.ask(1000)
    for question in asked if isinstance(asked, tuple) else ():
        learner.tell(question.id, Answer.YES if question.label else Answer.NO)
    assert verify_batch(setting, said, *told(learner)).alarms == learner.result.alarms == (1,)


def test_other_questions_are_found() -> None:
    setting, said, learner = run(0, 3, 100, 1.0)
    questions, answers = told(learner)
    swapped = [questions[1], questions[0], *questions[2:]]
    assert verify_batch(setting, said, swapped, answers).problems
    # One that was passed over because its answer would not suit.
    assert verify_batch(setting, said, questions[1:], answers[1:]).problems


def test_another_answer_changes_the_evidence() -> None:
    setting, said, learner = run(1, 3, 100, 1.0)
    questions, answers = told(learner)
    other = [Answer.NO if answer is Answer.YES else Answer.YES for answer in answers]
    assert np.array(verify_batch(setting, said, questions, other).carried) != pytest.approx(learner.result.carried)


def test_evidence_of_the_wrong_form_is_found() -> None:
    setting = WatchSetting(0.05, 50.0, 60, 2, "", "", ((1.0,),), 5)
    assert verify_batch(setting, np.array([[0, 0], [1, 1]]), [], []).problems
