"""A gate recomputed from its log: honest ones come out the same, and what was tampered with is found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests.statistical.gate_populations import beside

from onebit.learners.certified.run import CertifiedRun
from onebit.raters import SimulatedRater
from onebit.records import Answer, AskingProtocol, Closing, Population, Question, Setting
from onebit.study.kinds.selection.selectors import build_selection
from onebit.verify.audit import Verdict
from onebit.verify.certificate import verify

N_LABELS = 5


@dataclass
class Log:
    """A run, and all that its log has."""

    setting: Setting
    said: Any
    learner: CertifiedRun
    questions: list[Question]
    answers: list[Answer | int]

    def verified(
        self, closings: list[Closing] | None = None, said: Any = None, setting: Setting | None = None
    ) -> Verdict:
        return verify(
            setting or self.setting,
            self.said if said is None else said,
            N_LABELS,
            self.learner.epochs,
            self.questions,
            self.answers,
            self.learner.closings if closings is None else closings,
        )


def played(setting: Setting, said: Any, truth: Any) -> Log:
    selection = build_selection(setting, "certified", said, N_LABELS)
    learner, rater = selection.learner, SimulatedRater(truth)
    assert isinstance(learner, CertifiedRun)
    log = Log(setting, said, learner, [], [])
    while isinstance(questions := learner.ask(7), tuple):
        for question in questions:
            log.questions.append(question)
            log.answers.append(rater(replace(question, item=selection.row(question.item))))
            learner.tell(question.id, log.answers[-1])
    return log


@pytest.mark.parametrize("population", ["pool", "stream"])
@pytest.mark.parametrize("protocol", ["one-shot", "follow-up", "panel", "labels"])
@pytest.mark.parametrize("seed", range(4))
def test_both_come_to_the_same(protocol: AskingProtocol, population: Population, seed: int) -> None:
    rng = np.random.default_rng([seed, len(protocol), len(population)])
    n_models, n_items = int(rng.integers(2, 5)), int(rng.integers(40, 250))
    truth = rng.integers(0, N_LABELS, n_items)
    right = rng.random((n_models, n_items)) < rng.uniform(0.4, 0.9, (n_models, 1))
    said = np.where(right, truth, rng.integers(-1, N_LABELS, (n_models, n_items)))
    if seed == 1:
        said[-1] = said[0]
    setting = Setting(
        eps=float(rng.choice([0.02, 0.05, 0.2])),
        delta=0.2,
        protocol=protocol,
        population=population,
        budget=60 if seed == 2 else None,
        seed=seed,
        f_no=0.05 if protocol == "one-shot" and seed == 3 else 0.0,
        baseline=int(rng.integers(0, n_models)),
    )
    log = played(setting, said, truth)
    result, found = log.learner.result, log.verified()
    assert found.problems == ()
    assert [each.verdict for each in found.gate] == [each.verdict for each in result.gate]
    assert found.survivors == result.survivors
    assert found.names == result.names
    for told, recomputed in zip(result.gate, found.gate, strict=True):
        assert told.candidate == recomputed.candidate
        assert told.behind_at_most >= recomputed.behind_at_most - 1e-4
        assert told.ahead_at_most >= recomputed.ahead_at_most - 1e-4


@pytest.fixture(scope="module")
def log() -> Log:
    said, truth = beside(60, 60, 10, 70)
    return played(Setting(0.1, 0.05, "panel", seed=3, baseline=0), said, truth)


def problems(log: Log, last: Closing) -> str:
    return " ".join(log.verified([*log.learner.closings[:-1], last]).problems)


def test_a_candidate_that_is_decided_too_early_is_found(log: Log) -> None:
    first, *rest = log.learner.closings
    found = log.verified([replace(first, survivors=(0,)), *rest])
    assert "its survivors are (0,), but the answers leave (0, 1)" in " ".join(found.problems)


def test_a_candidate_that_is_kept_though_it_is_decided_is_found(log: Log) -> None:
    assert "but the answers leave (0,)" in problems(log, replace(log.learner.closings[-1], survivors=(0, 1)))


def test_a_bound_that_is_not_shown_is_found(log: Log) -> None:
    last = log.learner.closings[-1]
    assert "a candidate may be behind by" in problems(log, replace(last, certified_eps=last.certified_eps / 3))
    first, *rest = log.learner.closings
    found = log.verified([replace(first, certified_eps=0.12), *rest])
    assert "it certifies eps 0.12" in " ".join(found.problems)


def test_another_leader_than_the_baseline_is_found(log: Log) -> None:
    first, *rest = log.learner.closings
    found = log.verified([replace(first, leader=1), *rest])
    assert "its leader is 1, and the baseline is 0" in " ".join(found.problems)


def test_another_margin_baseline_or_answer_is_found(log: Log) -> None:
    assert log.verified().ok
    assert not log.verified(setting=replace(log.setting, eps=0.02)).ok
    assert not log.verified(setting=replace(log.setting, baseline=1)).ok
    assert not log.verified(setting=replace(log.setting, baseline=None)).ok
    assert not log.verified(setting=replace(log.setting, delta=1e-6)).ok
    worse = replace(log, answers=[Answer.YES if q.label == log.said[0, q.item] else Answer.NO for q in log.questions])
    assert not worse.verified().ok


def test_the_number_of_candidates_counts(log: Log) -> None:
    """What delta / 1 shows is not shown with delta / 4: who leaves candidates out of the table is found."""
    others = np.where(np.random.default_rng(0).random((3, log.said.shape[1])) < 0.5, 3, log.said[0])
    said = np.concatenate([log.said, others])
    assert not log.verified(said=said).ok
