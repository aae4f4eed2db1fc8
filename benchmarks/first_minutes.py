"""The first minutes of a new user, timed: `make bench-first_minutes`, or with --tree for another checkout.

A wheel of the tree is installed into an empty environment, whose packages come from pip's cache or the network. Then a
table of 450 messages, 8 models and 8 intents is asked about at a terminal, by somebody who knows the answers and thinks
for a second before each key, until the certificate; and the same table is served, with nothing compiled again, to one
rater over the API. Nothing is kept from before in either: what is compiled is compiled then.
"""

from __future__ import annotations

import argparse
import csv
import os
import pty
import random
import re
import secrets
import select
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from json import dumps, loads
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

INTENTS = ("refund", "lost luggage", "boarding pass", "seat upgrade", "pet travel", "cancel", "delay", "password")
N_ITEMS, N_MODELS = 450, 8
#: What is asked for, and seconds that the rater thinks before a key.
EPS, THINK = 0.1, 1.0
#: Keys that the rater presses on the page.
KEYS_SERVED = 60
#: Seconds after which something has gone wrong.
PATIENCE = 600.0
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\].*?\x07|\r")
QUESTION = re.compile(r"item (\S+).*?Is (.+?) right\?.*?go on later", re.DOTALL)


def write_table(path: Path) -> dict[str, str]:
    """A table of predictions; the right label of each item."""
    rng = random.Random(1)
    truth: dict[str, str] = {}
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", *(f"model {h}" for h in range(N_MODELS))])
        for item in range(N_ITEMS):
            truth[f"m{item}"] = right = rng.choice(INTENTS)
            said = [right if rng.random() < 0.5 + 0.05 * h else rng.choice(INTENTS) for h in range(N_MODELS)]
            writer.writerow([f"m{item}", f"message {item} about {right}", *said])
    return truth


def install(tree: Path, folder: Path) -> tuple[Path, float]:
    """An environment with a wheel of the tree in it: its folder of commands, and the seconds that pip took."""
    wheels = folder / "wheels"
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(wheels)]
    subprocess.run([*build, str(tree)], check=True)
    venv.create(folder / "env", with_pip=True)
    commands = folder / "env" / "bin"
    began = time.monotonic()
    wheel = next(wheels.glob("onebit-*.whl"))
    subprocess.run([commands / "pip", "install", "--quiet", "--disable-pip-version-check", wheel], check=True)
    return commands, time.monotonic() - began


def forget_compiled(commands: Path) -> None:
    """As after the installation: no compiled kernels."""
    for kept in commands.parent.rglob("*.nb[ci]"):
        kept.unlink()


class Terminal:
    """A command at a terminal, and what it has written since the last key."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.process_id, self._terminal = pty.fork()
        if self.process_id == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self._written = ""

    def until(self, wanted: re.Pattern[str]) -> re.Match[str] | None:
        """What is looked for, once it is written; None if the command ends before."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = wanted.search(ANSI.sub("", self._written))
            if found:
                return found
            if select.select([self._terminal], [], [], 1.0)[0]:
                try:
                    self._written += os.read(self._terminal, 65536).decode(errors="replace")
                except OSError:
                    return None
        sys.exit(f"nothing came for {PATIENCE:.0f} s; the last was: {self._written[-500:]}")

    def press(self, key: str) -> None:
        self._written = ""
        os.write(self._terminal, key.encode())


def processor_seconds(process_id: int) -> float:
    """What a process has used of the processor so far."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def at_the_terminal(commands: Path, folder: Path, truth: dict[str, str]) -> dict[str, float]:
    """``onebit select`` to its certificate."""
    environment = {**os.environ, "COLUMNS": "200"}
    environment.pop("PYTHONPATH", None)
    began = time.monotonic()
    asked = [str(commands / "onebit"), "select", "table.csv", "--id", "id", "--show", "text", "--eps", str(EPS)]
    terminal = Terminal([*asked, "--protocol", "follow-up", "--exhaustive"], folder, environment)
    found = terminal.until(QUESTION)
    figures = {"first question": time.monotonic() - began, "its processor": processor_seconds(terminal.process_id)}
    waits = []
    while found is not None:
        time.sleep(THINK)
        terminal.press("y" if truth[found[1]] == found[2] else "n")
        pressed = time.monotonic()
        found = terminal.until(QUESTION)
        if found is not None:
            waits.append(time.monotonic() - pressed)
    os.waitpid(terminal.process_id, 0)
    return {
        **figures,
        "longest key": max(waits),
        "keys": len(waits) + 1,
        "to the certificate": time.monotonic() - began,
    }


@contextmanager
def serving(commands: Path, folder: Path) -> Iterator[tuple[str, str, int]]:
    """``onebit serve``: its address, the rater's token, and its process."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(commands / "onebit"), "serve", "--storage", "sqlite:///studies.db", "--port", "0", "--rater", "ann"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        links: list[str] = []
        while process.stdout is not None and len(links) < 2:
            links += re.findall(r"http\S+", process.stdout.readline())
        address, _, token = links[1].partition("/r/")
        yield address, token, process.pid
        process.terminate()


def on_the_page(commands: Path, folder: Path, truth: dict[str, str]) -> dict[str, float]:
    """``onebit serve``: from its start to the first question, then keys."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    create = [str(commands / "onebit"), "study", "create", "first", "table.csv", "--id", "id", "--show", "text"]
    options = ["--eps", str(EPS), "--protocol", "follow-up", "--exhaustive", "--storage", "sqlite:///studies.db"]
    subprocess.run([*create, *options], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    forget_compiled(commands)
    began = time.monotonic()
    with serving(commands, folder) as (address, token, process_id):

        def call(name: str, **body: Any) -> Any:
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
            request = urllib.request.Request(f"{address}/api/v1/{name}", dumps(body).encode(), headers)
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return loads(answer.read())

        (question,) = call("ask", n=1)["questions"]
        figures = {"first question": time.monotonic() - began, "its processor": processor_seconds(process_id)}
        waits = []
        for _ in range(KEYS_SERVED):
            time.sleep(THINK)
            right = truth[question["item"]["id"]] == question["label"]["name"]
            pressed = time.monotonic()
            call("tell", question=question["question"], answer="yes" if right else "no", token=secrets.token_hex(16))
            asked = call("ask", n=1)["questions"]
            waits.append(time.monotonic() - pressed)
            if not asked:
                break
            (question,) = asked
    return {**figures, "longest key": max(waits), "keys": len(waits)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, default=Path(__file__).parents[1], help="The checkout that is installed.")
    tree = parser.parse_args().tree.resolve()
    folder = Path(tempfile.mkdtemp())
    try:
        commands, installed = install(tree, folder)
        truth = write_table(folder / "table.csv")
        terminal = at_the_terminal(commands, folder, truth)
        page = on_the_page(commands, folder, truth)
    finally:
        shutil.rmtree(folder)
    table = Table("seconds", "onebit select", "onebit serve", title=f"first minutes; load {os.getloadavg()[0]:.1f}")
    for name in dict.fromkeys([*terminal, *page]):
        cells = [f"{figures[name]:.2f}" if name in figures else "" for figures in (terminal, page)]
        table.add_row(name, *cells)
    table.add_row("pip install", f"{installed:.2f}", "")
    table.add_row("pip install to the certificate", f"{installed + terminal['to the certificate']:.2f}", "")
    Console().print(table)


if __name__ == "__main__":
    main()
