"""``onebit serve``: what it prints, what it refuses, and that it stops when told to."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from tests.unit.web.served import make_study

from onebit.cli.serve import _config, _warn_if_open, serve
from onebit.errors import InvalidInputError


def test_it_prints_links_that_work_and_stops(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/studies.db"
    make_study(storage, tmp_path)
    command = [sys.executable, "-c", "from onebit.cli.main import main; main()", "serve", "--port", "0"]
    command += ["--storage", storage, "--rater", "ann", "--rater", "bob", "--rater", "\x1b[2Jcy"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        lines = []
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if "Ctrl-C" in line:
                break
        printed = "".join(lines)
        owner = re.search(r"Your page: +(http://127\.0\.0\.1:\d+/o/\S+)", printed)
        raters = dict(re.findall(r"^  (\w+): +(http://\S+/r/\S+)", printed, re.MULTILINE))
        assert owner is not None
        assert set(raters) == {"ann", "bob"}
        assert "[2Jcy" in printed
        assert "\x1b" not in printed
        with urllib.request.urlopen(raters["ann"], timeout=60) as page:
            assert "Can’t tell" in page.read().decode()  # noqa: RUF001
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) in (0, 130, -signal.SIGINT)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"host": "0.0.0.0"}, "--public-url"),
        ({"public_url": "raters.example.org"}, "like https://"),
        ({"public_url": "https://example.org/below"}, "like https://"),
        ({"host": "203.0.113.1"}, "cannot listen"),
        ({"inner_url": "http://10.0.0.5:8000"}, "several servers of one PostgreSQL store"),
        ({"tls_key": Path("key.pem")}, "give both"),
        ({"tls_key": Path("no.pem"), "tls_certificate": Path("no.pem")}, "there is no such file"),
    ],
)
def test_what_cannot_work_is_said(options: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=words):
        serve(storage=f"sqlite:///{tmp_path}/s.db", port=0, **options)


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(InvalidInputError, match="another --host"):
        serve(storage=f"sqlite:///{tmp_path}/s.db", port=taken.getsockname()[1])


@pytest.mark.parametrize(
    ("host", "url", "warns"),
    [
        ("0.0.0.0", "http://raters.example.org", True),
        ("192.0.2.1", "http://192.0.2.1:8000", True),
        ("raters", "http://raters:8000", True),
        ("0.0.0.0", "https://raters.example.org", False),
        ("127.0.0.1", "http://127.0.0.1:8000", False),
        ("localhost", "http://localhost:8000", False),
    ],
)
def test_links_in_the_clear_are_warned_of(host: str, url: str, warns: bool, capsys: pytest.CaptureFixture[str]) -> None:
    _warn_if_open(host, url)
    assert ("not encrypted" in capsys.readouterr().err) == warns


def test_nobody_but_a_named_proxy_says_where_a_request_comes_from() -> None:
    assert not _config(Starlette(), []).proxy_headers
    trusted = _config(Starlette(), ["192.0.2.7"])
    assert (trusted.proxy_headers, trusted.forwarded_allow_ips) == (True, ["192.0.2.7"])


@pytest.mark.parametrize(
    ("inner_url", "words"),
    [("10.0.0.5:8000", "must be like"), (f"http://{60 * 'a'}.example:8000", "more than 53 letters")],
)
def test_an_inner_url_that_cannot_be_told_to_others(inner_url: str, words: str) -> None:
    with pytest.raises(InvalidInputError, match=words):
        serve(storage="postgresql://nowhere/db", port=0, inner_url=inner_url)
