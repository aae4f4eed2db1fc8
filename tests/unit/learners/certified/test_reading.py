"""Reading a result in two parts: what is worked out later is what held when it was read."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from tests.problems import models_of_accuracy

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.items import Pool
from onebit.records import Answer, AskingProtocol

N_LABELS = 4
PREDICTIONS, TRUTH = models_of_accuracy(np.random.default_rng(0), np.linspace(0.6, 0.8, 6), 400, N_LABELS)


def learner(protocol: AskingProtocol) -> CertifiedLearner:
    items = Pool(np.arange(TRUTH.size))
    return CertifiedLearner(PredictionTable(PREDICTIONS, N_LABELS), items, eps=0.02, protocol=protocol, seed=0)


def answer(of: CertifiedLearner, n: int) -> None:
    for _ in range(n):
        asked = of.ask(1)
        assert isinstance(asked, tuple)
        (question,) = asked
        of.tell(question.id, Answer.YES if TRUTH[question.item] == question.label else Answer.NO)


def told(result: Any) -> dict[str, Any]:
    return {field.name: getattr(result, field.name) for field in fields(result)}


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_what_was_read_is_not_changed_by_what_comes_later(protocol: AskingProtocol) -> None:
    early, same = learner(protocol), learner(protocol)
    for each in (early, same):
        answer(each, 120)
    read = early.read()
    answer(early, 60)
    assert told(read()) == told(same.result)
    assert told(early.result) != told(same.result)
