"""Which format a file has, by what is in it: a name can be wrong, and tools name their files as they like."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from onebit.tables.streams import opened

#: Bytes that tell binary formats apart.
HEAD = 8
#: Formats by how their files begin. An Arrow stream begins with a mark that its first message goes on.
BEGINNINGS = {b"PAR1": "Parquet", b"ARROW1": "Arrow", b"\xff\xff\xff\xff": "Arrow"}
ZIP = b"PK\x03\x04"
#: Formats that are zips, by the end of a name that is in them.
IN_ZIPS = {".npy": "NPZ", "xl/workbook.xml": "Excel", "header.json": "Inspect", "_journal/start.json": "Inspect"}
#: Logs by keys of their one object, of the first of an array, or of that on the first line.
DOCUMENTS = {"Inspect": {"eval", "status"}, "promptfoo": {"results", "evalId"}}
ARRAYS = {"Label Studio": {"data", "predictions"}}
LINES = {
    "lm-evaluation-harness": {"doc_id", "resps", "arguments"},
    "Every Eval Ever": {"schema_version", "sample_id", "model_id"},
}


def sniffed(path: Path) -> str:
    """The name of the format; "CSV" for any text that is nothing else, and empty for a zip that holds none of them."""
    with opened(path) as file:
        head = file.read(HEAD)
        for beginning, name in BEGINNINGS.items():
            if head.startswith(beginning):
                return name
        if head.startswith(ZIP):
            return _in_zip(path)
        file.seek(0)
        first = file.readline()
        while first.isspace() and (line := file.readline()):
            first = line
        begins = first.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        found = parsed(first) if begins in (b"{", b"[") else None
        if isinstance(found, dict):
            return _with_keys(LINES | DOCUMENTS, found, "JSONL")
        if begins not in (b"{", b"["):
            return "CSV"
        if found is None:
            found = parsed(first + file.read())
    if isinstance(found, list):
        return _with_keys(ARRAYS, found[0] if found else None, "JSON")
    return _with_keys(DOCUMENTS, found, "JSON")


def parsed(text: bytes) -> Any:
    """What a JSON text holds; None where it is none. NaN, which tools write though JSON has none, is taken as it is."""
    try:
        return json.loads(text)
    # Too many brackets within brackets are no ValueError.
    except (ValueError, RecursionError):
        return None


def _in_zip(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as file:
            names = file.namelist()
    except (zipfile.BadZipFile, NotImplementedError):
        return ""
    return next((name for end, name in IN_ZIPS.items() if any(each.endswith(end) for each in names)), "")


def _with_keys(formats: dict[str, set[str]], found: Any, otherwise: str) -> str:
    """The format whose keys an object has."""
    keys = found.keys() if isinstance(found, dict) else set()
    return next((name for name, needed in formats.items() if keys >= needed), otherwise)
