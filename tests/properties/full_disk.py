"""Answer until the disk is full, then make space: ``python -m tests.properties.full_disk STORAGE [BALLAST]``.

BALLAST is a file on the same small disk, to be deleted; without it, files may not grow beyond a limit for a while.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import Any

from tests.unit.study.runs import PREDICTIONS, TRUTH

from onebit.log.events import Answered
from onebit.store.database import NotWrittenError
from onebit.store.store import Store
from onebit.study.opening import create_study, load_study
from onebit.study.study import Offer

#: Most bytes of a file while the disk is "full".
LIMIT = 600_000


def main(storage: str, ballast: str | None) -> dict[str, Any]:
    study = create_study(PREDICTIONS, "s", storage=storage, eps=1e-4, delta=1e-9, f_no=1e-3)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if ballast is None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, hard))
    acknowledged: list[int] = []
    said = ""
    last: Offer | None = None
    try:
        while len(acknowledged) < 5000:
            last = None
            offer = study.ask("ann")
            assert isinstance(offer, Offer)
            last = offer
            study.tell(offer, bool(TRUTH[offer.item] == offer.label), token=str(offer.id))
            acknowledged.append(offer.id)
    except NotWrittenError as error:
        said = str(error)
    refused = 0
    for _ in range(3):
        try:
            study.ask("bob")
        except NotWrittenError:
            refused += 1
    with Store(storage) as store:
        n_kept = sum(isinstance(event, Answered) for event in store.log(1).events)
    if ballast is None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    else:
        Path(ballast).unlink()
    if last is not None:
        study.tell(last, bool(TRUTH[last.item] == last.label), token=str(last.id))
    for _ in range(20):
        offer = study.ask("ann")
        assert isinstance(offer, Offer)
        study.tell(offer, bool(TRUTH[offer.item] == offer.label))
    digest, n_answers = study.digest(), study.status().n_answers
    study.close()
    with load_study("s", storage=storage) as again:
        same = again.digest() == digest
    return {
        "refused": refused == 3,
        "said": said,
        "n_acknowledged": len(acknowledged),
        "n_kept": n_kept,
        "works_again": n_answers == len(acknowledged) + (last is not None) + 20,
        "state_is_the_log": same,
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)))
