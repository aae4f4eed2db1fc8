"""From a spec and a table to a study in a store. Everything is checked before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from msgspec import structs

from onebit.errors import InvalidInputError, OptionError
from onebit.log.events import Created, Event
from onebit.records import SelectionSpec, StudySpec, TrainingSpec
from onebit.store.blocks import Block
from onebit.store.store import Entry, Store
from onebit.study.about import About, about_to_json, check_gold, described, gold_of
from onebit.study.items import Shows
from onebit.study.kinds import making
from onebit.study.media import check_hosts, check_media
from onebit.study.seal import Seal, about_digest
from onebit.study.seeds import check_new_seed
from onebit.tables.data import Data
from onebit.tables.record import ModelTable

#: Told how many items are written, and of how many.
Progress = Callable[[int, int], None]
Spec = TypeVar("Spec", SelectionSpec, TrainingSpec)


def create(
    store: Store,
    name: str,
    spec: StudySpec,
    source: ModelTable | Data,
    *,
    simulated: bool = False,
    progress: Progress | None = None,
) -> Entry:
    """Make a study in a store: of models from a SelectionSpec and their table, of a classifier from a TrainingSpec and
    examples. ``simulated``: answers will come from known right labels, not from people."""
    return prepare(spec, source, simulated=simulated).write(store, name, progress)


@dataclass(frozen=True)
class NewStudy:
    """A study that has passed all checks and is written nowhere yet.

    ``created`` is its first event, but for the digests; ``blocks`` gives its data, as often as it is called.
    """

    created: Created
    about: About
    blocks: Callable[[Progress | None], Iterator[Block]]

    def sealed(self, made: Mapping[str, bytes]) -> Created:
        """The first event, with the digests of what raters are told and shown.

        ``made`` are blocks, by kind, that stand in place of these: those that come out otherwise in each process.
        """
        seal = Seal()
        for _ in seal.watch((kind, n, made.get(kind, data)) for kind, n, data in self.blocks(None)):
            pass
        return self._with(seal)

    def write(self, store: Store, name: str, progress: Progress | None = None) -> Entry:
        """Make it in a store, all at once or not at all."""
        check_new_seed(store, self.created.setting)
        seal = Seal()

        def log() -> Iterator[Event]:
            # The store comes to it after the blocks, so it knows what they hold.
            yield self._with(seal)

        return store.create(name, about_to_json(self.about), log(), seal.watch(self.blocks(progress)))

    def _with(self, seal: Seal) -> Created:
        told = about_digest(about_to_json(self.about))
        return structs.replace(self.created, about=told, shown=seal.hexdigest())


def prepare(spec: StudySpec, source: ModelTable | Data, *, simulated: bool = False) -> NewStudy:
    """All checks of a study that need its table; OptionError or InvalidInputError where something cannot be.

    ``simulated``: answers will come from the right labels that the source has, and not from people.
    """
    new: NewStudy = making(spec.kind).prepare(spec, source, simulated)
    return new


def spec_at_hand(kind: type[Spec], given: Mapping[str, Any]) -> Spec:
    """The spec of a study whose table is at hand, and not a file with columns to be named."""
    for name in ("id", "truth", "show", "text", "long", "model", "output"):
        if name in given:
            raise OptionError(name, f"{name} names a column of a file, and this table is read already; leave it out")
    return kind(**given)


def about_of(spec: StudySpec, shows: Shows, labels: tuple[str, ...], **more: Any) -> About:
    """What raters are told and shown, checked against the items."""
    if isinstance(spec.gold, str):
        raise OptionError("gold", f"gold is {spec.gold!r}; of a table at hand, give the right labels by row")
    is_open = bool(more.get("is_open"))
    about = About(
        labels=() if is_open else described(labels, spec.descriptions or {}),
        instructions=spec.instructions,
        lease_seconds=spec.lease_seconds,
        gold=gold_of(spec.gold),
        gold_share=spec.planted_share,
        repeat_share=spec.repeat_share,
        media=spec.media,
        media_root=None if spec.media_root is None else str(Path(spec.media_root).resolve()),
        media_hosts=spec.media_hosts,
        markdown=spec.markdown,
        **more,
    )
    check_gold(about, shows.n_items, len(labels))
    _check_media(shows, about)
    return about


def _check_media(shows: Shows, about: About) -> None:
    if about.media is None:
        return
    if about.media not in shows.shown(0):
        raise InvalidInputError(f"there is no column {about.media!r} among those shown; name it with show")
    check_hosts(about.media_hosts)
    rows = range(shows.n_items)
    check_media([shows.shown(row)[about.media] for row in rows], [shows.item_id(row) for row in rows], about)
