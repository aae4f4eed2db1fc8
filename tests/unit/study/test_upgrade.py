"""A store that the first version wrote is opened, replayed and gone on with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.unit.study.make_first_version import EXPECTED, PATH, TRUTH

from onebit.study.audit import verify_study
from onebit.study.opening import load_study
from onebit.study.study import Offer


@pytest.mark.parametrize("name", ["certified", "uniform"])
def test_the_first_versions_store_still_works(tmp_path: Path, name: str) -> None:
    shutil.copy(PATH, tmp_path / "studies.db")
    storage = f"sqlite:///{tmp_path}/studies.db"
    expected = json.loads(EXPECTED.read_text())[name]
    with load_study(name, storage=storage) as study:
        status = study.status()
        assert study.digest() == expected["digest"]
        assert (status.n_answers, len(status.raters)) == (expected["n_answers"], expected["n_raters"])
        assert study.about.instructions == "Look twice."
        assert study.about.labels[0].description == "nothing"
        for rater in ("rater 0", "new", "newer"):
            offer = study.ask(rater)
            assert isinstance(offer, Offer)
            study.tell(offer, bool(TRUTH[offer.item] == offer.label))
    assert verify_study(storage, name).ok
