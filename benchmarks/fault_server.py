"""``faulty_server.py`` as a process that faults can be done to."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

#: Seconds in which a write must come to each of its points.
PATIENCE = 60.0
ROOT = Path(__file__).parents[1]


class Server:
    """``onebit serve``, which can be killed and started again at the same port."""

    def __init__(self, storage: str, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._command = [sys.executable, "-m", "benchmarks.faulty_server", "serve"]
        self._command += ["--storage", storage, "--port", str(self.port)]
        self._folder = folder
        self._log = (folder / "server.log").open("ab")
        paths = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
        self._environment = {**os.environ, "FAULTS": str(folder), "PYTHONPATH": os.pathsep.join(paths)}
        self.start()

    def start(self) -> None:
        # In a group of its own, which can lose its power.
        self.process = subprocess.Popen(
            self._command,
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            start_new_session=True,
        )

    async def end(self, how: signal.Signals) -> None:
        self.process.send_signal(how)
        await asyncio.to_thread(self.process.wait)

    async def die_at(self, point: str) -> bool:
        """Have it killed when it comes to a point of a write; whether it did."""
        new, wish = self._folder / "to die at", self._folder / "die at"
        new.write_text(point)
        new.replace(wish)
        try:
            await asyncio.to_thread(self.process.wait, PATIENCE)
        except subprocess.TimeoutExpired:
            wish.unlink(missing_ok=True)
            return False
        self.start()
        return True

    async def set_clock(self, days: float) -> None:
        new = self._folder / "clock to be"
        new.write_text(str(86_400 * days))
        new.replace(self._folder / "clock")

    @contextlib.contextmanager
    def still(self) -> Iterator[None]:
        """While this is entered, the server does nothing."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)
