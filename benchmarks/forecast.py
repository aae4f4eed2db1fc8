"""How good forecasts of what a selection costs are, on tables that did not decide how they are made.

Before the first answer a forecast sees the models' predictions alone (``onebit plan TABLE``); on the way also how many
answers there were, and what they certified. What is forecast is the certified learner with raters who know the truth,
on the pool, delta = .05: before the first answer the mean over the seeds, on the way each of these runs.

There are four tables, and four more of half of the models of each. The middle of a forecast is the median of the
rehearsals. Which leads they have (``LEADS``), and how much the range is wider than theirs, is chosen for each table
and its half, on the three others and theirs (``fitted``). onebit has what all of them choose, which is printed. The
size of the jury and who is trusted were set with a look at the four tables.

Five models' answers to Natural Questions with people's verdicts are forecast as onebit does it, by panel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from statistics import mean

import numpy as np
from benchmarks.harness import Case, data_file, prediction_table, run_cases
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from onebit.randomness import generator
from onebit.raters import SimulatedRater, VerdictRater
from onebit.records import AskingProtocol, Closing, SelectionSpec, Setting
from onebit.study.constants import IMAGINED, PLAN_SEED
from onebit.study.kinds.selection.forecast import Spread, forecast
from onebit.study.kinds.selection.imagining import Imagined, Table, imagined_rater, trusted_apart
from onebit.study.kinds.selection.making import read_models
from onebit.study.kinds.selection.planning import plan
from onebit.study.kinds.selection.rehearsal import Course, Rehearsal, rehearse_once

TABLES = ("letter_models.npz", "clinc150_models.npz", "imagenetv2.npz", "mmlu_pro.npz")
PROTOCOLS: tuple[AskingProtocol, ...] = ("one-shot", "follow-up")
ALL_EPS = (0.05, 0.02, 0.01)
DELTA, N_SEEDS = 0.05, 3
#: Which of the models of a table are there.
KNOWN, KEPT_APART = "all models", "half of the models"
#: A panel's.
TEXTS, TEXT_EPS, N_PANELS = "evouna_nq.parquet", (0.1, 0.05, 0.03, 0.02), 10
#: Sets of leads to choose from, in multiples of how far the trusted models lie apart; and the size of the juries.
LEADS = ((0.25, 0.5, 1.0, 2.0, 4.0), (0.5, 1.0, 2.0, 4.0, 8.0))
JURY = IMAGINED[0][0]
#: The share of the cases of the other tables that the range must hold.
COVERED = 0.95
#: Parts of a run at whose end the rest is forecast; 0 is the end of its first epoch.
PARTS = (0.0, 0.25, 0.5, 0.75)


@lru_cache(maxsize=1)
def loaded(name: str, models: str) -> tuple[Table, np.ndarray]:
    found = prediction_table(name)
    if found is None:
        raise FileNotFoundError(name)
    predictions = found[0].astype(np.int64)
    if models == KEPT_APART:
        order = generator(0, "half of the models").permutation(predictions.shape[0])
        predictions = predictions[np.sort(order[: predictions.shape[0] // 2])]
    return Table(predictions, found[2]), found[1].astype(np.int64)


def cases() -> Iterator[Case]:
    for models, name in product((KNOWN, KEPT_APART), TABLES):
        if data_file(name) is None:
            continue
        for protocol in PROTOCOLS:
            case = {"table": name, "models": models, "protocol": protocol}
            for multiple in sorted({lead for leads in LEADS for lead in leads}):
                yield {**case, "lead": multiple}
            for eps, seed in product(ALL_EPS, range(N_SEEDS)):
                yield {**case, "eps": eps, "seed": seed}


def measure(case: Case) -> Case:
    """One rehearsal, or one run with the truth."""
    table, truth = loaded(case["table"], case["models"])
    setting = Setting(min(ALL_EPS), DELTA, case["protocol"], seed=PLAN_SEED)
    with threadpool_limits(1):
        if "lead" in case:
            how = Imagined.of(JURY, case["lead"], trusted_apart(table.predictions))
            rater = imagined_rater(table, setting, how)
            course = rehearse_once(table, setting, rater)
        else:
            setting = Setting(case["eps"], DELTA, case["protocol"], seed=case["seed"])
            course = rehearse_once(table, setting, SimulatedRater(truth))
    return {
        "n_answers": course.n_answers,
        "is_cut": course.is_cut,
        "answers": course.answers,
        "certified": course.certified,
    }


@dataclass(frozen=True)
class Situation:
    """Something to forecast, from the rehearsals of its table and protocol by lead: how many answers are ``left``."""

    table: str
    protocol: str
    eps: float
    courses: dict[float, Course]
    left: float
    so_far: Closing | None = None

    def figures(self, chosen: Chosen) -> tuple[int, int, int]:
        rehearsal = Rehearsal(tuple(self.courses[lead] for lead in chosen.leads))
        n_answers = 0 if self.so_far is None else self.so_far.n_answers
        needed = forecast(rehearsal, self.eps, self.so_far, n_answers, chosen.spread)
        return needed.low, needed.middle, needed.high


@dataclass(frozen=True)
class Chosen:
    """How forecasts are made: with rehearsals of these leads, and their range so much wider."""

    leads: tuple[float, ...]
    spread: Spread


def course_of(row: Case) -> Course:
    return Course(tuple(row["answers"]), tuple(row["certified"]), row["n_answers"], row["is_cut"])


def situations(rows: list[Case], models: str, part: float | None = None) -> list[Situation]:
    """What ``onebit plan TABLE`` is asked for; or every run at the end of the epoch nearest to this part of it."""
    found = []
    own = [row for row in rows if row["models"] == models]
    for name, protocol, eps in product(dict.fromkeys(row["table"] for row in own), PROTOCOLS, ALL_EPS):
        here = [row for row in own if (row["table"], row["protocol"]) == (name, protocol)]
        courses = {row["lead"]: course_of(row) for row in here if "lead" in row}
        runs = [course_of(row) for row in here if row.get("eps") == eps]
        if part is None:
            found.append(Situation(name, protocol, eps, courses, mean(course.n_answers for course in runs)))
            continue
        for course in runs:
            there = 0 if part == 0 else int(np.argmin(np.abs(np.array(course.answers[:-1]) - part * course.n_answers)))
            n_answers = course.answers[there]
            closing = Closing(there, 0, n_answers, 0, (), course.certified[there])
            found.append(Situation(name, protocol, eps, courses, course.n_answers - n_answers, closing))
    return found


def fitted_leads(known: list[Situation]) -> tuple[float, ...]:
    """The set of leads whose medians are nearest to these situations, in the mean square of logarithms."""

    def distance(leads: tuple[float, ...]) -> float:
        chosen = Chosen(leads, Spread(1.0, 1.0, 1.0))
        return mean(math.log(each.figures(chosen)[1] / each.left) ** 2 for each in known)

    return min(LEADS, key=distance)


def fitted(known: list[Situation], leads: tuple[float, ...]) -> Chosen:
    """The range of the rehearsals, wider on both sides alike, until it covers these situations."""
    beyond = []
    for each in known:
        low, _, high = each.figures(Chosen(leads, Spread(1.0, 1.0, 1.0)))
        beyond.append(max(low / each.left, each.left / high, 1.0))
    wider = float(np.quantile(beyond, COVERED, method="higher"))
    return Chosen(leads, Spread(1 / wider, 1.0, wider))


def told(forecasts: list[tuple[Situation, Chosen]], says_misses: bool = False) -> str:
    """How often forecasts hold."""
    n_near = n_inside = 0
    misses = ""
    for each, chosen in forecasts:
        low, middle, high = each.figures(chosen)
        is_near, is_inside = middle / 2 <= each.left <= 2 * middle, low <= each.left <= high
        n_near, n_inside = n_near + is_near, n_inside + is_inside
        if says_misses and not (is_near and is_inside):
            misses += f"\n    {each.table} {each.protocol} within {each.eps:g}: {each.left:.0f}"
            misses += f", forecast {middle} ({low} to {high})"
    return f"{n_near} of {len(forecasts)} within a factor 2, {n_inside} inside the range{misses}"


def left_out(asked: list[Situation], known: list[Situation], before: list[Situation]) -> list[tuple[Situation, Chosen]]:
    """Each with what the other tables choose: leads by forecasts ``before`` the first answer, ranges by those known."""
    chosen = {}
    for name in {each.table for each in known}:
        leads = fitted_leads([each for each in before if each.table != name])
        chosen[name] = fitted([each for each in known if each.table != name], leads)
    return [(each, chosen[each.table]) for each in asked]


def report(rows: list[Case]) -> None:
    """The two figures, before the first answer and on the way; and what all tables choose."""
    before = {models: situations(rows, models) for models in (KNOWN, KEPT_APART)}
    way = {(models, part): situations(rows, models, part) for models, part in product((KNOWN, KEPT_APART), PARTS)}
    known_before = [each for some in before.values() for each in some]
    known_way = [each for some in way.values() for each in some]
    for models, asked in before.items():
        print(f"before the first answer, {models}: {told(left_out(asked, known_before, known_before), True)}")
    for (models, part), asked in way.items():
        when = "after the first epoch" if part == 0 else f"after {part:.0%} of the answers"
        print(f"{when}, {models}: {told(left_out(asked, known_way, known_before))}")
    leads = fitted_leads(known_before)
    print(f"all tables choose the leads {leads}; onebit has {tuple(sorted(lead for _, lead in IMAGINED))}")
    for name, known in (("SPREAD_BEFORE", known_before), ("SPREAD_ON_THE_WAY", known_way)):
        spread = fitted(known, leads).spread
        print(f"all tables choose {name} = ({spread.low:.2f}, {spread.middle:.2f}, {spread.high:.2f})")


def report_panel() -> None:
    """A panel's forecast, beside the mean of its runs."""
    path = data_file(TEXTS)
    if path is None:
        return
    columns = {"models": "answer_*", "verdicts": "right_*", "show": ("question",), "reference": "reference"}
    spec = SelectionSpec(**columns, equal="normalised", delta=DELTA)  # type: ignore[arg-type]
    texts = read_models(spec, path)
    table = Table(texts.predictions, texts.n_labels)
    for planned in plan(texts, spec, TEXT_EPS):
        runs = [Setting(planned.eps, DELTA, "panel", seed=seed) for seed in range(N_PANELS)]
        rater = VerdictRater(texts.predictions, np.asarray(texts.verdicts))
        took = mean(rehearse_once(table, setting, rater).n_answers for setting in runs)
        needed = planned.needed
        print(f"panel within {planned.eps:g}: {took:.0f}, forecast {needed.middle} ({needed.low} to {needed.high})")


if __name__ == "__main__":
    report(run_cases("forecast", cases(), measure, unprinted=("answers", "certified")))
    report_panel()
