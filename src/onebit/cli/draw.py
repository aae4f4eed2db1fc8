"""``onebit draw``: rows at random from a table of any size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from onebit.cli import options as opt
from onebit.cli.progress import progress_bar
from onebit.errors import InvalidInputError


def draw(
    table: Annotated[
        str,
        typer.Argument(help="A Parquet file, or a folder of them: a path, or a URL such as s3://bucket/folder."),
    ],
    out: Annotated[Path, typer.Argument(help="The file to write, Parquet: a table of the rows drawn.")],
    rows: Annotated[
        int, typer.Option(min=1, help="How many rows to draw; each is read, so give as many as may be asked about.")
    ] = 10_000,
    seed: opt.Seed = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing: draw again, and say whether OUT is what its seed draws.")
    ] = False,
    as_json: opt.AsJson = False,
) -> None:
    """Draw rows at random from a table that is too large to be read.

    Each row is any of the table's, independently of the others. A selection on them with --population stream is about
    the whole table: onebit draw s3://bucket/answers sample.parquet, then onebit select sample.parquet --population
    stream. What is read are the rows drawn, not the table. The file says where it is from and by which seed.
    """
    # Imported here: Arrow takes a second that --help should not.
    import pyarrow.parquet as arrow_parquet

    from onebit.tables.drawing import check_draw
    from onebit.tables.drawing import draw as draw_rows
    from onebit.tables.sampled import DRAW

    if check:
        about = check_draw(out, table)
    else:
        if out.exists():
            raise InvalidInputError(f"{out} is there already; name another file, or remove it")
        with progress_bar(f"drawing from {table}", Console(stderr=True)) as progress:
            drawn = draw_rows(table, rows, seed, progress)
        arrow_parquet.write_table(drawn, out)
        about = json.loads(drawn.schema.metadata[DRAW])
    if as_json:
        print(json.dumps(about))
        return
    done = "was drawn, as its seed says," if check else "has"
    print(f"{out} {done} {about['drawn']:,} rows of the {about['rows']:,} of {about['table']}, seed {about['seed']}.")
    if not check:
        print(f"Next: onebit select {out} --population stream (what is certified is about all of these).")
