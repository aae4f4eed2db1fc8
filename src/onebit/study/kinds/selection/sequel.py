"""A study that goes on from another: with models that came later, without some, or with new items.

It is a study of its own, on its own table, with a seed that is drawn when the table is there and a share of delta that
is fixed by its number. What was answered before is answered: where an output of an item has a verdict, nobody is asked
again. docs/certificate.md, step 19.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from onebit.errors import InvalidInputError
from onebit.estimate.delta import failure_of_sequel
from onebit.log.chain import digests
from onebit.log.events import Checked, Created, Event
from onebit.log.fold import Course, fold
from onebit.records import Answer, SequelSpec, Setting
from onebit.store.store import Entry, Store
from onebit.study.about import About, Sequel, about_from_json
from onebit.study.constants import ANSWERED_BEFORE
from onebit.study.creation import prepare
from onebit.study.items import Items, read_predictions
from onebit.study.kinds.selection.selectors import table_rows
from onebit.tables import ModelTable

#: An item by its id, and an output by its text.
Cell = tuple[str, str]


@dataclass(frozen=True)
class Earlier:
    """The study that another goes on from: its log up to some digest, and its table."""

    entry: Entry
    created: Created
    about: About
    course: Course
    store: Store

    def verdicts(self) -> dict[Cell, Answer]:
        """What was answered about each output of each item."""
        items, facts = Items(self.store, self.entry.id, self.about), self.created.table
        rows = table_rows(self.created.selection, facts.n_items)
        found = {}
        for question, answer in zip(self.course.questions, self.course.answers, strict=True):
            if isinstance(answer, Answer) and question.label is not None:
                found[items[int(rows[question.item])].id, items.label(question.label).name] = answer
        return found

    def outputs(self) -> dict[tuple[str, str], str]:
        """What each model says on each item, by the names of both; nothing where it abstains."""
        items = Items(self.store, self.entry.id, self.about)
        predictions = read_predictions(self.store, self.entry.id, self.created.table, self.about)
        return {
            (items[row].id, model): items.label(int(predictions[h, row])).name
            for row in range(predictions.shape[1])
            for h, model in enumerate(self.about.models)
            if predictions[h, row] >= 0
        }


def earlier(store: Store, digest: str) -> Earlier | None:
    """The study of a store whose log has the digest on its way, up to there; None if there is none."""
    for entry in store.entries():
        events: list[Event] = list(store.log(entry.id).events)
        found = digests(events)
        created = events[0] if events else None
        if digest in found and isinstance(created, Created):
            course = fold(events[: found.index(digest) + 1])
            return Earlier(entry, created, about_from_json(entry.about), course, store)
    return None


def begin_sequel(store: Store, name: str, new_name: str, spec: SequelSpec, table: ModelTable) -> Entry:
    """Make a study that goes on from another with another table; ``spec`` says how it was read, and what raters see.

    Eps and the way to ask are those of the first study. InvalidInputError where that cannot be.
    """
    head = store.log(store.entry(name).id).head.digest
    before = earlier(store, head)
    if before is None:
        raise InvalidInputError(f"the study {name!r} was deleted meanwhile")
    setting = _check(before, name)
    sequel = _next(store, before, head, setting.delta)
    _check_same_outputs(before.outputs(), table)
    new = prepare(spec.after(setting, failure_of_sequel(sequel.number, sequel.delta)), table)
    if new.created.table.digest == before.created.table.digest:
        raise InvalidInputError(f"the table is that of {name!r}; add a model or items, or leave some out")
    return replace(new, about=replace(new.about, sequel=sequel)).write(store, new_name)


def _check(before: Earlier, name: str) -> Setting:
    """The setting of a study that can be gone on from."""
    created = before.created
    if not isinstance(created.setting, Setting) or created.learner != "certified":
        raise InvalidInputError(f"{name!r} is no selection with a certificate; only such a study can be gone on from")
    setting = created.setting
    refused = {
        "is a gate": setting.baseline is not None,
        "looks for the best K or for tiers, or spends a budget without an eps": setting.ranks or setting.spends,
        "is about a stream, where items that were seen say nothing about a model that came later": (
            setting.population != "pool"
        ),
        "does not ask one-shot or by panel": setting.protocol not in ("one-shot", "panel"),
        "allows for raters who err, and a model that came later may be fitted to their errors": (
            setting.f_no + setting.f_yes > 0
        ),
        "has several raters per question": created.overlap > 1,
        "is simulated, and answers of people and of a simulation never mix": created.simulated,
    }
    for why, is_so in refused.items():
        if is_so:
            raise InvalidInputError(f"{name!r} {why}, so nothing can go on from it; make a new study")
    return setting


def _next(store: Store, before: Earlier, head: str, delta: float) -> Sequel:
    """The next sequel of a line of studies: numbers are used once, whichever study of the line is gone on from."""
    line = before.about.sequel
    of = store.digests(before.entry.id)[0] if line is None else line.of
    first = delta if line is None else line.delta
    others = [found.number for found in _sequels(store) if found.of == of]
    return Sequel(max(others, default=0) + 1, of, head, first)


def _sequels(store: Store) -> Iterator[Sequel]:
    for entry in store.entries():
        sequel = about_from_json(entry.about).sequel if entry.about.get("models") else None
        if sequel is not None:
            yield sequel


def _check_same_outputs(said: Mapping[tuple[str, str], str], table: ModelTable) -> None:
    """A model that was there before must say the same about the items that were: otherwise its verdicts are others."""
    models = {model for _, model in said}
    items = {item for item, _ in said}
    for row in range(table.n_items):
        item = table.item_id(row)
        if item not in items:
            continue
        for h, model in enumerate(table.models):
            if model not in models:
                continue
            label = int(table.predictions[h, row])
            now = table.labels[label] if label >= 0 else None
            was = said.get((item, model))
            if was != now:
                raise InvalidInputError(
                    f"model {model!r} said {was!r} about item {item!r}, and now it says {now!r}; a model that was "
                    "changed is a new one, so give it another name, and items need ids that stay theirs"
                )


def in_words(sequel: Sequel, delta: float, n_recalled: int) -> str:
    """What a sequel covers, and since when."""
    return (
        f"It goes on from another study, as sequel {sequel.number} of the first: {n_recalled:,} of its answers were "
        f"given before. What it says holds for its own models and items, since it began, with delta {delta:g}; the "
        f"first study and all its sequels together are wrong with probability at most {2 * sequel.delta:g}."
    )


def recalled_cells(store: Store, entry: Entry, created: Created, about: About) -> dict[tuple[int, int], Answer]:
    """What was answered before about the learner's items and labels; empty for a study that is no sequel."""
    before = None if about.sequel is None else earlier(store, about.sequel.after)
    if before is None:
        return {}
    verdicts = before.verdicts()
    items, predictions = Items(store, entry.id, about), read_predictions(store, entry.id, created.table, about)
    found = {}
    for row in range(created.table.n_items):
        item = items[row].id
        for label in {int(each) for each in predictions[:, row] if each >= 0}:
            answer = verdicts.get((item, items.label(label).name))
            if answer is not None:
                found[row, label] = answer
    return found


def sequel_faults(
    about: About, delta: float, course: Course, recalled: Mapping[tuple[int, int], Answer]
) -> Sequence[str]:
    """What is wrong with a sequel: its share of delta, and where it did not take over what was answered before."""
    problems = []
    if about.sequel is not None and delta > failure_of_sequel(about.sequel.number, about.sequel.delta) * (1 + 1e-12):
        problems.append(f"sequel {about.sequel.number} has delta {delta}, which is more than its share")
    for number, question in enumerate(course.given):
        event = course.answered.get(number)
        if event is None or isinstance(question, Checked):
            continue
        known = None if question.label is None else recalled.get((question.item, question.label))
        is_taken_over = event.rater == ANSWERED_BEFORE
        if known is None and is_taken_over:
            problems.append(f"question {number} is said to be answered before, and it was not")
        elif known is not None and (event.answer is not known or not is_taken_over):
            problems.append(f"question {number} was answered before with {known.value}, which is not taken over")
    return problems
