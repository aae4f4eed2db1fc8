"""Single edits of the logs and tables of studies: each is found, or it is said why it may pass."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection
from tests.unit.study.edits import (
    SELECTION,
    Edit,
    Rows,
    Tally,
    before_the_end,
    edit_store,
    flip,
    flip_all,
    last,
    more,
    of_kind,
    other,
    places,
    renamed,
    second_answer,
    setting,
    swap_two_answers,
    twice,
    without,
    without_one,
)

from onebit.errors import OnebitError
from onebit.estimate.accuracy import accuracy_interval
from onebit.log.chain import canonical, digest_of
from onebit.records import Status
from onebit.store.store import Store
from onebit.study.opening import create_learning_study, create_study
from onebit.study.proof import verify_study
from onebit.study.study import Study, Undo

N_ITEMS, N_LABELS, AUDIT = 400, 4, 40
RNG = np.random.default_rng(5)
TRUTH = RNG.integers(0, N_LABELS, N_ITEMS)
MODELS = np.stack(
    [
        np.where(RNG.random(N_ITEMS) < accuracy, TRUTH, (TRUTH + RNG.integers(1, N_LABELS, N_ITEMS)) % N_LABELS)
        for accuracy in (0.85, 0.83, 0.78, 0.7, 0.6)
    ]
)
X = np.stack([np.cos(1.5 * TRUTH), np.sin(1.5 * TRUTH)], axis=1) + RNG.normal(0, 0.5, (N_ITEMS, 2))
NO_WITNESS = "who answered, and when, is known to nobody but the log"


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def answer_all(study: Study, error: float) -> None:
    """Three raters in turn; now and then one takes an answer back and gives it again."""
    rng = np.random.default_rng(1)
    done: set[str] = set()
    while len(done) < 3:
        for rater in ("ann", "bob", "cid"):
            offer = study.ask(rater)
            if isinstance(offer, Status):
                done |= {rater} if offer is Status.DONE else set()
                continue
            said = bool(offer.label == TRUTH[offer.item]) != (rng.random() < error)
            study.tell(offer, said, token=f"{rater} {rng.integers(2**60)}")
            if rng.random() < 0.05:
                study.undo(offer)
    first = study.offer(0)
    for rater in ("ann", "bob", "cid"):
        try:
            assert study.undo(first.id, rater=rater) in Undo
        except OnebitError:
            continue


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, str]]:
    """A study of each kind, finished: its file, and the digest of its log."""
    folder = tmp_path_factory.mktemp("studies")
    gold = {row: int(TRUTH[row]) for row in range(50)}
    made: dict[str, tuple[Path, str]] = {}
    for kind, overlap in (("one rater", 1), ("three raters", 3), ("training", 1)):
        path = folder / f"{kind}.db"
        checks: dict[str, Any] = {"overlap": overlap, "gold": gold, "gold_share": 0.1, "repeat_share": 0.05}
        if kind == "training":
            labels = tuple("abcd")
            study = create_learning_study(
                X, "s", labels=labels, storage=url(path), budget=160, audit=AUDIT, seed=3, **checks
            )
        else:
            study = create_study(MODELS, "s", storage=url(path), eps=0.08, seed=3, **checks)
        with study:
            answer_all(study, 0.15 if overlap > 1 else 0.0)
            made[kind] = path, study.head.digest
    return made


@pytest.mark.parametrize("overlap", [1, 3])
@pytest.mark.parametrize("options", [{}, {"protocol": "follow-up"}, {"population": "stream"}, {"learner": "uniform"}])
def test_a_selection_is_verified_at_any_moment(tmp_path: Path, overlap: int, options: dict[str, Any]) -> None:
    path = tmp_path / "s.db"
    budget: dict[str, Any] = {"budget": 150} if "learner" in options else {}
    with create_study(MODELS, "s", storage=url(path), eps=0.05, overlap=overlap, **options, **budget) as study:
        assert_verified_at_any_moment(study, path)


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_a_training_is_verified_at_any_moment(tmp_path: Path, protocol: Any) -> None:
    path = tmp_path / "s.db"
    with create_learning_study(X, "s", labels=tuple("abcd"), storage=url(path), budget=80, protocol=protocol) as study:
        assert_verified_at_any_moment(study, path)


def assert_verified_at_any_moment(study: Study, path: Path) -> None:
    rng = np.random.default_rng(2)
    for moment in range(90):
        if moment % 15 == 0:
            assert problems_of(path) == []
            assert verify_study(url(path), "s").log_digest == study.head.digest
        for rater in ("ann", "bob", "cid"):
            offer = study.ask(rater)
            if isinstance(offer, Status):
                continue
            study.tell(offer, bool(offer.label == TRUTH[offer.item]) != (rng.random() < 0.1))
            if rng.random() < 0.1:
                study.undo(offer)
    assert problems_of(path) == []


def problems_of(path: Path, digest: str | None = None) -> list[str]:
    try:
        return list(verify_study(url(path), "s", digest=digest).problems)
    except OnebitError as error:
        return [str(error)]


# Edits of what raters did, in studies of every kind.

RATERS: dict[str, Edit] = {
    "a rater's work given to a new name": Edit(renamed("bob", "zed"), only_by_digest=NO_WITNESS),
    "a rater's work given to another": Edit(renamed("bob", "ann")),
    "a dispute of somebody else": Edit(more(event="disputed", id=3, rater="zed")),
    "a check invented": Edit(
        before_the_end(
            {
                "event": "checked",
                "id": 10**6,
                "item": 3,
                "label": 1,
                "rater": "ann",
                "expected": "yes",
                "repeats": None,
            }
        )
    ),
    "a check that was not due": Edit(
        lambda rows: before_the_end(
            {
                "event": "checked",
                "id": len(of_kind(rows, "checked")) + len(of_kind(rows, "asked")),
                "item": 3,
                "label": int(TRUTH[3]),
                "rater": "ann",
                "expected": "yes",
                "repeats": None,
            }
        )(rows)
    ),
    "a check expects the other answer": Edit(
        lambda rows: setting("checked", 0, "expected", to=other(of_kind(rows, "checked")[0]["expected"]))(rows)
    ),
    "a check is about another item": Edit(setting("checked", 0, "item", to=399)),
    "a check taken out": Edit(
        lambda rows: [row for row in rows if row.get("id") != of_kind(rows, "checked")[-1]["id"]]
    ),
    "the answer to a check taken out": Edit(without_one("check answered", 0), only_by_digest=NO_WITNESS),
    "the answer to a check flipped": Edit(flip("check answered", 0), only_by_digest=NO_WITNESS),
    "the answer to a check twice": Edit(twice("check answered", 0)),
    "two raters a question": Edit(setting("created", 0, "overlap", to=2)),
    "five raters a question": Edit(setting("created", 0, "overlap", to=5)),
}


def next_token(answered: Rows, place: int) -> str:
    """The token of the next answer of the same rater."""
    rater = answered[place]["rater"]
    return next(str(row["token"]) for row in answered[place + 1 :] if row["rater"] == rater)


ONE_RATER: dict[str, Edit] = {
    "an answer by somebody who was not asked": Edit(setting("answered", 4, "rater", to="zed")),
    "an answer came late": Edit(setting("answered", 4, "late", to=True), only_by_digest=NO_WITNESS),
    "a token of another answer of the rater": Edit(
        lambda rows: setting("answered", 4, "token", to=next_token(of_kind(rows, "answered"), 4))(rows)
    ),
    "another token": Edit(setting("answered", 4, "token", to="new"), only_by_digest=NO_WITNESS),
    "an undo by another rater": Edit(setting("undone", 0, "rater", to="zed")),
    "an undo taken out": Edit(without_one("undone", 0)),
    "a vote where one rater answers": Edit(
        before_the_end({"event": "voted", "id": 3, "answer": "yes", "rater": "ann", "token": None, "late": False})
    ),
    "three raters a question": Edit(setting("created", 0, "overlap", to=3)),
    "two answers swapped": Edit(swap_two_answers),
}


def taken_back_vote_kept(rows: Rows) -> Rows:
    """Of a rater who then voted again."""
    for place in places(rows, "unvoted"):
        taken_back = rows[place]["id"], rows[place]["rater"]
        if any((row["id"], row["rater"]) == taken_back for row in of_kind(rows[place:], "voted")):
            return rows[:place] + rows[place + 1 :]
    raise AssertionError("no rater voted again")


THREE_RATERS: dict[str, Edit] = {
    "a vote flipped": Edit(flip("voted", 0)),
    "all votes flipped": Edit(flip_all("voted")),
    "votes taken out": Edit(without("voted")),
    "a vote taken out": Edit(without_one("voted", 1)),
    "a vote twice": Edit(twice("voted", 1)),
    "votes moved to the end": Edit(last("voted")),
    "a vote by somebody who was not asked": Edit(setting("voted", 4, "rater", to="zed")),
    "a vote came late": Edit(setting("voted", 4, "late", to=True), only_by_digest=NO_WITNESS),
    "an answer of one rater": Edit(setting("answered", 4, "rater", to="ann")),
    "one rater a question": Edit(setting("created", 0, "overlap", to=1)),
    "two answers swapped": Edit(swap_two_answers),
    "a taken back vote kept": Edit(taken_back_vote_kept),
}


def audits_of_the_truth(rows: Rows) -> Rows:
    """The audit asks about right labels in place of the classifier's, and all are right."""
    audits = {row["number"] for row in of_kind(rows, "plan") if row["audits"]}
    for row in of_kind(rows, "plan"):
        if row["audits"]:
            row["labels"] = row["guesses"] = [int(TRUTH[item]) for item in row["items"]]
    epoch_of = {row["id"]: row["epoch"] for row in of_kind(rows, "asked")}
    for row in of_kind(rows, "asked"):
        if row["epoch"] in audits:
            row["label"] = int(TRUTH[row["item"]])
    for row in of_kind(rows, "answered"):
        if epoch_of[row["id"]] in audits:
            row["answer"] = "yes"
    found = accuracy_interval(AUDIT, AUDIT, 0.05)
    of_kind(rows, "finished")[0]["summary"]["accuracy"] = [found.low, found.high]
    return rows


