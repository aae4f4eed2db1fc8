"""What is refused before anything looks at it, and what every answer carries."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from starlette.testclient import TestClient
from tests.unit.web.served import PREDICTIONS, Served, bearer

from onebit.study.opening import create_study
from onebit.tables.record import make_table
from onebit.web.app import make_app
from onebit.web.constants import MOST_BODY, MOST_FAILURES, MOST_REQUESTS, REQUESTS_A_SECOND, WITHIN
from onebit.web.limits import Failures, Pace, TooManyError
from onebit.web.shield import Shield
from onebit.web.site import Site

#: Texts that would run, or break out of where they are put, if anything were not escaped.
HOSTILE = (
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    '"><svg onload=window.hacked=1>',
    "'-window.hacked=1-'",
    "</title><script>window.hacked=1</script>",
    "{{ 7*7 }}{% for x in y %}",
    "javascript:window.hacked=1",
    "</textarea><iframe srcdoc='<script>parent.hacked=1</script>'>",
    "\u202e<b>turned</b>\u2028<a href=data:text/html,x>",
)

Serving = Callable[..., Served]


@pytest.mark.parametrize("begins", [False, True])
def test_what_is_under_way_when_the_server_is_stopped_is_to_be_sent_again(begins: bool) -> None:
    sent: list[Any] = []

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        if begins:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(60)

    async def stopped() -> None:
        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", b"here")]}
        task = asyncio.create_task(Shield(slow, ["here"])(scope, send, send))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        task.cancel()
        await task

    if begins:
        # Half an answer cannot become another one: the connection is broken off.
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(stopped())
        assert len(sent) == 1
        return
    asyncio.run(stopped())
    start, body = sent
    headers = dict(start["headers"])
    assert (start["status"], headers[b"retry-after"], headers[b"connection"]) == (503, b"2", b"close")
    assert int(headers[b"content-length"]) == len(body["body"])
    assert b"try again" in body["body"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:8000"])
def test_unknown_hosts_are_refused(served: Served, host: str) -> None:
    response = served.client.get(f"/r/{served.ann}", headers={"Host": host})
    assert response.status_code == 400
    assert "--allow-host" in response.json()["error"]


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "LOCALHOST:1234", "[::1]:8000"])
def test_own_hosts_are_let_in(served: Served, host: str) -> None:
    assert served.client.get(f"/r/{served.ann}", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:8000"},
    ],
)
def test_writes_from_other_pages_are_refused(served: Served, headers: dict[str, str]) -> None:
    path = "/api/v1/studies/1/pause"
    cookie = {"Cookie": f"onebit_owner={served.owner}"}
    assert served.client.post(path, json={"paused": True}, headers={**cookie, **headers}).status_code == 403
    assert not served.site.access.is_paused(1)
    own = {"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "same-origin"}
    assert served.client.post(path, json={"paused": True}, headers={**cookie, **own}).status_code == 200


DIGITS = "9" * 5000


@pytest.mark.parametrize(
    "path",
    [
        f"/studies/{DIGITS}",
        f"/studies/{DIGITS}/live",
        f"/api/v1/studies/{DIGITS}",
        f"/r/token/media/{DIGITS}",
        f"/studies/1/answers?page={DIGITS}",
    ],
)
def test_numbers_of_thousands_of_digits_are_refused(served: Served, path: str) -> None:
    """Python refuses to read them, which must not end a request by an error that nobody handles."""
    served.client.get(f"/o/{served.owner}")
    assert served.client.get(path).status_code in (404, 422)


def test_every_answer_carries_a_policy_without_inline_scripts(served: Served) -> None:
    paths = ("/", f"/r/{served.ann}", "/nothing", "/static/rater.js", "/api/v1/openapi.json", "/api/v1/studies")
    for path in paths:
        headers = served.client.get(path, headers=bearer(served.owner)).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'", path
        assert policy["script-src"] == "'self'", path
        assert policy["frame-ancestors"] == "'none'", path
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
    report = served.get("studies/1/report", served.owner).headers["content-security-policy"]
    assert "sandbox" in report
    assert "script-src" not in report


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_escaped_on_every_page(serving: Serving, text: str) -> None:
    labels = (f"{text}0", f"{text}1", *(f"label {k}" for k in range(3)))
    served = serving(name=text, labels=labels, text=text, instructions=text)
    served.site.access.make("rater", 1, text)
    for _ in range(3):
        (question,) = served.ask(served.ann)
        served.tell(served.ann, question, "yes")
    served.client.get(f"/o/{served.owner}")
    for path in (f"/r/{served.ann}", "/studies/1", "/studies/1/live", "/api/v1/studies/1/report"):
        page = served.client.get(path).text
        assert "<script>window" not in page, path
        for opening in ("<img src=x", "<svg onload", "<iframe", "<b>turned", "<a href=data"):
            assert opening not in page, path


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """A folder with pictures, and a secret beside it."""
    root = tmp_path / "pictures"
    root.mkdir()
    for item in range(PREDICTIONS.shape[1]):
        (root / f"{item}.png").write_bytes(b"\x89PNG picture")
    (tmp_path / "secret.png").write_bytes(b"secret")
    return root


def test_pictures_come_from_below_their_folder_only(
    request: pytest.FixtureRequest, tmp_path: Path, pictures: Path
) -> None:
    storage = f"sqlite:///{tmp_path}/studies.db"
    names = pa.array([f"{item}.png" for item in range(PREDICTIONS.shape[1])])
    models, labels = tuple(f"model {h}" for h in range(len(PREDICTIONS))), tuple("abcde")
    table = make_table(PREDICTIONS.astype("int8"), models, labels, None, "t", show={"image": names})
    create_study(table, "pictures", storage=storage, eps=0.1, media="image", media_root=str(pictures)).close()
    site = Site(storage, tmp_path, "http://127.0.0.1:8000")
    request.addfinalizer(site.close)
    client = TestClient(make_app(site), base_url="http://127.0.0.1:8000")
    token = site.access.make("rater", 1, "ann")[1]
    asked = client.post("/api/v1/ask", json={}, headers=bearer(token)).json()["questions"][0]
    assert asked["item"]["columns"] == []
    response = client.get(asked["item"]["media"]["address"])
    assert (response.content, response.headers["content-type"]) == (b"\x89PNG picture", "image/png")
    assert "sandbox" in response.headers["content-security-policy"]
    # Nobody sees pictures of what others are asked.
    bob = site.access.make("rater", 1, "bob")[1]
    assert client.get(asked["item"]["media"]["address"].replace(token, bob)).status_code == 404
    # A link put there later leads out, and is not followed.
    (pictures / "3.png").unlink()
    (pictures / "3.png").symlink_to(tmp_path / "secret.png")
    row_paths = ["3", "-1", "300", "999999999999", "..%2fsecret.png", "../secret.png", "%2e%2e/secret.png", "3.png"]
    for row in row_paths:
        answer = client.get(f"/r/{token}/media/{row}")
        assert answer.status_code in (404, 422), row
        assert b"secret" not in answer.content.replace(b"secret.png", b""), row
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd"):
        assert client.get(path).status_code == 404


def test_wrong_tokens_are_counted_and_working_ones_get_in_all_the_same(served: Served) -> None:
    codes = [served.post("ask", f"wrong{k}", n=1).status_code for k in range(MOST_FAILURES + 1)]
    assert codes == [401] * MOST_FAILURES + [429]
    assert served.client.get("/r/guess").status_code == 429
    # Also those who come for the first time, the owner among them.
    assert served.ask(served.bob)
    assert served.get("studies", served.owner).status_code == 200
    assert served.client.get(f"/r/{served.ann}").status_code == 200


def test_failures_are_forgotten_after_a_while() -> None:
    now = 0.0
    failures = Failures(lambda: now)
    for _ in range(MOST_FAILURES):
        failures.note("here")
    with pytest.raises(TooManyError):
        failures.note("here")
    failures.note("elsewhere")
    now = WITHIN
    failures.note("here")


def test_a_link_has_room_for_many_requests_and_not_for_any_number() -> None:
    now = 0.0
    pace = Pace(lambda: now)
    for _ in range(MOST_REQUESTS):
        pace.take(1)
    with pytest.raises(TooManyError, match="by this link"):
        pace.take(1)
    pace.take(2)
    now = 1.0
    for _ in range(int(REQUESTS_A_SECOND)):
        pace.take(1)
    with pytest.raises(TooManyError):
        pace.take(1)


def test_large_and_broken_bodies_are_refused(served: Served) -> None:
    headers = bearer(served.ann)
    assert served.client.post("/api/v1/ask", content=b" " * (MOST_BODY + 1), headers=headers).status_code == 413
    chunks = (b" " * 1024 for _ in range(MOST_BODY // 1024 + 1))
    assert served.client.post("/api/v1/ask", content=chunks, headers=headers).status_code == 413
    for broken in (b"", b"{", b"\xff", b"[" * 50_000):
        assert served.client.post("/api/v1/ask", content=broken, headers=headers).status_code == 400
    wrong: Any
    for wrong in ([], {"n": 0}, {"n": "1"}, {"n": True}, {"m": 1}, {"n": 1.5}):
        assert served.client.post("/api/v1/ask", json=wrong, headers=headers).status_code == 422
