"""A rehearsal does all that a study will, beside it and without touching it, and ends when it is told to."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from tests.unit.web.served import make_study, make_training

from onebit.records import Question
from onebit.study import rehearsal
from onebit.study.opening import load_study
from onebit.study.rehearsal import Rehearsal
from onebit.study.study import Study

SELECTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"protocol": "follow-up"},
    {"protocol": "panel"},
    {"protocol": "labels"},
    {"population": "stream"},
    {"f_no": 0.05, "f_yes": 0.05},
    {"learner": "paper"},
    {"learner": "uniform"},
)


@pytest.fixture(autouse=True)
def nothing_rehearsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "_rehearsed", set())


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/studies.db"


def events(study: Study) -> int:
    return study.status().n_events


@pytest.mark.parametrize("options", SELECTIONS, ids=str)
def test_a_selection_is_rehearsed_to_a_closed_epoch(tmp_path: Path, storage: str, options: dict[str, Any]) -> None:
    make_study(storage, tmp_path, **options)
    with load_study("intents", storage=storage) as study:
        before = events(study)
        learner, rater = study.kind.rehearsal()
        n_answers = 0
        while n_answers < 200 and isinstance(questions := learner.ask(1), tuple):
            learner.tell(questions[0].id, rater(questions[0]))
            n_answers += 1
        assert n_answers > 20
        assert learner.result.n_rounds > 0
        assert events(study) == before


def test_a_training_is_rehearsed(storage: str) -> None:
    make_training(storage, budget=30)
    with load_study("training", storage=storage) as study, Rehearsal(study.kind) as played:
        played.start()
        played._thread.join()
        assert study.view.answers == {}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Question]:
    """The questions that were asked in rehearsals."""
    found: list[Question] = []
    play = Rehearsal._play

    def watched(self: Rehearsal) -> None:
        learner, rater = self._kind.rehearsal()

        def note(question: Question) -> Any:
            found.append(question)
            return rater(question)

        monkeypatch.setattr(self._kind, "rehearsal", lambda: (learner, note))
        play(self)

    monkeypatch.setattr(Rehearsal, "_play", watched)
    return found


def test_the_same_is_rehearsed_once(tmp_path: Path, storage: str, asked: list[Question]) -> None:
    make_study(storage, tmp_path)
    with load_study("intents", storage=storage) as study:
        with Rehearsal(study.kind) as first:
            first.start()
            first._thread.join()
        n_asked = len(asked)
        assert n_asked > 0
        with Rehearsal(study.kind) as again:
            again.start()
            assert not again._thread.is_alive()
        assert len(asked) == n_asked


def test_who_leaves_waits_for_one_answer_at_most(
    tmp_path: Path, storage: str, asked: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_study(storage, tmp_path)
    began, go_on = threading.Event(), threading.Event()
    with load_study("intents", storage=storage) as study:
        learner, rater = study.kind.rehearsal()

        def slow(question: Question) -> Any:
            began.set()
            go_on.wait()
            return rater(question)

        monkeypatch.setattr(study.kind, "rehearsal", lambda: (learner, slow))
        played = Rehearsal(study.kind)
        played.start()
        began.wait()
        played._stopped.set()
        go_on.set()
        played.stop()
        assert not played._thread.is_alive()
        assert len(asked) == 1
