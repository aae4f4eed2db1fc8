"""What a study costs: answers a second, waiting times with a hundred raters, replay, import.

Every answer is durable when it is acknowledged. The table has 50 models, 20,000 items and 20 labels; the figures that
matter for comparison on another machine are those of ``sync``, writes of 200 bytes and their fsync, side by side.
"""

from __future__ import annotations

import os
import random
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from benchmarks.harness import Case, run_cases

from onebit.log.chain import Chain
from onebit.log.codec import to_json
from onebit.log.events import Answered, Asked, Created
from onebit.log.recorder import Recorder
from onebit.records import Answer, Status
from onebit.store.store import Store
from onebit.study.kinds.selection.selectors import build_selection
from onebit.study.opening import create_study, load_study
from onebit.study.study import Offer, Study

N_MODELS, N_ITEMS, N_LABELS = 50, 20_000, 20
#: Raters at once in the saturated case, and in the one with people.
N_THREADS, N_PEOPLE = 16, 100
#: Seconds that people think.
THINKING = 2.0


def table(n_items: int = N_ITEMS, n_models: int = N_MODELS) -> tuple[np.ndarray, np.ndarray]:
    """Predictions of models with accuracies that are close, so that the run is long; and the truth."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, N_LABELS, n_items)
    right = rng.random((n_models, n_items)) < np.linspace(0.75, 0.8, n_models)[:, None]
    wrong = (truth + rng.integers(1, N_LABELS, (n_models, n_items), dtype=np.int16)) % N_LABELS
    return np.where(right, truth, wrong).astype(np.int16), truth


def measure(case: Case) -> Case:
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{Path(folder)}/studies.db"
        work: dict[str, Callable[[str, Case], Case]] = {
            "saturated": saturated,
            "people": people,
            "replay": replayed,
            "import": imported,
        }
        return work[case["what"]](storage, case)


def new_study(storage: str) -> tuple[Study, np.ndarray]:
    predictions, truth = table()
    return create_study(predictions, "s", storage=storage, eps=0.001, delta=1e-6, learner="certified"), truth


def answer_until(study: Study, truth: np.ndarray, rater: str, end: float, think: float) -> list[tuple[float, float]]:
    """Answer until a moment; how long each ask and each tell took."""
    took: list[tuple[float, float]] = []
    rng = random.Random(rater)
    if think:
        time.sleep(rng.uniform(0, think))
    while (begin := time.perf_counter()) < end:
        offer = study.ask(rater)
        asked = time.perf_counter()
        if not isinstance(offer, Offer):
            # A page looks again after a while; a program soon.
            time.sleep(0.25 if think else 0.005)
            continue
        if think:
            time.sleep(rng.uniform(0.5, 1.5) * think)
        told = time.perf_counter()
        study.tell(offer, bool(truth[offer.item] == offer.label), token=f"{rater} {offer.id}")
        took.append((asked - begin, time.perf_counter() - told))
    return took


def with_raters(study: Study, truth: np.ndarray, n: int, seconds: float, think: float) -> list[tuple[float, float]]:
    took: list[tuple[float, float]] = []
    end = time.perf_counter() + seconds

    def work(rater: str) -> None:
        took.extend(answer_until(study, truth, rater, end, think))

    threads = [threading.Thread(target=work, args=(f"rater {i}",)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return took


def sync_ms(folder: Path) -> float:
    """Milliseconds of one durable write of 200 bytes."""
    file = os.open(folder / "sync", os.O_RDWR | os.O_CREAT)
    begin = time.perf_counter()
    for _ in range(200):
        os.write(file, b"x" * 200)
        os.fsync(file)
    os.close(file)
    return (time.perf_counter() - begin) / 200 * 1000


def saturated(storage: str, case: Case) -> Case:
    """As many answers as can be had: each rater asks and tells without a pause."""
    study, truth = new_study(storage)
    with study:
        with_raters(study, truth, N_THREADS, 3, 0)
        took = with_raters(study, truth, N_THREADS, case["seconds"], 0)
    return {"tells a second": len(took) / case["seconds"], **waits(took), "sync ms": sync_ms(_folder(storage))}


def people(storage: str, case: Case) -> Case:
    """A hundred people who think two seconds."""
    study, truth = new_study(storage)
    with study:
        with_raters(study, truth, N_THREADS, 3, 0)
        took = with_raters(study, truth, N_PEOPLE, case["seconds"], THINKING)
    return {"tells a second": len(took) / case["seconds"], **waits(took), "sync ms": sync_ms(_folder(storage))}


def waits(took: list[tuple[float, float]]) -> Case:
    ask, tell = (np.array(each) * 1000 for each in zip(*took, strict=True))
    return {
        "ask p50 ms": float(np.quantile(ask, 0.5)),
        "ask p99 ms": float(np.quantile(ask, 0.99)),
        "tell p50 ms": float(np.quantile(tell, 0.5)),
        "tell p99 ms": float(np.quantile(tell, 0.99)),
    }


def replayed(storage: str, case: Case) -> Case:
    """Open a study with so many answers."""
    predictions, truth = table()
    create_study(predictions, "s", storage=storage, eps=1e-5, delta=1e-12, f_no=0.001, learner=case["learner"]).close()
    with Store(storage) as store:
        log = store.log(1)
    created = log.events[0]
    assert isinstance(created, Created)
    recorder = Recorder(build_selection(created.selection, created.learner, predictions, N_LABELS).learner, created)
    while len(recorder.course.answered) < case["answers"]:
        asked = recorder.ask(min(1000, case["answers"] - len(recorder.course.answered)))
        if isinstance(asked, Status):
            break
        for question in asked:
            is_right = truth[question.item] == question.label
            recorder.take(Answered(question.id, Answer.YES if is_right else Answer.NO))
    events = recorder.drain()
    with Store(storage) as store:
        chain = Chain(log.head)
        store.append(1, 1, [chain.link(event) for event in events])
    begin = time.perf_counter()
    with load_study("s", storage=storage) as study:
        seconds = time.perf_counter() - begin
        same = study.digest() == recorder.digest()
    n_bytes = sum(len(str(to_json(event))) for event in events if isinstance(event, Asked | Answered))
    return {
        "n answers": len(recorder.course.answered),
        "seconds": seconds,
        "same state": same,
        "MB of log": n_bytes / 1e6,
    }


def imported(storage: str, case: Case) -> Case:
    """Make a study of a CSV with so many items."""
    from onebit.tables import read_table

    path = _folder(storage) / "table.csv"
    predictions, _ = table(case["items"], case["models"])
    with path.open("w") as file:
        file.write("id,text," + ",".join(f"m{h}" for h in range(case["models"])) + "\n")
        for i, column in enumerate(predictions.T.tolist()):
            file.write(f"item{i},the text of item {i}," + ",".join(map(str, column)) + "\n")
    begin = time.perf_counter()
    items = read_table(path, id="id", show=["text"])
    read = time.perf_counter() - begin
    create_study(items, "s", storage=storage, eps=0.01).close()
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "of it reading": read, "MB of CSV": path.stat().st_size / 1e6}


def _folder(storage: str) -> Path:
    return Path(storage.removeprefix("sqlite:///")).parent


if __name__ == "__main__":
    run_cases(
        "study",
        [
            {"what": "saturated", "seconds": 10},
            {"what": "people", "seconds": 20},
            {"what": "replay", "answers": 100_000, "learner": "certified"},
            {"what": "import", "items": 1_000_000, "models": 10},
        ],
        measure,
    )
