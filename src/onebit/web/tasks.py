"""What is done with a table from outside, each in a process of its own (``workroom``); what is given back is JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from onebit.records import SequelSpec, WatchSpec
from onebit.store.store import Store
from onebit.study import creation
from onebit.study.constants import PATIENCE
from onebit.study.foresight import foresee
from onebit.study.kinds.selection.sequel import begin_sequel
from onebit.study.kinds.watch.chain import Watch, watched_name
from onebit.study.opening import read_whole
from onebit.study.view import View
from onebit.tables.long import usual
from onebit.tables.opening import is_npz, open_source
from onebit.web.chosen import about_table, file_of, read_choice, read_next
from onebit.web.folders import Folders


def columns(storage: str, folders: Folders, body: dict[str, Any]) -> dict[str, Any]:
    """The columns of a table, and what is known of them; an NPZ has none."""
    file = file_of(folders, body)
    with about_table(file, "path" if "path" in body else "upload"):
        source = None if is_npz(file) else open_source(file)
    if source is None:
        return {"columns": [], "of_no_model": [], "long": None, "notes": []}
    names = source.columns.names
    return {
        "columns": list(names),
        "of_no_model": [name for name in names if name in source.of_no_model],
        "long": None if source.free else usual(names),
        "notes": list(source.notes),
    }


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
        "notes": list(getattr(chosen.table, "notes", ())),
    }


def look_ahead(storage: str, folders: Folders, body: dict[str, Any]) -> Any:
    """What the forecasts of a study rest on; its log is not replayed for that."""
    with Store(storage) as store:
        _, kind = read_whole(store, store.entry(body["study"]))
    return kind.look_ahead(PATIENCE)


def prices(storage: str, folders: Folders, body: dict[str, Any]) -> list[dict[str, Any]]:
    """What other ways to ask would have cost in a study that is over."""
    with Store(storage) as store:
        entry = store.entry(body["study"])
        log, kind = read_whole(store, entry)
    view = View(entry.created_at)
    view.take(log.events, log.head, log.written_at)
    return [asdict(price) for price in kind.forecast_prices(view)]


def create(storage: str, folders: Folders, body: dict[str, Any]) -> int:
    """Make a study; its number."""
    chosen = read_choice(folders, body)
    with Store(storage) as store:
        return creation.create(store, body["name"], chosen.spec, chosen.table).id


def sequel(storage: str, folders: Folders, body: dict[str, Any]) -> dict[str, Any]:
    """Make a study that goes on from another; and the number of that."""
    spec, table = read_next(folders, body, SequelSpec)
    with Store(storage) as store:
        made = begin_sequel(store, body["study"], body["name"], spec, table)
        return {"study": made.id, "name": made.name, "before": store.entry(body["study"]).id}


def watch(storage: str, folders: Folders, body: dict[str, Any]) -> dict[str, Any]:
    """Make the next batch of the watch of a study; and the number of the batch before, or of the study."""
    spec, table = read_next(folders, body, WatchSpec)
    with Store(storage) as store:
        watched = Watch(store, watched_name(store, body["study"]))
        before = [batch.entry.id for batch in watched.batches()]
        made = watched.begin(spec, table, simulated=False)
        return {"study": made.id, "name": made.name, "before": before[-1] if before else watched.study_id}
