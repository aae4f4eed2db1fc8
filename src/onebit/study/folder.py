"""A run at the terminal: a study in a folder of its own, and its report beside it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from onebit.errors import InvalidInputError
from onebit.log.events import Created, check_same
from onebit.records import SelectionSpec, TrainingSpec
from onebit.report import Report, as_html, as_json
from onebit.store.blocks import TRANSFORMER
from onebit.store.store import Entry, Store
from onebit.study.creation import NewStudy, Progress
from onebit.study.kinds.replayed import differences
from onebit.study.opening import load_study, open_study
from onebit.study.study import Study

Spec = TypeVar("Spec", SelectionSpec, TrainingSpec)

DATABASE, PAGE, FIGURES = "study.db", "report.html", "report.json"
STOPPED = "it was stopped; the same command goes on with it"
WRITE_AGAIN = "write it again with onebit report"


class StudyFolder:
    """A folder with one study, or a place for one."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def storage(self) -> str:
        """The URL of the store in the folder."""
        return f"sqlite:///{self.path / DATABASE}"

    @property
    def page(self) -> Path:
        return self.path / PAGE

    def check_is_free(self) -> None:
        """Refuse a place that is neither new nor a run's: nothing there is written over."""
        if self.path.exists() and not self.path.is_dir():
            raise InvalidInputError(
                f"--out is {self.path}, which is a file; give a folder, which is made if it is not there"
            )
        if self.path.exists() and any(self.path.iterdir()) and not (self.path / DATABASE).exists():
            raise InvalidInputError(f"--out is {self.path}, which holds other things and no run; give a new folder")

    def begun(self) -> Created | None:
        """How the study in the folder began; None where there is none yet."""
        if not (self.path / DATABASE).is_file():
            return None
        with Store(self.storage) as store:
            entries = store.entries()
            return _first(store, entries[0]) if entries else None

    def with_kept_seed(self, spec: Spec) -> Spec:
        """The spec with a seed: that of the study, if there is one already and no other was given."""
        found = self.begun()
        if found is None or spec.seed not in (None, found.setting.seed):
            return spec.with_seed()
        return replace(spec, seed=found.setting.seed, seed_is_drawn=not found.setting.seed_given)

    def go_on(self, name: str, new: NewStudy, progress: Progress | None = None) -> Study:
        """Open the study where it was left, or make it; InvalidInputError if another one is there."""
        found = self.begun()
        if found is not None:
            try:
                check_same(found, new.sealed(self._made()))
            except InvalidInputError as error:
                raise InvalidInputError(f"{self.path}: {error}") from None
            return self.open()
        self._make()
        store = Store(self.storage)
        try:
            return open_study(store, new.write(store, name, progress))
        except BaseException:
            store.close()
            raise

    def _make(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInputError(f"the folder {self.path} cannot be made: {error.strerror}; give another") from None

    def _made(self) -> dict[str, bytes]:
        """What makes features, as it is kept: its bytes differ from process to process, and the features tell it."""
        with Store(self.storage) as store:
            blocks = store.blocks(store.entries()[0].id, TRANSFORMER)
            return dict(zip([TRANSFORMER], blocks, strict=False))

    def open(self, read_only: bool = False) -> Study:
        """The study in the folder; InvalidInputError if there is none."""
        return load_study(self.name(), storage=self.storage, read_only=read_only)

    def name(self) -> str:
        """What the study is called; InvalidInputError if there is none."""
        if not (self.path / DATABASE).is_file():
            raise InvalidInputError(
                f"{self.path} holds no run: {DATABASE} must be there, as onebit select and onebit learn leave it"
            )
        with Store(self.storage) as store:
            entries = store.entries()
        if not entries:
            raise InvalidInputError(f"the run in {self.path} was stopped before its first question")
        return entries[0].name

    def write_report(self, study: Study, progress: Progress | None = None) -> Report:
        """Write both forms of the report of a selection; InvalidInputError if it is a study of another kind."""
        if study.created.kind != "selection":
            asked = shlex.join(["onebit", "study", "status", study.kind.study, "--storage", self.storage])
            raise InvalidInputError(
                f"{self.path} holds a {study.created.kind}, and only the selection of a model has a report; what is "
                f"known is told by: {asked}"
            )
        report = full_report(study, progress)
        texts = {FIGURES: json.dumps(as_json(report), indent=1) + "\n", PAGE: as_html(report)}
        try:
            for name, text in texts.items():
                (self.path / name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InvalidInputError(
                f"the report cannot be written into {self.path}: {error.strerror}; the study is kept"
            ) from None
        return report

    def report_faults(self, progress: Progress | None = None) -> Iterator[str]:
        """Where the reports say something else than the study; one that is not there says nothing."""
        figures = self.path / FIGURES
        if not figures.is_file() and not self.page.is_file():
            return
        with self.open(read_only=True) as study:
            report = full_report(study, progress)
        if figures.is_file():
            told = _read_json(figures)
            if not isinstance(told, dict):
                yield f"{FIGURES} holds no report; {WRITE_AGAIN}"
                return
            if (told.get("n_events"), told.get("log_digest")) != (report.n_events, report.log_digest):
                yield self._other_log(told.get("n_events"), told.get("log_digest"))
                return
            yield from differences(FIGURES, told, json.loads(json.dumps(as_json(report))))
        if self.page.is_file():
            found = self.page.read_text(encoding="utf-8", errors="replace")
            if found != as_html(report):
                yield f"{PAGE} {_first_difference(found, as_html(report))}; {WRITE_AGAIN}"

    def _other_log(self, n_events: Any, digest: Any) -> str:
        with Store(self.storage) as store:
            digests = store.digests(store.entries()[0].id)
        if isinstance(n_events, int) and 0 < n_events < len(digests) and digests[n_events - 1] == digest:
            return f"{FIGURES} is older than the log, which went on after its {n_events:,} events; {WRITE_AGAIN}"
        return (
            f"{FIGURES} is of a log of {n_events} events with the digest {digest}, which is not this one: the log was "
            "written anew, or the report was changed"
        )


def report_of(study: Study) -> Report:
    """The report of a run; one that is not over was stopped."""
    report = study.report()
    return replace(report, reason=STOPPED) if report.status == "budget" and report.reason is None else report


def full_report(study: Study, progress: Progress | None = None) -> Report:
    """The same with forecasts of what other ways to ask would have cost, which take a while."""
    report = report_of(study)
    return replace(report, prices=(*study.kind.forecast_prices(study.view, progress), *report.prices))


def _first(store: Store, entry: Entry) -> Created:
    first = store.first_event(entry.id)
    if not isinstance(first, Created):
        raise InvalidInputError(f"the log of {entry.name!r} does not begin with its creation; restore a backup")
    return first


def _first_difference(told: str, found: str) -> str:
    """Where two pages begin to differ, in a few words of each."""
    place = next((i for i, (a, b) in enumerate(zip(told, found, strict=False)) if a != b), min(len(told), len(found)))
    first = max(0, place - 20)
    return f"has {told[first : place + 40]!r} where the log gives {found[first : place + 40]!r}"


def _read_json(path: Path) -> Any:
    """What a file of JSON holds; None where it is no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