def one_audited_label(rows: Rows) -> Rows:
    """One wrong guess of the audit is made right, in the plan, the question, the answer; the end follows."""
    epoch_of = {row["id"]: row for row in of_kind(rows, "asked")}
    plans = {row["number"]: row for row in of_kind(rows, "plan") if row["audits"]}
    for row in of_kind(rows, "answered"):
        asked = epoch_of[row["id"]]
        if asked["epoch"] in plans and row["answer"] == "no":
            plan, label = plans[asked["epoch"]], int(TRUTH[asked["item"]])
            place = plan["items"].index(asked["item"])
            plan["labels"][place] = plan["guesses"][place] = asked["label"] = label
            row["answer"] = "yes"
            break
    return rows


def none_of_these(rows: Rows) -> Rows:
    """The last no of the log, which is one of the audit and changes nothing else."""
    next(row for row in reversed(of_kind(rows, "answered")) if row["answer"] == "no")["answer"] = "none of these"
    return rows


def audit_flag(rows: Rows) -> Rows:
    row = next(row for row in of_kind(rows, "plan") if row["audits"])
    row["audits"] = False
    return rows


TRAINING: dict[str, Edit] = {
    "nothing": SELECTION["nothing"],
    "keys in another order": SELECTION["keys in another order"],
    "audited labels made the right ones": Edit(audits_of_the_truth),
    "one audited label made the right one": Edit(one_audited_label),
    "the last answer of the audit flipped": Edit(flip("answered", -1)),
    "an audit said to train": Edit(audit_flag),
    "an answer taken out": Edit(without_one("answered", 12)),
    "a second answer": Edit(second_answer),
    "a plan taken out": Edit(without_one("plan", 2)),
    "a plan twice": Edit(twice("plan", 2)),
    "plans moved to the end": Edit(last("plan")),
    "a plan asks about other items": Edit(
        lambda rows: setting("plan", 0, "items", to=of_kind(rows, "plan")[0]["items"][::-1])(rows)
    ),
    "an audit asks about other items": Edit(
        lambda rows: setting("plan", -1, "items", to=of_kind(rows, "plan")[-1]["items"][::-1])(rows)
    ),
    "an audit has other guesses": Edit(
        lambda rows: setting(
            "plan", -1, "guesses", to=[(label + 1) % N_LABELS for label in of_kind(rows, "plan")[-1]["guesses"]]
        )(rows)
    ),
    "a plan leaves an item that nobody was asked about": Edit(
        lambda rows: setting("plan", 0, "left", to=[of_kind(rows, "plan")[-1]["items"][0]])(rows)
    ),
    "a plan asks less about its items": Edit(
        lambda rows: setting("plan", 0, "limits", to=[7] * len(of_kind(rows, "plan")[0]["items"]))(rows)
    ),
    "a no becomes none of these": Edit(none_of_these),
    "raters who err": Edit(setting("created", 0, "setting", "f_no", to=0.1)),
    "another seed": Edit(setting("created", 0, "setting", "seed", to=12345)),
    "another delta": Edit(setting("created", 0, "setting", "delta", to=0.5)),
    "a smaller budget": Edit(setting("created", 0, "setting", "budget", to=100)),
    "a smaller audit": Edit(setting("created", 0, "setting", "audit", to=10)),
    "a target": Edit(setting("created", 0, "setting", "target", to=0.5)),
    "fewer labels": Edit(setting("created", 0, "table", "n_labels", to=3)),
    "other examples": Edit(setting("created", 0, "table", "digest", to="0" * 64)),
    "another kind": Edit(setting("created", 0, "kind", to="selection")),
    "the end has another accuracy": Edit(setting("finished", -1, "summary", "accuracy", to=[0.9, 1.0])),
    "the end counts more labels": Edit(setting("finished", -1, "summary", "n_verified", to=399)),
    "the end counts more answers": Edit(setting("finished", -1, "summary", "n_answers", to=399)),
    "the end has another status": Edit(setting("finished", -1, "status", to="exhausted")),
    "the end promises more": Edit(setting("finished", -1, "summary", "promise", to="all is well")),
    "the end twice": Edit(twice("finished", 0)),
    "an undo taken out": ONE_RATER["an undo taken out"],
    "an answer came late": ONE_RATER["an answer came late"],
    "three raters a question": ONE_RATER["three raters a question"],
}
EDITS: dict[str, dict[str, Edit]] = {
    "one rater": SELECTION | RATERS | ONE_RATER,
    "three raters": SELECTION | RATERS | THREE_RATERS,
    "training": TRAINING | RATERS,
}
CASES = [(kind, name) for kind, edits in EDITS.items() for name in edits]


