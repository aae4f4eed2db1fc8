"""Rehearsals: the real learner on imagined truths."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.unit.study.kinds.votes import votes

from onebit.records import Setting
from onebit.study.constants import IMAGINED
from onebit.study.kinds.selection import rehearsal
from onebit.study.kinds.selection.imagining import Table
from onebit.study.kinds.selection.rehearsal import Course, n_outputs, rehearse

ONE_SHOT = Setting(0.05, 0.05, "one-shot")


def test_a_course_says_when_an_eps_was_certified() -> None:
    course = Course(answers=(10, 20, 30), certified=(1.0, 0.2, 0.1), n_answers=35)
    assert [course.answers_until(eps) for eps in (1.0, 0.3, 0.1, 0.01)] == [10, 20, 30, 35]
    assert not course.is_cut_before(0.01)
    cut = Course((10,), (0.5,), 15, is_cut=True)
    assert (cut.is_cut_before(0.5), cut.is_cut_before(0.4)) == (False, True)


def test_there_is_a_rehearsal_for_each_truth_and_the_seed_of_the_study_does_not_matter() -> None:
    seen: list[tuple[int, int]] = []
    table = Table(votes(), 5)
    first = rehearse(table, ONE_SHOT, progress=lambda done, whole: seen.append((done, whole)))
    assert seen == [(i + 1, len(IMAGINED)) for i in range(len(IMAGINED))]
    assert all(course.answers_until(0.05) < course.n_answers + 1 and not course.is_cut for course in first.courses)
    again = rehearse(table, Setting(0.05, 0.05, "one-shot", seed=77))
    assert again == first


def test_on_an_executor_they_are_the_same() -> None:
    seen: list[tuple[int, int]] = []
    with ThreadPoolExecutor(2) as executor:
        there = rehearse(
            Table(votes(), 5), ONE_SHOT, executor=executor, progress=lambda done, whole: seen.append((done, whole))
        )
    assert there == rehearse(Table(votes(), 5), ONE_SHOT)
    assert seen[-1] == (len(IMAGINED), len(IMAGINED))


def test_without_time_there_is_one_and_it_is_cut() -> None:
    found = rehearse(Table(votes(), 5), Setting(0.001, 0.05, "one-shot"), seconds=0.0)
    assert [course.is_cut for course in found.courses] == [True]


def test_it_ends_when_it_is_stopped() -> None:
    found = rehearse(Table(votes(), 5), Setting(0.001, 0.05, "one-shot"), is_stopped=lambda: True)
    assert [course.is_cut for course in found.courses] == [True]


def test_what_has_no_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "MOST_REHEARSED", 20)
    found = rehearse(Table(votes(), 5), ONE_SHOT)
    assert all(course.is_cut_before(0.05) for course in found.courses)
    assert len(found.courses) == len(IMAGINED)


def test_a_pool_has_no_more_answers_than_outputs_in_question() -> None:
    said = np.array([[0, 0, 1, -1], [0, 1, 1, 2], [0, 2, 1, 2]])
    assert n_outputs(said).tolist() == [1, 3, 1, 1]
    # Models differ on the second and on the last item, where one abstains.
    assert rehearse(Table(said, 3), ONE_SHOT).most == 4
    assert rehearse(Table(said, 3), Setting(0.05, 0.05, "labels")).most == 4
    assert rehearse(Table(said, 3), Setting(0.05, 0.05, "one-shot", budget=3)).most == 3
    assert rehearse(Table(votes(), 5), Setting(0.05, 0.05, "one-shot", population="stream")).most is None
