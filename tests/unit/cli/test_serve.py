"""``onebit serve``: what it prints, what it refuses, and that it stops when told to."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.unit.web.served import make_study

from onebit.cli.serve import serve
from onebit.errors import InvalidInputError


def test_it_prints_links_that_work_and_stops(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/studies.db"
    make_study(storage, tmp_path)
    command = [sys.executable, "-c", "from onebit.cli.main import main; main()", "serve", "--port", "0"]
    command += ["--storage", storage, "--rater", "ann", "--rater", "bob"]
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
    ],
)
def test_what_cannot_work_is_said(options: dict[str, str], words: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=words):
        serve(storage=f"sqlite:///{tmp_path}/s.db", port=0, **options)  # type: ignore[arg-type]


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(InvalidInputError, match="another --host"):
        serve(storage=f"sqlite:///{tmp_path}/s.db", port=taken.getsockname()[1])
