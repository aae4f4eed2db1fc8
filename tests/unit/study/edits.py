"""Edits of a log by somebody who can write to the file or the database, and links written anew after them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from onebit.log.chain import AFTER, START, canonical, digest_of
from onebit.store.database import is_sqlite, sqlite_path
from onebit.store.rows import stamp, writer_of
from onebit.store.store import Store

Row = dict[str, Any]
Rows = list[Row]


def relinked(rows: Rows) -> Rows:
    """The same events, each with the digest of the one before it."""
    found, last = [], START
    for row in rows:
        found.append(row | {AFTER: last})
        last = digest_of(canonical(found[-1]))
    return found


def edit_store(store: Store, edit: Callable[[Rows], Rows], relinks: bool) -> None:
    """Put other events in the place of those of the first study."""
    with store.writing() as connection:
        found = connection.exec_driver_sql("SELECT event, writer, written_at FROM events ORDER BY seq").all()
        rows = edit([json.loads(row.event) for row in found])
        connection.exec_driver_sql("DELETE FROM events")
        mark = "?" if connection.dialect.name == "sqlite" else "%s"
        new = []
        for seq, row in enumerate(relinked(rows) if relinks else rows):
            # Whoever edits events can stamp them anew, too.
            at = found[min(seq, len(found) - 1)].written_at
            new.append((1, seq, json.dumps(row), stamp(writer_of(found[0].writer), at), at))
        columns = "study_id, seq, event, writer, written_at"
        connection.exec_driver_sql(f"INSERT INTO events ({columns}) VALUES ({', '.join([mark] * 5)})", new)
    # Whoever writes a log anew takes away what tells how far it went.
    if is_sqlite(store.url):
        path = sqlite_path(store.url)
        for beside in path.parent.glob(f"{path.name}.lock-*"):
            beside.unlink()


@dataclass(frozen=True)
class Edit:
    """One edit of a log, and what becomes of it.

    ``harmless``: why it may pass. ``only_by_digest``: why it passes where the chain is written anew after it and every
    report is gone, so that only a digest that somebody kept shows it. ``may_pass``: why it may pass in this way, or be
    found, as the numbers happen to be.
    """

    of: Callable[[Rows], Rows]
    harmless: str = ""
    only_by_digest: str = ""
    may_pass: str = ""


def places(rows: Rows, event: str) -> list[int]:
    return [place for place, row in enumerate(rows) if row["event"] == event]


def of_kind(rows: Rows, event: str) -> Rows:
    return [row for row in rows if row["event"] == event]


def other(answer: str) -> str:
    return "no" if answer == "yes" else "yes"


def setting(event: str, which: int, *path: str, to: Any) -> Callable[[Rows], Rows]:
    """An edit that sets a field of the event of a kind with that number, counted from the end if negative."""

    def edit(rows: Rows) -> Rows:
        at = of_kind(rows, event)[which]
        for name in path[:-1]:
            at = at[name]
        assert at.get(path[-1]) != to
        at[path[-1]] = to
        return rows

    return edit


def flip(event: str, which: int) -> Callable[[Rows], Rows]:
    """An edit that turns a yes into a no, or a no into a yes."""

    def edit(rows: Rows) -> Rows:
        row = of_kind(rows, event)[which]
        row["answer"] = other(row["answer"])
        return rows

    return edit


def flip_all(event: str) -> Callable[[Rows], Rows]:
    def edit(rows: Rows) -> Rows:
        for row in of_kind(rows, event):
            row["answer"] = other(row["answer"])
        return rows

    return edit


def used_first(rows: Rows) -> Rows:
    """The answers that the first closing was made from."""
    undone = {row["id"] for row in of_kind(rows, "undone")}
    first = places(rows, "closed")[0]
    return [row for row in of_kind(rows[:first], "answered") if row["id"] not in undone]


def flip_one_used(rows: Rows) -> Rows:
    row = used_first(rows)[5]
    row["answer"] = other(row["answer"])
    return rows


def cant_tell_for_a_no(rows: Rows) -> Rows:
    row = next(row for row in reversed(used_first(rows)) if row["answer"] == "no")
    row["answer"] = "can't tell"
    return rows


def second_answer(rows: Rows) -> Rows:
    place = places(rows, "answered")[-1]
    return [*rows[:place], rows[place] | {"answer": other(rows[place]["answer"])}, *rows[place:]]


def second_answer_after(rows: Rows) -> Rows:
    place = places(rows, "answered")[-1]
    return [*rows[: place + 1], rows[place] | {"answer": other(rows[place]["answer"])}, *rows[place + 1 :]]


def undo_after_the_epoch(rows: Rows) -> Rows:
    answered, end = dict(of_kind(rows, "answered")[7]), places(rows, "finished")[-1]
    undone = {"event": "undone", "id": answered["id"], "rater": answered["rater"]}
    return [*rows[:end], undone, answered, *rows[end:]]


def flipped_and_mended_after_the_epoch(rows: Rows) -> Rows:
    answered, end = dict(of_kind(rows, "answered")[7]), places(rows, "finished")[-1]
    of_kind(rows, "answered")[7]["answer"] = other(answered["answer"])
    undone = {"event": "undone", "id": answered["id"], "rater": answered["rater"]}
    return [*rows[:end], undone, answered | {"token": None}, *rows[end:]]


def answer_before_its_question(rows: Rows) -> Rows:
    place = places(rows, "answered")[30]
    return [*rows[:2], rows[place], *rows[2:place], *rows[place + 1 :]]


def swap_two_answers(rows: Rows) -> Rows:
    a, b = places(rows, "answered")[10:12]
    rows[a], rows[b] = rows[b], rows[a]
    return rows


def sorted_by_kind(rows: Rows) -> Rows:
    order = {"answered": 0, "voted": 0, "asked": 1, "closed": 2, "epoch": 3, "plan": 3}
    end = places(rows, "finished")[-1]
    return [rows[0], *sorted(rows[1:end], key=lambda row: order.get(row["event"], 1)), *rows[end:]]


def last(event: str) -> Callable[[Rows], Rows]:
    """An edit that moves the events of a kind to the end."""
    return lambda rows: [row for row in rows if row["event"] != event] + of_kind(rows, event)


def without(event: str) -> Callable[[Rows], Rows]:
    return lambda rows: [row for row in rows if row["event"] != event]


def without_one(event: str, which: int) -> Callable[[Rows], Rows]:
    def edit(rows: Rows) -> Rows:
        del rows[places(rows, event)[which]]
        return rows

    return edit


def twice(event: str, which: int) -> Callable[[Rows], Rows]:
    def edit(rows: Rows) -> Rows:
        place = places(rows, event)[which]
        return [*rows[: place + 1], dict(rows[place]), *rows[place + 1 :]]

    return edit


def without_the_last_question(rows: Rows) -> Rows:
    number = of_kind(rows, "asked")[-1]["id"]
    return [row for row in rows if row.get("id") != number]


def closed_before_its_answers(rows: Rows) -> Rows:
    place = places(rows, "closed")[1]
    row = rows.pop(place)
    rows.insert(places(rows, "epoch")[1] + 1, row)
    return rows


def cut_after_the_second_epoch(keeps_the_end: bool) -> Callable[[Rows], Rows]:
    def edit(rows: Rows) -> Rows:
        place = places(rows, "closed")[1]
        return [*rows[: place + 1], *(of_kind(rows, "finished") if keeps_the_end else ())]

    return edit


def end_in_the_middle(rows: Rows) -> Rows:
    row = rows.pop(places(rows, "finished")[-1])
    rows.insert(places(rows, "answered")[20], row)
    return rows


def two_ends(rows: Rows) -> Rows:
    end = places(rows, "finished")[-1]
    false = json.loads(json.dumps(rows[end]))
    false["summary"] |= {"chosen": "none", "certified_eps": 1e-6}
    return [*rows[:end], false, *rows[end:]]


def quartered_needs(rows: Rows) -> Rows:
    # Roots of these are halves, so that proportions stay the same to the last bit.
    epoch = of_kind(rows, "epoch")[0]
    epoch["mixture"] = [[model, need / 4] for model, need in epoch["mixture"]]
    return rows


def renamed(old: str | None, new: str) -> Callable[[Rows], Rows]:
    """An edit that gives a rater's work to another."""

    def edit(rows: Rows) -> Rows:
        for row in rows:
            if "rater" in row and row["rater"] == old:
                row["rater"] = new
        return rows

    return edit


