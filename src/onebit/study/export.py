"""What a study found, as files: the verified labels, and the whole log; CSV, JSONL or Parquet."""

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
from onebit.log.events import Asked, Checked, Created, Event, LogError
from onebit.log.fold import fold
from onebit.records import Answer
from onebit.store.store import Store, read_log
from onebit.study.about import about_from_json
from onebit.study.items import Items
from onebit.study.kinds.selection.selectors import table_rows
from onebit.tables.cells import no_formula

What = Literal["labels", "log"]
Row = dict[str, Any]
FORMATS = (".csv", ".jsonl", ".parquet")
LABEL_COLUMNS = ("item", "row", "label", "answer", "rater")
#: The columns of the log; what only some events have is in ``details``, as JSON.
LOG_COLUMNS = ("seq", "written_at", "event", "id", "item", "label", "propensity", "epoch", "answer", "rater", "late")


def export_study(storage: str, name: str, path: str | Path, what: What = "labels", anonymous: bool = False) -> int:
    """Write a study's labels or log to a new file; how many rows it has.

    *Labels*: one row for each question that has an answer. *Log*: one row for each event; in JSONL the events
    themselves, with their chain. ``anonymous`` replaces raters by numbers and leaves out tokens, and with them the
    chain, which is of what was left out too. In CSV, texts that a spreadsheet would run as formulas are given an
    apostrophe.
    """
    file = Path(path)
    if file.suffix.lower() not in FORMATS:
        raise InvalidInputError(f"{file} ends in {file.suffix or 'nothing'!r}; exports end in {', '.join(FORMATS)}")
    if file.exists():
        raise InvalidInputError(f"{file} is there already; give another name, or move it away")
    with Store(storage) as store:
        entry = store.entry(name)
        with store.reading() as connection:
            log = list(read_log(connection, entry.id, Unchain()))
        hide = _Raters(anonymous)
        events = [event for *_, event in log]
        lines = _Lines(events, Items(store, entry.id, about_from_json(entry.about)), hide)
        if what == "labels":
            return _write(file, lines.labels(), LABEL_COLUMNS)
        if file.suffix.lower() == ".jsonl":
            return _write(file, _linked(log, hide), ())
        return _write(file, (lines.of_log(*each) for each in log), (*LOG_COLUMNS, "details"))


class _Raters:
    """Raters as they are, or numbered in the order in which they came."""

    def __init__(self, anonymous: bool) -> None:
        self.anonymous = anonymous
        self._numbers: dict[str, str] = {}

    def name(self, rater: str | None) -> str | None:
        if rater is None or not self.anonymous:
            return rater
        return self._numbers.setdefault(rater, f"rater {len(self._numbers) + 1}")

    def in_json(self, event: Row) -> Row:
        shown = {key: self.name(value) if key == "rater" else value for key, value in event.items()}
        return {key: value for key, value in shown.items() if key != "token" or not self.anonymous}


def _linked(log: Iterable[tuple[int, str, Event]], raters: _Raters) -> Iterator[Row]:
    """The events themselves. Without ``seq`` and ``written_at`` a line is what the next one has the digest of."""
    chain = Chain()
    for seq, written_at, event in log:
        after = {} if raters.anonymous else {AFTER: chain.head.digest}
        yield {"seq": seq, "written_at": written_at, **raters.in_json(to_json(event)), **after}
        chain.link(event)


class _Lines:
    """Events in words: names of items and labels instead of numbers."""

    def __init__(self, events: list[Event], items: Items, raters: _Raters) -> None:
        created = events[0]
        if not isinstance(created, Created):
            raise LogError("the log does not begin with the creation of the study; restore a backup")
        self._events, self._items, self._raters = events, items, raters
        self._table_row = table_rows(created.setting, created.table.n_items)

    def labels(self) -> Iterator[Row]:
        course = fold(self._events)
        for question, said in zip(course.questions, course.answers, strict=True):
            if said is None:
                continue
            row = int(self._table_row[question.item])
            # Asked for the label itself, a rater who gives one says yes to it.
            label = question.label if isinstance(said, Answer) else said
            answer = said if isinstance(said, Answer) else Answer.YES
            yield {
                "item": self._items[row].id,
                "row": row,
                "label": None if label is None else self._items.label(label),
                "answer": answer.value,
                "rater": self._raters.name(course.answered[question.id].rater),
            }

    def of_log(self, seq: int, written_at: str, event: Event) -> Row:
        data = self._raters.in_json(to_json(event))
        if isinstance(event, Asked | Checked):
            row = int(self._table_row[event.question.item]) if isinstance(event, Asked) else event.item
            label = event.question.label if isinstance(event, Asked) else event.label
            data |= {"item": self._items[row].id, "label": None if label is None else self._items.label(label)}
        if isinstance(data.get("answer"), int):
            data["answer"] = self._items.label(data["answer"])
        data |= {"seq": seq, "written_at": written_at}
        line = {column: data.pop(column, None) for column in LOG_COLUMNS}
        return line | {"details": json.dumps(data) if data else None}


def _write(path: Path, rows: Iterable[Row], columns: tuple[str, ...]) -> int:
    """Write a file whole, or not at all."""
    part = path.with_name(f"{path.name}.part")
    writers: dict[str, Callable[[Path, Iterable[Row], tuple[str, ...]], int]] = {
        ".csv": _write_csv,
        ".jsonl": _write_jsonl,
        ".parquet": _write_parquet,
    }
    try:
        n = writers[path.suffix.lower()](part, rows, columns)
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
