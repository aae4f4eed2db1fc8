"""Small files that claim or become something huge: one clear error each, before the memory or the time is spent."""

from __future__ import annotations

import io
import json
import struct
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests import hostile_files

from onebit.errors import InvalidInputError
from onebit.model_file import load_model
from onebit.tables import limits, read_table
from onebit.tables.formats import column_names

#: Bytes that refusing a file may take.
LITTLE = 100 * 2**20


def npz(path: Path, **members: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)


def header(shape: str, kind: str) -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * ((64 - (10 + len(text) + 1) % 64) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def array(values: list[list[int]], kind: str) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array(values, dtype=kind))
    return stream.getvalue()


def zeros(path: Path, n_bytes: int) -> None:
    """An NPZ of so many bytes, packed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("preds.npy", "w") as member:
        member.write(header(f"(2, {n_bytes // 2})", "|i1"))
        for _ in range(n_bytes // 2**20):
            member.write(bytes(2**20))


def claims_rows(path: Path) -> None:
    """Parquet of 2,000 bytes with a million rows."""
    once = pa.table({"a": pa.array(np.zeros(500_000, dtype=np.int8)), "b": pa.array(np.ones(500_000, dtype=np.int8))})
    with pq.ParquetWriter(path, once.schema, compression="zstd") as writer:
        for _ in range(2):
            writer.write_table(once)


FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "claims.npz": (
        lambda path: npz(path, preds=header(f"(2, {10**13})", "|i1")),
        "says that it has 20,000,000,000,000",
    ),
    "claims2.npz": (lambda path: npz(path, preds=header(f"({2**40}, {2**40})", "<i8")), "says that it has"),
    "negative.npz": (lambda path: npz(path, preds=header("(-1, -5)", "|i1")), "cannot be read as NPZ"),
    "label.npz": (
        lambda path: npz(path, preds=array([[0, 1, 2, 10**9], [0, 1, 2, 3]], "<i8")),
        "there would be 1,000,000,001 labels",
    ),
    "label62.npz": (lambda path: npz(path, preds=array([[0, 2**62], [0, 1]], "<i8")), "there would be 4,611,"),
    "zeros.npz": (lambda path: zeros(path, 64 * 2**20), "unpacks to 67,"),
    "blanks.eval": (hostile_files.blanks(64 * 2**20), "unpacks to 67,"),
    "rows.parquet": (claims_rows, "has 1,000,000 rows, and at most 100,000"),
    "commas.csv": (lambda path: _write(path, b"," * (9 * 2**20)), "more than 8,388,608 bytes"),
    "line.csv": (lambda path: _write(path, b"a" * (9 * 2**20)), "more than 8,388,608 bytes"),
    "wide.csv": (lambda path: _write(path, b",".join(b"c%d" % i for i in range(3001)) + b"\n"), "3,001 columns"),
    "deep.jsonl": (
        lambda path: _write(path, b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n"),
        "holds no JSON array",
    ),
    "wide.jsonl": (
        lambda path: _write(path, json.dumps({f"c{i}": 1 for i in range(3001)}).encode() + b"\n"),
        "3,001 columns",
    ),
}


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


@pytest.fixture
def smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test can go beyond quickly."""
    monkeypatch.setattr(limits, "MOST_ROWS", 100_000)
    monkeypatch.setattr(limits, "MOST_COLUMNS", 3000)
    monkeypatch.setattr(limits, "MOST_UNPACKED", 32 * 2**20)


@pytest.mark.usefixtures("smaller")
@pytest.mark.parametrize("name", FILES)
def test_a_trap_is_one_clear_error_and_takes_little(name: str, tmp_path: Path) -> None:
    make, says = FILES[name]
    make(tmp_path / name)
    tracemalloc.start()
    began = time.monotonic()
    try:
        with pytest.raises(InvalidInputError, match=says):
            read_table(tmp_path / name)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < LITTLE
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("name", hostile_files.FILES)
def test_a_hostile_file_is_one_clear_error(name: str, tmp_path: Path) -> None:
    """The benchmark reads them all, and larger ones, at the limits that the server has."""
    hostile_files.FILES[name](tmp_path / name)
    with pytest.raises(InvalidInputError) as error:
        read_table(tmp_path / name)
    assert name in str(error.value)
    assert "\n" not in str(error.value)


def test_many_keys_of_jsonl_are_looked_up_and_not_searched(tmp_path: Path) -> None:
    line = json.dumps({f"k{i}": i % 2 for i in range(30_000)}).encode() + b"\n"
    _write(tmp_path / "keys.jsonl", line * 2)
    began = time.process_time()
    assert len(column_names(tmp_path / "keys.jsonl")) == 30_000
    read_table(tmp_path / "keys.jsonl")
    # It took 28 seconds when every key was searched for among all.
    assert time.process_time() - began < 10


def test_a_model_that_is_nested_deeply_or_huge_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nested = '{"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "__id__": 1, "content": ['
    schema = nested * 3000 + "]}" * 3000
    with zipfile.ZipFile(tmp_path / "deep.skops", "w") as archive:
        archive.writestr("schema.json", schema[:-1] + ', "protocol": 1, "_skops_version": "0.16"}')
    with pytest.raises(InvalidInputError, match="nested too deeply"):
        load_model(tmp_path / "deep.skops")
    monkeypatch.setattr("onebit.model_file.MOST_UNPACKED", 1000)
    with zipfile.ZipFile(tmp_path / "blanks.skops", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", " " * 2000)
    with pytest.raises(InvalidInputError, match="unpacks to 2,000 bytes"):
        load_model(tmp_path / "blanks.skops")
