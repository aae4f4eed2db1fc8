"""What it takes to serve: an empty environment, the install, and the time until the first page is there.

The project is built first, as a package index would have it, and then installed without any extra, with everything
downloaded anew. The other programs' figures were measured earlier, once, on a machine of the same kind (two cores); run
them there again before drawing fine distinctions.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from benchmarks.harness import Case, run_cases

PROJECT = Path(__file__).parents[1]
#: Starts after the first one; the quickest counts.
N_STARTS = 5
N_LARGEST = 10
MEASURED_EARLIER = {
    "optuna-dashboard": {"install s": 16.0, "MB": 124.0, "first page s": 0.75},
    "Label Studio": {"install s": 211.0, "MB": 976.0, "first page s": 36.0},
}


def measure(case: Case) -> Case:
    return MEASURED_EARLIER.get(case["program"]) or installed()


def installed() -> Case:
    """Install into an empty environment and serve from there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, PROJECT)
        (wheel,) = folder.glob("*.whl")
        _run(sys.executable, "-m", "venv", folder / "env")
        python, site = folder / "env" / "bin" / "python", folder / "env"
        before = megabytes(site)
        begin = time.perf_counter()
        _run(python, "-m", "pip", "install", "-q", "--no-cache-dir", wheel)
        seconds = time.perf_counter() - begin
        starts = [first_page(folder / "env" / "bin" / "onebit", folder) for _ in range(1 + N_STARTS)]
        return {
            "install s": seconds,
            "MB": megabytes(site),
            "first page s": min(starts[1:]),
            "after the install s": starts[0],
            "MB of the empty environment": before,
            "largest, MB": largest(next(site.glob("lib/python*/site-packages"))),
        }


def first_page(onebit: Path, folder: Path) -> float:
    """Seconds from the command to the owner's page, with no study there yet."""
    begin = time.perf_counter()
    command = [str(onebit), "serve", "--port", "0", "--storage", f"sqlite:///{folder}/empty.db"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        try:
            printed = server.stdout.readline() if server.stdout is not None else ""
            link = re.findall(r"http\S+", printed)[0]
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with opener.open(link, timeout=60) as page:
                page.read()
            return time.perf_counter() - begin
        finally:
            server.terminate()


def megabytes(path: Path) -> float:
    """What the files in a folder take on the disk."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_blocks * 512 for file in files if file.is_file() and not file.is_symlink()) / 1e6


def largest(site_packages: Path) -> str:
    """The packages that take most of the space; the libraries that a wheel brings along count with it."""
    sizes: dict[str, float] = {}
    for entry in site_packages.iterdir():
        name = entry.name.partition(".")[0]
        sizes[name] = sizes.get(name, 0.0) + megabytes(entry)
    found = sorted(sizes.items(), key=lambda each: -each[1])[:N_LARGEST]
    return ", ".join(f"{name} {size:.0f}" for name, size in found)


def _run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], check=True)


if __name__ == "__main__":
    run_cases("install", [{"program": name} for name in ("onebit", *MEASURED_EARLIER)], measure)