def more(**fields: Any) -> Callable[[Rows], Rows]:
    return lambda rows: [*rows, fields]


def before_the_end(*new: Row) -> Callable[[Rows], Rows]:
    def edit(rows: Rows) -> Rows:
        end = places(rows, "finished")[-1]
        return [*rows[:end], *new, *rows[end:]]

    return edit


SAME_CLOSINGS = "whether an answer is the rater's is known to nobody else, and other answers may show the same"
A_PREFIX = "it is a log that was stopped there, and claims no more"

#: Edits of the log of any selection whose raters answer once.
SELECTION: dict[str, Edit] = {
    "nothing": Edit(lambda rows: rows, harmless="nothing was changed"),
    "keys in another order": Edit(
        lambda rows: [dict(reversed(row.items())) for row in rows], harmless="the content is the same"
    ),
    "an answer flipped": Edit(flip_one_used, may_pass=SAME_CLOSINGS),
    "the last answer flipped": Edit(flip("answered", -1), may_pass=SAME_CLOSINGS),
    "all answers flipped": Edit(flip_all("answered")),
    "a no made a can't tell": Edit(cant_tell_for_a_no, may_pass=SAME_CLOSINGS),
    "a second answer before": Edit(second_answer),
    "a second answer after": Edit(second_answer_after),
    "an answer twice": Edit(twice("answered", 3)),
    "an answer taken out": Edit(without_one("answered", 12)),
    "a question twice": Edit(twice("asked", 3)),
    "a question taken out": Edit(without_one("asked", 12)),
    "the last question and its answer taken out": Edit(without_the_last_question),
    "an undo after its epoch": Edit(undo_after_the_epoch),
    "an answer flipped, and mended after its epoch": Edit(flipped_and_mended_after_the_epoch),
    "an undo of what is open": Edit(before_the_end({"event": "undone", "id": 10**6, "rater": None})),
    "an answer before its question": Edit(answer_before_its_question),
    "two answers swapped": Edit(
        swap_two_answers, only_by_digest="the order of answers within an epoch changes nothing"
    ),
    "answers, questions, plans in this order": Edit(sorted_by_kind),
    "plans moved to the end": Edit(last("epoch")),
    "closings moved to the end": Edit(last("closed")),
    "a closing before its answers": Edit(closed_before_its_answers),
    "a closing taken out": Edit(without_one("closed", 0)),
    "a closing twice": Edit(twice("closed", 0)),
    "a plan taken out": Edit(without_one("epoch", 1)),
    "a plan twice": Edit(twice("epoch", 1)),
    "cut after two epochs, the end kept": Edit(cut_after_the_second_epoch(True)),
    "cut after two epochs": Edit(cut_after_the_second_epoch(False), only_by_digest=A_PREFIX),
    "cut within an epoch": Edit(lambda rows: rows[: places(rows, "answered")[60]], only_by_digest=A_PREFIX),
    "the end in the middle": Edit(end_in_the_middle),
    "two ends": Edit(two_ends),
    "the creation twice": Edit(twice("created", 0)),
    "a closing certifies less": Edit(setting("closed", -1, "certified_eps", to=0.001)),
    "a closing certifies a little less": Edit(
        lambda rows: setting("closed", -1, "certified_eps", to=of_kind(rows, "closed")[-1]["certified_eps"] - 1e-6)(
            rows
        )
    ),
    "a closing has another leader": Edit(
        lambda rows: setting("closed", -1, "leader", to=(of_kind(rows, "closed")[-1]["leader"] + 1) % 5)(rows)
    ),
    "a closing has one survivor": Edit(setting("closed", 0, "survivors", to=[0])),
    "a closing counts more answers": Edit(setting("closed", 0, "n_answers", to=10**6)),
    "a closing counts more rounds": Edit(setting("closed", 0, "n_rounds", to=10**6)),
    "a plan has another leader": Edit(
        lambda rows: setting("epoch", 0, "leader", to=(of_kind(rows, "epoch")[0]["leader"] + 1) % 5)(rows)
    ),
    "a plan has fewer rounds": Edit(setting("epoch", -1, "n_rounds", to=5)),
    "a plan has another mixture": Edit(setting("epoch", 0, "mixture", to=[[4, 1.0]])),
    "a plan has a quarter of the needs": Edit(quartered_needs, only_by_digest="only their proportions are used"),
    "a plan has another gamma": Edit(setting("epoch", 0, "gamma", to=0.69)),
    "a question has another propensity": Edit(setting("asked", 3, "propensity", to=0.123)),
    "a question is about another item": Edit(
        lambda rows: setting("asked", 0, "item", to=(of_kind(rows, "asked")[0]["item"] + 1) % 400)(rows)
    ),
    "a question is about another label": Edit(
        lambda rows: setting("asked", 0, "label", to=(of_kind(rows, "asked")[0]["label"] + 1) % 4)(rows)
    ),
    "a question is of another epoch": Edit(setting("asked", 0, "epoch", to=1)),
    "another eps": Edit(setting("created", 0, "setting", "eps", to=0.01)),
    "a larger eps": Edit(setting("created", 0, "setting", "eps", to=0.5)),
    "another delta": Edit(setting("created", 0, "setting", "delta", to=0.01)),
    "a delta a little smaller": Edit(setting("created", 0, "setting", "delta", to=0.0499)),
    "another seed": Edit(setting("created", 0, "setting", "seed", to=12345)),
    "the seed not given": Edit(
        setting("created", 0, "setting", "seed_given", to=False),
        only_by_digest="who chose the seed is known to nobody else",
    ),
    "raters may err": Edit(setting("created", 0, "setting", "f_no", to=0.1)),
    "a stream": Edit(setting("created", 0, "setting", "population", to="stream")),
    "another protocol": Edit(setting("created", 0, "setting", "protocol", to="follow-up")),
    "a smaller budget": Edit(setting("created", 0, "setting", "budget", to=20)),
    "a budget that was not reached": Edit(
        setting("created", 0, "setting", "budget", to=10**6), only_by_digest="it would have changed nothing"
    ),
    "more labels": Edit(setting("created", 0, "table", "n_labels", to=9)),
    "more models": Edit(setting("created", 0, "table", "n_models", to=50)),
    "more items": Edit(setting("created", 0, "table", "n_items", to=40_000)),
    "another table": Edit(setting("created", 0, "table", "digest", to="0" * 64)),
    "other items": Edit(setting("created", 0, "shown", to="0" * 64)),
    "another learner": Edit(setting("created", 0, "learner", to="uniform")),
    "another version": Edit(setting("created", 0, "version", to=1)),
    "the end has another status": Edit(setting("finished", -1, "status", to="exhausted")),
    "the end chooses another": Edit(setting("finished", -1, "summary", "chosen", to="model 4")),
    "the end certifies less": Edit(setting("finished", -1, "summary", "certified_eps", to=1e-6)),
    "the end promises more": Edit(setting("finished", -1, "summary", "promise", to="all is well")),
    "the end certifies nothing": Edit(
        lambda rows: [row | ({"summary": {}} if row["event"] == "finished" else {}) for row in rows]
    ),
    "the end says one more thing": Edit(setting("finished", -1, "summary", "award", to="gold")),
    "a field that nobody reads": Edit(setting("answered", 2, "note", to="hello")),
    "an event that nobody knows": Edit(more(event="blessed", id=3)),
}


