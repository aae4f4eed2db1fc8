"""What an owner chose for a new study: from a request to the table, the setting and the checks of raters.

What cannot be is refused with the field that it belongs to, so that the page can say it there. A plan is refused for
the same reasons as a study, so that whoever saw a plan can start.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from onebit.errors import InvalidInputError
from onebit.records import Setting
from onebit.tables import ModelTable, read_table
from onebit.tables.formats import ENDINGS, column_names
from onebit.web.schema import FieldError, Schema, at_field, text, whole
from onebit.web.site import Site

#: Share of planted questions where gold is named and nothing else is said.
GOLD_SHARE = 0.05
#: What a plan is rehearsed with, so that the same choice gives the same plan.
PLAN_SEED = 0
_UPLOADED = re.compile(rf"[0-9a-f]{{32}}({'|'.join(map(re.escape, ENDINGS))})")

_FRACTION: Schema = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
_SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 0.5}
_RATE: Schema = {"type": "number", "minimum": 0, "exclusiveMaximum": 1, "default": 0}

SOURCE: dict[str, Schema] = {
    "upload": text(50, description="what the upload of a table gave"),
    "path": text(1000, description="a table on the server, below the folder in which it was started"),
}
ROLES: dict[str, Schema] = {
    "id": text(500, description="the column that names the items"),
    "truth": text(500, description="a column with right labels; it is left out"),
    "show": {"type": "array", "items": text(500), "maxItems": 100, "description": "columns that raters are shown"},
    "image": text(500, description="the column with paths of images"),
    "image_folder": text(1000, description="the folder that they are below, itself below that of the server"),
    "gold": text(
        500, description="a column with right labels where they are known, several with | between; plants questions"
    ),
    "labels": {
        "type": "array",
        "items": text(1000),
        "maxItems": 10_000,
        "description": "all labels, where some are predicted by no model",
    },
}
AIM: dict[str, Schema] = {
    "eps": {**_FRACTION, "default": 0.01},
    "delta": {**_FRACTION, "default": 0.05},
    "protocol": text(20, enum=["one-shot", "follow-up", "labels"], description="how to ask; it must be given"),
    "budget": whole(1, 10**9, description="maximum number of answers"),
    "exhaustive": {
        "type": "boolean",
        "default": False,
        "description": "the right label of every item is one of the labels; with follow-up",
    },
    "f_no": {
        **_RATE,
        "description": "how often the answer that counts (with overlap the majority's) is no to a right label, at most",
    },
    "f_yes": {**_RATE, "description": "how often it is yes to a wrong one, at most"},
}
FOR_RATERS: dict[str, Schema] = {
    "instructions": text(20_000, least=0),
    "descriptions": {
        "type": "object",
        "additionalProperties": text(2000, least=0),
        "description": "what labels mean, as raters are told",
    },
    "overlap": whole(1, 99, default=1, description="raters who answer each question; an odd number"),
    "gold_share": {**_SHARE, "default": GOLD_SHARE, "description": "share of planted questions, where gold is named"},
    "repeat_share": {**_SHARE, "default": 0, "description": "share of questions that a rater is asked again"},
}
CHOICES: dict[str, Schema] = {**SOURCE, **ROLES, **AIM, **FOR_RATERS}


@dataclass(frozen=True)
class Chosen:
    """A study as it was chosen. ``gold`` has known labels by row; ``image_root`` is a folder of the server."""

    table: ModelTable
    setting: Setting
    overlap: int
    gold: Mapping[int, tuple[int, ...]]
    gold_share: float
    repeat_share: float
    image: str | None
    image_root: str | None
    instructions: str
    descriptions: Mapping[str, str]

    @property
    def check_share(self) -> float:
        """The share of what raters are given that only checks them."""
        return self.gold_share + self.repeat_share


def read_choice(site: Site, body: Mapping[str, Any]) -> Chosen:
    """Everything that was chosen, the table read; FieldError where something cannot be."""
    setting = _setting(body)
    overlap = _overlap(body, setting)
    gold_share, repeat_share = _check_shares(body, setting)
    root = _image_root(site, body)
    table, gold = _table(site, body)
    descriptions = body.get("descriptions", {})
    for label in descriptions:
        if label not in table.labels:
            raise FieldError("descriptions", f"{label!r} is described, and is no label; {_some(table.labels)}")
    return Chosen(
        table=table,
        setting=setting,
        overlap=overlap,
        gold=gold,
        gold_share=gold_share,
        repeat_share=repeat_share,
        image=body.get("image"),
        image_root=root,
        instructions=body.get("instructions", ""),
        descriptions=descriptions,
    )


def file_of(site: Site, body: Mapping[str, Any]) -> Path:
    """The table that is meant: an upload, or a path on the server."""
    upload, path = body.get("upload"), body.get("path")
    if (upload is None) == (path is None):
        raise FieldError("upload", "give either an upload or a path on the server")
    if path is not None:
        with at_field("path"):
            return site.below_folder(path)
    if not _UPLOADED.fullmatch(str(upload)) or not (site.uploads / str(upload)).is_file():
        raise FieldError("upload", f"there is no upload {upload!r}; upload the table again")
    return site.uploads / str(upload)


def _setting(body: Mapping[str, Any]) -> Setting:
    if "protocol" not in body:
        raise FieldError("protocol", "say how to ask: each way assumes something else, so none is chosen for you")
    protocol: Any = body["protocol"]
    budget = body.get("budget")
    f_no, f_yes = float(body.get("f_no", 0)), float(body.get("f_yes", 0))
    errs = "f_no" if f_no > 0 else "f_yes"
    if f_no + f_yes >= 1:
        raise FieldError(
            errs, f"the rates are {f_no:g} and {f_yes:g}; together they must be below 1, or a yes says nothing"
        )
    if f_no + f_yes > 0 and protocol != "one-shot":
        raise FieldError(errs, "raters who err need one question per item; the other ways take every answer for right")
    exhaustive = bool(body.get("exhaustive", False))
    if exhaustive and protocol != "follow-up":
        raise FieldError("exhaustive", "it says that the last label need not be asked, which is for “until a yes” only")
    return Setting(
        eps=body.get("eps", 0.01),
        delta=body.get("delta", 0.05),
        protocol=protocol,
        budget=None if budget is None else int(budget),
        f_no=f_no,
        f_yes=f_yes,
        exhaustive=exhaustive,
        # Of the plan; the study itself draws its own.
        seed=PLAN_SEED,
    )


def _overlap(body: Mapping[str, Any], setting: Setting) -> int:
    overlap = int(body.get("overlap", 1))
    if overlap % 2 == 0:
        raise FieldError("overlap", f"{overlap} raters may be divided evenly; give an odd number")
    if overlap > 1 and setting.protocol == "labels":
        raise FieldError("overlap", "several raters are for yes/no questions; give 1, or ask yes or no")
    return overlap


def _check_shares(body: Mapping[str, Any], setting: Setting) -> tuple[float, float]:
    """The shares of planted and of repeated questions."""
    if "gold_share" in body and "gold" not in body:
        raise FieldError("gold_share", "planted questions need a column with right labels; name it as gold")
    gold = float(body.get("gold_share", GOLD_SHARE)) if "gold" in body else 0.0
    repeat = float(body.get("repeat_share", 0))
    field = "repeat_share" if repeat > 0 else "gold_share"
    if gold + repeat >= 1:
        raise FieldError(field, "planted and repeated questions leave no room for others; give smaller shares")
    if gold + repeat > 0 and setting.protocol == "labels":
        raise FieldError(field, "checks of raters are yes/no questions; leave them out, or ask yes or no")
    return gold, repeat


def _image_root(site: Site, body: Mapping[str, Any]) -> str | None:
    if "image" not in body:
        return None
    with at_field("image_folder"):
        folder = site.below_folder(body.get("image_folder", "."))
    # Unlike Path.is_dir, it takes a name that is too long for one that is not there.
    if not os.path.isdir(folder):
        raise FieldError("image_folder", f"there is no folder {body['image_folder'][:200]!r} on the server")
    return str(folder)


def _table(site: Site, body: Mapping[str, Any]) -> tuple[ModelTable, Mapping[int, tuple[int, ...]]]:
    # Imported here: it brings in what reads tables, and the first page should not wait for it.
    from onebit.study.gold import split_gold

    file, source = file_of(site, body), "path" if "path" in body else "upload"
    with about_table(file, source):
        names = column_names(file)
    _check_roles(names, body)
    # Right labels are read as texts, since not all need be there, and are then taken out; an image is shown as such.
    hidden = [body[role] for role in ("truth", "gold") if role in body]
    show = dict.fromkeys([*body.get("show", ()), *([body["image"]] if "image" in body else ()), *hidden])
    with about_table(file, source):
        table = read_table(file, id=body.get("id"), show=tuple(show), labels=body.get("labels"))
    with at_field("gold"):
        table, gold = split_gold(table, body.get("gold"), table.labels)
    return replace(table, _show={name: texts for name, texts in table._show.items() if name not in hidden}), gold


@contextmanager
def about_table(file: Path, source: str) -> Iterator[None]:
    """What is refused in here is about the table; an upload has a name that nobody knows."""
    try:
        yield
    except InvalidInputError as error:
        told = str(error)
        if source == "upload":
            told = told.replace(str(file), "the table").replace(file.name, "the table")
        raise FieldError(source, told) from None


def _check_roles(names: tuple[str, ...], body: Mapping[str, Any]) -> None:
    """Every column that is named is there, and those with right labels are not shown."""
    roles = [(role, body[role]) for role in ("id", "truth", "image", "gold") if role in body]
    roles += [("show", name) for name in body.get("show", ())]
    for role, name in roles:
        if names and name not in names:
            raise FieldError(role, f"there is no column {name!r}; {_some(names)}")
    used = Counter(name for _, name in roles)
    for role, name in roles:
        if role in ("truth", "gold") and used[name] > 1:
            raise FieldError(role, f"the column {name!r} has another use too; right labels must not be shown")


def _some(names: tuple[str, ...], most: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return f"there are {shown}" + (f" and {len(names) - most:,} more" if len(names) > most else "")
