"""What is done with a table from outside, each in a process of its own (``workroom``); what is given back is JSON."""

from __future__ import annotations

from typing import Any

from onebit.store.store import Store
from onebit.study import creation
from onebit.study.constants import PATIENCE
from onebit.study.foresight import foresee
from onebit.study.opening import open_its_kind
from onebit.tables.formats import columns_of
from onebit.web.chosen import about_table, file_of, read_choice
from onebit.web.folders import Folders


def columns(storage: str, folders: Folders, body: dict[str, Any]) -> dict[str, list[str]]:
    """The columns of a table, and those that are no model's."""
    file = file_of(folders, body)
    with about_table(file, "path" if "path" in body else "upload"):
        names, of_no_model = columns_of(file)
    return {"columns": list(names), "of_no_model": list(of_no_model)}


def plan(storage: str, folders: Folders, body: dict[str, Any]) -> dict[str, Any]:
    """How many answers a study would take."""
    chosen = read_choice(folders, body)
    needed = foresee(chosen.spec, chosen.table, PATIENCE)
    answers, seconds = [needed.low, needed.middle, needed.high], chosen.spec.seconds_per_answer
    return {
        "models": getattr(chosen.table, "n_models", 0),
        "items": chosen.table.n_items,
        "labels": len(chosen.labels),
        "answers": answers,
        "hours": [n * seconds / 3600 for n in answers],
        "at_least": needed.at_least,
        "seconds_per_answer": seconds,
    }


def rehearse(storage: str, folders: Folders, body: dict[str, Any]) -> Any:
    """What the forecasts of a study rest on; its log is not replayed for that."""
    with Store(storage) as store:
        entry = store.entry(body["study"])
        kind = open_its_kind(store, entry, store.log(entry.id).events)
    return kind.rehearse(PATIENCE)


def create(storage: str, folders: Folders, body: dict[str, Any]) -> int:
    """Make a study; its number."""
    chosen = read_choice(folders, body)
    with Store(storage) as store:
        return creation.create(store, body["name"], chosen.spec, chosen.table).id
