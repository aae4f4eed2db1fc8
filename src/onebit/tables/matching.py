"""From the samples of several logs to one table: a row for each item that every model was given, a column for each.

Items are the same if their ids and their inputs are. What is left out, or counted otherwise than it looks, is told.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import pyarrow as pa

from onebit.errors import InvalidInputError
from onebit.tables.columns import Columns, listed
from onebit.tables.formats import Progress
from onebit.tables.samples import Log, Sample
from onebit.tables.source import Source

#: The columns of a table from logs, besides those of the models and their scores.
ID, INPUT, TARGET, SCORE = "id", "input", "target", "score_"
#: An item: its id, the digest of its input, and which time it is asked.
Key = tuple[str, str, int]


def matched(logs: Sequence[Log]) -> Source:
    """One table from all samples; InvalidInputError if no item was given to every model."""
    names, notes = _candidates(logs)
    said = _by_item(logs, names)
    models = tuple(dict.fromkeys(names.values()))
    if len(models) < 2:
        raise InvalidInputError(
            f"{_files(logs)}: all samples are of one model, {models[0]!r}, and two are needed; give the logs of the "
            "others too"
        )
    kept = [key for key, by_model in said.items() if len(by_model) == len(models)]
    if not kept:
        raise InvalidInputError(f"{_files(logs)}: {_why_nothing_in_common(said, models)}")
    notes += _left_out(said, kept, models)
    rows = [[said[key][model] for model in models] for key in kept]
    notes += _faults(rows, models)
    table = _table(_ids(kept), rows, models)
    return Source(
        columns=_columns(_files(logs), table),
        id=ID,
        show=(INPUT,),
        target=TARGET if TARGET in table.schema.names else None,
        scores={model: SCORE + model for model in models if SCORE + model in table.schema.names},
        notes=(*(note for log in logs for note in log.notes), *notes),
        free=True,
    )


def _candidates(logs: Sequence[Log]) -> tuple[dict[tuple[str, str], str], list[str]]:
    """The name of every model and setup; and which ones share a model."""
    where: dict[tuple[str, str], str] = {}
    for log in logs:
        for sample in log.samples:
            where.setdefault((sample.model, sample.setup), log.where)
    setups = Counter(model for model, _ in where)
    names, notes, number = {}, [], Counter[str]()
    for (model, setup), file in where.items():
        number[model] += 1
        # A column of another use has that name already.
        clear = f"{model} (model)" if model in (ID, INPUT, TARGET) else model
        names[model, setup] = clear if setups[model] == 1 else f"{clear} ({number[model]})"
        if setups[model] > 1:
            notes.append(f"{names[model, setup]} is {model} as it was run in {file}")
    return names, notes


def _by_item(logs: Sequence[Log], names: dict[tuple[str, str], str]) -> dict[Key, dict[str, Sample]]:
    """What each model said about each item, in the order of the logs; what it said again is another item."""
    times: Counter[tuple[str, str, str]] = Counter()
    said: dict[Key, dict[str, Sample]] = defaultdict(dict)
    for sample in sorted((each for log in logs for each in log.samples), key=lambda sample: sample.epoch):
        model = names[sample.model, sample.setup]
        digest = hashlib.sha256(sample.input.encode("utf-8", "surrogatepass")).hexdigest()
        times[model, sample.id, digest] += 1
        said[sample.id, digest, times[model, sample.id, digest]][model] = sample
    return said


def _why_nothing_in_common(said: dict[Key, dict[str, Sample]], models: Sequence[str]) -> str:
    ids = [{id for (id, _, _), by_model in said.items() if model in by_model} for model in models]
    if set.intersection(*ids):
        some = sorted(set.intersection(*ids))[0]
        return (
            f"no item was given to all {len(models)} models: some ids are the same, as {some!r}, but not their inputs. "
            "Give logs of one task, with the same prompts"
        )
    return f"no item was given to all {len(models)} models: their ids differ. Give logs of one task"


def _left_out(said: dict[Key, dict[str, Sample]], kept: list[Key], models: Sequence[str]) -> list[str]:
    missing = {model: sum(model not in by_model for by_model in said.values()) for model in models}
    notes = []
    if any(missing.values()):
        lacks = ", ".join(f"{model!r} lacks {n:,}" for model, n in missing.items() if n)
        notes.append(f"items that were not given to every model are left out: {len(said) - len(kept):,} ({lacks})")
    if again := sum(time > 1 for _, _, time in kept):
        notes.append(f"repeats (epochs) of an item count as items of their own: {again:,}")
    return notes


def _faults(rows: list[list[Sample]], models: Sequence[str]) -> list[str]:
    failed = {model: sum(row[h].output is None for row in rows) for h, model in enumerate(models)}
    counts = ", ".join(f"{model!r} {n:,}" for model, n in failed.items() if n)
    notes = [f"outputs that are missing count as not right: {counts}"] if counts else []
    if differ := sum(len({each.target for each in row if each.target}) > 1 for row in rows):
        notes.append(f"of targets that differ between samples of an item the first is used: {differ:,}")
    return notes


def _ids(kept: list[Key]) -> list[str]:
    """A name for each row that no other has."""
    inputs: dict[str, list[str]] = defaultdict(list)
    for id, digest, _ in kept:
        if digest not in inputs[id]:
            inputs[id].append(digest)
    repeated = {(id, digest) for id, digest, time in kept if time > 1}
    ids = []
    for id, digest, time in kept:
        name = id if len(inputs[id]) == 1 else f"{id} (input {inputs[id].index(digest) + 1})"
        ids.append(f"{name}, epoch {time}" if (id, digest) in repeated else name)
    return ids


def _table(ids: list[str], rows: list[list[Sample]], models: Sequence[str]) -> Any:
    """The rows as Arrow keeps them; a column that would be empty is left out."""
    columns: dict[str, Any] = {ID: _texts(ids)}
    columns[INPUT] = _texts([row[0].input for row in rows])
    targets = [next((each.target for each in row if each.target), None) for row in rows]
    if any(targets):
        columns[TARGET] = _texts(targets)
    for h, model in enumerate(models):
        columns[model] = _texts([row[h].output for row in rows])
    for h, model in enumerate(models):
        scores = [row[h].score for row in rows]
        if any(score is not None for score in scores):
            columns[SCORE + model] = pa.array(scores, pa.float64())
    return pa.table(columns)


def _texts(values: Sequence[str | None]) -> Any:
    """Texts as Arrow keeps them; half a pair of code units, as where an output was cut, becomes a question mark."""
    return pa.array(
        [None if each is None else each.encode("utf-8", "replace").decode() for each in values], pa.string()
    )


def _columns(where: str, table: Any) -> Columns:
    def batches(labels: Collection[str], progress: Progress) -> Iterator[Any]:
        done = 0
        for batch in table.to_batches():
            yield batch
            done += batch.num_rows
            progress(done, table.num_rows)

    return Columns(where, tuple(table.schema.names), batches, lambda row: f"item {table[ID][row].as_py()!r}")


def _files(logs: Sequence[Log]) -> str:
    return listed([log.where for log in logs], most=3).replace("'", "")
