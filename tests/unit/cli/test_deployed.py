"""``onebit serve`` behind nginx and Caddy with TLS, set up by the files of ``examples/deploy``; and the systemd units.

Each is skipped where the program is missing.
"""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.unit.web.served import make_study

from onebit.store.store import Store
from onebit.web.access import Access

DEPLOY = Path(__file__).parents[3] / "examples" / "deploy"
NAME = "raters.example.org"
#: Seconds until a program must be there.
PATIENCE = 60.0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def needed(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed")
    return path


@contextmanager
def running(command: list[str], folder: Path, port: int) -> Iterator[None]:
    """A program that is there when its port is."""
    with (folder / "output").open("ab") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)
    try:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        else:
            pytest.fail((folder / "output").read_text())
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def nginx(folder: Path, port: int, behind: int) -> list[str]:
    site = (DEPLOY / "nginx.conf").read_text()
    site = site.replace("listen 443", f"listen 127.0.0.1:{port}").replace("127.0.0.1:8000", f"127.0.0.1:{behind}")
    site = site.replace("/etc/ssl/raters", f"{folder}/raters")
    temporary = " ".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = f"daemon off; master_process off; pid {folder}/pid; error_log stderr; events {{}}\n"
    (folder / "nginx.conf").write_text(f"{main}http {{ {temporary}\n{site} }}")
    return [needed("nginx"), "-e", "stderr", "-c", str(folder / "nginx.conf")]


def caddy(folder: Path, port: int, behind: int) -> list[str]:
    site = (DEPLOY / "Caddyfile").read_text().replace("127.0.0.1:8000", f"127.0.0.1:{behind}")
    site = site.replace(f"\n{NAME} {{", f"\n{NAME}:{port} {{\n\ttls {folder}/raters.pem {folder}/raters.key")
    (folder / "Caddyfile").write_text(f"{{\n\tadmin off\n\tauto_https disable_redirects\n}}\n{site}")
    command = [needed("caddy"), "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    return ["env", f"HOME={folder}", f"XDG_DATA_HOME={folder}", f"XDG_CONFIG_HOME={folder}", *command]


@dataclass
class Deployed:
    """A server behind a proxy. ``links`` are the owner's and a rater's, ``log`` is the log of requests."""

    port: int
    links: dict[str, str]
    folder: Path

    @contextmanager
    def called(self, method: str, path: str, body: Any = None, **headers: str) -> Iterator[http.client.HTTPResponse]:
        """An answer over TLS, by the public name."""
        trusting = ssl.create_default_context(cafile=str(self.folder / "raters.pem"))
        line = trusting.wrap_socket(socket.create_connection(("127.0.0.1", self.port), 30), server_hostname=NAME)
        connection = http.client.HTTPConnection(NAME)
        connection.sock = line
        sent = {"Host": NAME, "Origin": f"https://{NAME}", **headers}
        with closing(connection):
            connection.request(method, path, None if body is None else json.dumps(body), sent)
            with connection.getresponse() as response:
                yield response

    def status(self, method: str, path: str, body: Any = None, **headers: str) -> int:
        with self.called(method, path, body, **headers) as response:
            return response.status


@pytest.fixture(scope="module", params=[nginx, caddy], ids=["nginx", "caddy"])
def deployed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    tmp_path = tmp_path_factory.mktemp("deployed")
    make: Callable[[Path, int, int], list[str]] = request.param
    port, behind = free_port(), free_port()
    command = make(tmp_path, port, behind)
    certificate = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={NAME}"]
    certificate += ["-addext", f"subjectAltName=DNS:{NAME}", "-keyout", "raters.key", "-out", "raters.pem"]
    subprocess.run([needed("openssl"), *certificate], cwd=tmp_path, check=True, capture_output=True)
    storage = f"sqlite:///{tmp_path}/studies.db"
    make_study(storage, tmp_path)
    serve = [sys.executable, "-c", "from onebit.cli.main import main; main()", "serve", "--storage", storage]
    serve += ["--port", str(behind), "--public-url", f"https://{NAME}", "--trust-proxy", "127.0.0.1"]
    serve += ["--access-log", "requests"]
    with Store(storage) as store:
        access = Access(store)
        links = {"o": access.make("owner", rater="me")[1], "r": access.make("rater", 1, "ann")[1]}
    with running(serve, tmp_path, behind), running(command, tmp_path, port):
        yield Deployed(port, links, tmp_path)


def test_raters_and_owners_come_in_by_the_proxy(deployed: Deployed) -> None:
    bearer = {"Authorization": f"Bearer {deployed.links['r']}"}
    with deployed.called("GET", f"/r/{deployed.links['r']}") as page:
        assert page.status == 200
        assert "Can\u2019t tell" in page.read().decode()
    with deployed.called("POST", "/api/v1/ask", {"n": 1}, **bearer) as asked:
        question = json.load(asked)["questions"][0]["question"]
    told = {"question": question, "answer": "no", "token": "t"}
    assert deployed.status("POST", "/api/v1/tell", told, **bearer) == 200
    with deployed.called("GET", f"/o/{deployed.links['o']}") as entered:
        assert entered.status == 303
        cookie = entered.getheader("Set-Cookie", "")
    assert "Secure" in cookie
    # What the dashboard listens to comes at once, not when there is enough of it.
    with deployed.called("GET", "/api/v1/studies/1/live", Cookie=cookie.split(";")[0]) as live:
        assert live.status == 200
        assert live.readline().startswith(b"data:")


def test_a_client_cannot_say_where_it_comes_from_and_links_are_in_no_log(deployed: Deployed) -> None:
    told = {"X-Forwarded-For": "203.0.113.9"}
    assert deployed.status("GET", f"/r/{deployed.links['r']}", **told) == 200
    assert deployed.status("POST", "/api/v1/ask", {}, Origin="https://evil.example") == 403
    lines = [json.loads(line) for line in (deployed.folder / "requests").read_text().splitlines()]
    assert {line["from"] for line in lines} == {"127.0.0.1"}
    for path in deployed.folder.glob("*log*"):
        assert deployed.links["r"] not in path.read_text(errors="replace")


@pytest.mark.parametrize("unit", ["onebit.service", "onebit-backup.service", "onebit-backup.timer"])
def test_units_are_what_systemd_takes(unit: str, tmp_path: Path) -> None:
    program = needed("systemd-analyze")
    for each in DEPLOY.glob("onebit*"):
        # The program need not be installed here.
        (tmp_path / each.name).write_text(each.read_text().replace("/opt/onebit/bin/onebit", "/bin/true"))
    done = subprocess.run([program, "verify", tmp_path / unit], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
