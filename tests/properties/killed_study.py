"""Run a study under load, kill its process at random moments, and check that nothing acknowledged is lost or doubled.

Run as ``python -m tests.properties.killed_study KIND STORAGE N_KILLS SEED``: a process of its own, which imports once
and forks whom it kills. It prints one JSON object with what it found.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from typing import Any

import numpy as np
from tests.problems import models_of_accuracy

from onebit.errors import AlreadyAnsweredError
from onebit.log.events import Answered, Undone
from onebit.log.fold import fold
from onebit.records import Answer, Status
from onebit.store.database import InUseError
from onebit.store.store import Store
from onebit.study.opening import create_learning_study, create_study, load_study
from onebit.study.study import Offer, Study

N_RATERS = 4
N_ITEMS, N_LABELS = 5000, 5
#: Models that are as good as each other, so that there is always something to ask.
PREDICTIONS, TRUTH = models_of_accuracy(np.random.default_rng(0), np.array([0.5, 0.5]), N_ITEMS, N_LABELS)
#: Acknowledgements that are waited for before a kill, at most.
MOST_ANSWERS = 30


def create(kind: str, storage: str) -> None:
    """A study of that kind that lasts; leases are short."""
    if kind == "selection":
        create_study(PREDICTIONS, "s", storage=storage, eps=1e-4, delta=1e-9, f_no=1e-3, lease_seconds=0.05).close()
        return
    # Few, so that choosing among them is quick.
    x = np.random.default_rng(1).standard_normal((500, 3)) + 2 * np.eye(N_LABELS)[TRUTH[:500], :3]
    labels = tuple(map(str, range(N_LABELS)))
    create_learning_study(x, "s", labels=labels, storage=storage, budget=10**6, lease_seconds=0.05).close()


def resume(storage: str) -> Study:
    """Open the study as soon as the database has noticed that its writer is dead."""
    while True:
        try:
            return load_study("s", storage=storage)
        except InUseError:
            time.sleep(0.01)


def work(storage: str, pipe: int, seed: int) -> None:
    """What the victim does: raters answer, and now and then take an answer back; each acknowledgement is told."""
    study = resume(storage)
    os.write(pipe, b'["ready"]\n')

    def rate(name: str, rng: np.random.Generator) -> None:
        while True:
            offer = study.ask(name)
            if offer is Status.DONE:
                # The reader finds the pipe closed, and fails.
                os._exit(1)
            if not isinstance(offer, Offer):
                time.sleep(0.001)
                continue
            said = bool(TRUTH[offer.item] == offer.label)
            token = f"{name} {rng.integers(2**62)}"
            try:
                study.tell(offer, said, token=token)
            except AlreadyAnsweredError:
                # Leases are short here, and somebody else was quicker.
                continue
            os.write(pipe, (json.dumps(["told", offer.id, said, token]) + "\n").encode())
            if rng.random() < 0.1:
                undone = study.undo(offer)
                os.write(pipe, (json.dumps(["undo", offer.id, undone.name, token]) + "\n").encode())

    for i in range(N_RATERS):
        threading.Thread(target=rate, args=(f"rater {i}", np.random.default_rng([seed, i])), daemon=True).start()
    signal.pause()


def kill_one(storage: str, seed: int) -> tuple[list[Any], float]:
    """Fork a victim, kill it while it works; what it acknowledged, and how long it took to be ready."""
    reads, writes = os.pipe()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(reads)
        try:
            work(storage, writes, seed)
        finally:
            os._exit(1)
    os.close(writes)
    rng = np.random.default_rng([seed, 99])
    with open(reads, "rb") as told:
        early = [told.readline()]
        seconds = time.monotonic() - began
        # So many answers later and a moment more, however slow the machine; sometimes while the first is on its way.
        early += [told.readline() for _ in range(int(rng.integers(0, MOST_ANSWERS)))]
        time.sleep(float(rng.uniform(0, 0.02)))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        lines = [line for line in told.read().split(b"\n") if line.endswith(b"]")]
    return [json.loads(line) for line in (*early, *lines)], seconds


def main(kind: str, storage: str, n_kills: int, seed: int) -> dict[str, Any]:
    child = os.fork()
    if child == 0:
        create(kind, storage)
        os._exit(0)
    os.waitpid(child, 0)
    acknowledged: list[Any] = []
    slowest = 0.0
    for i in range(n_kills):
        told, seconds = kill_one(storage, seed * 1000 + i)
        acknowledged += [each for each in told if each[0] != "ready"]
        slowest = max(slowest, seconds)
    with Store(storage) as store:
        log = store.log(1).events
    tokens = Counter(event.token for event in log if isinstance(event, Answered))
    in_force: dict[int, Answer | int] = {}
    n_doubled = 0
    for event in log:
        if isinstance(event, Answered):
            n_doubled += event.question_id in in_force
            in_force[event.question_id] = event.answer
        elif isinstance(event, Undone):
            del in_force[event.question_id]
    # The fold that verify uses takes every log that a killed process leaves.
    course = fold(log)
    said = {event.token: event.answer is Answer.YES for event in log if isinstance(event, Answered)}
    lost = [each for each in acknowledged if each[0] == "told" and said.get(each[3]) != each[2]]
    with resume(storage) as first:
        digest, answers = first.digest(), {number: event.answer for number, event in first._course.answered.items()}
    with load_study("s", storage=storage, read_only=True) as second:
        same = second.digest() == digest
    return {
        "n_acknowledged": sum(each[0] == "told" for each in acknowledged),
        "n_undone": sum(each[0] == "undo" and each[2] == "UNDONE" for each in acknowledged),
        "n_logged": sum(tokens.values()),
        "lost": lost,
        "n_doubled": n_doubled + sum(n - 1 for n in tokens.values()),
        "state_is_the_log": same and answers == in_force == {n: each.answer for n, each in course.answered.items()},
        "slowest_start": slowest,
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
