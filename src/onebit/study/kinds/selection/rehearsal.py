"""Rehearsals of a selection: the real learner, with raters who answer by imagined truths."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from onebit.raters import Rater
from onebit.records import Setting
from onebit.study.constants import AT_A_TIME, MOST_REHEARSED, PLAN_SEED
from onebit.study.kinds.selection.imagining import Answered, Table, imagined_rater_number, n_imagined
from onebit.study.kinds.selection.selectors import build_selection

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Course:
    """One rehearsal: after ``answers[k]`` answers ``certified[k]`` was certified, each for every epoch that closed.

    ``n_answers`` are all that were given. ``is_cut``: it was given up then, before its end.
    """

    answers: tuple[int, ...]
    certified: tuple[float, ...]
    n_answers: int
    is_cut: bool = False

    def answers_until(self, eps: float) -> int:
        """The answers until ``eps`` was certified; where it never was, those until the end."""
        for answers, certified in zip(self.answers, self.certified, strict=True):
            if certified <= eps:
                return answers
        return self.n_answers

    def is_cut_before(self, eps: float) -> bool:
        """Whether it was given up before ``eps`` was certified, so that more is needed than was given."""
        return self.is_cut and not any(certified <= eps for certified in self.certified)


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The rehearsals of a selection; it takes ``most`` answers at most, after which all is known or the budget used."""

    courses: tuple[Course, ...]
    most: int | None = None


def rehearse(
    table: Table,
    setting: Setting,
    *,
    answered: Answered | None = None,
    seconds: float | None = None,
    is_stopped: Callable[[], bool] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Rehearsal:
    """Run the selection to its end once for each imagined truth.

    The learner is that of the ``setting``, with its error rates, its protocol and its budget, and with the judge of the
    table. A run to a small eps passes the larger ones, so one rehearsal serves them all. Truths keep to what was
    ``answered``. In all they may take so many ``seconds``, and end when it ``is_stopped``: then there are fewer of
    them, and the only one may be cut. The same table and setting give the same rehearsals, whatever the seed of the
    study is. On an ``executor`` each is a task, and goes to its end: there is no limit of time.
    """
    setting = replace(setting, seed=PLAN_SEED)
    most = _most(table.predictions, setting)
    if executor is not None:
        # Imported here: whoever waits for a first question need not wait for what reads shards.
        from onebit.passes.engine import run_pass

        task = partial(_course, table=table, setting=setting, answered=answered)
        numbers = range(n_imagined(setting))
        return Rehearsal(tuple(run_pass(task, numbers, executor, progress=progress, called="rehearsal")), most)
    end = math.inf if seconds is None else time.monotonic() + seconds

    def is_over() -> bool:
        return time.monotonic() > end or (is_stopped is not None and is_stopped())

    courses: list[Course] = []
    for number in range(n_imagined(setting)):
        course = _course(number, table, setting, answered, is_over)
        if course.is_cut and courses and is_over():
            break
        courses.append(course)
        if progress is not None:
            progress(len(courses), n_imagined(setting))
    return Rehearsal(tuple(courses), most)


def _course(
    number: int, table: Table, setting: Setting, answered: Answered | None, is_over: Callable[[], bool] = lambda: False
) -> Course:
    """The rehearsal with this number."""
    rater = imagined_rater_number(number, table, setting, answered)
    return rehearse_once(table, replace(setting, seed=PLAN_SEED + number), rater, is_over)


def _most(predictions: NDArray[np.integer], setting: Setting) -> int | None:
    """The answers that can be asked for: on a pool, about each different output of the items on which models differ."""
    most = setting.budget
    if setting.population == "pool":
        n_each = n_outputs(predictions)
        is_contested = (predictions != predictions[0]).any(axis=0)
        n_all = n_each.size if setting.protocol == "labels" else int(n_each[is_contested].sum())
        most = n_all if most is None else min(most, n_all)
    return most


def n_outputs(predictions: NDArray[np.integer]) -> NDArray[np.int64]:
    """How many different outputs each item has, (n,); abstentions are none."""
    ordered = np.sort(predictions, axis=0)
    is_new = np.ones(ordered.shape, dtype=np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    n_each: NDArray[np.int64] = (is_new & (ordered >= 0)).sum(axis=0)
    return n_each


def rehearse_once(table: Table, setting: Setting, rater: Rater, is_over: Callable[[], bool] = lambda: False) -> Course:
    """One run to its end, or until it ``is_over``."""
    selection = build_selection(setting, "certified", table.predictions, table.n_labels, table.judge)
    learner, n_answers, is_cut = selection.learner, 0, False
    while not is_cut and isinstance(questions := learner.ask(AT_A_TIME), tuple):
        for question in questions:
            learner.tell(question.id, rater(replace(question, item=selection.row(question.item))))
        n_answers += len(questions)
        is_cut = n_answers >= MOST_REHEARSED or is_over()
    closings = learner.closings
    # Tiers end with the last pair, and not with what is certified of the best model.
    is_open = [setting.tiers and len(each.survivors) > 0 for each in closings]
    answers = (each.n_answers for each in closings)
    certified = (1.0 if more else each.certified_eps for each, more in zip(closings, is_open, strict=True))
    return Course(tuple(answers), tuple(certified), n_answers, is_cut)
