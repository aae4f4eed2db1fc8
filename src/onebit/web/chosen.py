"""What an owner chose for a new study: from a request to its spec and its table.

What cannot be is refused with the field that it belongs to, so that the page can say it there. A plan is refused for
the same reasons as a study, so that whoever saw a plan can start.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from onebit.errors import InvalidInputError, OptionError
from onebit.records import SelectionSpec, SequelSpec, StudySpec, TrainingSpec, WatchSpec, sequel_spec, watch_spec
from onebit.records.option import Option, options
from onebit.tables.formats import ENDINGS, column_names
from onebit.web.folders import Folders
from onebit.web.schema import Schema, at_field, text

if TYPE_CHECKING:
    from onebit.tables import ModelTable
    from onebit.tables.data import Data

_UPLOADED = re.compile(rf"[0-9a-f]{{32}}({'|'.join(map(re.escape, ENDINGS))})")
#: What the page makes.
KINDS: dict[str, type[SelectionSpec | TrainingSpec]] = {spec.kind: spec for spec in (SelectionSpec, TrainingSpec)}
#: Options that the page does not offer: for replay and comparison, and a folder, which has rules of its own here.
_NOT_HERE = {"seed", "learner", "media_root"}
#: Characters of a text, and entries of a list, that a request may have.
_MOST_TEXT = {"instructions": 20_000, "descriptions": 2000, "labels": 1000}
_MOST_ENTRIES = {"labels": 10_000}

SOURCE: dict[str, Schema] = {
    "upload": text(50, description="what the upload of a table gave"),
    "path": text(1000, description="a table on the server, below the folder in which it was started"),
}


def _schema(name: str, option: Option, default: Any) -> Schema:
    """The JSON Schema of an option."""
    schema: Schema = {"type": option.form, "description": option.help}
    bounds = {
        "minimum": option.least,
        "maximum": option.most,
        "exclusiveMinimum": option.above,
        "exclusiveMaximum": option.below,
    }
    schema |= {key: bound for key, bound in bounds.items() if bound is not None and abs(bound) != float("inf")}
    words = text(_MOST_TEXT.get(name, 500), least=0 if name in ("instructions", "descriptions") else 1)
    if option.form == "string":
        schema |= words
    elif option.form == "array":
        schema |= {"items": words, "maxItems": _MOST_ENTRIES.get(name, 100)}
    elif option.form == "object":
        schema |= {"additionalProperties": words}
    return schema if default in (None, (), "") else schema | {"default": default}


def _choices() -> dict[str, Schema]:
    """Everything that can be chosen, for either kind."""
    choices: dict[str, Schema] = {
        "kind": text(20, enum=list(KINDS), default="selection", description="what the study is for"),
        **SOURCE,
        "media_folder": text(1000, description="the folder that media are below, itself below that of the server"),
    }
    for kind in KINDS.values():
        for name, option in options(kind).items():
            if name not in _NOT_HERE:
                choices.setdefault(name, _schema(name, option, getattr(kind, name)))
    # The kinds differ in it, and a selection has none unless it is chosen.
    choices["protocol"].pop("default")
    return choices


def _of_spec(kind: type[SelectionSpec], taken_over: tuple[str, ...]) -> dict[str, Schema]:
    """What can be chosen for a study that goes on from another, which has the options ``taken_over`` fixed."""
    left_out = _NOT_HERE | {*taken_over, "protocol", "verdicts"}
    own = {
        name: _schema(name, option, getattr(kind, name))
        for name, option in options(kind).items()
        if name not in left_out
    }
    return {**SOURCE, "media_folder": CHOICES["media_folder"], **own}


CHOICES = _choices()
#: For a study that goes on from another, and for a batch of a watch.
SEQUEL, WATCH = _of_spec(SequelSpec, sequel_spec.NOT_HERE), _of_spec(WatchSpec, watch_spec.NOT_HERE)
Next = TypeVar("Next", SequelSpec, WatchSpec)


@dataclass(frozen=True)
class Chosen:
    """A study as it was chosen, and the labels that it asks about."""

    spec: SelectionSpec | TrainingSpec
    table: ModelTable | Data
    labels: tuple[str, ...]


def read_choice(folders: Folders, body: Mapping[str, Any]) -> Chosen:
    """Everything that was chosen, the table read; OptionError where something cannot be."""
    table, spec = _read(folders, body, _spec(folders, body))
    return Chosen(spec, table, spec.labels or table.labels)


def read_next(folders: Folders, body: Mapping[str, Any], kind: type[Next]) -> tuple[Next, ModelTable]:
    """What was chosen for a study that goes on from another, the table read."""
    table, spec = _read(folders, body, kind(**_given(kind, body), media_root=_media_root(folders, body)))
    return spec, table


def _read(folders: Folders, body: Mapping[str, Any], spec: StudySpec) -> Any:
    """The table, and the spec with what was found in it."""
    # Imported here: it brings in what reads tables, and the first page should not wait for it.
    from onebit.study.about import described
    from onebit.study.kinds import making

    file, source = file_of(folders, body), "path" if "path" in body else "upload"
    with about_table(file, source):
        names = list(column_names(file))
    _check_columns(names, body)
    with about_table(file, source):
        table, spec = making(spec.kind).read(spec, file)
    described(spec.labels or table.labels, spec.descriptions or {})
    return table, spec


def file_of(folders: Folders, body: Mapping[str, Any]) -> Path:
    """The table that is meant: an upload, or a path on the server."""
    upload, path = body.get("upload"), body.get("path")
    if (upload is None) == (path is None):
        raise OptionError("upload", "give either an upload or a path on the server")
    if path is not None:
        with at_field("path"):
            return folders.below_folder(path)
    if not _UPLOADED.fullmatch(str(upload)) or not (folders.uploads / str(upload)).is_file():
        raise OptionError("upload", f"there is no upload {upload!r}; upload the table again")
    return folders.uploads / str(upload)


def _spec(folders: Folders, body: Mapping[str, Any]) -> SelectionSpec | TrainingSpec:
    called = body.get("kind", "selection")
    kind = KINDS[called]
    known = options(kind)
    for name in body:
        if name in CHOICES and name not in (*known, *SOURCE, "kind", "media_folder"):
            raise OptionError(name, f"{name} is given, and a study of kind {called} has none; leave it out")
    if kind is SelectionSpec and "protocol" not in body:
        raise OptionError("protocol", "say how to ask: each way assumes something else, so none is chosen for you")
    return kind(**_given(kind, body), media_root=_media_root(folders, body))


def _given(kind: type[StudySpec], body: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a kind that were given."""
    # JSON has one kind of number, and 2.0 is a whole one.
    return {
        name: int(body[name]) if option.form == "integer" else body[name]
        for name, option in options(kind).items()
        if name in body
    }