@pytest.mark.parametrize("kind", EDITS)
def test_edits_of_a_log(
    kind: str, studies: dict[str, tuple[Path, str]], tmp_path: Path, measured: Callable[[str], None]
) -> None:
    source, digest = studies[kind]
    tally, wrong = Tally(), []
    for name, edit in EDITS[kind].items():
        found = {}
        for relinks in (False, True):
            path = tmp_path / f"{relinks}.db"
            shutil.copy(source, path)
            with Store(url(path)) as store:
                edit_store(store, edit.of, relinks)
            found[relinks] = problems_of(path)
        with_digest = problems_of(path, digest) if edit.only_by_digest or edit.may_pass else []
        wrong += tally.take(name, edit, found[False], found[True], with_digest)
    measured(tally.in_words(f"a study ({kind})"))
    assert not wrong, "\n".join(wrong)


# Edits of what the store holds besides the log.


def of_about(change: Callable[[dict[str, Any]], object]) -> Callable[[Connection], None]:
    def edit(connection: Connection) -> None:
        about = json.loads(connection.exec_driver_sql("SELECT about FROM studies").scalar_one())
        change(about)
        connection.exec_driver_sql("UPDATE studies SET about = ?", (json.dumps(about),))

    return edit


def of_block(kind: str, change: Callable[[bytes], bytes]) -> Callable[[Connection], None]:
    def edit(connection: Connection) -> None:
        query = "SELECT data FROM blocks WHERE kind = ? AND number = 0"
        data = connection.exec_driver_sql(query, (kind,)).scalar_one()
        connection.exec_driver_sql("UPDATE blocks SET data = ? WHERE kind = ? AND number = 0", (change(data), kind))

    return edit


