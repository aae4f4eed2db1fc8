"""A study that trains a classifier, over HTTP and on the dashboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.unit.web.served import LABELS, TRUTH, Served, right_answer, serve

from onebit.model_file import load_model
from onebit.records import RunStatus
from onebit.study.kinds.training import words as learning_words
from onebit.study.kinds.training.status import TrainingStatus

BUDGET = 60


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A study that two raters have answered to its end, looked at on the way."""
    served = serve(tmp_path_factory.mktemp("training"), trains=True, budget=BUDGET)
    served.client.get(f"/o/{served.owner}")
    first = served.post("ask", served.ann, n=1).json()
    assert first["progress"]["words"] == f"0 of at most {BUDGET} answers"
    page = served.client.get("/studies/1").text
    assert "Nothing is learned yet" in page
    assert "trains a classifier" in page
    n = 0
    while questions := served.ask(served.ann if n % 2 else served.bob, n=3):
        for question in questions:
            assert served.tell_seen(served.ann if n % 2 else served.bob, question, right_answer(question)).is_success
        n += 1
    yield served
    served.site.close()


def test_raters_are_told_how_far_it_is_without_working_a_result_out(trained: Served) -> None:
    room = trained.site.room(1)
    room._look_again_at = 0.0
    told = trained.get("progress", trained.ann).json()
    assert (told["state"], told["progress"]["answers"], told["progress"]["forecast"]) == ("done", BUDGET, None)
    # Whoever forecasts says when it is due again.
    assert room._look_again_at == 0.0


def test_what_is_wrong_is_said_in_sentences(tmp_path: Path) -> None:
    served = serve(tmp_path, trains=True, budget=BUDGET, none_of_these=True)
    for _ in range(10):
        (question,) = served.ask(served.ann)
        assert served.tell(served.ann, question, "none of these").is_success
    served.client.get(f"/o/{served.owner}")
    (warning,) = re.findall('<p class="warning">(.*)</p>', served.client.get("/studies/1").text)
    assert re.match("[0-9]+ items were asked about: [0-9]+ have none of the labels, by what raters said", warning)
    assert warning.endswith("A label may be missing.")
    served.site.close()


def test_no_page_speaks_of_models_where_there_are_none(trained: Served) -> None:
    answers = trained.client.get("/studies/1/answers?only=models-differ").text
    assert "one label accepted, another denied" in answers
    row = trained.get("studies/1/answers", trained.owner).json()["items"][0]["row"]
    item = trained.client.get(f"/studies/1/items/{row}").text
    assert "accepted" in item or "denied" in item
    for page in (answers, item):
        assert " model" not in page


def test_its_status_is_told(trained: Served) -> None:
    told = trained.get("studies/1", trained.owner).json()
    assert (told["kind"], told["is_over"], told["n_answers"]) == ("training", True, BUDGET)
    learning = told["training"]
    assert learning["status"] == "complete"
    low, high = learning["accuracy"]
    assert 0 < low < high <= 1
    assert 0 < learning["n_verified"] <= BUDGET
    assert [n for n, _ in learning["progress"]] == sorted(n for n, _ in learning["progress"])
    assert {rater["name"] for rater in told["raters"]} == {"ann", "bob"}
    assert sum(label["n_asked"] for label in told["labels"]) == BUDGET
    assert "report" not in told


def test_the_dashboard_says_how_good_the_classifier_is(trained: Served) -> None:
    page = trained.client.get("/studies/1").text
    assert ">trained<" in page
    # The few answers of its test leave almost everything possible, which is no headline.
    assert ">Too early to say</h1>" in page
    assert "it may be right on anything from" in page
    assert page.count('<svg class="chart"') == 1
    assert 'class="interval"' in page
    assert f"of at most {BUDGET} answers<" in page
    assert "/report" not in page
    assert "/model" in page