@dataclass
class Tally:
    """How edits fared; for the table in the docs."""

    counts: Counter[str] = field(default_factory=Counter)

    def take(self, name: str, edit: Edit, plain: list[str], relinked: list[str], with_digest: list[str]) -> list[str]:
        """Count an edit by the problems found: after it, with the chain written anew, and with a digest kept before.

        What is otherwise than the table says, as sentences.
        """
        wrong = []
        if edit.harmless:
            self.counts["harmless"] += 1
            wrong += [f"{name}: harmless, and found: {each[0]}" for each in (plain, relinked) if each]
            return wrong
        # The chain does not show that something stood after the last event.
        if not plain and edit.only_by_digest != A_PREFIX:
            wrong.append(f"{name}: not found")
        self.counts["found as they are"] += bool(plain)
        if edit.only_by_digest or (edit.may_pass and not relinked):
            wrong += [f"{name}: found without a digest too: {relinked[0]}"] if relinked else []
            wrong += [] if with_digest else [f"{name}: not found by a kept digest"]
            self.counts["found by a kept digest alone"] += 1
            return wrong
        if not relinked:
            wrong.append(f"{name}: not found with the chain written anew")
        self.counts["found with the chain written anew"] += bool(relinked)
        return wrong

    def in_words(self, what: str) -> str:
        kinds = ("harmless", "found as they are", "found with the chain written anew", "found by a kept digest alone")
        return f"edits of {what}: " + ", ".join(f"{self.counts[kind]} {kind}" for kind in kinds)
