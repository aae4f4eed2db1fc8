"""Labels that are missing from the list, and can't tell: what training notices, asks and learns."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from scipy.stats import binom

from onebit.classifier import YesNoClassifier
from onebit.learners.training.constants import NONE_LIKELY
from onebit.learners.training.knowledge import Knowledge
from onebit.records import Answer, Question, TrainingProtocol

N, K = 400, 3
X = np.random.default_rng(0).normal(size=(N, 4)) + 4 * np.eye(4)[np.arange(N) % 4]
#: The fourth kind of item has none of the labels that are asked about.
Y = np.arange(N) % 4
PROTOCOLS: list[TrainingProtocol] = ["one-shot", "follow-up"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_missing_label_is_noticed(protocol: TrainingProtocol) -> None:
    model = YesNoClassifier(protocol=protocol, budget=1500, audit=10, seed=0)
    model.fit(X, answer=lambda row, label: bool(Y[row] == label), labels=range(K))
    for_sure, left = set(model.without_label_items_.tolist()), set(model.left_items_.tolist())
    assert for_sure
    assert left
    assert not for_sure & left
    assert all(Y[row] == K for row in for_sure), "every label was denied by a rater who does not err"
    # Of items that are held to be such with probability .9 each; false alarm 1e-3.
    assert sum(Y[row] < K for row in left) <= binom.isf(1e-3, len(left), 1 - NONE_LIKELY)
    assert f"{len(left)} seem to have none" in (model.warning_ or "")
    assert not (for_sure | left) & set(model.verified_items_.tolist())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_last_label_is_asked_on_a_tenth_only_and_rarely_where_none_is_missing(protocol: TrainingProtocol) -> None:
    model = YesNoClassifier(protocol=protocol, budget=1500, audit=10, seed=0)
    model.fit(X, answer=lambda row, label: bool(Y[row] % K == label), labels=range(K))
    assert model.n_without_label_ == 0
    assert model.without_label_items_.size == 0
    noes = Counter(model.answered_items_[model.answers_ == "no"].tolist())
    yes = set(model.answered_items_[model.answers_ == "yes"].tolist())
    asked_to_end = {item for item, n in noes.items() if n == K - 1 and item in yes}
    assert len(asked_to_end) == model.n_asked_to_end_
    assert len(asked_to_end) <= 0.5 * sum(n == K - 1 for n in noes.values())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_cant_tell_is_not_asked_again_and_the_item_still_teaches(protocol: TrainingProtocol) -> None:
    """Raters cannot tell whether the first label is right; items are settled by the others."""
    said: dict[int, list[int]] = defaultdict(list)

    def answer(row: int, label: int) -> bool | None:
        said[row].append(label)
        return None if label == 0 else bool(Y[row] % K == label)

    model = YesNoClassifier(protocol=protocol, budget=1200, audit=10, seed=0)
    model.fit(X, answer=answer, labels=range(K))
    assert all(len(labels) == len(set(labels)) for labels in said.values()), "no label is asked twice of an item"
    unsure = set(model.answered_items_[model.answers_ == "can't tell"].tolist())
    told = set(model.answered_items_[model.answers_ != "can't tell"].tolist())
    assert len(unsure & told) > 20, "other labels of such an item are asked"


def test_what_an_item_teaches_after_a_cant_tell() -> None:
    known = Knowledge(np.ones(2, dtype=np.bool_), K)
    known.leave_open(0, 1)
    known.take_in(Question(0, 0, 1, 1.0, 0), Answer.CANT_TELL)
    assert known.taught().size == 0, "can't tell alone says nothing"
    assert known.askable(0).tolist() == [True, False, True]
    known.deny(0, 2)
    known.take_in(Question(1, 0, 2, 1.0, 0), Answer.NO)
    lessons = known.lessons(np.zeros((2, 1)), known.taught(), 2)
    assert lessons.possible.tolist() == [[True, True, False]], "the label that was left open is not denied"
    assert known.unknown(np.arange(2)).tolist() == [True, True]