def _media_root(folders: Folders, body: Mapping[str, Any]) -> str | None:
    if "media" not in body or ("media_hosts" in body and "media_folder" not in body):
        return None
    with at_field("media_folder"):
        folder = folders.below_folder(body.get("media_folder", "."))
    # Unlike Path.is_dir, it takes a name that is too long for one that is not there.
    if not os.path.isdir(folder):
        raise OptionError("media_folder", f"there is no folder {body['media_folder'][:200]!r} on the server")
    return str(folder)


@contextmanager
def about_table(file: Path, source: str) -> Iterator[None]:
    """What is refused in here is about the table, unless it says otherwise; nobody knows the name of an upload."""
    try:
        yield
    except OptionError:
        raise
    except InvalidInputError as error:
        told = str(error)
        if source == "upload":
            told = told.replace(str(file), "the table").replace(file.name, "the table")
        raise OptionError(source, told) from None


def _check_columns(names: list[str], body: Mapping[str, Any]) -> None:
    """Every column that is named is there."""
    named = ("id", "truth", "reference", "media", "gold", "model", "output")
    roles = [(role, body[role]) for role in named if role in body]
    roles += [(role, name) for role in ("show", "text") for name in body.get(role, ())]
    # A file of scores is for the command line: here a path is a table's or a folder's, and has its own rules.
    roles += [("judge", body["judge"])] if "*" not in body.get("judge", "*") else []
    for role, name in roles:
        if names and name not in names:
            from onebit.tables.columns import listed

            raise OptionError(role, f"there is no column {name!r}; there are {listed(names)}")
