"""``create_study``, ``create_learning_study`` and ``load_study``: how a study comes to be, and comes back."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from onebit.errors import InvalidInputError
from onebit.log.events import Created
from onebit.records import SelectionSpec, SequelSpec, TrainingSpec
from onebit.store.store import Entry, Log, Store
from onebit.study.about import about_from_json
from onebit.study.creation import NewStudy, Progress, prepare, spec_at_hand
from onebit.study.kinds import Kind, making, open_kind
from onebit.study.seal import check_about, check_shown
from onebit.study.study import Study
from onebit.tables.data import Data, data_of
from onebit.tables.frames import has_columns
from onebit.tables.judge import judge_of
from onebit.tables.opening import paths_of
from onebit.tables.record import ModelTable, make_table, narrow

#: Where studies are kept if nobody says.
DEFAULT_STORAGE = "sqlite:///onebit.db"


def storage_url(storage: str | None) -> str:
    """The URL given, else that of ONEBIT_STORAGE, else a file in the current folder."""
    return storage or os.environ.get("ONEBIT_STORAGE") or DEFAULT_STORAGE


def create_study(
    table: Any,
    name: str,
    *,
    judge: ArrayLike | str | None = None,
    storage: str | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Study:
    """Make a study of which of N models is the best, and open it.

    ``table`` is a data frame (pandas, polars, Arrow), a dict of columns, the path of a file, several paths of logs, or
    what ``onebit.tables.read_table`` gives; or predictions (N, n) of labels 0 to K - 1, negative where a model
    abstains. The options are those of ``onebit.records.SelectionSpec``: ``eps``, ``delta``, ``protocol``,
    ``budget``, ``f_no``, ``f_yes``, ``overlap``, ``instructions``, ``descriptions`` and so on. ``gold`` says for some
    rows of the table which label is right, or which labels are; ``gold_share`` of the questions are about those,
    ``repeat_share`` are repeated, and neither enters the estimate. Everything is checked before anything is written.

    ``judge`` is what an automatic judge says, to save answers: scores (N, n) from 0 to 1 of what each model says, NaN
    where there is none, or the label (n,) that it gives to each item, negative for none; or the name of its columns. It
    touches no promise.

    ``study.ask(rater)`` gives a question, ``study.tell(question, answer)`` takes its answer, ``study.result`` says what
    is known; ``load_study`` opens it again.
    """
    if isinstance(judge, str):
        options["judge"], judge = judge, None
    if paths_of(table) is not None or has_columns(table):
        models, spec = making(SelectionSpec.kind).read(SelectionSpec(**options), table)
    else:
        models = table if isinstance(table, ModelTable) else _table_of(table)
        spec = spec_at_hand(SelectionSpec, options)
    if judge is not None:
        models = replace(models, judge=judge_of(models.predictions, judge))
    return open_new(prepare(spec, models), name, storage, progress)


def extend_study(name: str, new_name: str, table: Any, *, storage: str | None = None, **options: Any) -> Study:
    """Go on from a study with another table, and open it: models that came later, without some, or with new items.

    ``table`` is as for ``create_study``, with all models and items from now on. Where raters judged an output of an
    item before, nobody is asked again. Eps and the way to ask are those of the first study; delta is a share that the
    number of the sequel fixes (docs/certificate.md, step 19). The other options are those of ``create_study``.
    """
    from onebit.study.kinds.selection.sequel import begin_sequel

    models, spec = making(SequelSpec.kind).read(SequelSpec(**options), table)
    store = Store(storage_url(storage))
    try:
        return open_study(store, begin_sequel(store, name, new_name, spec, models))
    except BaseException:
        store.close()
        raise


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


def open_new(new: NewStudy, name: str, storage: str | None, progress: Progress | None) -> Study:
    """Write a study that was prepared, and open it."""
    store = Store(storage_url(storage))
    try:
        return open_study(store, new.write(store, name, progress))
    except BaseException:
        store.close()
        raise


def load_study(name: str, *, storage: str | None = None, read_only: bool = False, address: str | None = None) -> Study:
    """Open a study where it was left: its log is replayed, and checked on the way.

    One process at a time may write to a study; InUseError says that another one does. ``read_only`` looks on. Others
    are told the ``address`` of a server that has the study open.
    """
    store = Store(storage_url(storage), address=address)
    try:
        return open_study(store, store.entry(name), read_only)
    except BaseException:
        store.close()
        raise


def open_study(store: Store, entry: Entry, read_only: bool = False) -> Study:
    """Open a study of a store, which the study then closes."""
    lock = None if read_only else store.lock(entry)
    try:
        log, kind = read_whole(store, entry)
        return Study(store, entry, log, kind, lock)
    except BaseException:
        if lock is not None:
            lock.release()
        raise


def read_whole(store: Store, entry: Entry) -> tuple[Log, Kind]:
    """The log of a study, and its kind with a fresh learner; LogError or StoreError where anything is damaged.

    The chain of events, what raters are told and shown, and the table are held against their digests.
    """
    log = store.log(entry.id)
    if not log.events or not isinstance(log.events[0], Created):
        raise InvalidInputError(f"the study {entry.name!r} was deleted meanwhile")
    check_about(entry, log.events[0])
    check_shown(store, entry, log.events[0])
    about = about_from_json(entry.about)
    return log, open_kind(store, entry, log.events, log.events[0], about)


def _table_of(predictions: ArrayLike) -> ModelTable:
    array = np.asarray(predictions)
    if array.ndim != 2 or array.dtype.kind not in "iu" or 0 in array.shape:
        raise InvalidInputError(
            f"the predictions have shape {array.shape} and type {array.dtype}; give whole numbers, one row a model"
        )
    n_labels = int(array.max()) + 1
    names = tuple(f"model {h}" for h in range(array.shape[0]))
    labels = tuple(str(label) for label in range(n_labels))
    compact = np.maximum(array, -1).astype(narrow(n_labels))
    return make_table(compact, names, labels, None, "the predictions")
