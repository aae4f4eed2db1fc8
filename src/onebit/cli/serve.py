"""``onebit serve``: the raters' pages and the dashboard."""

from __future__ import annotations

import ipaddress
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer
from rich.console import Console

from onebit.cli.terminal import plain
from onebit.errors import InvalidInputError

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette

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
        list[str] | None,
        typer.Option(metavar="NAME", help="Another name that it may be called by; several times.", show_default=False),
    ] = None,
    trust_proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="Address of a proxy whose X-Forwarded-For says where a request comes from; several times.",
            show_default=False,
        ),
    ] = None,
    inner_url: Annotated[
        str | None,
        typer.Option(
            help="How other servers of the same PostgreSQL store reach this one, as in http://10.0.0.5:8000; then each "
            "study is open on one of them, and they pass on what is about it.",
            show_default=False,
        ),
    ] = None,
    tls_certificate: Annotated[
        Path | None, typer.Option(help="Serve over TLS with this certificate (PEM).", show_default=False)
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(help="The key of that certificate.", show_default=False)] = None,
    access_log: Annotated[
        Path | None,
        typer.Option(help="Write a line for every request to this file; without links.", show_default=False),
    ] = None,
    rater: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Make a link for this rater in every study; several times.", show_default=False
        ),
    ] = None,
) -> None:
    """Serve the studies of a store: a page for raters, a dashboard for you, and an API for other front ends.

    Prints your link and the raters'. They are secrets: whoever has one is taken for its owner. Tables and media are
    read from below the current folder only.
    """
    # Imported here: what serves takes a moment that --help should not.
    import uvicorn

    from onebit.study.opening import storage_url
    from onebit.web.access_log import LogFile
    from onebit.web.app import LOCAL, make_app
    from onebit.web.site import Site

    _check_url(public_url, host)
    _check_inner_url(inner_url, storage_url(storage))
    _check_tls(tls_certificate, tls_key)
    requests = None if access_log is None else LogFile(access_log)
    listening = _listen(host, port)
    scheme = "http" if tls_certificate is None else "https"
    url = public_url or f"{scheme}://{_bracketed(host)}:{listening.getsockname()[1]}"
    _warn_if_open(host, url)
    site = Site(storage_url(storage), Path.cwd(), url, inner_url and inner_url.rstrip("/"))
    try:
        _print_links(site, rater or [])
        parts = urlsplit(url)
        hosts = {*LOCAL, _bracketed(host), _bracketed(parts.hostname or ""), *(allow_host or [])}
        app = make_app(site, hosts, origins=[f"{parts.scheme}://{parts.netloc}"], access_log=requests)
        config = _config(app, trust_proxy or [])
        config.ssl_certfile, config.ssl_keyfile = tls_certificate, tls_key
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        site.close()
        listening.close()
        if requests is not None:
            requests.close()


def _config(app: Starlette, proxies: list[str]) -> uvicorn.Config:
    """How uvicorn serves the application; nobody but these proxies is believed about where a request comes from."""
    import uvicorn

    from onebit.web.connections import Doorkeeper, room_for_connections
    from onebit.web.constants import WAITING_SECONDS

    keeper = Doorkeeper(room_for_connections(), proxies)
    return uvicorn.Config(
        app,
        http=keeper.protocol(),
        ws="none",
        log_level="warning",
        server_header=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies,
        timeout_keep_alive=int(WAITING_SECONDS),
        # Pages that watch a study never end by themselves.
        timeout_graceful_shutdown=1,
    )


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
    if not _is_url(public_url):
        raise InvalidInputError(f"--public-url is {public_url!r}; it must be like https://raters.example.org")


def _check_inner_url(inner_url: str | None, storage: str) -> None:
    from onebit.store.database import is_sqlite
    from onebit.store.locks import check_address

    if inner_url is None:
        return
    if is_sqlite(storage):
        raise InvalidInputError("--inner-url is for several servers of one PostgreSQL store; SQLite has one server")
    if not _is_url(inner_url):
        raise InvalidInputError(f"--inner-url is {inner_url!r}; it must be like http://10.0.0.5:8000")
    check_address(inner_url)


def _is_url(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.path in ("", "/")


def _check_tls(certificate: Path | None, key: Path | None) -> None:
    if (certificate is None) != (key is None):
        raise InvalidInputError("TLS needs both --tls-certificate and --tls-key; give both, or neither")
    for option, path in (("--tls-certificate", certificate), ("--tls-key", key)):
        if path is not None and not path.is_file():
            raise InvalidInputError(f"{option} is {path}, and there is no such file")


def _warn_if_open(host: str, url: str) -> None:
    """Say it where links would go over a network that everybody on the way can read."""
    try:
        is_local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_local = host == "localhost"
    if not is_local and url.startswith("http:"):
        Console(stderr=True).print(
            f"Warning: {plain(url)} is not encrypted, and links are secrets: whoever is on the way can read them. Give "
            "--tls-certificate and --tls-key, or let a proxy encrypt it and give its --public-url https://...",
            highlight=False,
            markup=False,
        )


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
        console.print(f"\n{plain(entry.name)}", markup=False)
        names = raters or ([] if site.access.working(entry.id) else [FIRST_RATER])
        for name in names:
            url = site.link_url("rater", site.access.make("rater", entry.id, name)[1])
            console.print(f"  {plain(name)}:  {url}", markup=False)
        if not names:
            console.print("  Raters have their links; make new ones on your page, or with --rater NAME.")
    console.print("\nCtrl-C stops the server; every answer is kept.")
    # Also where the output goes to a file or a service's log.
    console.file.flush()
