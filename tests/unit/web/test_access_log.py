"""The log of requests: what is in it, what never is, and that it can be moved away."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.unit.web.served import BASE, Served, bearer

from onebit.errors import InvalidInputError
from onebit.web.access_log import LogFile, without_secrets
from onebit.web.app import make_app
from onebit.web.calls import COOKIE

LoggingClient = Callable[[Path], TestClient]


@pytest.fixture
def logging_client(served: Served) -> Iterator[LoggingClient]:
    """A client of the same site whose requests are written to a file."""
    files: list[LogFile] = []

    def make(path: Path) -> TestClient:
        files.append(LogFile(path))
        return TestClient(make_app(served.site, access_log=files[-1]), base_url=BASE, follow_redirects=False)

    yield make
    for file in files:
        file.close()


def test_a_line_says_who_asked_for_what_and_what_came(
    served: Served, tmp_path: Path, logging_client: LoggingClient
) -> None:
    client = logging_client(tmp_path / "requests")
    client.post("/api/v1/ask", json={"n": 1}, headers=bearer(served.ann))
    client.post("/api/v1/ask", json={"n": 1}, headers=bearer("wrong"))
    client.get("/", headers={"Host": "evil.example"})
    asked, unknown, refused = [json.loads(line) for line in (tmp_path / "requests").read_text().splitlines()]
    (ann,) = [link.id for link in served.site.access.all() if link.rater == "ann"]
    assert asked.keys() == {"at", "from", "link", "method", "path", "status", "ms"}
    assert (asked["link"], asked["method"], asked["path"], asked["status"]) == (ann, "POST", "/api/v1/ask", 200)
    assert (unknown["link"], unknown["status"]) == (None, 401)
    assert refused["status"] == 400


def test_no_secret_is_ever_in_it(served: Served, tmp_path: Path, logging_client: LoggingClient) -> None:
    client = logging_client(tmp_path / "requests")
    tokens = (served.owner, served.ann)
    for token in tokens:
        for path in ("/r/{}", "/o/{}", "/r/{}/image/0", "/R/{}", "/x/{}", "//r//{}", "/r/%2e/{}", "/?token={}", "/{}"):
            client.get(path.format(token), headers={"Referer": f"{BASE}/r/{token}", "User-Agent": token})
        client.get("/api/v1/studies", headers=bearer(token))
        client.get("/", headers={"Cookie": f"{COOKIE}={token}"})
    content = (tmp_path / "requests").read_text()
    assert len(content.splitlines()) == 2 * 11
    for token in tokens:
        assert not any(token[i : i + 12] in content for i in range(len(token) - 12))


def test_what_is_sent_cannot_write_a_line_of_its_own(tmp_path: Path, logging_client: LoggingClient) -> None:
    logging_client(tmp_path / "requests").get("/a%0a%7b%22status%22:200%7d%1b[2J")
    (line,) = (tmp_path / "requests").read_text().splitlines()
    assert json.loads(line)["status"] == 404
    assert "\x1b" not in line


def test_a_file_that_was_moved_away_is_begun_anew_and_is_private(tmp_path: Path, logging_client: LoggingClient) -> None:
    path = tmp_path / "requests"
    client = logging_client(path)
    client.get("/static/base.css")
    path.rename(tmp_path / "requests.1")
    client.get("/static/base.css")
    for each in (path, tmp_path / "requests.1"):
        assert len(each.read_text().splitlines()) == 1
    assert stat.S_IMODE((tmp_path / "requests.1").stat().st_mode) == 0o600


def test_a_log_that_cannot_be_written_is_said_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be written: No such file"):
        LogFile(tmp_path / "none" / "requests")


def test_a_disk_that_is_full_stops_nobody(served: Served, logging_client: LoggingClient) -> None:
    client = logging_client(Path("/dev/full"))
    assert client.post("/api/v1/ask", json={"n": 1}, headers=bearer(served.ann)).status_code == 200


def test_numbers_and_names_of_pages_are_no_secrets() -> None:
    for path in ("/api/v1/owner-links/3", "/studies/12/live", "/static/common.css", "/api/v1/openapi.json"):
        assert without_secrets(path) == path
