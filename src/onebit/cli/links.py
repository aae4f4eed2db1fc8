"""``onebit links``: who may come in, from the command line; what is changed holds at once on every server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from onebit.cli.terminal import plain
from onebit.errors import InvalidInputError

if TYPE_CHECKING:
    from onebit.store.store import Store
    from onebit.web.access import Access, Link

app = typer.Typer(name="links", help="List, make, end and replace links of owners and raters.", no_args_is_help=True)
Storage = Annotated[
    str | None,
    typer.Option(
        help="Where studies are: sqlite:///FILE or postgresql://...  [default: ONEBIT_STORAGE, else onebit.db]",
        show_default=False,
    ),
]
PublicUrl = Annotated[str, typer.Option(help="How the server is reached, as given to onebit serve.")]
Number = Annotated[int, typer.Argument(help="The number of the link, as onebit links list has it.")]
HERE = "http://127.0.0.1:8000"


@app.command("list")
def list_links(storage: Storage = None) -> None:
    """List the links that work, without their secrets."""
    with _opened(storage) as (store, access):
        names = {entry.id: entry.name for entry in store.entries()}
        working = [link for link in access.all() if access.works(link)]
    table = Table("link", "for", "who", "made", "ends")
    for link in working:
        whom = "owner" if link.study_id is None else names.get(link.study_id, "?")
        table.add_row(str(link.id), plain(whom), plain(link.rater or ""), link.made_at[:10], link.expires_at[:10])
    Console().print(table, markup=False)


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Who will have the link.")],
    study: Annotated[
        str | None, typer.Option(help="Rater of this study; without, an owner of all.", show_default=False)
    ] = None,
    storage: Storage = None,
    public_url: PublicUrl = HERE,
) -> None:
    """Make a link, and print it once."""
    with _opened(storage) as (store, access):
        rates = None if study is None else store.entry(study).id
        made = access.make("owner" if rates is None else "rater", rates, name)
    _tell(made, public_url)


@app.command()
def revoke(number: Number, storage: Storage = None) -> None:
    """End a link at once."""
    with _opened(storage) as (_, access):
        found = [link for link in access.all() if link.id == number]
        if not found:
            raise InvalidInputError(f"there is no link {number}; onebit links list shows those that work")
        access.revoke(number, found[0].study_id)


@app.command()
def rotate(number: Number, storage: Storage = None, public_url: PublicUrl = HERE) -> None:
    """Give whoever has a link a new one, and end the old one at once."""
    with _opened(storage) as (_, access):
        made = access.rotate(number)
    _tell(made, public_url)


@contextmanager
def _opened(storage: str | None) -> Iterator[tuple[Store, Access]]:
    # Imported here: it takes a moment that --help should not.
    from onebit.store.store import Store
    from onebit.study.opening import storage_url
    from onebit.web.access import Access

    with Store(storage_url(storage)) as store:
        yield store, Access(store)


def _tell(made: tuple[Link, str], public_url: str) -> None:
    link, token = made
    kind = "o" if link.kind == "owner" else "r"
    print(f"{public_url.rstrip('/')}/{kind}/{token}")
