"""Studies with a judge: made, reopened, verified, and found out where its scores were changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection
from tests.problems import models_of_accuracy

from onebit.errors import OptionError
from onebit.records import Status
from onebit.store.store import Store
from onebit.study.opening import create_study, load_study
from onebit.study.proof import verify_study
from onebit.study.study import Study

#: More items than fit in a block.
N_ITEMS, N_LABELS = 5000, 4
MODELS, TRUTH = models_of_accuracy(np.random.default_rng(2), np.array([0.5, 0.45, 0.4, 0.35, 0.5]), N_ITEMS, N_LABELS)
RIGHT = MODELS == TRUTH
JUDGE = np.where(np.random.default_rng(3).random(MODELS.shape) < 0.9, RIGHT, ~RIGHT).astype(np.float64)
JUDGE[:, ::11] = np.nan


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def answer_some(study: Study, n: int) -> None:
    for _ in range(n):
        offer = study.ask("ann")
        if isinstance(offer, Status):
            return
        study.tell(offer, bool(offer.label == TRUTH[offer.item]))


@pytest.mark.parametrize(
    "options", [{}, {"protocol": "follow-up"}, {"population": "stream"}, {"overlap": 3}, {"f_no": 0.05}], ids=str
)
def test_a_study_with_a_judge_is_reopened_and_verified(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "s.db"
    with create_study(MODELS, "s", judge=JUDGE, storage=url(path), eps=0.05, seed=4, **options) as study:
        raters = ("ann", "bob", "cid")[: options.get("overlap", 1)]
        for _ in range(300):
            for rater in raters:
                offer = study.ask(rater)
                if not isinstance(offer, Status):
                    study.tell(offer, bool(offer.label == TRUTH[offer.item]))
        before = study.digest()
    with load_study("s", storage=url(path)) as study:
        assert study.digest() == before
        answer_some(study, 20)
    proof = verify_study(url(path), "s")
    assert proof.problems == ()


def test_the_status_has_the_report_card_up_to_the_first_open_question(tmp_path: Path) -> None:
    """Ann leaves the question of her third turn open; what bob answers after it is not counted yet."""
    with create_study(MODELS, "s", judge=JUDGE, storage=url(tmp_path / "s.db"), eps=0.05, seed=4) as study:
        assert study.status().judge.agreement.n == 0  # type: ignore[attr-defined]
        for _ in range(2):
            answer_some(study, 1)
        left = study.ask("ann")
        for _ in range(30):
            offer = study.ask("bob")
            assert not isinstance(offer, Status)
            study.tell(offer, bool(offer.label == TRUTH[offer.item]))
        status: Any = study.status()
        assert status.judge.agreement.n + status.judge.n_unscored == 2
        assert not isinstance(left, Status)
        study.tell(left, bool(left.label == TRUTH[left.item]))
        status = study.status()
        card = status.judge
        assert card.agreement.n + card.n_unscored == 33
        assert card.of_accepted.n + card.of_others.n == card.agreement.n == sum(band.accepted.n for band in card.bands)
        assert any(line.startswith("judge           agrees in") for line in status.lines())
        assert study.report().judge == card


def test_without_a_judge_there_is_no_card(tmp_path: Path) -> None:
    with create_study(MODELS, "s", storage=url(tmp_path / "s.db"), eps=0.05) as study:
        answer_some(study, 3)
        assert study.report().judge is None
        assert not study.view.seen().verdicts.items


def test_a_label_for_each_item_is_a_judge_too(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    label = np.where(np.arange(N_ITEMS) % 3 == 0, -1, TRUTH)
    with create_study(MODELS, "s", judge=label, storage=url(path), eps=0.05) as study:
        answer_some(study, 200)
    assert verify_study(url(path), "s").ok


def changed(data: bytes) -> bytes:
    scores = np.frombuffer(data, dtype="<f4").copy()
    scores[0] = 1 - scores[0] if np.isfinite(scores[0]) else 0.5
    return scores.tobytes()


EDITS: dict[str, Callable[[Connection], Any]] = {
    "one score": lambda connection: connection.exec_driver_sql(
        "UPDATE blocks SET data = ? WHERE kind = 'judge' AND number = 1",
        (
            changed(
                connection.exec_driver_sql("SELECT data FROM blocks WHERE kind = 'judge' AND number = 1").scalar_one()
            ),
        ),
    ),
    "no judge": lambda connection: connection.exec_driver_sql("DELETE FROM blocks WHERE kind = 'judge'"),
    "half of it": lambda connection: connection.exec_driver_sql(
        "DELETE FROM blocks WHERE kind = 'judge' AND number = 1"
    ),
}


@pytest.mark.parametrize("n_answers", [0, 250])
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_a_judge_that_was_changed_is_found_out(
    tmp_path: Path, edit: Callable[[Connection], Any], n_answers: int
) -> None:
    """Also where nothing was asked by it yet."""
    path = tmp_path / "s.db"
    with create_study(MODELS, "s", judge=JUDGE, storage=url(path), eps=0.02) as study:
        answer_some(study, n_answers)
    with Store(url(path)) as store, store.writing() as connection:
        edit(connection)
    assert any("what the judge says" in problem for problem in verify_study(url(path), "s").problems)


def test_a_judge_that_was_put_in_later_is_found_out(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with create_study(MODELS, "s", storage=url(path), eps=0.02) as study:
        answer_some(study, 5)
    with Store(url(path)) as store, store.writing() as connection:
        for number, scores in enumerate((JUDGE[:, :4096], JUDGE[:, 4096:])):
            connection.exec_driver_sql(
                "INSERT INTO blocks (study_id, kind, number, data) VALUES (1, 'judge', ?, ?)",
                (number, scores.astype("<f4").tobytes()),
            )
    assert any("what the judge says" in problem for problem in verify_study(url(path), "s").problems)


def test_what_a_judge_cannot_be_for_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    for options, said in (
        ({"protocol": "labels"}, "makes no guesses"),
        ({"learner": "uniform", "budget": 100}, "makes no guesses"),
        ({"judge": JUDGE[:, :7]}, "shape"),
    ):
        with pytest.raises(OptionError, match=said):
            create_study(MODELS, "s", storage=url(path), **{"judge": JUDGE, **options})
    assert not path.exists()
