"""What the names of labels say of texts, against the formula written out, and what it is worth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from onebit import YesNoClassifier
from onebit.errors import InvalidInputError
from onebit.learners.training import features as features_module
from onebit.learners.training import names as names_module
from onebit.learners.training import neighbours
from onebit.learners.training.constants import STRENGTHS
from onebit.learners.training.features import Features
from onebit.learners.training.knowledge import Knowledge
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.names import Names
from onebit.learners.training.neighbours import Neighbours
from onebit.learners.training.network import NetworkEnsemble
from onebit.records import Answer, Question, TrainingProtocol

N_LABELS, N_ITEMS = 12, 300


def drawn_by_names(beta: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Items, names and labels that are drawn with the probability that names of that strength give."""
    x, places = rng.standard_normal((N_ITEMS, 5)), rng.standard_normal((N_LABELS, 5))
    odds = np.exp(beta * (x @ places.T) / np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(places, axis=1)))
    return x, places, np.array([rng.choice(N_LABELS, p=row / row.sum()) for row in odds])


def answered(truth: np.ndarray, labels: np.ndarray) -> Knowledge:
    """What is known after one question about each item."""
    known = Knowledge(np.ones(truth.size, dtype=np.bool_), N_LABELS)
    for item, (label, right) in enumerate(zip(labels.tolist(), (labels == truth).tolist(), strict=True)):
        if not right:
            known.deny(item, label)
        known.take_in(Question(item, item, label, 1.0, 0), Answer.YES if right else Answer.NO)
    return known


def test_the_strength_is_the_mean_weighted_by_the_likelihood() -> None:
    rng = np.random.default_rng(0)
    x, places, truth = drawn_by_names(2.0, rng)
    known = answered(truth[:20], rng.integers(0, N_LABELS, 20))
    weights = []
    for beta in STRENGTHS:
        likelihood = 1.0
        for row, possible in zip(x, known.possible, strict=False):
            cosine = np.array([row @ place / np.linalg.norm(row) / np.linalg.norm(place) for place in places])
            p = np.exp(beta * cosine) / np.exp(beta * cosine).sum()
            likelihood *= p[possible].sum()
        weights.append(likelihood)
    expected = np.average(STRENGTHS, weights=weights)
    assert Names(x[:20], places).strength(known) == pytest.approx(expected)
    logs = Names(x[:20], places).logs(np.array([3]), known)
    np.testing.assert_allclose(
        logs[0, 4], expected * (x[3] @ places[4] / np.linalg.norm(x[3]) / np.linalg.norm(places[4]))
    )


@pytest.mark.parametrize("beta", [0.0, 8.0])
def test_the_strength_is_learned_from_yes_and_no(beta: float) -> None:
    rng = np.random.default_rng(1)
    x, places, truth = drawn_by_names(beta, rng)
    names = Names(x, places)
    nothing = Knowledge(np.ones(N_ITEMS, dtype=np.bool_), N_LABELS)
    assert names.strength(nothing) == pytest.approx(np.mean(STRENGTHS))
    guesses = names.cosines(np.arange(N_ITEMS)).argmax(axis=1)
    assert names.strength(answered(truth, guesses)) == pytest.approx(beta, abs=1.5)


def test_only_so_many_items_are_weighed_and_not_by_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tenth item has another's name: with a tenth weighed, a step through the pool would see only these."""
    rng = np.random.default_rng(2)
    places = np.eye(N_LABELS)
    truth = np.arange(N_ITEMS) % 10
    x = places[np.where(truth == 0, 11, truth)] + 0.1 * rng.standard_normal((N_ITEMS, N_LABELS))
    known = answered(truth, truth)
    whole = Names(x, places).strength(known)
    monkeypatch.setattr(names_module, "MOST_WEIGHED", N_ITEMS // 10)
    assert Names(x, places).strength(known) == pytest.approx(whole, abs=2)
    assert whole > 2


def test_names_are_heeded_beside_the_neighbours() -> None:
    rng = np.random.default_rng(3)
    x, places, truth = drawn_by_names(8.0, rng)
    x, items, known = x.astype(np.float32), np.arange(9), answered(truth, rng.integers(0, N_LABELS, N_ITEMS))
    names = Names(x, places)
    said = Neighbours(x, np.arange(N_ITEMS), names).say(items, known)
    without = Neighbours(x, np.arange(N_ITEMS)).say(items, known)
    np.testing.assert_allclose(said, without + names.logs(items, known), rtol=1e-5)


def test_a_text_without_a_known_word_has_no_name() -> None:
    texts = np.array(["book a flight", "book a hotel", "play a song", "weather today"] * 3, dtype=object)
    features = Features(texts, seed=0)
    places = features.of_names(["zzz", "book_flight"])
    assert places is not None
    cosines = Names(features(texts), places).cosines(np.arange(4))
    np.testing.assert_allclose(cosines[:, 0], 0)
    assert cosines[:, 1].argmax() == 0
    assert Features(np.eye(3), seed=0).of_names(["a"]) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("book_flight", "book flight"),
        ("bookFlight", "book flight"),
        ("Book-Flight", "book flight"),
        ("YouTube", "youtube"),
        ("rollover_401k", "rollover 401k"),
        ("W2", "w2"),
        ("M\u00dcNCHEN", "m\u00fcnchen"),
    ],
)
def test_the_words_of_a_name_are_found(name: str, text: str) -> None:
    pool = [
        "book a flight",
        "book a hotel",
        "flight home",
        "on youtube",
        "rollover of 401k",
        "my w2",
        "m\u00fcnchen",
        "song",
    ]
    features = Features(np.array(pool, dtype=object), seed=0)
    found, expected = (features.of_names([each]) for each in (name, text))
    assert found is not None
    assert expected is not None
    assert np.linalg.norm(expected) > 0
    np.testing.assert_allclose(found, expected, atol=1e-6)


