"""Studies that train a classifier, over every store: the same guarantees as selections have."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from tests.unit.study.edits import Rows, edit_store

from onebit.errors import InvalidInputError
from onebit.log.events import LogError, Planned
from onebit.model_file import load_model
from onebit.records import Answer, RunStatus, Status
from onebit.store.backup import backup
from onebit.store.blocks import NAMES, SNAPSHOT
from onebit.store.database import StoreError
from onebit.store.store import Store
from onebit.study.export import export_study
from onebit.study.kinds.training.status import TrainingStatus
from onebit.study.opening import create_learning_study, create_study, load_study
from onebit.study.proof import verify_study
from onebit.study.study import Offer, Study, Undo

X, TRUTH = load_iris(return_X_y=True)
LABELS = ("setosa", "versicolor", "virginica")


def new_study(storage: str, **options: Any) -> Study:
    return create_learning_study(
        X, "s", labels=LABELS, storage=storage, **({"budget": 90, "audit": 20, "seed": 0} | options)
    )


def answer(study: Study, n: int, rater: str = "ann") -> int:
    """Answer up to n questions by the truth; how many there were."""
    for done in range(n):
        offer = study.ask(rater)
        if isinstance(offer, Status):
            return done
        study.tell(offer, bool(TRUTH[offer.item] == offer.label))
    return n


def learning_status(study: Study) -> TrainingStatus:
    status = study.status()
    assert isinstance(status, TrainingStatus)
    return status


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_goes_on_where_it_was_left(storage: str, protocol: Any) -> None:
    with new_study(storage, protocol=protocol) as study:
        answer(study, 33)
        digest, open_before = study.digest(), study.ask("ann")
    with load_study("s", storage=storage) as study:
        assert study.ask("ann") == open_before
        assert answer(study, 1000) == 90 - 33
        status = learning_status(study)
        assert study.digest() != digest
    assert status.status is RunStatus.COMPLETE
    assert status.n_answers == 90
    assert status.accuracy is not None
    assert status.accuracy[0] > 0.5
    audit = verify_study(storage, "s")
    assert audit.ok
    assert audit.accuracy == status.accuracy


def test_a_run_that_was_interrupted_is_the_run_that_was_not(storage: str, tmp_path: Path) -> None:
    """Training again what a snapshot does not hold gives the same model, to the last bit, on the same machine."""
    with new_study(f"sqlite:///{tmp_path}/whole.db") as study:
        answer(study, 1000)
        whole = study.digest()
    with new_study(storage) as study:
        answer(study, 1)
    n_answers = 1
    while n_answers < 90:
        with load_study("s", storage=storage) as study:
            n_answers += answer(study, 17)
    with load_study("s", storage=storage, read_only=True) as study:
        assert study.digest() == whole


def test_the_snapshot_saves_training_and_is_not_needed(storage: str) -> None:
    with new_study(storage) as study:
        answer(study, 1000)
        digest, result = study.digest(), study.result
    with Store(storage) as store:
        assert len(list(store.blocks(1, SNAPSHOT))) == 1
    with load_study("s", storage=storage, read_only=True) as study:
        restored = study.kind.learner
        assert study.digest() == digest
        np.testing.assert_array_equal(study.result.chosen.beliefs(X[:5]), result.chosen.beliefs(X[:5]))
        assert restored.learned_through == len(restored.epochs) - 2  # type: ignore[attr-defined]
    with Store(storage) as store:
        store.replace_block(1, (SNAPSHOT, 0, b"PK damaged"))
    with load_study("s", storage=storage, read_only=True) as study:
        assert study.digest() == digest
        np.testing.assert_array_equal(study.result.chosen.beliefs(X[:5]), result.chosen.beliefs(X[:5]))


def test_answers_can_be_taken_back_while_their_epoch_is_open(storage: str) -> None:
    with new_study(storage, protocol="one-shot") as study:
        first, second = study.ask("ann"), study.ask("bob")
        assert isinstance(first, Offer)
        assert isinstance(second, Offer)
        study.tell(first, True)
        assert study.undo(first) is Undo.UNDONE
        study.tell(first, False)
        study.tell(second, Answer.CANT_TELL)
        answer(study, 30)
        assert study.undo(first) is Undo.DISPUTED
        status = learning_status(study)
    assert status.n_cant_tell == 1
    assert status.n_answers == 32
    assert verify_study(storage, "s").ok


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_labels_are_guessed_from_their_names_and_descriptions(storage: str, protocol: Any) -> None:
    """Texts of 20 topics; the words that tell are in the descriptions. Twin: without these the labels say nothing."""
    words = [f"word{chr(97 + i)}" for i in range(20)]
    texts, truth = [f"please {word} number{i}" for i in range(30) for word in words], np.tile(np.arange(20), 30)
    labels = tuple(f"L{chr(97 + i)}" for i in range(20))

    def n_yes(name: str, descriptions: dict[str, str]) -> int:
        """Among the first 60 answers, with the study closed and opened again after each 20."""
        create_learning_study(
            texts, name, labels=labels, storage=storage, protocol=protocol, audit=0, descriptions=descriptions
        ).close()
        said = []
        for _ in range(3):
            with load_study(name, storage=storage) as study:
                for _ in range(20):
                    offer = study.ask("ann")
                    assert isinstance(offer, Offer)
                    said.append(bool(truth[offer.item] == offer.label))
                    study.tell(offer, said[-1])
        assert verify_study(storage, name).ok
        return sum(said)

    assert n_yes("described", dict(zip(labels, words, strict=True))) > 30
    assert n_yes("not described", {}) < 20


def test_names_that_were_damaged_are_noticed(storage: str) -> None:
    texts = [f"about {word} number{i}" for i in range(5) for word in ("cats", "dogs")]
    create_learning_study(texts, "s", labels=("cats", "dogs"), storage=storage, audit=0).close()
    with Store(storage) as store:
        store.replace_block(1, (NAMES, 0, next(iter(store.blocks(1, NAMES)))[:-4]))
    with pytest.raises(StoreError, match="not what the study was created with; restore the store"):
        load_study("s", storage=storage)


def test_several_raters_vote_and_gold_never_trains(storage: str) -> None:
    gold = {row: int(TRUTH[row]) for row in range(0, 150, 3)}
    with new_study(storage, overlap=3, gold=gold, gold_share=0.3, budget=40, audit=5) as study:
        while any(answer(study, 1, rater) for rater in ("ann", "bob", "cem")):
            pass
        status = learning_status(study)
    assert status.n_answers == 40
    assert sum(rater.n_answers for rater in status.raters) >= 80
    assert sum(rater.f_no.n + rater.f_yes.n for rater in status.raters) > 10
    assert verify_study(storage, "s").ok


def test_exports_who_confirmed_and_a_model_that_predicts(storage: str, tmp_path: Path) -> None:
    with new_study(storage) as study:
        answer(study, 1000)
        n_verified = learning_status(study).n_verified
    export_study(storage, "s", tmp_path / "labels.csv")
    with (tmp_path / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 90
    assert sum((row["answer"], row["rater"]) == ("yes", "ann") for row in rows) == n_verified
    with load_study("s", storage=storage, read_only=True) as study:
        study.write_model(tmp_path / "model.skops")
    classifier = load_model(tmp_path / "model.skops").classifier
    assert (classifier.predict(X) == np.array(LABELS)[TRUTH]).mean() > 0.9
    assert classifier.accuracy_interval_ is not None


def test_a_backup_goes_on_training(storage: str, tmp_path: Path) -> None:
    with new_study(storage) as study:
        answer(study, 50)
        backup(storage, str(tmp_path / "copy.db"))
        answer(study, 1000)
        digest = study.digest()
    with load_study("s", storage=f"sqlite:///{tmp_path}/copy.db") as copy:
        assert answer(copy, 1000) == 40
        assert copy.digest() == digest


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_a_log_that_was_changed_is_refused(storage: str, protocol: Any) -> None:
    with new_study(storage, protocol=protocol) as study:
        answer(study, 60)
    with Store(storage) as store:
        log = store.log(1).events
        plans = [event for event in log if isinstance(event, Planned)]
        aside = sorted(set(range(len(X))) - {item for each in plans for item in each.record.items})

        def ask_about_one_aside(rows: Rows) -> Rows:
            (plan,) = (row for row in rows if row["event"] == "plan" and row["number"] == 2)
            plan["items"][0] = aside[0]
            return rows

        edit_store(store, ask_about_one_aside, relinks=True)
    with pytest.raises(LogError, match="epoch 2"):
        load_study("s", storage=storage)
    assert not verify_study(storage, "s").ok


def test_what_cannot_be_is_refused_and_leaves_no_trace(storage: str, tmp_path: Path) -> None:
    for options, said in (
        ({"labels": ["a"]}, "two or more"),
        ({"labels": ["a", "a"]}, "all different"),
        ({"budget": 0}, "budget is 0"),
        ({"overlap": 2}, "must be odd"),
        ({"gold": {0: 7}, "gold_share": 0.1}, "row 0 has label 7"),
        ({"media": "path", "media_root": "."}, "no column 'path'"),
    ):
        with pytest.raises(InvalidInputError, match=said):
            create_learning_study(X, "s", **({"labels": LABELS, "storage": storage} | options))
    with pytest.raises(InvalidInputError, match="there is 1 example"):
        create_learning_study(["one text"], "s", labels=LABELS, storage=storage)
    with pytest.raises(InvalidInputError, match="it must be numbers"):
        create_learning_study([["a", "b"]], "s", labels=LABELS, storage=storage)
    with Store(storage) as store:
        assert store.entries() == []
    selection = create_study(np.arange(18).reshape(2, 9) % 3, "t", storage=storage, eps=0.1)
    with selection, pytest.raises(InvalidInputError, match="trains none"):
        selection.write_model(tmp_path / "other.skops")
