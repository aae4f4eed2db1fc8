"""Makes ``first_version.db``, the store that every later version of onebit must be able to open.

Run as ``python -m tests.unit.study.make_first_version`` before the first release, and never after.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from tests.problems import models_of_accuracy

from onebit.study.database import sqlite_path
from onebit.study.opening import create_study
from onebit.study.study import Offer

PATH = Path(__file__).with_name("first_version.db")
EXPECTED = Path(__file__).with_name("first_version.json")
PREDICTIONS, TRUTH = models_of_accuracy(np.random.default_rng(5), np.array([0.5, 0.7, 0.9]), 60, 3)


def main() -> None:
    storage = f"sqlite:///{PATH}"
    PATH.unlink(missing_ok=True)
    expected = {}
    for learner in ("certified", "uniform"):
        with create_study(
            PREDICTIONS,
            learner,
            storage=storage,
            eps=0.05,
            learner="certified" if learner == "certified" else "uniform",
            budget=200,
            overlap=3,
            gold={0: int(TRUTH[0]), 1: int(TRUTH[1])},
            gold_share=0.1,
            repeat_share=0.1,
            instructions="Look twice.",
            descriptions={"0": "nothing"},
        ) as study:
            for i in range(60):
                offer = study.ask(f"rater {i % 4}")
                if isinstance(offer, Offer):
                    study.tell(offer, bool(TRUTH[offer.item] == offer.label), token=f"{learner} {i}")
                    if i % 20 == 7:
                        study.undo(offer)
            n_raters = len(study.status().raters)
            expected[learner] = {
                "digest": study.digest(),
                "n_answers": study.status().n_answers,
                "n_raters": n_raters,
            }
        Path(f"{sqlite_path(storage)}.lock-{len(expected)}").unlink()
    EXPECTED.write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
