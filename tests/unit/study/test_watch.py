"""A watch of a finished study: batches one after the other, in its store, each going on from the one before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.study.edits import relinked

import onebit
from onebit.errors import InvalidInputError, OptionError
from onebit.records import WatchSpec
from onebit.store.store import Store
from onebit.study.folder import StudyFolder
from onebit.study.kinds.selection.making import read_models
from onebit.study.kinds.watch.chain import Watch, verify_watch
from onebit.study.opening import load_study
from onebit.study.proof import verify_study
from onebit.study.study import Offer
from onebit.watched import Watched


def columns(n: int, seed: int, changed: bool = False) -> tuple[dict[str, list[str]], list[str]]:
    """What "old" and "new" say, and the truth; "old" is the better one until it has changed."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    right = {"old": 0.1 if changed else 0.9, "new": 0.6}
    said = {name: np.where(rng.random(n) < p, truth, (truth + 1) % 3) for name, p in right.items()}
    return {name: [f"L{label}" for label in each] for name, each in said.items()}, [f"L{label}" for label in truth]


@pytest.fixture
def chosen(tmp_path: Path) -> Path:
    """The folder of a selection that chose "old"."""
    table, truth = columns(400, 0)
    assert onebit.select(table, truth, eps=0.1, out=tmp_path / "run", quiet=True).chosen == "old"
    return tmp_path / "run"


def batch(folder: Path, seed: int, changed: bool = False, **options: Any) -> Watched:
    table, truth = columns(200, seed, changed)
    return onebit.watch(folder, table, truth, **options)


def storage(folder: Path) -> tuple[str, str]:
    place = StudyFolder(folder)
    return place.storage, place.name()


def test_an_alarm_comes_when_the_choice_has_changed_and_ends_the_watch(chosen: Path) -> None:
    found = [batch(chosen, seed, answers=40) for seed in (1, 2)]
    assert not any(each.alarm for each in found)
    assert repr(found[0]).startswith("quiet: no alarm about old (batch 1, 40 answers")
    for seed in range(3, 20):
        found.append(batch(chosen, seed, changed=True, answers=40))
        if found[-1].alarm:
            break
    assert found[-1].rivals == ("new",)
    assert repr(found[-1]).startswith("alarm: old is no longer within 0.1 of new (batch ")
    assert found[-1].evidence == {"new": 1.0}
    assert verify_watch(*storage(chosen)) == []
    with pytest.raises(InvalidInputError, match="the watch is over"):
        batch(chosen, 30)
    # The selection itself is as it was.
    assert verify_study(*storage(chosen)).ok


def test_what_is_left_open_in_a_batch_counts_for_the_choice(chosen: Path) -> None:
    url, name = storage(chosen)
    table, _ = columns(200, 1, changed=True)
    with Store(url) as store:
        entry = Watch(store, name).begin(WatchSpec(), read_models(WatchSpec(), table), simulated=False)
    with load_study(entry.name, storage=url) as study:
        first = study.ask("ann")
        assert isinstance(first, Offer)
        study.tell(first, True)
        status: Any = study.status()
        assert status.n_unanswered == 19
        head = study.head.digest
    other, _ = columns(200, 2)
    with Store(url) as store:
        Watch(store, name).begin(WatchSpec(), read_models(WatchSpec(), other), simulated=False)
    # What is answered later changes nothing for the batches after it.
    with load_study(entry.name, storage=url) as study:
        second = study.ask("ann")
        assert isinstance(second, Offer)
        study.tell(second, False)
        assert study.head.digest != head
    assert verify_watch(url, name) == []


@pytest.mark.parametrize(
    ("new", "found"),
    [
        ({"carried": [[50.0] * 10]}, "says that"),
        ({"after": "0" * 64}, "not the one before it"),
        ({"false_alarm_every": 2000.0}, "rate of false alarms"),
        ({"batch": 3}, "should be batch 2"),
        ({"eps": 0.2}, "is not about old within 0.1"),
    ],
)
def test_a_broken_link_is_found(chosen: Path, new: dict[str, Any], found: str) -> None:
    url, name = storage(chosen)
    for seed in (1, 2):
        table, _ = columns(200, seed)
        with Store(url) as store:
            Watch(store, name).begin(WatchSpec(), read_models(WatchSpec(), table), simulated=False)
    with Store(url) as store:
        _edit_first_event(store, store.entry(f"{name} watch 2").id, new)
    problems = verify_watch(url, name)
    assert found in "".join(problems[:1])


def _edit_first_event(store: Store, study_id: int, new: dict[str, Any]) -> None:
    """Change the setting of a log that has one event, and link it anew."""
    with store.writing() as connection:
        where = f"FROM events WHERE study_id = {study_id}"
        (row,) = connection.exec_driver_sql(f"SELECT event {where}").all()
        event = json.loads(row.event)
        event["setting"] |= new
        update = f"UPDATE events SET event = ? WHERE study_id = {study_id}"
        connection.exec_driver_sql(update, (json.dumps(relinked([event])[0]),))


def test_what_cannot_be_watched_is_refused(chosen: Path, tmp_path: Path) -> None:
    table, truth = columns(400, 0)
    with pytest.raises(InvalidInputError, match="asked about before"):
        onebit.watch(chosen, table, truth)
    with pytest.raises(OptionError, match="no model of the table"):
        onebit.watch(chosen, {"new": table["new"], "newer": table["old"]}, truth)
    with pytest.raises(OptionError, match="takes over the choice and eps"):
        onebit.watch(chosen, table, truth, eps=0.3)
    batch(chosen, 1, false_alarm_every=200)
    with pytest.raises(OptionError, match="the first batch fixed 200"):
        batch(chosen, 2, false_alarm_every=100)
    more, right = columns(200, 3)
    with pytest.raises(OptionError, match="the rival 'new' is watched"):
        onebit.watch(chosen, {"old": more["old"], "other": more["new"]}, right)
    aims: dict[str, dict[str, Any]] = {"tiers": {"eps": 0.2, "tiers": True}, "spent": {"budget": 5}}
    for name, aim in aims.items():
        onebit.select(table, truth, **aim, out=tmp_path / name, quiet=True)
        with pytest.raises(InvalidInputError, match="did not look for one model within an eps"):
            onebit.watch(tmp_path / name, more, right)
    onebit.select(table, truth, eps=0.01, budget=5, out=tmp_path / "stopped", quiet=True)
    with pytest.raises(InvalidInputError, match="not certified yet"):
        onebit.watch(tmp_path / "stopped", more, right)
