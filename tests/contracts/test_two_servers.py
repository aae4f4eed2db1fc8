"""Two servers on one PostgreSQL store: each study is open on one of them, and moves when that one dies."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.unit.web.served import make_study, right_answer

from onebit.store.store import Store
from onebit.study.opening import load_study
from onebit.web.access import Access

pytestmark = pytest.mark.parametrize("storage", ["postgresql"], indirect=True)
#: Seconds in which something must have happened; none of it is timed.
PATIENCE = 120.0


@dataclass
class Server:
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    url: str

    def call(self, path: str, token: str, body: dict[str, Any] | None = None, headers: Any = ()) -> tuple[int, Any]:
        """The status and the JSON of an answer."""
        request = urllib.request.Request(
            f"{self.url}/api/v1/{path}", None if body is None else json.dumps(body).encode()
        )
        for name, value in (("Authorization", f"Bearer {token}"), ("Content-Type", "application/json"), *headers):
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def until_it_answers(self, path: str, token: str, body: dict[str, Any]) -> Any:
        """What is answered once the server does: it may be told to try again."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            status, told = self.call(path, token, body)
            if status == 200:
                return told
            assert status == 503, told
            time.sleep(0.2)
        raise AssertionError("it never answered")


@contextlib.contextmanager
def server(storage: str, folder: Path) -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-c", "from onebit.cli.main import main; main()", "serve", "--storage", storage]
    command += ["--port", str(port), "--inner-url", url]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if "Ctrl-C" in line:
                    break
            yield Server(process, url)
        finally:
            process.kill()


@pytest.fixture
def links(storage: str, tmp_path: Path) -> dict[str, str]:
    """The tokens of the owner and two raters of a study."""
    make_study(storage, tmp_path)
    with Store(storage) as store:
        access = Access(store)
        found = {rater: access.make("rater", 1, rater)[1] for rater in ("ann", "bob")}
        return found | {"owner": access.make("owner", rater="me")[1]}


def answer(at: Server, token: str, n: int) -> None:
    for _ in range(n):
        question = at.until_it_answers("ask", token, {"n": 1})["questions"][0]
        body = {
            "question": question["question"],
            "answer": right_answer(question),
            "token": f"{token}{question['question']}",
        }
        at.until_it_answers("tell", token, body)


def n_answers(at: Server, owner: str) -> int:
    status, told = at.call("studies/1", owner)
    assert status == 200, told
    n: int = told["report"]["answers"]
    return n


def first_line(at: Server, token: str) -> bytes:
    """The first that a page hears which watches the study."""
    request = urllib.request.Request(f"{at.url}/api/v1/studies/1/live", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as live:
        line: bytes = live.readline()
        return line


def test_a_study_is_served_by_one_and_moves_when_it_dies(storage: str, links: dict[str, str], tmp_path: Path) -> None:
    with server(storage, tmp_path) as first, server(storage, tmp_path) as second:
        answer(first, links["ann"], 3)
        # The second passes on what it is asked: both raters answer one study.
        answer(second, links["bob"], 3)
        answer(second, links["ann"], 2)
        assert n_answers(first, links["owner"]) == n_answers(second, links["owner"]) == 8
        assert first_line(second, links["owner"]).startswith(b"data: ")
        with Store(storage) as store:
            assert store.holder(1) == first.url
        # What is refused is refused through the other, too.
        assert second.call("tell", links["bob"], {"question": 10**6, "answer": "yes", "token": "t"})[0] == 404
        # What was passed on already is not passed on again, or two servers could send it to and fro.
        status, told = second.call("ask", links["bob"], {"n": 1}, [("X-Onebit-Passed", "1")])
        assert (status, "another server" in told["error"]) == (503, True)

        first.process.kill()
        first.process.wait(PATIENCE)
        answer(second, links["bob"], 2)
        assert n_answers(second, links["owner"]) == 10
        with Store(storage) as store:
            assert store.holder(1) == second.url
        with server(storage, tmp_path) as third:
            answer(third, links["ann"], 1)
            assert n_answers(third, links["owner"]) == 11
    with load_study("intents", storage=storage, read_only=True) as study:
        assert study.status().n_answers == 11


def test_an_owner_deletes_through_any_server(storage: str, links: dict[str, str], tmp_path: Path) -> None:
    with server(storage, tmp_path) as first, server(storage, tmp_path) as second:
        answer(first, links["ann"], 1)
        assert second.call("studies/1/delete", links["owner"], {"name": "intents"})[0] == 200
        assert first.call("studies", links["owner"]) == second.call("studies", links["owner"]) == (200, {"studies": []})
