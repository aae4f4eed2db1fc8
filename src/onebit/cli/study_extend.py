"""``onebit study extend``: go on from a study with models that came later, without some, or with new items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onebit.cli import options as opt
from onebit.cli.progress import progress_bar
from onebit.cli.study import Name, Storage, say
from onebit.records import SequelSpec
from onebit.tables.formats import LOG_NAMES, NAMES


def extend(
    name: Name,
    new_name: Annotated[str, typer.Argument(metavar="NEW", help="Name of the study that goes on from it.")],
    table: Annotated[
        list[Path],
        typer.Argument(
            metavar="TABLE...",
            help=f"All models and items from now on: {NAMES}; one column per model. Or logs of {LOG_NAMES}.",
        ),
    ],
    storage: Storage = None,
    id: opt.Id = None,
    truth: opt.Truth = None,
    show: opt.Show = None,
    models: opt.Models = None,
    reference: opt.Reference = None,
    equal: opt.Equal = SequelSpec.equal,
    empty: opt.Empty = SequelSpec.empty,
    one_at_a_time: opt.OneAtATime = SequelSpec.one_at_a_time,
    labels: opt.Labels = None,
    long: opt.Long = SequelSpec.long,
    model: opt.Model = None,
    output: opt.Output = None,
    instructions: opt.Instructions = None,
    markdown: opt.Markdown = SequelSpec.markdown,
    budget: opt.Budget = None,
    lease_seconds: opt.Lease = SequelSpec.lease_seconds,
    seed: opt.Seed = None,
) -> None:
    """Go on from a study with another table: models that came later, without some, or with new items.

    What was answered before is answered: where raters judged an output of an item, nobody is asked again, whichever
    model says it. Items are known by their --id. Eps and the way to ask are those of the first study; delta is a share
    that the number of the sequel fixes. The first study stays as it is; pause it if raters should go on with the new
    one.
    """
    from onebit.store.store import Store
    from onebit.study.kinds.selection.making import read
    from onebit.study.kinds.selection.sequel import begin_sequel
    from onebit.study.opening import storage_url

    spec = opt.spec_of(SequelSpec, locals())
    with progress_bar("reading the table") as reading:
        found, spec = read(spec, table, reading)
    for note in found.notes:
        say(f"Note: {note}.")
    with Store(storage_url(storage)) as store:
        begin_sequel(store, name, new_name, spec, found)
    say(f"The study {new_name} goes on from {name}, with {found.n_models} models and {found.n_items:,} items.")
