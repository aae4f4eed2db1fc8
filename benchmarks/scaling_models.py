"""How a certified run grows with the number of models, on one machine; and beside 0.1.0.

Models are right on 40 to 80% of the items, each on its own, and say one of ten labels. "Planning" is all that happens
before the first question: reading the class, the vote, the shares of delta. Seconds are those of the processor, as
others may use the machine; memory is the highest beside the table of one byte per cell, and "bytes per cell" that over
its cells. "Verify" recomputes the certificate from the log of the run, without the intervals of single models; its
memory is beside table and log. Each case runs in a process of its own. 0.1.0 is found in the folder ONEBIT_OLD, the
``src`` of a checkout. ONEBIT_MOST_MODELS leaves out cases with more models.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import Case, run_cases
from numpy.typing import NDArray

N_LABELS, EPS = 10, 0.05
MOST_MODELS = int(os.environ.get("ONEBIT_MOST_MODELS", "1000000"))


def cases() -> Iterator[Case]:
    for n_models in (10, 100, 1_000, 10_000, 30_000, 100_000):
        yield {"N": n_models, "n": 2_000, "protocol": "one-shot", "to the end": True, "verified": True}
    yield {"N": 10_000, "n": 2_000, "protocol": "follow-up", "to the end": True}
    yield {"N": 1_000_000, "n": 2_000, "protocol": "one-shot", "to the end": False}


def beside_the_old() -> Iterator[Case]:
    yield {"N": 100_000, "n": 2_000, "protocol": "one-shot", "to the end": False}
    for protocol in ("one-shot", "follow-up"):
        yield {"N": 2_000, "n": 2_000, "protocol": protocol, "to the end": True}


def make_table(n_models: int, n_items: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """What the models say, (N, n), and the right labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, N_LABELS, n_items).astype(np.int8)
    said = np.empty((n_models, n_items), dtype=np.int8)
    for part in np.array_split(said, max(1, n_models // 1000)):
        right = rng.random(part.shape, dtype=np.float32) < rng.uniform(0.4, 0.8, (len(part), 1))
        part[:] = np.where(right, y, rng.integers(0, N_LABELS, part.shape, dtype=np.int8))
    return said, y


def peak_gb() -> float:
    """The most memory that this process has held since the peak was forgotten, if ever."""
    told = Path("/proc/self/status").read_text()
    return int(told.partition("VmHWM:")[2].split()[0]) * 1024 / 1e9


def forget_peak() -> float:
    """From now on the peak is counted anew; what is held now."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_gb()


def run_here(case: Case) -> Case:
    """By whichever onebit is imported."""
    from onebit.hypotheses.finite import PredictionTable
    from onebit.learners.certified import CertifiedLearner
    from onebit.learners.items import Pool
    from onebit.records import Answer

    def learner(said: NDArray[np.int8]) -> CertifiedLearner:
        pool = Pool(np.arange(said.shape[1]))
        return CertifiedLearner(PredictionTable(said, N_LABELS), pool, eps=EPS, protocol=case["protocol"], seed=1)

    def go_on(learner: CertifiedLearner, y: NDArray[np.int8]) -> None:
        while isinstance(questions := learner.ask(200), tuple):
            for each in questions:
                learner.tell(each.id, Answer.YES if y[each.item] == each.label else Answer.NO)

    # What is compiled, is compiled before: that takes the same time whatever the size.
    small, truth = make_table(600, 500)
    go_on(learner(small), truth)
    said, y = make_table(case["N"], case["n"])
    before, start = forget_peak(), time.process_time()
    chosen = learner(said)
    chosen.ask(1)
    figures: Case = {"planning, s": time.process_time() - start, "planning, GB": peak_gb() - before}
    if case["to the end"]:
        for answered in chosen._ledger.questions:
            chosen.tell(answered.id, Answer.YES if y[answered.item] == answered.label else Answer.NO)
        go_on(chosen, y)
        figures |= {"all, s": time.process_time() - start, "answers": chosen.result.n_answers}
        figures |= {"eps": chosen.result.achieved_eps, "may be best": len(chosen.result.survivors)}
    gb = peak_gb() - before
    figures |= {"all, GB": gb, "bytes per cell": gb * 1e9 / said.size}
    return figures | verified(chosen, said) if case.get("verified") else figures


def verified(learner: Any, said: NDArray[np.int8]) -> Case:
    """What it takes to check the log of a run."""
    from onebit.verify.certificate import verify
    from onebit.verify.recount import EPS_STEP

    log = learner.epochs, learner._ledger.questions, learner._ledger.answers, learner.closings
    setting, result = learner._setting, learner.result
    del learner
    before, start = forget_peak(), time.process_time()
    verdict = verify(setting, said, N_LABELS, *log)
    gb = peak_gb() - before
    seconds = time.process_time() - start
    same = verdict.survivors == result.survivors and verdict.certified_eps <= result.achieved_eps + EPS_STEP
    agrees = verdict.ok and same
    return {"verify, s": seconds, "verify, GB": gb, "verify, bytes per cell": gb * 1e9 / said.size, "agrees": agrees}


def in_own_process(case: Case, source: str | None = None) -> Case:
    root = Path(__file__).parent.parent
    paths = [source or str(root / "src"), str(root)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "benchmarks.scaling_models", json.dumps(case)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=environment)
    figures: Case = json.loads(done.stdout)
    return figures


def ratios(case: Case) -> Case:
    """0.1.0's figures over ours."""
    new, old = in_own_process(case), in_own_process(case, os.environ["ONEBIT_OLD"])
    return {
        **{name: new[name] for name in new if name.endswith(", s")},
        **{f"0.1.0 / now: {name}": old[name] / max(new[name], 1e-3) for name in new if name.endswith((", s", ", GB"))},
    }


def main() -> None:
    run_cases("scaling_models", [case for case in cases() if case["N"] <= MOST_MODELS], in_own_process)
    if os.environ.get("ONEBIT_OLD"):
        run_cases("scaling_beside_0.1.0", beside_the_old(), ratios)
    else:
        print("0.1.0 is not there to be run beside; set ONEBIT_OLD to the src of a checkout of it")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(run_here(json.loads(sys.argv[1]))))
    else:
        main()