def test_its_files_can_be_had(trained: Served, tmp_path: Path) -> None:
    response = trained.get("studies/1/model", trained.owner)
    assert "training.skops" in response.headers["content-disposition"]
    (tmp_path / "model.skops").write_bytes(response.content)
    classifier = load_model(tmp_path / "model.skops").classifier
    texts = np.array([f"message {item} about {LABELS[label]}" for item, label in enumerate(TRUTH)])
    # The messages say what they are about, so whoever learned anything is far above one in five.
    assert np.mean(classifier.predict(texts) == np.array(LABELS)[TRUTH]) > 0.5
    labels = trained.get("studies/1/export?what=labels&format=csv", trained.owner).text.splitlines()
    assert len(labels) == BUDGET + 1
    assert trained.get("studies/1/report", trained.owner).status_code == 422
    assert trained.get("studies/1/model", trained.ann).status_code == 403
    assert list(trained.site.uploads.iterdir()) == []


@pytest.mark.parametrize("allowed", [True, False])
def test_none_of_these_over_http(allowed: bool, tmp_path: Path) -> None:
    served = serve(tmp_path, trains=True, budget=BUDGET, none_of_these=allowed)
    told = served.post("ask", served.ann, n=1).json()
    assert told["none_of_these"] is allowed
    page = served.client.get(f"/r/{served.ann}").text
    assert f'data-none="{"yes" if allowed else "no"}"' in page
    (question,) = told["questions"]
    answered = served.tell_seen(served.ann, question, "none of these")
    assert answered.is_success is allowed
    if not allowed:
        assert "does not allow" in answered.json()["error"]
    else:
        board = served.get("studies/1", served.owner).json()
        assert board["n_answers"] == 1
    served.site.close()


def test_a_selection_has_no_classifier(served: Served) -> None:
    response = served.get("studies/1/model", served.owner)
    assert response.status_code == 422
    assert "trains none" in response.json()["error"]


STATUS = TrainingStatus(
    name="training",
    status=RunStatus.RUNNING,
    promise="",
    protocol="follow-up",
    budget=2000,
    target=None,
    delta=0.05,
    accuracy=None,
    recent_accuracy=None,
    yes_rate=None,
    n_verified=0,
    n_items=300,
    n_labels=5,
    n_answers=0,
    n_open=0,
    n_asked_to_end=0,
    n_without_label=0,
    without_label=(),
    left=(),
    n_items_asked=90,
    f_no=0.0,
    f_yes=0.0,
    n_cant_tell=0,
    progress=(),
    raters=(),
    warnings=(),
    n_events=9,
    log_digest="d",
)


def test_words_for_what_is_known() -> None:
    assert learning_words.title(STATUS) == "Nothing is learned yet"
    assert learning_words.accuracy_chart(STATUS) == ""
    estimated = replace(STATUS, recent_accuracy=0.861, progress=((100, 0.5), (200, 0.861)))
    assert learning_words.title(estimated) == "About 86% right"
    assert "without a promise" in learning_words.headline(estimated)
    assert 'class="interval"' not in learning_words.accuracy_chart(estimated)
    begun = replace(estimated, accuracy=(0.0, 1.0))  # a test that has just begun says nothing
    assert learning_words.title(begun) == "About 86% right"
    early = replace(estimated, accuracy=(0.017, 0.983))
    assert learning_words.title(early) == "Too early to say"
    assert "anything from 1.7% to 98.3% of items" in learning_words.headline(early)
    shown = replace(estimated, accuracy=(0.83161, 0.8901))
    assert learning_words.title(shown) == "83.1% to 89.1% right"
    assert "at most 5 in 100 studies" in learning_words.headline(shown)
    assert 'class="interval"' in learning_words.accuracy_chart(shown)


def test_words_for_the_aim() -> None:
    assert learning_words.aim(STATUS) == "It learns from at most 2,000 answers."
    aiming = replace(STATUS, target=0.9)
    assert "goes on until that is shown" in learning_words.aim(aiming)
    assert "when that was shown" in learning_words.aim(replace(aiming, status=RunStatus.COMPLETE))
    ended = replace(aiming, status=RunStatus.BUDGET)
    assert "all of its 2,000 answers were used" in learning_words.aim(replace(ended, n_answers=2000))
    assert "nothing left to ask" in learning_words.aim(replace(ended, n_answers=1900))
