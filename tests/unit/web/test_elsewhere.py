"""A study that another server has open: what is passed on to it, and what is said where it cannot be reached."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from tests.unit.web.served import bearer, serve

from onebit.errors import InvalidInputError
from onebit.store.database import InUseError
from onebit.store.locks import AT, MOST_NAME, check_address
from onebit.web import elsewhere


def test_a_server_that_cannot_be_reached_is_said_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve(tmp_path)
    monkeypatch.setattr(served.site, "holder", lambda study_id: "http://127.0.0.1:1")
    told = served.client.post("/api/v1/ask", json={"n": 1}, headers=bearer(served.ann))
    assert told.status_code == 503
    assert told.headers["retry-after"] == "2"
    assert "another server has this study open" in told.json()["error"]
    served.client.get(f"/o/{served.owner}")
    page = served.client.get("/studies/1")
    assert page.status_code == 503
    assert "Another server has this study open" in page.text


class Other(BaseHTTPRequestHandler):
    """A server that tells what it was sent."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        told = {"path": self.path, "body": json.loads(body), "headers": dict(self.headers.items())}
        content = json.dumps(told).encode()
        self.send_response(207)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Own", "kept")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def running(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Another server; its address."""
    other = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=other.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{other.server_port}"
    finally:
        other.shutdown()
        thread.join()
        other.server_close()


def test_a_request_is_passed_on_as_it_came(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = serve(tmp_path)
    with running(Other) as url:
        monkeypatch.setattr(served.site, "holder", lambda study_id: url)
        headers = bearer(served.ann) | {"Accept-Language": "de", "X-Forwarded-For": "203.0.113.9"}
        answer = served.client.post("/api/v1/ask", json={"n": 3}, headers=headers)
    assert (answer.status_code, answer.headers["x-own"]) == (207, "kept")
    told = answer.json()
    assert (told["path"], told["body"]) == ("/api/v1/ask", {"n": 3})
    sent = {name.lower(): value for name, value in told["headers"].items()}
    assert sent["authorization"] == f"Bearer {served.ann}"
    assert sent["accept-language"] == "de"
    # What a client says of itself is not believed.
    assert sent["x-forwarded-for"] == "testclient"
    assert sent["x-onebit-passed"] == "1"
    assert sent["host"] == "127.0.0.1:8000"


def test_a_server_that_stops_in_the_middle_of_its_answer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tested = threading.Event()

    class Hanging(Other):
        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"half")
            tested.wait(30)

    served = serve(tmp_path)
    monkeypatch.setattr(elsewhere, "REPLY_SECONDS", 0.3)
    with running(Hanging) as url:
        monkeypatch.setattr(served.site, "holder", lambda study_id: url)
        try:
            with pytest.raises(TimeoutError):
                served.client.post("/api/v1/ask", json={"n": 1}, headers=bearer(served.ann))
        finally:
            tested.set()


def test_a_study_that_another_server_took_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = serve(tmp_path)
    room = served.site.room(1)

    def taken() -> None:
        raise InUseError("another process has taken this study since")

    monkeypatch.setattr(room.study, "keep_lock", taken)
    monkeypatch.setattr("onebit.web.site.KEEP_EVERY", 0.01)
    served.site.address = "http://10.0.0.5:8000"
    keeping = threading.Thread(target=served.site.keep_locks)
    keeping.start()
    end = time.monotonic() + 60
    while served.site.opened(1) is not None and time.monotonic() < end:
        time.sleep(0.01)
    served.site._closed.set()
    keeping.join()
    assert served.site.opened(1) is None


def test_an_address_has_room_in_the_name_of_a_session() -> None:
    check_address("a" * (MOST_NAME - len(AT)))
    with pytest.raises(InvalidInputError, match="more than 53 letters"):
        check_address("a" * (MOST_NAME - len(AT) + 1))
