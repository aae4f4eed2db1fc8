"""``onebit select`` with simulated raters, ``verify`` and ``report``: what is printed, kept and refused."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from tests.unit.cli.tables import write_table
from tests.unit.study.edits import Rows, edit_store
from typer.testing import CliRunner

from onebit.cli.main import app
from onebit.cli.select import run_selection
from onebit.errors import InvalidInputError
from onebit.records import SelectionSpec
from onebit.store.store import Store
from onebit.study.folder import StudyFolder

FIELDS = {
    "chosen",
    "status",
    "answers",
    "rounds",
    "free_rounds",
    "survivors",
    "eps",
    "delta",
    "certified_eps",
    "protocol",
    "simulated",
    "promise",
    "seconds",
    "excess",
    "n_events",
    "log_digest",
}
COLUMNS = ["--id", "key", "--truth", "right", "--show", "words"]


def onebit(*options: object) -> Any:
    return CliRunner().invoke(app, [str(option) for option in options], catch_exceptions=False)


def selected(path: Path, *options: object) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(onebit("select", path, *COLUMNS, "--seed", 0, "--json", *options).stdout)
    return told


def log_of(folder: Path) -> list[dict[str, Any]]:
    """The events in a run's folder, as plain JSON."""
    with Store(StudyFolder(folder).storage) as store, store.reading() as connection:
        rows = connection.exec_driver_sql("SELECT event FROM events ORDER BY seq").scalars().all()
    return [json.loads(row) for row in rows]


def rewrite(folder: Path, edit: Callable[[Rows], Rows], relinks: bool = True) -> None:
    with Store(StudyFolder(folder).storage) as store:
        edit_store(store, edit, relinks)


def without_seconds(told: dict[str, Any]) -> dict[str, Any]:
    """What does not depend on the clock, nor on where it was cut: how many answers share an epoch's events."""
    return {key: value for key, value in told.items() if key not in ("seconds", "n_events", "log_digest")}


@pytest.mark.parametrize("population", ["pool", "stream"])
@pytest.mark.parametrize("protocol", ["one-shot", "follow-up", "labels"])
def test_the_best_is_certified_and_verified(tmp_path: Path, protocol: str, population: str) -> None:
    path, _ = write_table(tmp_path, n_items=2000)
    told = selected(path, "--eps", 0.1, "--protocol", protocol, "--population", population)
    assert set(told) == FIELDS
    assert (told["chosen"], told["status"], told["excess"]) == ("best", "certified", 0.0)
    assert told["certified_eps"] <= told["eps"] == 0.1
    assert told["answers"] <= 2 * told["rounds"]
    folder = tmp_path / "votes"
    assert {each.name for each in folder.iterdir()} >= {"study.db", "report.html", "report.json"}
    checked = onebit("verify", folder)
    assert checked.exit_code == 0
    assert f"from {told['answers']:,} simulated answers, no model is ahead of best" in checked.stdout


