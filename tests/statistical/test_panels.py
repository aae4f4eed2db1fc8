"""What a panel promises holds as often as it says, scored on verdicts; twins that break a rule fail.

Every comparison raises a false alarm with probability at most 1e-6 even for a learner that errs exactly as often as
delta permits.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import pytest
from tests.panels import Panel
from tests.statistical.certified_leaks import NeverSuspends
from tests.statistical.certified_populations import Tally
from tests.statistical.panel_populations import CASES, OWN_WORDS, Case
from tests.statistical.panel_twins import TWINS

from onebit.estimate.betting import BETS
from onebit.estimate.panels import PanelWealth
from onebit.hypotheses.finite import PredictionTable
from onebit.learners.certified import CertifiedLearner
from onebit.learners.contract import run
from onebit.learners.items import Pool
from onebit.records import RunStatus

RUNS = int(os.environ.get("ONEBIT_RUNS", "50"))
#: Enough for the twins, which fail in most runs.
TWIN_RUNS, HONEST_RUNS = 40, 20


@pytest.mark.parametrize("name", CASES)
def test_the_promise_holds(name: str, measured: Callable[[str], None]) -> None:
    case = CASES[name]
    found = case.tally(RUNS)
    measured(f"panel, {name}, delta = {case.delta:g}: {found}")
    assert found.complete == found.runs
    assert found.failed <= found.most(case.delta)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.err])
def test_choosing_another_would_be_wrong(name: str) -> None:
    """The best is ahead by more than eps, unless all are equal or all that matters is who is ruled out."""
    case = CASES[name]
    acceptance = np.unique(case.panel.acceptance)
    assert acceptance.size == 1 or acceptance[-1] - acceptance[-2] > case.eps or name == "close to the first leader"


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_that_breaks_a_rule_fails(name: str, measured: Callable[[str], None]) -> None:
    twin = TWINS[name]
    found = twin.tally(TWIN_RUNS)
    measured(f"twin of the panel, {name}, delta = {twin.case.delta:g}: {found}")
    assert found.failed > found.most(twin.case.delta)


@pytest.mark.parametrize("name", TWINS)
def test_where_twins_fail_the_promise_holds(name: str) -> None:
    twin = TWINS[name]
    found = twin.kept(HONEST_RUNS)
    assert found.failed <= found.most(twin.case.delta)


@pytest.mark.parametrize("name", ["2 models", "3 models", "5 models", "8 models", "a pool to its end"])
def test_no_plan_can_make_the_event_likelier_than_delta(name: str, measured: Callable[[str], None]) -> None:
    """Whoever knows all verdicts and the order, and stops each pair where it suits, is wrong no oftener than delta.

    For that, the wealth of the best against some rival, at their true gap, has to reach its threshold at some beginning
    of the order: so this is counted at every beginning. It is what all wrong statements of all plans have in common.
    """
    case = CASES[name]
    found = Tally()
    for seed in range(4 * RUNS):
        order = np.random.default_rng([seed, 3]).permutation(case.panel.n_items)
        found.runs += 1
        found.failed += _ever_reaches(Panel(case.panel.said[:, order], case.panel.yes[order]), case)
    measured(f"wealth at the true gap ever reached its threshold, {name}: {found.failed} of {found.runs} orders")
    assert found.failed <= found.most(case.delta)
    # The bound is not an empty one.
    assert found.failed > 0


def _ever_reaches(panel: Panel, case: Case) -> bool:
    best = int(np.argmax(panel.acceptance))
    rivals = [g for g in range(len(panel.said)) if g != best]
    for g in rivals:
        # A hair below the gap, so that rounding does not ask for more than a pool has.
        gap = max(float(panel.acceptance[best] - panel.acceptance[g]) - 1e-12, 0.0)
        wealth = wealth_at_every_beginning(panel, best, g, gap)
        if max(wealth) >= len(rivals) / case.delta:
            return True
    return False


def wealth_at_every_beginning(panel: Panel, h: int, g: int, c: float) -> list[float]:
    """Of a pool whose items stand in their order, all of them judged."""
    differ = panel.said[h] != panel.said[g]
    D = panel.accepted[h, differ].astype(np.int64) - panel.accepted[g, differ]
    state, total, found = np.ones(BETS.size), 0, [1.0]
    for left, each in zip(range(D.size, 0, -1), D.tolist(), strict=True):
        room = 1 + total / left
        state = state * (1 - BETS / (room if room > 0 else 1.0) * (each - (panel.n_items * c - total) / left))
        total += each
        found.append(float(state.mean()))
    return found


def test_every_beginning_is_what_the_learner_would_count() -> None:
    panel = CASES["5 models"].panel
    wealth = wealth_at_every_beginning(panel, 0, 1, 0.1)
    places = [0, *(np.flatnonzero(panel.said[0] != panel.said[1]) + 1).tolist()]
    for n, each in zip(places[:40], wealth, strict=False):
        verdict = panel.accepted[:, :n].astype(np.int8)
        counted = PanelWealth(
            panel.said[:, :n], verdict, panel.n_items, lambda g: (panel.said != panel.said[g]).sum(axis=1)
        )
        assert counted.log_wealth(1, 0.1)[0] == pytest.approx(np.log(each), abs=1e-9)


def test_follow_up_fails_where_the_best_has_its_own_words(measured: Callable[[str], None]) -> None:
    """It stops at the first yes, mostly to the words that others share: then the best, in its own, counts as wrong.

    Its checks notice, and suspend every run; without them every certificate is wrong. The panel needs neither.
    """
    seeds = range(10)
    n_suspended, unchecked, panel = 0, Tally(), Tally()
    for seed in seeds:
        for kind in (CertifiedLearner, NeverSuspends):
            items = Pool(np.arange(OWN_WORDS.n_items))
            table = PredictionTable(OWN_WORDS.said, OWN_WORDS.yes.shape[1])
            learner = kind(table, items, eps=0.2, delta=0.2, protocol="follow-up", seed=seed)
            run(learner, OWN_WORDS.judge())
            if kind is NeverSuspends:
                unchecked.add(OWN_WORDS.acceptance, learner)
            else:
                n_suspended += learner.result.status is RunStatus.SUSPENDED
        played, acceptance = Case(OWN_WORDS, eps=0.2).played(seed)
        panel.add(acceptance, played)
    measured(
        f"the best has its own words, 10 seeds: follow-up suspended {n_suspended}, without its checks "
        f"{unchecked.failed} wrong; panel {panel.failed} wrong"
    )
    assert n_suspended == unchecked.failed == unchecked.runs == 10
    assert panel.failed == 0
    assert panel.complete == 10
