"""Tables in shards for tests."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as arrow_parquet
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def write_shards(folder: Path, said: Ints, n_files: int, group_size: int, lists: bool = False) -> None:
    """``said`` (N, n) in so many files, as columns m0, m1, ... or as lists; a column ``y`` has what model 0 says."""
    folder.mkdir(exist_ok=True)
    names = [f"m{h}" for h in range(said.shape[0])]
    for number, part in enumerate(np.array_split(said, n_files, axis=1)):
        right = pa.array(np.maximum(part[0], 0))
        if lists:
            flat = pa.array(part.T.astype(np.int16).ravel())
            outputs = pa.FixedSizeListArray.from_arrays(flat, said.shape[0])
            table = pa.table({"y": right, "outputs": outputs}).replace_schema_metadata({"models": json.dumps(names)})
        else:
            columns = {name: pa.array(row, mask=row < 0) for name, row in zip(names, part, strict=True)}
            table = pa.table({"y": right, **columns})
        arrow_parquet.write_table(table, folder / f"part-{number:02}.parquet", row_group_size=group_size)


def random_said(n_models: int = 7, n_items: int = 101, n_labels: int = 4, seed: int = 0) -> Ints:
    said: Ints = np.random.default_rng(seed).integers(-1, n_labels, (n_models, n_items))
    return said