def test_the_report_is_told_of_and_can_be_written_again(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    shown = onebit("select", path, *COLUMNS, "--eps", 0.1, "--out", tmp_path / "o").stdout
    assert "best\n" in shown
    assert "of the best: no other of the 4 models" in shown or "The best: none of the 4" in shown
    page = tmp_path / "o" / "report.html"
    assert f"The report is in {page}" in shown.replace("\n", "")
    html = page.read_text()
    figures = json.loads((tmp_path / "o" / "report.json").read_text())
    price = {price["way"]: price["answers"] for price in figures["prices"]}
    assert set(price) == {"Uniform guesses over all labels", "Full labels of random items"}
    assert price["Uniform guesses over all labels"] > figures["answers"]
    assert figures["course"][-1]["answers"] == figures["answers"]
    page.unlink()
    onebit("report", tmp_path / "o")
    assert page.read_text() == html
    assert json.loads(onebit("report", tmp_path / "o", "--json").stdout) == figures


def test_the_same_command_goes_on_wherever_it_was_cut(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    whole = selected(path, "--eps", 0.1)
    events = log_of(tmp_path / "votes")
    for cut in (len(events) - 1, len(events) - 4, len(events) // 2, 2):
        folder = tmp_path / f"cut {cut}"
        shutil.copytree(tmp_path / "votes", folder)
        rewrite(folder, lambda rows, n=cut: rows[:n])  # type: ignore[misc]
        assert without_seconds(selected(path, "--eps", 0.1, "--out", folder)) == without_seconds(whole)
        assert onebit("verify", folder).exit_code == 0


def test_a_folder_that_was_left_before_its_study_was_made_is_begun_anew(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    (tmp_path / "votes").mkdir()
    Store(StudyFolder(tmp_path / "votes").storage).close()
    with pytest.raises(InvalidInputError, match="stopped before its first question"):
        onebit("verify", tmp_path / "votes")
    assert selected(path, "--eps", 0.1)["status"] == "certified"


def test_a_finished_run_is_told_again_and_not_run_again(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    first = selected(path, "--eps", 0.1)
    events = log_of(tmp_path / "votes")
    assert selected(path, "--eps", 0.1) == first
    assert log_of(tmp_path / "votes") == events


def test_a_run_is_a_study(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    told = selected(path, "--eps", 0.1)
    storage = StudyFolder(tmp_path / "votes").storage
    status = json.loads(onebit("study", "status", "votes.csv", "--storage", storage, "--json").stdout)
    assert (status["chosen"], status["n_answers"]) == ([told["chosen"]], told["answers"])
    onebit("study", "export", "votes.csv", tmp_path / "labels.csv", "--storage", storage)
    assert len((tmp_path / "labels.csv").read_text().splitlines()) == 1 + told["answers"]
    assert onebit("study", "verify", "votes.csv", "--storage", storage).exit_code == 0


def test_a_budget_is_a_status_with_what_was_shown(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    told = selected(path, "--eps", 0.01, "--budget", 30)
    assert set(told) == FIELDS | {"reason"}
    assert (told["status"], told["answers"]) == ("budget", 30)
    assert told["reason"] == "the budget of 30 answers was used"
    assert told["certified_eps"] > 0.01


def test_a_budget_without_eps_is_spent(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    told = selected(path, "--budget", 30)
    assert set(told) == FIELDS | {"reason"}
    assert (told["status"], told["answers"], told["eps"]) == ("budget", 30, None)
    assert told["reason"] == "the budget of 30 answers was used"
    assert onebit("verify", path.with_suffix("")).exit_code == 0
    report = path.with_suffix("").joinpath("report.html").read_text()
    assert "The aim was the best choice for 30 answers, with no eps asked for." in report
    storage = StudyFolder(path.with_suffix("")).storage
    status = onebit("study", "status", path.name, "--storage", storage).stdout
    assert "(none asked for: the budget is spent on the choice)" in status


def test_a_stream_that_ends_says_so(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path, n_items=60)
    told = selected(path, "--eps", 0.01, "--delta", 1e-9, "--population", "stream")
    assert told["status"] == "budget"
    assert told["reason"] == "the examples ran out: each of the 60 items counts once in a stream"


@pytest.mark.parametrize(
    ("learner", "budget", "status"),
    [("paper", 3000, "certified"), ("uniform", 3000, "certified"), ("uniform", 100, "budget")],
)
def test_the_other_learners_state_what_they_achieved(tmp_path: Path, learner: str, budget: int, status: str) -> None:
    path, _ = write_table(tmp_path)
    told = selected(path, "--eps", 0.01, "--learner", learner, "--budget", budget)
    assert told["survivors"] is None
    assert told["status"] == status
    assert (told["certified_eps"] <= 0.01) == (status == "certified")
    assert "certified_eps" in told["promise"]
    checked = onebit("verify", tmp_path / "votes")
    assert checked.exit_code == 0
    assert f"the learner {learner} gives no certificate" in checked.stdout


def test_raters_who_err_are_simulated_as_they_are_allowed_for(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    told = selected(path, "--eps", 0.2, "--error-rates", "0.1,0.05")
    assert told["chosen"] == "best"
    assert "No model is right more often than the chosen one" in told["promise"]


def test_identical_models_are_certified_at_once(tmp_path: Path) -> None:
    (tmp_path / "same.csv").write_text("a,b,t\n" + "x,x,x\ny,y,x\n" * 20)
    told = json.loads(onebit("select", tmp_path / "same.csv", "--truth", "t", "--json").stdout)
    assert told["chosen"] == ["a", "b"]
    assert (told["status"], told["answers"], told["certified_eps"], told["survivors"]) == ("certified", 0, 0.0, 2)
    assert onebit("verify", tmp_path / "same").exit_code == 0


def test_one_label_only(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,t\n" + "x,x,x\n,x,x\n" * 50)
    told = json.loads(onebit("select", tmp_path / "t.csv", "--truth", "t", "--eps", "0.2", "--json").stdout)
    assert told["chosen"] == "b"


def test_labels_from_a_file(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    (tmp_path / "labels.txt").write_text("cat\ndog\nemu\n")
    with pytest.raises(InvalidInputError, match="'fox' is not one of the 3 labels given"):
        onebit("select", path, *COLUMNS, "--labels", tmp_path / "labels.txt")
    assert not (tmp_path / "votes").exists()
    (tmp_path / "labels.txt").write_text("cat\ndog\nemu\nfox\ngnu\n")
    selected(path, "--labels", tmp_path / "labels.txt", "--eps", 0.2)
    assert onebit("verify", tmp_path / "votes").exit_code == 0


def test_an_npz(tmp_path: Path) -> None:
    truth = np.arange(400) % 3
    np.savez(tmp_path / "t.npz", preds=np.stack([truth, (truth + 1) % 3]), y=truth)
    told = json.loads(onebit("select", tmp_path / "t.npz", "--truth", "y", "--json", "--eps", 0.1).stdout)
    assert told["chosen"] == "model (row 0)"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ["--learner", "paper", "--protocol", "follow-up"],
            "learner is paper with the protocol follow-up",
        ),
        (["--learner", "uniform", "--error-rates", "0.1,0"], "only the learner certified can allow for errors"),
        (["--learner", "magic"], "learner is 'magic'; it must be one of certified, paper, uniform"),
        (["--protocol", "magic"], "protocol is 'magic'"),
        (["--population", "magic"], "population is 'magic'"),
        (["--protocol", "follow-up", "--error-rates", "0.1,0"], "use one-shot for raters who err"),
        (["--error-rates", "0.1"], "give two numbers with a comma"),
        (["--error-rates", "0.6,0.5"], "below 1 together"),
        (["--error-rates", "nan,0"], "f_no is nan; it must be at least 0 and below 1"),
        (["--eps", "0"], "eps is 0.0"),
        (["--delta", "1"], "delta is 1.0"),
        (["--budget", "0"], "budget is 0"),
        (["--seed", "-1"], "seed is -1"),
        (["--learner", "paper", "--budget", "10"], "Give a larger budget"),
        (["--show", "right"], "right labels must not be shown"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_written(
    tmp_path: Path, options: list[str], says: str
) -> None:
    path, _ = write_table(tmp_path)
    with pytest.raises(InvalidInputError) as caught:
        onebit("select", path, *COLUMNS, *options)
    assert says in str(caught.value)
    assert [each.name for each in tmp_path.iterdir()] == ["votes.csv"]


@pytest.mark.parametrize("command", [["select"], ["plan"]])
def test_a_truth_that_no_model_meets_is_refused_before_anything_is_written(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "t.csv").write_text("a,b,t\n" + "x,y,X\ny,y,Y\n" * 20)
    with pytest.raises(InvalidInputError, match="no model is right on any of the 40 items"):
        onebit(*command, tmp_path / "t.csv", "--truth", "t")
    assert [each.name for each in tmp_path.iterdir()] == ["t.csv"]


def test_without_truth_and_terminal_there_is_nobody_to_ask(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    with pytest.raises(InvalidInputError, match="there is no terminal to ask at; give --truth"):
        onebit("select", path, "--id", "key", "--show", "words", "--show", "right")
    with pytest.raises(InvalidInputError, match="the terminal takes yes and no"):
        onebit("select", path, "--protocol", "labels")


def test_a_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    selected(path, "--eps", 0.1)
    events = log_of(tmp_path / "votes")
    with pytest.raises(InvalidInputError, match=r"votes: the log belongs to another setting: its eps is 0.1, and now"):
        selected(path, "--eps", 0.2)
    with pytest.raises(InvalidInputError, match=r"its tiers is no, and now it is yes; .* another place \(--out\)"):
        selected(path, "--eps", 0.2, "--tiers")
    other, _ = write_table(tmp_path, name="other.csv", seed=1)
    with pytest.raises(InvalidInputError, match="the log belongs to another table: its digest"):
        selected(other, "--eps", 0.1, "--out", tmp_path / "votes")
    assert log_of(tmp_path / "votes") == events
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "report.html").write_text("mine")
    for place, says in (("mine", "holds other things"), ("votes.csv", "which is a file")):
        with pytest.raises(InvalidInputError, match=says):
            selected(path, "--out", tmp_path / place)


def test_a_budget_that_is_another_is_told_as_it_was_given(tmp_path: Path) -> None:
    """And not by the eps that bets are made for, which nobody gave."""
    path, _ = write_table(tmp_path)
    selected(path, "--budget", 20)
    with pytest.raises(InvalidInputError, match="its budget is 20, and now it is 30; a run cannot be changed"):
        selected(path, "--budget", 30)
    with pytest.raises(InvalidInputError, match=r"its eps is not given, and now it is 0\.1; a run cannot be changed"):
        selected(path, "--budget", 20, "--eps", 0.1)


@pytest.mark.parametrize("place", ["file/run", "file/below/run"])
def test_a_folder_that_cannot_be_made_is_one_error(tmp_path: Path, place: str) -> None:
    path, _ = write_table(tmp_path)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InvalidInputError, match=r"the folder .* cannot be made: Not a directory"):
        selected(path, "--out", tmp_path / place)
    assert (tmp_path / "file").read_text() == "mine"


def test_people_and_simulation_are_not_mixed(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    selected(path, "--eps", 0.01, "--budget", 30)
    rewrite(tmp_path / "votes", lambda rows: [rows[0] | {"simulated": False}, *rows[1:-1]])
    with pytest.raises(InvalidInputError, match=r"votes: the answers of this run are of people so far"):
        selected(path, "--eps", 0.01, "--budget", 30)
    rewrite(tmp_path / "votes", lambda rows: [rows[0] | {"simulated": True}, *rows[1:]])
    spec = SelectionSpec(eps=0.01, budget=30, seed=0, id="key", show=("words", "right"))
    with pytest.raises(InvalidInputError, match=r"are simulated so far, and now they would be of people"):
        run_selection(spec, [path], tmp_path / "votes", Console())


def test_a_report_written_again_says_that_answers_were_simulated(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    selected(path, "--eps", 0.1)
    (tmp_path / "votes" / "report.json").unlink()
    onebit("report", tmp_path / "votes")
    assert json.loads((tmp_path / "votes" / "report.json").read_text())["simulated"] is True
    assert "The answers were simulated" in (tmp_path / "votes" / "report.html").read_text()
    assert json.loads(onebit("verify", tmp_path / "votes", "--json").stdout)["simulated"] is True


def test_a_seed_is_drawn_and_kept_unless_it_is_given(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)

    def seed_after(*options: object) -> tuple[int, bool]:
        onebit("select", path, *COLUMNS, "--eps", 0.1, "--out", tmp_path / "o", *options)
        setting = json.loads((tmp_path / "o" / "report.json").read_text())["setting"]
        return setting["seed"], setting["seed_given"]

    drawn, is_given = seed_after("--budget", 20)
    assert not is_given
    # The same command goes on with it, and so does one that names it.
    assert seed_after("--budget", 20) == seed_after("--budget", 20, "--seed", drawn) == (drawn, False)
    with pytest.raises(InvalidInputError, match="its seed is"):
        seed_after("--budget", 20, "--seed", 7)


def test_a_changed_answer_is_found_by_verify(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    selected(path, "--eps", 0.1)

    def deny(rows: Rows) -> Rows:
        return [row | {"answer": "no"} if row.get("answer") == "yes" else row for row in rows]

    rewrite(tmp_path / "votes", deny)
    checked = onebit("verify", tmp_path / "votes")
    assert checked.exit_code == 1
    assert "does not hold" in checked.stdout
    told = json.loads(onebit("verify", tmp_path / "votes", "--json").stdout)
    assert told["ok"] is False
    assert told["problems"]


def test_a_claim_beyond_the_log_is_found_by_verify(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    selected(path, "--eps", 0.1)

    def claim(rows: Rows) -> Rows:
        assert rows[-1]["event"] == "finished"
        return [*rows[:-1], rows[-1] | {"summary": rows[-1]["summary"] | {"chosen": ["fair"]}}]

    rewrite(tmp_path / "votes", claim)
    checked = onebit("verify", tmp_path / "votes")
    assert checked.exit_code == 1
    assert "the end of the log says that summary chosen 0 is 'fair'; recomputed it is 'best'" in checked.stdout


def test_verify_needs_a_run_and_no_table(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path)
    with pytest.raises(InvalidInputError, match="holds no run"):
        onebit("verify", tmp_path)
    selected(path, "--eps", 0.1)
    path.unlink()
    assert onebit("verify", tmp_path / "votes").exit_code == 0


def test_exhaustive_labels_are_selected_from_and_verified(tmp_path: Path) -> None:
    path, _ = write_table(tmp_path, n_items=200)
    told = selected(path, "--eps", 0.1, "--protocol", "follow-up", "--exhaustive")
    assert told["status"] == "certified"
    assert json.loads(onebit("verify", tmp_path / "votes", "--json").stdout)["ok"]
    with pytest.raises(InvalidInputError, match="exhaustive"):
        selected(path, "--exhaustive", "--protocol", "one-shot", "--out", tmp_path / "other")


def with_judge(path: Path, errs: float) -> None:
    """Add columns of a judge of each model to a table."""
    lines = [line.split(",") for line in path.read_text().splitlines()]
    models = [name for name in lines[0] if name not in ("key", "right", "words")]
    rng = np.random.default_rng(1)
    rows = [",".join([*lines[0], *(f"j {model}" for model in models)])]
    for line in lines[1:]:
        cells = dict(zip(lines[0], line, strict=True))
        scores = [float((cells[model] == cells["right"]) != (rng.random() < errs)) for model in models]
        rows.append(",".join([*line, *map(str, scores)]))
    path.write_text("\n".join(rows) + "\n")


@pytest.mark.parametrize("protocol", ["one-shot", "follow-up"])
def test_a_run_with_a_judge_is_verified_and_goes_on_with_that_judge_alone(tmp_path: Path, protocol: str) -> None:
    path, _ = write_table(tmp_path)
    with_judge(path, errs=0.1)
    options = ["--eps", 0.1, "--protocol", protocol, "--out", tmp_path / "o"]
    told = selected(path, *options, "--judge", "j *")
    assert (told["chosen"], told["status"]) == ("best", "certified")
    assert 0.8 < told["judge"]["agreement"]["n_yes"] / told["answers"] < 1
    assert told["judge"]["agreement"]["n"] == told["answers"]
    page = (tmp_path / "o" / "report.html").read_text()
    assert "report card" in page
    assert "does not rest on the judge" in page
    assert onebit("verify", tmp_path / "o").exit_code == 0
    assert without_seconds(selected(path, *options, "--judge", "j *")) == without_seconds(told)
    with_judge(write_table(tmp_path)[0], errs=0.2)
    with pytest.raises(InvalidInputError, match="another run"):
        selected(path, *options, "--judge", "j *")


def test_long_tables_and_packed_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},{model},{said}" for i in range(60) for model, said in (("good", "yes"), ("poor", "no"))]
    long = "\n".join(["id,model,output,target", *(f"{row},yes" for row in rows)]) + "\n"
    Path("votes.csv.gz").write_bytes(gzip.compress(long.encode()))
    done = CliRunner().invoke(app, ["select", "votes.csv.gz", "--long", "--truth", "target", "--eps", "0.1", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["chosen"] == "good"
    assert Path("votes/report.html").is_file()
    planned = CliRunner().invoke(app, ["plan", "votes.csv.gz", "--long", "--eps", "0.2", "--json"])
    assert json.loads(planned.stdout)["models"] == 2
