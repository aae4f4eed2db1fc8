"""Files that are traps: each must be one clear error, before the memory or the time is spent.

``FILES`` are quick to make. ``BOMBS`` are what they would be in earnest, at the real limits: the benchmark reads them.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

Maker = Callable[[Path], object]
GOOD = b"id,a,b\n1,x,y\n2,y,y\n3,x,x\n"
MB = 2**20


def write(content: bytes) -> Maker:
    return lambda path: path.write_bytes(content)


def zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def npy_header(shape: str, kind: str) -> bytes:
    text = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * ((64 - (10 + len(text) + 1) % 64) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def npy(values: object, kind: str) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array(values, dtype=kind), allow_pickle=kind == "O")
    return stream.getvalue()


def npz(**members: bytes) -> Maker:
    return write(zipped({f"{name}.npy": content for name, content in members.items()}))


def parquet(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


def arrow(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    with pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue()


def changed_arrow(table: pa.Table, numbers: tuple[int, ...], others: tuple[int, ...]) -> bytes:
    """An Arrow file in which a row of whole numbers, where texts begin or which value is meant, is another."""
    content, form = arrow(table), f"<{len(numbers)}i"
    assert struct.pack(form, *numbers) in content
    return content.replace(struct.pack(form, *numbers), struct.pack(form, *others))


#: A row of an Excel file.
ROW = b"<row><c><v>1</v></c><c><v>2</v></c></row>"


def xlsx(sheet: bytes, **others: bytes) -> bytes:
    """An Excel file with that sheet."""
    namespace = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    office = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = b"http://schemas.openxmlformats.org/package/2006"
    kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": b'<Types xmlns="' + package + b'/content-types">'
        b'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        b'<Override PartName="/xl/workbook.xml" ContentType="' + kind + b'.sheet.main+xml"/>'
        b'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="' + kind + b'.worksheet+xml"/></Types>',
        "_rels/.rels": b'<Relationships xmlns="'
        + package
        + b'/relationships"><Relationship Id="r1" Type="'
        + office
        + b'/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": b"<workbook "
        + namespace
        + b' xmlns:r="'
        + office
        + b'"><sheets><sheet name="s" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": b'<Relationships xmlns="'
        + package
        + b'/relationships"><Relationship Id="r1" Type="'
        + office
        + b'/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": sheet.replace(b"<worksheet", b"<worksheet " + namespace, 1),
    }
    return zipped(parts | {name.replace("__", "/"): content for name, content in others.items()})


LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "ha">'
    + b"".join(b'<!ENTITY a%d "%s">' % (i, b"&a%d;" % (i - 1) * 10) for i in range(1, 11))
    + b"]><worksheet><sheetData><row><c t='inlineStr'><is><t>&a10;</t></is></c></row></sheetData></worksheet>"
)
OUTSIDE = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    b"<worksheet><sheetData><row><c t='inlineStr'><is><t>&a;</t></is></c></row></sheetData></worksheet>"
)
SMALL = pa.table({"a": ["x", "y"], "b": ["y", "y"]})
_EIGHT = pa.array(list("abcdefgh"))
CODED = pa.table({name: pa.DictionaryArray.from_arrays(pa.array([7, 3, 5], pa.int32()), _EIGHT) for name in ("a", "b")})
NOISE = random.Random(7).randbytes(5000)


def lying_member(n_bytes: int) -> bytes:
    """An NPZ whose directory says that a member has ten bytes, and which unpacks to many more."""
    content = npy_header(f"(2, {n_bytes // 2})", "'|i1'") + bytes(n_bytes)
    honest = zipped({"preds.npy": content})
    return honest.replace(struct.pack("<I", len(content)), struct.pack("<I", 10))


def encrypted(archive: bytes) -> bytes:
    """The same archive, which says of its first member that it is encrypted."""
    content = bytearray(archive)
    for sign, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(sign) + place] |= 1
    return bytes(content)


def bad_crc() -> bytes:
    content = bytearray(gzip.compress(GOOD))
    content[-8] ^= 1
    return bytes(content)


def gzip_of(n_bytes: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    some = b"x,y\n" * (MB // 4)
    return b"".join([packer.compress(b"a,b\n"), *(packer.compress(some) for _ in range(n_bytes // MB)), packer.flush()])


def broken_parquet() -> bytes:
    content = bytearray(parquet(pa.table({"a": [str(i) for i in range(2000)], "b": ["x"] * 2000})))
    content[20:2000] = NOISE[:1980]
    return bytes(content)


#: What a log of Inspect says of its run, and a sample of it.
INSPECT = b'{"eval": {"model": "m"}, "status": "success"}'
SAMPLE = {"id": 1, "epoch": 1, "input": "?", "output": {"completion": "a"}}


def inspect_log(sample: object, header: bytes = INSPECT) -> Maker:
    return write(zipped({"header.json": header, "samples/1_epoch_1.json": json.dumps(sample).encode()}))


FILES: dict[str, Maker] = {
    # Texts that are no table.
    "empty.csv": write(b""),
    "header only.csv": write(b"id,a,b\n"),
    "newlines.csv": write(b"\n" * 5000),
    "latin1.csv": write("id,a,b\n1,é,ü\n".encode("latin-1")),
    "utf16.csv": write(GOOD.decode().encode("utf-16-le")),
    "noise.csv": write(NOISE),
    "open quote.csv": write(b'id,a,b\n1,"x,y\n2,x,y\n'),
    "long row.csv": write(GOOD + b"4,x,y,z,z\n"),
    "short row.csv": write(GOOD + b"4,x\n"),
    "same names.csv": write(b"id,a,a\n1,x,y\n"),
    "no names.csv": write(b",,\n1,x,y\n"),
    "commas.csv": write(b"," * (9 * MB)),
    "one line.csv": write(b"a" * (9 * MB)),
    "wide.csv": write(b",".join(b"c%d" % i for i in range(100_001)) + b"\n"),
    "quotes.csv": write(b'"' * (9 * MB + 1)),
    # Packed.
    "cut.csv.gz": write(gzip.compress(GOOD * 100)[:60]),
    "crc.csv.gz": write(bad_crc()),
    "nested.csv.gz": write(gzip.compress(gzip.compress(gzip.compress(GOOD)))),
    "noise.csv.gz": write(b"\x1f\x8b\x08\0" + NOISE),
    # JSON.
    "deep.jsonl": write(b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n"),
    "deep objects.json": write(b'[{"a":' * 100_000),
    "wide.jsonl": write(json.dumps({f"c{i}": 1 for i in range(100_001)}).encode() + b"\n"),
    "words.jsonl": write(b"this is no JSON\n" * 10),
    "cut.jsonl": write(b'{"a": "x", "b": "y"}\n{"a": "x", "b'),
    "arrays.jsonl": write(b'["x", "y"]\n["y", "y"]\n'),
    "digits.jsonl": write(b'{"a": ' + b"9" * 100_000 + b', "b": 1}\n'),
    "nested.jsonl": write(b'{"a": {"b": [1]}, "b": "y"}\n'),
    "nulls.jsonl": write(b"null\n" * 100),
    "number.json": write(b"12"),
    "numbers.json": write(b"[1, 2, 3]"),
    "cut.json": write(b'[{"a": "x", "b": "y"}, {"a"'),
    # NPZ.
    "claims.npz": npz(preds=npy_header(f"(2, {10**13})", "'|i1'")),
    "claims more.npz": npz(preds=npy_header(f"({2**40}, {2**40})", "'<i8'")),
    "negative.npz": npz(preds=npy_header("(-1, -5)", "'|i1'")),
    "label.npz": npz(preds=npy([[0, 1, 2, 10**9], [0, 1, 2, 3]], "<i8")),
    "label62.npz": npz(preds=npy([[0, 2**62], [0, 1]], "<i8")),
    "pickle.npz": npz(preds=npy([["x", 1], [None, 2]], "O")),
    "claims pickle.npz": npz(preds=npy_header("(2, 2)", "'|O'") + b"cos\nsystem\n(S'true'\ntR."),
    "record.npz": npz(preds=npy_header("(2,)", "[('a', '<i8'), ('b', '<i8')]") + bytes(32)),
    "floats.npz": npz(preds=npy([[0.5, float("nan")], [1, 2]], "<f8")),
    "complex.npz": npz(preds=npy([[0, 1], [1, 2]], "<c16")),
    "three.npz": npz(preds=npy([[[0], [1]], [[1], [2]]], "<i8")),
    "none.npz": npz(other=npy([[0, 1], [1, 0]], "<i8")),
    "short.npz": npz(preds=npy_header("(2, 1000)", "'<i8'") + bytes(8)),
    "code.npz": npz(preds=npy_header("(2, __import__('os').getpid())", "'<i8'")),
    "cut.npz": write(zipped({"preds.npy": npy([[0, 1], [1, 0]], "<i8")})[:-30]),
    "lies.npz": write(lying_member(MB)),
    "encrypted.npz": write(encrypted(zipped({"preds.npy": npy([[0, 1], [1, 0]], "<i8")}))),
    "noise.npz": write(b"PK\x03\x04" + NOISE),
    "names.npz": npz(preds=npy([[0, 1], [1, 0]], "<i8"), models=npy(["a", "b", "c"], "<U1")),
    # Parquet and Arrow.
    "cut.parquet": write(parquet(SMALL)[:-20]),
    "magic.parquet": write(b"PAR1PAR1"),
    "footer.parquet": write(b"PAR1" + bytes(100) + struct.pack("<I", 2**31) + b"PAR1"),
    "noise.parquet": write(b"PAR1" + NOISE + b"PAR1"),
    "page.parquet": write(broken_parquet()),
    "lists.parquet": write(parquet(pa.table({"a": [[1], [2]], "b": [[1], [2]]}))),
    "bytes.parquet": write(parquet(pa.table({"a": [b"\xff", b"\xfe"], "b": ["x", "y"]}))),
    "cut.arrow": write(arrow(SMALL)[:-40]),
    "length.arrow": write(b"ARROW1\0\0\xff\xff\xff\xff" + struct.pack("<i", 2**31 - 1) + bytes(100) + b"ARROW1"),
    "far.arrow": write(changed_arrow(SMALL, (0, 1, 2), (0, 2**30, 2**31 - 1))),
    "before.arrow": write(changed_arrow(SMALL, (0, 1, 2), (5, -7, 2))),
    "indices.arrow": write(changed_arrow(CODED, (7, 3, 5), (2**30, -1, 5))),
    "names.jsonl": write(b'{"id": "1", "\\ud800": "x", "b": "y"}\n' * 2),
    "names.json": write(b'[{"id": "1", "\\ud800": "x", "b": "y"}]'),
    "noise.arrow": write(b"ARROW1\0\0" + NOISE + b"ARROW1"),
    # Excel.
    "laughs.xlsx": write(xlsx(LAUGHS)),
    "outside.xlsx": write(xlsx(OUTSIDE)),
    "cut.xlsx": write(xlsx(b"<worksheet><sheetData/></worksheet>")[:-50]),
    "nothing.xlsx": write(xlsx(b"<worksheet><sheetData/></worksheet>")),
    "encrypted.xlsx": write(encrypted(xlsx(b"<worksheet><sheetData/></worksheet>"))),
    "no sheet.xlsx": write(zipped({"[Content_Types].xml": b"<Types/>"})),
    "far.xlsx": write(
        xlsx(b"<worksheet><sheetData><row r='1048576'><c r='XFD1048576'><v>1</v></c></row></sheetData></worksheet>")
    ),
    "sheet.xlsx": write(xlsx(b"<worksheet><sheetData>" + ROW * 10**6)),
    # Logs.
    "header.eval": inspect_log(SAMPLE, b"[]"),
    "no model.eval": inspect_log(SAMPLE, b'{"eval": {"model": 1}}'),
    "sample.eval": inspect_log([SAMPLE]),
    "epoch.eval": inspect_log({**SAMPLE, "epoch": "first"}),
    "scores.eval": inspect_log({**SAMPLE, "scores": [1]}),
    "attachments.eval": inspect_log({**SAMPLE, "input": "attachment://1", "attachments": [1]}),
    "messages.eval": inspect_log({**SAMPLE, "input": [{"role": "user", "content": ["?"]}]}),
    "deep.eval": write(zipped({"header.json": INSPECT, "samples/1.json": b"[" * 200_000 + b"]" * 200_000})),
    "nothing.eval": write(zipped({"header.json": INSPECT})),
    "cut.eval": write(zipped({"header.json": INSPECT, "samples/1.json": json.dumps(SAMPLE).encode()})[:-40]),
    "promptfoo.json": write(b'{"evalId": 1, "results": {"version": 3, "results": [1, "a"]}}'),
    "label studio.json": write(b'[{"data": {"a": 1}, "predictions": [{"result": [1]}]}]'),
}


def zeros(n_bytes: int) -> Maker:
    """An NPZ of so many bytes, packed."""
    return large_member("preds.npy", npy_header(f"(2, {n_bytes // 2})", "'|i1'"), bytes(MB), n_bytes)


def blanks(n_bytes: int) -> Maker:
    """A log of Inspect with a sample of so many bytes, packed."""
    return large_member("samples/1_epoch_1.json", b"", b" " * MB, n_bytes, {"header.json": INSPECT})


def large_member(name: str, begins: bytes, part: bytes, n_bytes: int, others: dict[str, bytes] | None = None) -> Maker:
    def make(path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for other, content in (others or {}).items():
                archive.writestr(other, content)
            with archive.open(name, "w", force_zip64=True) as member:
                member.write(begins)
                for _ in range(n_bytes // len(part)):
                    member.write(part)

    return make


def rows(n: int) -> Maker:
    """A small Parquet file with so many rows."""

    def make(path: Path) -> None:
        once = pa.table({name: pa.array(np.zeros(10**6, dtype=np.int8)) for name in ("a", "b")})
        with pq.ParquetWriter(path, once.schema, compression="zstd") as writer:
            for _ in range(n // 10**6):
                writer.write_table(once)

    return make


BOMBS: dict[str, Maker] = {
    "zeros.npz": zeros(8 * 2**30),
    "blanks.eval": blanks(8 * 2**30),
    "lies.npz": lambda path: path.write_bytes(lying_member(64 * MB)),
    "rows.parquet": rows(150 * 10**6),
    "gzip.csv.gz": lambda path: path.write_bytes(gzip_of(2 * 2**10 * MB)),
}