def swap(names: list[Any], a: int, b: int) -> None:
    names[a], names[b] = names[b], names[a]


STORED: dict[str, Callable[[Connection], None]] = {
    "models swapped": of_about(lambda about: swap(about["models"], 0, 4)),
    "labels swapped": of_about(lambda about: swap(about["labels"], 0, 1)),
    "instructions": of_about(lambda about: about.update(instructions="say yes to label 0")),
    "a description": of_about(lambda about: about["labels"][1].update(description="is like 0")),
    "gold": of_about(lambda about: about["gold"][0].update(labels=[(about["gold"][0]["labels"][0] + 1) % 4])),
    "the share of gold": of_about(lambda about: about.update(gold_share=0.2)),
    "what is shown": of_block("items", lambda data: data[:-1] + bytes([data[-1] ^ 1])),
    "predictions": of_block("predictions", lambda data: bytes([(data[0] + 1) % 4]) + data[1:]),
}


@pytest.mark.parametrize("name", STORED)
def test_edits_beside_the_log_are_found(name: str, studies: dict[str, tuple[Path, str]], tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    shutil.copy(studies["one rater"][0], path)
    with Store(url(path)) as store, store.writing() as connection:
        STORED[name](connection)
    assert problems_of(path)


@pytest.mark.parametrize("kind", ["features", "transformer", "items"])
def test_edits_of_what_is_learned_from_are_found(
    kind: str, studies: dict[str, tuple[Path, str]], tmp_path: Path
) -> None:
    path = tmp_path / "s.db"
    shutil.copy(studies["training"][0], path)
    with Store(url(path)) as store, store.writing() as connection:
        of_block(kind, lambda data: data[:-1] + bytes([data[-1] ^ 1]))(connection)
    assert problems_of(path)


def test_what_raters_were_told_can_be_sealed_anew_and_a_kept_digest_shows_it(
    studies: dict[str, tuple[Path, str]], tmp_path: Path
) -> None:
    source, digest = studies["one rater"]
    path = tmp_path / "s.db"
    shutil.copy(source, path)
    with Store(url(path)) as store:
        with store.writing() as connection:
            STORED["instructions"](connection)
        told = digest_of(canonical(store.entry("s").about))
        edit_store(store, setting("created", 0, "about", to=told), relinks=True)
    assert problems_of(path) == []
    assert "none of this log" in problems_of(path, digest)[0]


def test_an_earlier_digest_is_on_the_way(studies: dict[str, tuple[Path, str]]) -> None:
    path, _ = studies["one rater"]
    with Store(url(path)) as store, store.reading() as connection:
        text = connection.exec_driver_sql("SELECT event FROM events WHERE seq = 40").scalar_one()
    assert problems_of(path, json.loads(text)["after"]) == []


def test_there_are_enough_edits() -> None:
    assert len(CASES) + len(STORED) >= 80
