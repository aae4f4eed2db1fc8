"""``onebit serve``: the raters' pages and the dashboard."""

from __future__ import annotations

import ipaddress
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer
from rich.console import Console

from onebit.errors import InvalidInputError

if TYPE_CHECKING:
    from onebit.web.site import Site

#: Whoever has no link yet is given one under this name.
FIRST_RATER = "rater 1"


def serve(
    storage: Annotated[
        str | None,
        typer.Option(
            help="Where studies are: sqlite:///FILE or postgresql://...  [default: ONEBIT_STORAGE, else onebit.db]",
            show_default=False,
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen at; 0.0.0.0 for all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0 for any that is free.")] = 8000,
    public_url: Annotated[
        str | None, typer.Option(help="How raters reach the server, if not by host and port.", show_default=False)
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Another name that it may be called by; several times.", show_default=False)
    ] = None,
    rater: Annotated[
        list[str] | None,
        typer.Option(help="Make a link for this rater in every study; several times.", show_default=False),
    ] = None,
) -> None:
    """Serve the studies of a store: a page for raters, a dashboard for you, and an API for other front ends.

    Prints your link and the raters'. They are secrets: whoever has one is taken for its owner. Tables and images are
    read from below the current folder only.
    """
    # Imported here: what serves takes a moment that --help should not.
    import uvicorn

    from onebit.study.opening import storage_url
    from onebit.web.app import LOCAL, make_app
    from onebit.web.site import Site

    _check_url(public_url, host)
    listening = _listen(host, port)
    url = public_url or f"http://{_bracketed(host)}:{listening.getsockname()[1]}"
    site = Site(storage_url(storage), Path.cwd(), url)
    try:
        _print_links(site, rater or [])
        parts = urlsplit(url)
        hosts = {*LOCAL, _bracketed(host), _bracketed(parts.hostname or ""), *(allow_host or [])}
        app = make_app(site, hosts, origins=[f"{parts.scheme}://{parts.netloc}"])
        # Pages that watch a study never end by themselves.
        config = uvicorn.Config(app, log_level="warning", server_header=False, timeout_graceful_shutdown=1)
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        site.close()
        listening.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(address[:2], family=family)
    except OSError as error:
        raise InvalidInputError(
            f"cannot listen at {host}:{port}: {error.strerror}; give another --host or --port"
        ) from None
    # Connections inherit it. asyncio sets it only where a socket names its protocol, which this one does not; without
    # it an answer of two packets waits some 40 ms for the other side's acknowledgement.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _check_url(public_url: str | None, host: str) -> None:
    if public_url is None:
        if host in ("0.0.0.0", "::"):
            raise InvalidInputError(
                f"--host {host} listens at every address; give --public-url, the one that raters use, so that their "
                "links work"
            )
        return
    parts = urlsplit(public_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
        raise InvalidInputError(f"--public-url is {public_url!r}; it must be like https://raters.example.org")


def _bracketed(host: str) -> str:
    """A host as URLs and requests have it."""
    try:
        return f"[{host}]" if ipaddress.ip_address(host).version == 6 else host
    except ValueError:
        return host


def _print_links(site: Site, raters: list[str]) -> None:
    """A link for the owner, and for raters; they cannot be had again, since only their hashes are kept."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"Your page:  {site.link_url('owner', site.access.make('owner')[1])}", markup=False)
    entries = site.entries()
    if not entries:
        console.print("There is no study yet; make one there.")
    for entry in entries:
        console.print(f"\n{entry.name}", markup=False)
        names = raters or ([] if site.access.working(entry.id) else [FIRST_RATER])
        for name in names:
            url = site.link_url("rater", site.access.make("rater", entry.id, name)[1])
            console.print(f"  {name}:  {url}", markup=False)
        if not names:
            console.print("  Raters have their links; make new ones on your page, or with --rater NAME.")
    console.print("\nCtrl-C stops the server; every answer is kept.")
    # Also where the output goes to a file or a service's log.
    console.file.flush()
