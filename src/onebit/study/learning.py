"""``create_learning_study``: a study that trains a classifier."""

from __future__ import annotations

from typing import Any

from onebit.records import TrainingSpec
from onebit.study.creation import Progress, prepare, spec_at_hand
from onebit.study.opening import open_new
from onebit.study.study import Study
from onebit.tables.data import Data, data_of


def create_learning_study(
    examples: Data | Any, name: str, *, storage: str | None = None, progress: Progress | None = None, **options: Any
) -> Study:
    """Make a study in which raters train a classifier, and open it.

    ``examples`` is what ``onebit.tables.data.read_data`` gives, numbers (n, d), or n texts. The options are those of
    ``onebit.records.TrainingSpec``. ``labels`` are those that raters are asked about; those of texts are guessed from
    these names and their ``descriptions``. At most ``budget`` answers, ``audit`` of them for the accuracy interval,
    which may be wrong with probability ``delta``; with ``target``, it ends once that accuracy is shown. The others are
    those of ``create_study``. Everything is checked before anything is written.
    """
    data = examples if isinstance(examples, Data) else data_of(examples)
    return open_new(prepare(spec_at_hand(TrainingSpec, options), data), name, storage, progress)
