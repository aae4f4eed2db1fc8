"""What a study found, as files: the verified labels and the whole log, as tables or as a tool reads them."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from onebit.errors import InvalidInputError
from onebit.log.chain import AFTER, Chain, Unchain
from onebit.log.codec import to_json
from onebit.log.events import Asked, Checked, Event
from onebit.store.rows import read_log
from onebit.store.store import Entry, Store
from onebit.study.about import about_from_json
from onebit.study.items import Items, read_predictions
from onebit.study.kinds.selection.selectors import table_rows
from onebit.study.tool_files import write_for_tool
from onebit.study.verdicts import GivenVerdict, Raters, created_of, given_verdicts
from onebit.tables.cells import no_formula

What = Literal["labels", "log"]
Row = dict[str, Any]
FORMATS = (".csv", ".jsonl", ".parquet")
LABEL_COLUMNS = ("item", "row", "label", "answer", "rater", "answered_at", "provenance")
#: The columns of the log; what only some events have is in ``details``, as JSON.
LOG_COLUMNS = ("seq", "written_at", "event", "id", "item", "label", "propensity", "epoch", "answer", "rater", "late")


def export_study(
    storage: str,
    name: str,
    path: str | Path,
    what: What = "labels",
    anonymous: bool = False,
    suffix: str | None = None,
) -> int:
    """Write a study's labels or log to a new file; how many rows it has.

    *Labels*: one row for each question that has an answer. *Log*: one row for each event; in JSONL the events
    themselves, with their chain. ``anonymous`` replaces raters by numbers and leaves out tokens, and with them the
    chain, which is of what was left out too. In CSV, texts that a spreadsheet would run as formulas are given an
    apostrophe. ``suffix`` is the format, where the file's name does not say it.
    """
    file = Path(path)
    kind = suffix or file.suffix.lower()
    if kind not in FORMATS:
        raise InvalidInputError(f"{file} ends in {file.suffix or 'nothing'!r}; exports end in {', '.join(FORMATS)}")
    _check_is_new(file)
    with Store(storage) as store:
        entry = store.entry(name)
        log, raters, about = _log(store, entry), Raters(anonymous), about_from_json(entry.about)
        items = Items(store, entry.id, about)
        if what == "labels":
            return _write(file, kind, map(_label, given_verdicts(log, items, raters)), LABEL_COLUMNS)
        if kind == ".jsonl":
            return _write(file, kind, _linked(log, raters), ())
        lines = _Lines([event for *_, event in log], items, raters)
        return _write(file, kind, (lines.of_log(*each) for each in log), (*LOG_COLUMNS, "details"))


def export_for_tool(storage: str, name: str, path: str | Path, tool: str, anonymous: bool = False) -> int:
    """Write the verdicts of a selection as a tool reads them (``tool_files.py``); how many there are.

    Inspect has a log for each model, in a new folder; for the others it is a new file.
    """
    place = Path(path)
    _check_is_new(place)
    with Store(storage) as store:
        entry = store.entry(name)
        log, about = _log(store, entry), about_from_json(entry.about)
        created = created_of([event for *_, event in log])
        if not about.models:
            raise InvalidInputError(
                f"the study {name!r} trains a classifier, and {tool} takes verdicts about outputs of models; export "
                "its labels as .csv, .jsonl or .parquet"
            )
        predictions = read_predictions(store, entry.id, created.table, about)
        items = Items(store, entry.id, about)
        verdicts = list(given_verdicts(log, items, Raters(anonymous), about.models, predictions))
    if not verdicts:
        raise InvalidInputError(f"the study {name!r} has no answers yet, so there is nothing to export")
    try:
        write_for_tool(tool, place, name, verdicts)
    except OSError as error:
        raise InvalidInputError(f"{place} cannot be written: {error.strerror}") from error
    return len(verdicts)


def _check_is_new(path: Path) -> None:
    if path.exists():
        raise InvalidInputError(f"{path} is there already; give another name, or move it away")


def _log(store: Store, entry: Entry) -> list[tuple[int, str, Event]]:
    with store.reading() as connection:
        return list(read_log(connection, entry.id, Unchain()))


def _label(verdict: GivenVerdict) -> Row:
    return {
        "item": verdict.item,
        "row": verdict.row,
        "label": verdict.output,
        "answer": verdict.answer.value,
        "rater": verdict.rater,
        "answered_at": verdict.answered_at,
        "provenance": verdict.provenance,
    }


def _linked(log: Iterable[tuple[int, str, Event]], raters: Raters) -> Iterator[Row]:
    """The events themselves. Without ``seq`` and ``written_at`` a line is what the next one has the digest of."""
    chain = Chain()
    for seq, written_at, event in log:
        after = {} if raters.anonymous else {AFTER: chain.head.digest}
        yield {"seq": seq, "written_at": written_at, **raters.in_json(to_json(event)), **after}
        chain.link(event)


class _Lines:
    """Events in words: names of items and labels instead of numbers."""

    def __init__(self, events: list[Event], items: Items, raters: Raters) -> None:
        created = created_of(events)
        self._items, self._raters = items, raters
        self._table_row = table_rows(created.setting, created.table.n_items)

    def of_log(self, seq: int, written_at: str, event: Event) -> Row:
        data = self._raters.in_json(to_json(event))
        if isinstance(event, Asked | Checked):
            row = int(self._table_row[event.question.item]) if isinstance(event, Asked) else event.item
            label = event.question.label if isinstance(event, Asked) else event.label
            data |= {"item": self._items[row].id, "label": None if label is None else self._items.label(label).name}
        if isinstance(data.get("answer"), int):
            data["answer"] = self._items.label(data["answer"]).name
        data |= {"seq": seq, "written_at": written_at}
        line = {column: data.pop(column, None) for column in LOG_COLUMNS}
        return line | {"details": json.dumps(data) if data else None}


def _write(path: Path, kind: str, rows: Iterable[Row], columns: tuple[str, ...]) -> int:
    """Write a file whole, or not at all."""
    part = path.with_name(f"{path.name}.part")
    writers: dict[str, Callable[[Path, Iterable[Row], tuple[str, ...]], int]] = {
        ".csv": _write_csv,
        ".jsonl": _write_jsonl,
        ".parquet": _write_parquet,
    }
    try:
        n = writers[kind](part, rows, columns)
        os.replace(part, path)
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)
    return n


def _write_csv(path: Path, rows: Iterable[Row], columns: tuple[str, ...]) -> int:
    n = 0
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in rows:
            writer.writerow([no_formula(row[column]) for column in columns])
            n += 1
    return n


def _write_jsonl(path: Path, rows: Iterable[Row], columns: tuple[str, ...]) -> int:
    n = 0
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            n += 1
    return n


def _write_parquet(path: Path, rows: Iterable[Row], columns: tuple[str, ...]) -> int:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    kept = list(rows)
    whole = {"seq": pa.int64(), "id": pa.int64(), "row": pa.int64(), "epoch": pa.int64()}
    other = {"propensity": pa.float64(), "late": pa.bool_()}
    schema = pa.schema([(column, {**whole, **other}.get(column, pa.string())) for column in columns])
    parquet.write_table(pa.Table.from_pylist(kept, schema=schema), path)
    return len(kept)
