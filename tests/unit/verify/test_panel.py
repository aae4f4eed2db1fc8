"""``verify`` agrees with the learner about panels, and finds what was tampered with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests.panels import Ints, Panel, random_panel, wealth_on_pool, wealth_on_stream

from onebit.learners.certified import PanelLearner
from onebit.learners.certified.statement import CertifiedResult
from onebit.randomness import generator
from onebit.records import Answer, Closing, EpochRecord, Population, Question, RunStatus, Setting
from onebit.verify.audit import Verdict
from onebit.verify.certificate import verify
from onebit.verify.contest import contest
from onebit.verify.panel import PanelAudit

#: As the learner tells it, and as ``verify`` recomputes it: each to steps of its own.
EPS_STEPS = 0.1


@dataclass(frozen=True, eq=False)
class Log:
    """Everything that ``verify`` is given."""

    setting: Setting
    panel: Panel
    epochs: list[EpochRecord]
    questions: list[Question]
    answers: list[Answer | int | None]
    closings: list[Closing]

    def verdict(self, **changes: Any) -> Verdict:
        log = replace(self, **changes)
        said, n_outputs = log.panel.said, log.panel.yes.shape[1]
        return verify(log.setting, said, n_outputs, log.epochs, log.questions, log.answers, log.closings)

    def with_epoch(self, place: int, **changes: Any) -> Verdict:
        epochs = list(self.epochs)
        epochs[place] = replace(epochs[place], **changes)
        return self.verdict(epochs=epochs)

    def with_closing(self, place: int, **changes: Any) -> Verdict:
        closings = list(self.closings)
        closings[place] = replace(closings[place], **changes)
        return self.verdict(closings=closings)

    def with_question(self, place: int, **changes: Any) -> Verdict:
        questions = list(self.questions)
        questions[place] = replace(questions[place], **changes)
        return self.verdict(questions=questions)


def run_log(
    setting: Setting, panel: Panel, cant_tell: float = 0.0, most: int | None = None
) -> tuple[Log, CertifiedResult, PanelLearner]:
    """A run of the learner, stopped after ``most`` answers if given; a stream comes in the order that verify takes."""
    draws = generator(setting.seed, "stream order").permutation(panel.n_items)
    is_pool = setting.population == "pool"
    learner = panel.learner(
        draws=None if is_pool else draws,
        eps=setting.eps,
        delta=setting.delta,
        seed=setting.seed,
        budget=setting.budget,
    )
    judge = panel.judge(None if is_pool else draws)
    unsure = np.random.default_rng(setting.seed).random((panel.n_items, panel.yes.shape[1])) < cant_tell
    questions: list[Question] = []
    answers: list[Answer | int | None] = []
    while isinstance(asked := learner.ask(5), tuple):
        questions += asked
        answers += [None] * len(asked)
        for question in asked[::2] + asked[1::2]:
            if most is None or sum(answer is not None for answer in answers) < most:
                answer = Answer.CANT_TELL if unsure[question.item, question.label] else judge(question)
                answers[question.id] = answer
                learner.tell(question.id, answer)
        if None in answers:
            break
    log = Log(setting, panel, list(learner.epochs), questions, answers, list(learner.closings))
    return log, learner.result, learner


def panel_of(population: Population, seed: int = 0) -> Panel:
    """Six models, two of them equal; large enough that some go on the way."""
    panel = random_panel(seed, n_models=6, n_items=300 if population == "pool" else 1_000, n_outputs=8)
    panel.said[5] = panel.said[2]
    return panel


populations = pytest.mark.parametrize("population", ["pool", "stream"])


@pytest.mark.parametrize("budget", [None, 61])
@pytest.mark.parametrize("cant_tell", [0.0, 0.3])
@pytest.mark.parametrize("eps", [0.1, 0.03, 1e-5])
@populations
def test_honest_logs_are_borne_out(population: Population, eps: float, cant_tell: float, budget: int | None) -> None:
    setting = Setting(eps, protocol="panel", population=population, budget=budget, seed=3)
    log, result, _ = run_log(setting, panel_of(population), cant_tell)
    verdict = log.verdict()
    assert verdict.problems == ()
    assert verdict.ok
    assert log.closings
    assert (verdict.chosen, verdict.names, verdict.survivors) == (result.chosen, result.names, result.survivors)
    assert (verdict.n_answers, verdict.n_rounds, verdict.n_free_rounds) == (
        result.n_answers,
        result.n_rounds,
        result.n_free_rounds,
    )
    assert result.achieved_eps is not None
    # The learner tells it to a tenth of what it certified, the verifier to 1e-4.
    assert (
        verdict.certified_eps
        <= result.achieved_eps
        <= verdict.certified_eps + max(EPS_STEPS * log.closings[-1].certified_eps, 2e-4)
    )


@pytest.mark.parametrize("seed", range(5))
@populations
def test_both_come_to_the_same_wealth(population: Population, seed: int) -> None:
    """And both to that of the document, for every pair and at every closing of a run that is cut off."""
    setting = Setting(0.02, protocol="panel", population=population, budget=40 + 17 * seed, seed=seed)
    panel = random_panel(seed, n_models=4, n_items=120)
    log, _, learner = run_log(setting, panel)
    audit = PanelAudit(contest(setting, panel.said, panel.yes.shape[1]))
    for j, closing in enumerate(log.closings):
        asked = [(q, a) for q, a in zip(log.questions, log.answers, strict=True) if q.epoch == j]
        audit.check_epoch(j, log.epochs[j], asked, closing, may_be_cut=j == len(log.closings) - 1)
    assert audit.verdict(0).problems == ()
    evidence, plain = learner._evidence, wealth_on_pool if population == "pool" else wealth_on_stream
    for g in range(4):
        for c in (0.0, 0.05, 0.4):
            found = evidence.wealth.log_wealth(g, c)
            for h in set(range(4)) - {g}:
                document = plain(evidence._said.astype(np.int64), evidence._verdict, h, g, evidence.n_drawn, c, 0.02)
                assert audit._log_wealth([h], g, c)[0] == pytest.approx(document, abs=1e-9)
                assert found[h] == pytest.approx(document, abs=1e-9)


def test_an_open_epoch_is_checked_without_a_closing() -> None:
    log, result, _ = run_log(Setting(0.01, protocol="panel", seed=3), panel_of("pool"), most=100)
    assert len(log.closings) == len(log.epochs) - 1
    assert result.status is RunStatus.RUNNING
    assert log.verdict().ok
    assert not log.with_question(len(log.questions) - 1, propensity=0.9).ok


def test_a_leader_that_changes_is_followed() -> None:
    """Who catches up is judged in an epoch that need not draw anything new."""
    n, seed = 100, 3
    order = generator(seed, "panel order").permutation(n)
    said = np.tile(np.array([[0], [1], [0]]), (1, n))
    said[2, order[:8]] = 2
    yes = np.zeros((n, 3), dtype=np.bool_)
    yes[:, 1] = yes[order[::2], 0] = True
    log, _, _ = run_log(Setting(0.1, protocol="panel", seed=seed), Panel(said, yes))
    leaders = [closing.leader for closing in log.closings]
    assert log.epochs[0].leader == 0
    assert leaders[-1] == 1
    assert {q.epoch for q in log.questions if q.label == 2} == {1}
    assert log.verdict().ok


# ---- tampering


@pytest.fixture(scope="module", params=["pool", "stream"])
def log(request: pytest.FixtureRequest) -> Log:
    log, result, _ = run_log(Setting(0.05, protocol="panel", population=request.param, seed=3), panel_of(request.param))
    assert log.verdict().ok
    assert result.status is RunStatus.COMPLETE
    assert len(log.closings) > 3
    return log


def test_a_changed_propensity_is_found(log: Log) -> None:
    (problem,) = log.with_question(20, propensity=1 - 1e-9).problems
    assert "question 20 " in problem
    assert not log.with_question(20, propensity=float("nan")).ok


def test_another_output_or_item_is_found(log: Log) -> None:
    question = log.questions[20]
    never = next(a for a in range(8) if a not in log.panel.said[:, question.item])
    for changes in ({"label": never}, {"label": None}, {"item": question.item - 1}, {"item": 10_000}, {"item": -1}):
        assert any("is none that epoch" in problem for problem in log.with_question(20, **changes).problems)


def test_a_dropped_question_is_found(log: Log) -> None:
    left = log.questions[:20] + log.questions[21:]
    verdict = log.verdict(questions=left, answers=log.answers[:20] + log.answers[21:])
    assert any("lacks a verdict" in problem for problem in verdict.problems)


def test_a_missing_answer_is_found(log: Log) -> None:
    answers = list(log.answers)
    answers[20] = None
    assert any("lacks a verdict" in problem for problem in log.verdict(answers=answers).problems)


def test_a_question_asked_twice_is_found(log: Log) -> None:
    again = replace(log.questions[-1], id=len(log.questions))
    verdict = log.verdict(questions=[*log.questions, again], answers=[*log.answers, Answer.NO])
    assert f"question {again.id} " in verdict.problems[0]
    # In a later epoch than the one that had its answer.
    later = replace(log.questions[0], id=again.id, epoch=log.questions[-1].epoch)
    assert not log.verdict(questions=[*log.questions, later], answers=[*log.answers, Answer.NO]).ok


def test_a_question_about_what_nobody_contests_is_found(log: Log) -> None:
    """A verdict that no contender needs could be picked for what it says."""
    contenders = [log.epochs[-1].leader, *(rival for rival, _ in log.epochs[-1].mixture)]
    items = log.panel.said
    if log.setting.population == "stream":
        items = items[:, generator(log.setting.seed, "stream order").permutation(items.shape[1])]
    agreed = np.flatnonzero((items[contenders] == items[contenders[0]]).all(axis=0) & (items[contenders[0]] >= 0))
    more = Question(len(log.questions), int(agreed[0]), int(items[contenders[0], agreed[0]]), 1.0, len(log.epochs) - 1)
    verdict = log.verdict(questions=[*log.questions, more], answers=[*log.answers, Answer.YES])
    assert "is none that epoch" in verdict.problems[0]


def test_an_answer_that_bears_the_claim_cannot_be_turned(log: Log) -> None:
    """With the least eps that is shown as the claim, a yes to the leader taken away leaves less than is claimed."""
    last = log.closings[-1]
    exact = [*log.closings[:-1], replace(last, certified_eps=log.verdict().certified_eps)]
    assert log.verdict(closings=exact).ok
    order = np.arange(log.panel.n_items)
    if log.setting.population == "stream":
        order = generator(log.setting.seed, "stream order").permutation(order.size)
    n_tried = n_found = 0
    for place, question in enumerate(log.questions):
        says = log.panel.said[:, order[question.item]]
        alone = says[last.leader] == question.label and (says[list(last.survivors)] == question.label).sum() == 1
        if log.answers[place] is Answer.YES and alone and n_tried < 20:
            n_tried += 1
            answers = list(log.answers)
            answers[place] = Answer.NO
            n_found += not log.verdict(answers=answers, closings=exact).ok
    assert n_found == n_tried >= 5


def test_answers_turned_round_are_found(log: Log) -> None:
    turned: list[Answer | int | None] = [Answer.NO if a is Answer.YES else Answer.YES for a in log.answers]
    assert not log.verdict(answers=turned).ok
    assert not log.verdict(answers=[Answer.CANT_TELL] * len(log.answers)).ok
    assert "question 0 has the answer" in log.verdict(answers=[1, *log.answers[1:]]).problems[0]


def test_survivors_that_are_not_left_are_found_and_those_left_out(log: Log) -> None:
    shrunk = next(j for j, closing in enumerate(log.closings) if len(closing.survivors) < len(log.epochs[0].survivors))
    after = log.closings[shrunk].survivors
    rival = next(h for h in after if h != log.closings[shrunk].leader) if len(after) > 1 else None
    wrong = [log.epochs[shrunk].survivors, *([] if rival is None else [tuple(h for h in after if h != rival)])]
    for survivors in wrong:
        assert f"closing of epoch {shrunk}: its survivors" in log.with_closing(shrunk, survivors=survivors).problems[0]
    verdict = log.with_epoch(1, survivors=log.epochs[1].survivors[:-1])
    assert "epoch 1: its survivors" in verdict.problems[0]


def test_another_leader_is_found(log: Log) -> None:
    """Whoever is said to lead must have been shown to be within the certified eps."""
    last = log.closings[-1]
    others = [h for h in log.epochs[-1].survivors if h != last.leader]
    assert others
    for other in others:
        assert not log.with_closing(len(log.closings) - 1, leader=other).ok
    assert not log.with_closing(-1, leader=5).ok
    assert "is not a survivor" in log.with_epoch(1, leader=99).problems[0]


def test_a_smaller_eps_is_found_in_any_closing(log: Log) -> None:
    least = log.verdict().certified_eps
    for j in (0, len(log.closings) - 1):
        below = log.closings[j].certified_eps * 0.7 if j == 0 else least - 2e-4
        problems = log.with_closing(j, certified_eps=below).problems
        assert any(f"closing of epoch {j}: it certifies eps" in problem for problem in problems)
    assert not log.with_closing(1, certified_eps=float("nan")).ok
    assert not log.with_closing(1, certified_eps=-0.1).ok


def test_contenders_left_out_or_added_are_found(log: Log) -> None:
    """Then other verdicts had to be asked for."""
    said = log.panel.said
    if log.setting.population == "stream":
        said = said[:, generator(log.setting.seed, "stream order").permutation(log.panel.n_items)]
    n_found = 0
    for place, epoch in enumerate(log.epochs[:3]):
        for k, (rival, _) in enumerate(epoch.mixture):
            others = [h for h in (epoch.leader, *(h for h, _ in epoch.mixture)) if h != rival]
            asked = [q for q in log.questions if q.epoch == place and said[rival, q.item] == q.label]
            # Where others say the same wherever it was asked, it makes no difference who is named.
            if any(q.label not in said[others, q.item] for q in asked):
                n_found += 1
                assert not log.with_epoch(place, mixture=epoch.mixture[:k] + epoch.mixture[k + 1 :]).ok
    assert n_found > 5
    shorter = next(j for j, epoch in enumerate(log.epochs) if len(epoch.mixture) < len(epoch.survivors) - 1)
    epoch = log.epochs[shorter]
    idle = next(h for h in epoch.survivors if h not in {epoch.leader, *(rival for rival, _ in epoch.mixture)})
    assert not log.with_epoch(shorter, mixture=(*epoch.mixture, (idle, 1.0))).ok
    for mixture, why in (
        ((*epoch.mixture, (epoch.leader, 1.0)), "among its own rivals"),
        ((*epoch.mixture, epoch.mixture[0]), "each once"),
        (((99, 1.0),), "must be survivors"),
    ):
        assert any(why in problem for problem in log.with_epoch(shorter, mixture=mixture).problems)


def test_other_lengths_of_epochs_are_found(log: Log) -> None:
    for place in (0, 1, len(log.epochs) - 1):
        for more in (-1, 1, 10_000, -10_000):
            assert not log.with_epoch(place, n_rounds=log.epochs[place].n_rounds + more).ok
        assert not log.with_epoch(place, first_round=log.epochs[place].first_round + 1).ok


def test_counts_and_numbers_of_records_are_checked(log: Log) -> None:
    closing = log.closings[1]
    for changes in (
        {"n_rounds": closing.n_rounds + 1},
        {"n_answers": closing.n_answers - 1},
        {"epoch": 2},
        {"leader": 99},
        {"n_checks": 1},
    ):
        assert "closing of epoch 1" in log.with_closing(1, **changes).problems[0]
    assert not log.with_epoch(1, number=0).ok
    assert not log.verdict(closings=log.closings[:-2]).ok
    assert "budget" in log.verdict(setting=replace(log.setting, budget=30)).problems[0]


def test_another_seed_table_delta_or_population_is_found(log: Log) -> None:
    assert not log.verdict(setting=replace(log.setting, seed=4)).ok
    assert not log.verdict(setting=replace(log.setting, delta=0.04)).ok
    other: Population = "pool" if log.setting.population == "stream" else "stream"
    assert not log.verdict(setting=replace(log.setting, population=other)).ok
    rolled: Ints = np.roll(log.panel.said, 1, axis=1)
    assert not log.verdict(panel=replace(log.panel, said=rolled)).ok
    assert not log.verdict(panel=replace(log.panel, said=log.panel.said[::-1])).ok
