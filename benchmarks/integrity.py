"""Damage at rest: single bits flipped in a store, and ends cut off; each is noticed, or harmless, or neither.

Two studies, one with two hundred answers: the file of the store that was closed, and the write-ahead log that a killed
server leaves, each with the notes beside it. *Noticed*: ``onebit study check`` says so. *Harmless*: it does not, and
every log, table and text has the digest that it had. *Unnoticed*: neither.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from benchmarks.fault_disks import flip, found_in, found_whole
from benchmarks.harness import Case, run_cases
from tests.unit.study.runs import PREDICTIONS, TRUTH

from onebit.study.opening import create_study
from onebit.study.study import Offer

N_ANSWERS, N_FLIPS, N_CUTS = 200, 400, 50
FILES = {"store": "studies.db", "write-ahead log": "studies.db-wal"}


def make_stores(folder: Path) -> None:
    """A store while a server writes, of which the most is in its write-ahead log; and one that was closed."""
    place = folder / "live"
    place.mkdir()
    storage = f"sqlite:///{place}/studies.db"
    create_study(PREDICTIONS, "first", storage=storage, eps=0.1).close()
    with create_study(PREDICTIONS, "s", storage=storage, eps=0.01) as study:
        for _ in range(N_ANSWERS):
            offer = study.ask("ann")
            if not isinstance(offer, Offer):
                break
            study.tell(offer, bool(TRUTH[offer.item] == offer.label))
        copy(place, folder / "write-ahead log")
    copy(place, folder / "store")


def copy(source: Path, target: Path) -> None:
    target.mkdir()
    for path in source.glob("studies.db*"):
        if not path.name.endswith("-shm"):
            shutil.copy(path, target)


def cut(path: Path, draw: random.Random) -> None:
    """Cut off a part of the end of a file."""
    with path.open("r+b") as file:
        file.truncate(draw.randrange(path.stat().st_size))


DAMAGES: dict[str, tuple[Callable[[Path, random.Random], None], int]] = {
    "bit flipped": (flip, N_FLIPS),
    "end cut off": (cut, N_CUTS),
}


def measure(case: Case) -> Case:
    damage, n = DAMAGES[case["damage"]]
    draw, became = random.Random(3), Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_stores(folder)
        url, source = "sqlite:///{}/studies.db", folder / case["file"]
        size = (source / FILES[case["file"]]).stat().st_size
        copy(source, folder / "looked at")
        whole = found_whole(url.format(folder / "looked at"))
        for _ in range(n):
            copy(source, folder / "damaged")
            damage(folder / "damaged" / FILES[case["file"]], draw)
            became[found_in(url.format(folder / "damaged"), whole)] += 1
            shutil.rmtree(folder / "damaged")
    return {"tried": n, "bytes": size, **{what: became[what] for what in ("noticed", "harmless", "unnoticed")}}


if __name__ == "__main__":
    run_cases("integrity", [{"file": file, "damage": damage} for damage in DAMAGES for file in FILES], measure)