#: 30 topics with words of their own, of which the names may have some.
TOPICS = [f"topic{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(30)]
TRUTH = np.repeat(TOPICS, 20)


@pytest.fixture(autouse=True)
def few_dimensions(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as there are topics, so that it is quick."""
    monkeypatch.setattr(features_module, "N_DIMENSIONS", 40)


def n_confirmed(names: list[str], protocol: TrainingProtocol) -> int:
    """How many labels 300 answers confirm if topics have these names."""
    rng = np.random.default_rng(4)
    texts = np.array(
        [f"{topic if rng.random() < 0.7 else ''} about {topic[-2:]} thing{rng.integers(40)} please" for topic in TRUTH],
        dtype=object,
    )
    fitted = YesNoClassifier(protocol=protocol, budget=300, audit=0)
    fitted.fit(texts, [dict(zip(TOPICS, names, strict=True))[topic] for topic in TRUTH])
    return int(fitted.verified_items_.size)


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_telling_names_save_answers(protocol: TrainingProtocol) -> None:
    """The twin's names tell nothing of the texts."""
    telling = n_confirmed(TOPICS, protocol)
    assert telling > 150
    assert n_confirmed([f"c{i}" for i in range(30)], protocol) < telling / 2


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_names_need_no_neighbours(protocol: TrainingProtocol, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 600 texts 50 are listed; with 300 answers most are about the others."""
    monkeypatch.setattr(neighbours, "MOST_LISTED", 50)
    assert n_confirmed(TOPICS, protocol) > 150


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_misleading_names_are_soon_not_heeded(protocol: TrainingProtocol) -> None:
    """Every topic has the name of the next; the same names, beside no text, take half of the yeses at most."""
    misleading = n_confirmed([*TOPICS[1:], TOPICS[0]], protocol)
    assert misleading > n_confirmed([f"c{i}" for i in range(30)], protocol) / 2


def test_a_log_is_checked_without_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Items without neighbours may be chosen by names; whoever goes through the plans again has no names."""
    monkeypatch.setattr(neighbours, "MOST_LISTED", 50)
    rng = np.random.default_rng(5)
    x, places, truth = drawn_by_names(8.0, rng)
    x = x.astype(np.float32)
    settings: dict[str, Any] = {"budget": 60, "protocol": "follow-up", "audit": 0, "near_are_alike": True}
    model = NetworkEnsemble(5, N_LABELS, np.random.default_rng(0))
    first = TrainingLearner(model, x, N_LABELS, names=places, **settings)
    again = TrainingLearner(model, x, N_LABELS, **settings)
    again.restore(60)
    while isinstance(questions := first.ask(), tuple):
        if len(again.epochs) < len(first.epochs):
            again.adopt(first.epochs[-1])
        again.ask_again(questions)
        for learner in (first, again):
            learner.tell(questions[0].id, Answer.YES if truth[questions[0].item] == questions[0].label else Answer.NO)
    assert again.epochs == first.epochs
    plan = first.epochs[0]
    twice = replace(plan, items=plan.items[:1] * len(plan.items))
    assert twice != plan
    with pytest.raises(InvalidInputError, match="could not be chosen"):
        TrainingLearner(model, x, N_LABELS, **settings).adopt(twice)


@pytest.mark.parametrize("shape", [(1, 4), (5, 3)])
def test_names_of_another_shape_are_refused(shape: tuple[int, int]) -> None:
    x = np.zeros((9, 4), dtype=np.float32)
    model = NetworkEnsemble(4, 5, np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match="names has shape"):
        TrainingLearner(model, x, 5, budget=5, audit=0, near_are_alike=True, names=np.zeros(shape))
    with pytest.raises(InvalidInputError, match="near_are_alike"):
        TrainingLearner(model, x, 5, budget=5, audit=0, names=np.zeros((5, 4)))
