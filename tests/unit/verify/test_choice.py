"""``verify`` draws the questions of a spent budget again, and finds what was tampered with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.problems import models_of_accuracy

from onebit.errors import InvalidInputError
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner, constants
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.log.codec import to_json
from onebit.log.events import EpochBegan
from onebit.raters import ErringRater, Rater, SimulatedRater
from onebit.records import EpochRecord, Question
from onebit.verify.audit import Verdict
from onebit.verify.certificate import verify
from onebit.verify.choice import choice_scores, weighed

Ints = NDArray[np.int64]
N_LABELS = 3
TABLE, TRUTH = models_of_accuracy(np.random.default_rng(8), np.array([0.5, 0.8, 0.6, 0.7, 0.4]), 90, N_LABELS)
TABLE[2, ::6] = -1


def log(f_no: float = 0.0, **options: Any) -> tuple[CertifiedLearner, dict[str, Any]]:
    learner = CertifiedLearner(
        PredictionTable(TABLE, N_LABELS),
        Pool(np.arange(90)),
        **{"eps": 0.1, "delta": 0.2, "seed": 5, "budget": 70, "spends": True, "f_no": f_no, **options},
    )
    rater: Rater = ErringRater(TRUTH, f_no=f_no, f_yes=0.0) if f_no else SimulatedRater(TRUTH)
    run(learner, rater, 1)
    told = learner.epochs, learner._ledger.questions, learner._ledger.answers, learner.closings
    return learner, dict(zip(("epochs", "questions", "answers", "closings"), told, strict=True))


def checked(learner: CertifiedLearner, told: dict[str, Any], **changes: Any) -> Verdict:
    setting, judge = changes.pop("setting", learner._setting), changes.pop("judge", None)
    given = {**told, **changes}
    return verify(
        setting, TABLE, N_LABELS, given["epochs"], given["questions"], given["answers"], given["closings"], judge=judge
    )


@pytest.mark.parametrize("f_no", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_honest_logs_are_borne_out(f_no: float, seed: int) -> None:
    learner, told = log(f_no, seed=seed)
    verdict, result = checked(learner, told), learner.result
    assert verdict.problems == ()
    assert (verdict.chosen, verdict.survivors) == (result.chosen, result.survivors)
    assert (verdict.n_rounds, verdict.n_answers) == (result.n_rounds, result.n_answers)
    assert verdict.certified_eps <= (result.achieved_eps or 0.0) + 1e-9


def test_a_judge_is_heeded() -> None:
    judge = np.where(TABLE == TRUTH, 0.8, 0.3).astype(np.float32)
    learner, told = log(judge=judge)
    assert all(len(epoch.guess) == 5 for epoch in learner.epochs)
    assert checked(learner, told, judge=judge).problems == ()


def of_mixture(epoch: EpochRecord) -> EpochRecord:
    (model, weight), *rest = epoch.mixture
    return replace(epoch, mixture=((model, weight / 2), *rest))


@pytest.mark.parametrize(
    "change",
    [
        of_mixture,
        lambda epoch: replace(epoch, sure_from=epoch.sure_from * 2),
        lambda epoch: replace(epoch, gamma=0.5),
        lambda epoch: replace(epoch, merit=(epoch.merit[0] + 1, *epoch.merit[1:])),
        lambda epoch: replace(epoch, merit=()),
        lambda epoch: replace(epoch, sharpness=1.0),
    ],
)
def test_another_law_is_found(change: Any) -> None:
    learner, told = log()
    epochs = list(told["epochs"])
    epochs[3] = change(epochs[3])
    assert not checked(learner, told, epochs=epochs).ok


def test_a_law_without_contenders_is_found() -> None:
    learner, told = log()
    epochs = [replace(told["epochs"][0], mixture=()), *told["epochs"][1:]]
    assert "no contender" in checked(learner, told, epochs=epochs).problems[0]


@pytest.mark.parametrize("merit", [(0.0,), (0.0, 0.0, float("inf"), 0.0, 0.0)])
def test_merit_that_is_not_one_number_per_model_is_found(merit: tuple[float, ...]) -> None:
    learner, told = log()
    epochs = [replace(told["epochs"][0], merit=merit), *told["epochs"][1:]]
    assert "merit is not one finite number" in checked(learner, told, epochs=epochs).problems[0]


def test_merit_is_for_a_budget_that_is_spent() -> None:
    learner, told = log(spends=False, budget=None)
    assert checked(learner, told).problems == ()
    epochs = [replace(told["epochs"][0], merit=(0.0,) * len(TABLE)), *told["epochs"][1:]]
    assert "which is for a budget" in checked(learner, told, epochs=epochs).problems[0]


def test_logs_from_before_scores_were_raised_to_a_power_are_borne_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "CHOICE_SHARPNESS", 1.0)
    learner, told = log()
    assert "sharpness" not in to_json(EpochBegan(told["epochs"][3]))
    assert checked(learner, told).problems == ()


@pytest.mark.parametrize("sharpness", [0.0, -1.0, float("inf"), float("nan")])
def test_a_power_that_is_none_is_found(sharpness: float) -> None:
    learner, told = log()
    epochs = [replace(told["epochs"][0], sharpness=sharpness), *told["epochs"][1:]]
    assert "raised to the power" in checked(learner, told, epochs=epochs).problems[0]


def test_a_power_is_for_a_budget_that_is_spent() -> None:
    learner, told = log(spends=False, budget=None)
    epochs = [replace(told["epochs"][0], sharpness=2.0), *told["epochs"][1:]]
    assert "which is for a budget" in checked(learner, told, epochs=epochs).problems[0]


def test_items_that_are_looked_at_are_for_a_budget_that_is_spent() -> None:
    learner, told = log(spends=False, budget=None)
    epochs = [replace(told["epochs"][0], n_viewed=80), *told["epochs"][1:]]
    assert "which is for a budget" in checked(learner, told, epochs=epochs).problems[0]


def test_guesses_are_weighed_as_in_the_document() -> None:
    found = weighed((0.1, -0.2, 0.5, 40.0), np.array([0, 0, 1, 2]), [0, 1, 2], np.array([0.4, 0.3, 0.1]))
    assert found == pytest.approx([0.4 * np.exp(-0.1), 0.3 * np.exp(0.5), 0.1 * np.exp(20)])


def test_a_propensity_that_was_made_up_is_found() -> None:
    learner, told = log()
    questions: list[Question] = list(told["questions"])
    questions[5] = replace(questions[5], propensity=questions[5].propensity * 1.01)
    assert "was asked with probability" in checked(learner, told, questions=questions).problems[0]


def test_a_log_to_an_eps_is_no_log_of_a_spent_budget() -> None:
    learner, told = log()
    assert not checked(learner, told, setting=replace(learner._setting, spends=False)).ok


def test_less_than_was_shown_is_found() -> None:
    learner, told = log()
    last = replace(told["closings"][-1], certified_eps=0.001)
    assert "the answers show no less" in checked(learner, told, closings=[*told["closings"][:-1], last]).problems[0]


def test_there_must_be_a_budget() -> None:
    learner, told = log()
    with pytest.raises(InvalidInputError, match="a budget is spent, and there is none"):
        checked(learner, told, setting=replace(learner._setting, budget=None))


def test_scores_are_those_of_the_document() -> None:
    """Of weights .6, .3 and .1: label 0 has .7 for it, label 2 the rest; a yes to one speaks against the others."""
    epoch = EpochRecord(0, 0, 1, 0, (0, 1, 2), ((0, 0.6), (1, 0.3), (2, 0.1)), 0.1)
    found = choice_scores(epoch, np.array([0, 2, 0]), [0, 1, 2], [0.5, 0.1, 0.2])
    apart = (1 + 0.2 / 0.5) ** 2, ((0.5 - 0.2) / 0.9) ** 2, (1 + 0.5 / 0.8) ** 2
    assert found == pytest.approx([0.21 * apart[0] * 0.27, 0.21 * apart[1] * 0.11, 0.21 * apart[2] * 0.18])
    assert choice_scores(epoch, np.array([0, 2, 0]), [1, 2], [0.0, 0.0]) == [0.0, 0.0]
    squared = choice_scores(replace(epoch, sharpness=2.0), np.array([0, 2, 0]), [0, 1, 2], [0.5, 0.1, 0.2])
    assert squared == pytest.approx(np.array(found) ** 2)
