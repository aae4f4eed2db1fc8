"""Certificates after undo, can't tell, late and duplicate answers are those of the effective answers alone."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, get_args

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from tests.unit.study.runs import FOLLOW_UP, LABELS, ONE_SHOT, PREDICTIONS, STREAM, TRUTH, fresh

from onebit.learners.certified import CertifiedLearner
from onebit.learners.contract import Learner
from onebit.log.events import Answered, Asked, EpochBegan, Event, Undone
from onebit.records import Answer, Question, Setting, Status, TrainingProtocol, TrainingSetting
from onebit.store.store import Store
from onebit.study.kinds.training.examples import read_features
from onebit.study.kinds.training.kind import build_training
from onebit.study.opening import create_learning_study, create_study
from onebit.study.study import Offer, Study

RATERS = ("ann", "bob", "cem")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def disturbed(study: Study, known: np.ndarray, clock: Clock, rng: np.random.Generator, n_steps: int) -> None:
    """Raters who answer late, twice, cannot tell, change their minds or go home."""
    held: dict[str, Offer] = {}
    answered: list[tuple[Offer, Answer | int, str]] = []
    for step in range(n_steps):
        rater = RATERS[int(rng.integers(len(RATERS)))]
        clock.now += float(rng.exponential(20))
        if rng.random() < 0.15 and answered:
            offer, said, token = answered[int(rng.integers(len(answered)))]
            if rng.random() < 0.5:
                assert study.tell(offer, said, token=token).repeated
            elif study._course.votes[offer.id].get(offer.rater) is not None:
                study.undo(offer)
            continue
        offer_or_status = study.ask(rater)
        if isinstance(offer_or_status, Status):
            continue
        held[rater] = offer_or_status
        if rng.random() < 0.2:
            continue
        offer = held[rater]
        truth = int(known[offer.item])
        said = truth if offer.label is None else Answer.YES if offer.label == truth else Answer.NO
        said = Answer.CANT_TELL if rng.random() < 0.1 else said
        study.tell(offer, said, token=f"token {step}")
        answered.append((offer, said, f"token {step}"))


def effective_run(log: list[Event], learner: Learner[Any]) -> list[Question]:
    """A run that received each question's last answer only, when that came."""
    stands: dict[int, int] = {}
    for place, event in enumerate(log):
        if isinstance(event, Answered):
            stands[event.question_id] = place
        elif isinstance(event, Undone):
            del stands[event.question_id]
    # How long epochs are depends on who is there, which no log says; what they ask does not.
    sizes = [event.record.n_rounds for event in log if isinstance(event, EpochBegan)]
    if isinstance(learner, CertifiedLearner):
        learner._size = lambda standing: [*sizes, 1][len(learner.epochs)]  # type: ignore[method-assign]
    asked: list[Question] = []
    for place, event in enumerate(log):
        if isinstance(event, Asked):
            new = learner.ask(1)
            assert isinstance(new, tuple)
            asked.extend(new)
        elif isinstance(event, Answered) and stands.get(event.question_id) == place:
            learner.tell(event.question_id, event.answer)
    return asked


def comparable(result: Any) -> tuple[Any, ...]:
    fields = (result.status, result.chosen, result.achieved_eps, result.survivors, result.ahead_at_most)
    return (*fields, result.n_answers, result.n_rounds, result.n_cant_tell)


@settings(max_examples=12)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_steps=st.integers(0, 250),
    setting=st.sampled_from([ONE_SHOT, FOLLOW_UP, LABELS, STREAM]),
    budget=st.sampled_from([None, 60]),
)
def test_only_effective_answers_count(seed: int, n_steps: int, setting: Setting, budget: int | None) -> None:
    clock, rng = Clock(), np.random.default_rng(seed)
    setting = Setting(setting.eps, setting.delta, setting.protocol, setting.population, False, budget, setting.seed)
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{Path(folder)}/studies.db"
        with create_study(
            PREDICTIONS,
            "s",
            storage=storage,
            eps=setting.eps,
            protocol=setting.protocol,
            population=setting.population,
            budget=budget,
            seed=setting.seed,
        ) as study:
            study._clock = clock
            disturbed(study, TRUTH, clock, rng, n_steps)
            result, closings = study.result, list(study.kind.learner.closings)
        with Store(storage) as store:
            log = store.log(1).events
    learner = fresh(setting).learner
    assert isinstance(learner, CertifiedLearner)
    asked = effective_run(log, learner)
    assert asked == [event.question for event in log if isinstance(event, Asked)]
    assert comparable(learner.result) == comparable(result)
    assert learner.closings == closings


@settings(max_examples=6)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_steps=st.integers(0, 120),
    protocol=st.sampled_from(get_args(TrainingProtocol)),
    audit=st.sampled_from([0, 20]),
)
def test_only_effective_answers_train(seed: int, n_steps: int, protocol: TrainingProtocol, audit: int) -> None:
    clock, rng = Clock(), np.random.default_rng(seed)
    x, truth = load_iris(return_X_y=True)
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{Path(folder)}/studies.db"
        with create_learning_study(
            x, "s", labels=("a", "b", "c"), storage=storage, protocol=protocol, budget=60, audit=audit, seed=3
        ) as study:
            study._clock = clock
            disturbed(study, truth, clock, rng, n_steps)
            result = study.result
            features = read_features(study._store, 1, study.created.table)
        with Store(storage) as store:
            log = store.log(1).events
    learner = build_training(TrainingSetting(60, protocol, audit=audit, seed=3), features, None, 3)[0]
    asked = effective_run(log, learner)
    assert asked == [event.question for event in log if isinstance(event, Asked)]
    now = learner.result
    for name in ("status", "n_answers", "n_rounds", "n_cant_tell", "accuracy", "recent_accuracy", "verified"):
        assert getattr(now, name) == getattr(result, name)
    np.testing.assert_array_equal(now.chosen.beliefs(features[:9]), result.chosen.beliefs(features[:9]))
