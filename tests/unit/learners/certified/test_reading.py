"""Reading a result in two parts: what is worked out later is what held when it was read."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from tests.problems import models_of_accuracy

from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner, PanelLearner
from onebit.learners.items import Pool
from onebit.records import Answer, AskingProtocol, RunStatus

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
    later = {"measure", "approach"}
    known = {field.name: getattr(result, field.name) for field in fields(result) if field.name not in later}
    shares, ahead = result.measure().shares, result.measure().ahead
    intervals = [each.tolist() for each in (shares.low, shares.high, ahead.low, ahead.high)]
    return known | {"intervals": intervals, "approach": result.approach()}


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_what_was_read_is_not_changed_by_what_comes_later(protocol: AskingProtocol) -> None:
    early, same = learner(protocol), learner(protocol)
    for each in (early, same):
        answer(each, 120)
    read = early.read()
    answer(early, 60)
    assert told(read()) == told(same.result)
    assert told(early.result) != told(same.result)


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up", "panel"])
def test_the_run_ends_when_the_evidence_about_the_closest_rival_is_enough(protocol: str) -> None:
    items, table = Pool(np.arange(TRUTH.size)), PredictionTable(PREDICTIONS, N_LABELS)
    if protocol == "panel":
        of: CertifiedLearner | PanelLearner = PanelLearner(table, items, eps=0.1, seed=0)
    else:
        of = CertifiedLearner(table, items, eps=0.1, protocol=protocol, seed=0)  # type: ignore[arg-type]
    while isinstance(asked := of.ask(1), tuple):
        (question,) = asked
        of.tell(question.id, Answer.YES if TRUTH[question.item] == question.label else Answer.NO)
    result = of.result
    assert result.approach is not None
    found = result.approach()
    assert len(found.evidence) == len(of.closings)
    assert all(0 <= each <= 1 for each in found.evidence)
    assert result.status is RunStatus.COMPLETE
    assert found.evidence[-1] == 1
    # Before the last closing the same leader was not yet shown to be within eps.
    if of.closings[-2].leader == of.closings[-1].leader and found.closest in result.survivors:
        assert found.evidence[-2] < 1
