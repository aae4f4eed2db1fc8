"""The command line as a user meets it."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onebit import __version__
from onebit.cli.main import app
from onebit.errors import InvalidInputError

runner = CliRunner()
README = Path(__file__).parents[3] / "README.md"


def test_plan_prints_every_size_side_by_side() -> None:
    shown = runner.invoke(app, ["plan", "--labels", "10", "--hypotheses", "1000"])
    assert shown.exit_code == 0
    for word in ("full labels", "uniform guesses", "Theorem 1", "best possible", "eps below"):
        assert word in shown.stdout


def test_plan_as_json_is_one_object() -> None:
    options = ["plan", "--labels", "10", "--hypotheses", "1000", "--eps", "0.05", "--delta", "0.05", "--json"]
    figures = json.loads(runner.invoke(app, options).stdout)
    assert figures["full_information"]["rounds"] == 8478
    assert figures["paper"]["T"] > figures["paper_as_printed"]["T"]
    assert figures["paper"]["rounds"] == figures["paper"]["phase_1_rounds"] + figures["paper"]["M2"]
    assert figures["paper"]["wins_below_eps"] < 1e-6


def test_plan_prints_the_sequels_sizes_beside_the_papers() -> None:
    options = ["plan", "--labels", "100", "--hypotheses", "1000", "--eps", "0.05"]
    shown = runner.invoke(app, [*options, "--right", "2", "--list-size", "3"]).stdout
    assert "the sequel's Theorem 6" in shown
    assert "up to 2 right" in shown
    assert "lists of 3" in shown
    assert "about 8 K 4 / 3 log" in shown
    assert "best known" in shown
    assert "all others are for one right label" in shown
    figures = json.loads(runner.invoke(app, [*options, "--json"]).stdout)
    sequel = figures["sequel"]
    assert sequel["rounds"] == sequel["T"] + sequel["n"]
    assert sequel["rounds"] < sequel["uniform_rounds"] < figures["uniform"]["rounds"] < figures["paper"]["rounds"]
    assert sequel["wins_below_eps"] == 0.125
    few = ["plan", "--labels", "5", "--hypotheses", "1000"]
    assert "K is too small for its constants" in runner.invoke(app, few).stdout
    assert "or s too large" in runner.invoke(app, [*options, "--right", "60"]).stdout


@pytest.mark.parametrize(
    "given", [["--labels", "100"], ["--labels", "10", "--eps", "0.95"], ["--labels", "9", "--right", "8"]]
)
def test_nobodys_order_is_below_the_best_possible_one(given: list[str]) -> None:
    """That of uniform guesses is K ln(N / delta) / eps^2."""
    figures = json.loads(runner.invoke(app, ["plan", "--hypotheses", "1000", *given, "--json"]).stdout)
    orders = [rival["rounds"] for rival in figures["rivals"] if rival["is_order"] and "--right" not in given]
    orders.append(figures["labels"] * math.log(1000 / 0.05) / figures["eps"] ** 2)
    assert figures["optimal_rate"]["order"] <= min(orders) * (1 + 1e-12)


def test_lists_have_no_natarajan_dimension() -> None:
    failed = runner.invoke(app, ["plan", "--labels", "9", "--natarajan", "2", "--list-size", "2"])
    assert isinstance(failed.exception, InvalidInputError)
    assert "gives one label" in str(failed.exception)


def test_the_best_possible_order_for_an_infinite_class_is_below_uniform() -> None:
    """Both are about the class itself, with its dimension, and not one of them about the cover."""
    options = ["plan", "--labels", "5", "--natarajan", "3", "--eps", "0.1", "--json"]
    figures = json.loads(runner.invoke(app, options).stdout)
    assert figures["optimal_rate"]["order"] < figures["uniform_order"]


def test_plan_says_when_the_paper_never_wins() -> None:
    shown = runner.invoke(app, ["plan", "--labels", "2", "--hypotheses", "10"])
    assert "never" in shown.stdout
    figures = json.loads(runner.invoke(app, ["plan", "--labels", "2", "--hypotheses", "10", "--json"]).stdout)
    assert figures["paper"]["wins_below_eps"] is None


def test_plan_for_an_infinite_class() -> None:
    options = ["plan", "--labels", "5", "--natarajan", "3", "--eps", "0.1"]
    shown = runner.invoke(app, options).stdout
    assert "Natarajan dimension 3" in shown
    assert "3,014 unlabelled examples" in shown
    figures = json.loads(runner.invoke(app, [*options, "--json"]).stdout)
    cover = figures["cover"]
    assert cover["max_hypotheses"] == figures["hypotheses"]
    # The learner of the cover gets the other halves of eps and delta.
    finite = [
        "plan",
        "--labels",
        "5",
        "--hypotheses",
        str(cover["max_hypotheses"]),
        "--eps",
        "0.05",
        "--delta",
        "0.025",
    ]
    assert json.loads(runner.invoke(app, [*finite, "--json"]).stdout)["uniform"] == figures["uniform"]


def test_plan_for_a_cover_beyond_the_range_of_a_float() -> None:
    shown = runner.invoke(app, ["plan", "--labels", "50", "--natarajan", "300"])
    assert shown.exit_code == 0
    assert "10^" in shown.stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--labels", "1", "--hypotheses", "5"], "the number of labels is 1"),
        (["--labels", "5"], "either --hypotheses N or --natarajan D"),
        (["--labels", "5", "--hypotheses", "5", "--natarajan", "2"], "either --hypotheses N or --natarajan D"),
        (["--labels", "5", "--natarajan", "-2"], "dimension is -2"),
        (["--labels", "5", "--hypotheses", "5", "--eps", "0"], "eps is 0.0"),
        (["--labels", "5", "--hypotheses", "5", "--eps", "1e-200"], "eps is 1e-200"),
        (["--labels", "5", "--hypotheses", "5", "--delta", "1e-320"], "delta is 1e-320"),
        (["--labels", "5", "--hypotheses", "5", "--gamma", "1e-60"], "gamma is 1e-60"),
        (["--labels", "5", "--hypotheses", "5", "--gamma", "0.7"], "gamma is 0.7"),
        (["--labels", "5", "--hypotheses", "5", "--list-size", "0"], "the list size is 0"),
        (["--labels", "5", "--hypotheses", "5", "--right", "6"], "the number of right labels is 6"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(options: list[str], says: str) -> None:
    command = [sys.executable, "-c", "from onebit.cli.main import main; main()", "plan", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_demo_runs_end_to_end_on_the_base_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    shown = runner.invoke(app, ["demo", "--answers", "3000", "--out", str(tmp_path / "demo")])
    assert shown.exit_code == 0
    for word in (
        "60 models",
        "Phase 1",
        "Phase 2",
        "uniform guesses",
        "full labels",
        "certified",
        "eps proven",
        "The report is in",
    ):
        assert word in shown.stdout
    assert (tmp_path / "demo" / "seed-0" / "report.html").exists()


def test_reproduce_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    refused = runner.invoke(app, ["reproduce", "--out", str(tmp_path / "out")])
    assert isinstance(refused.exception, InvalidInputError)
    assert str(refused.exception).endswith("matplotlib is not installed; install onebit[research]")
    assert not (tmp_path / "out").exists()
    assert "onebit[research]" in runner.invoke(app, ["reproduce", "--help"]).stdout


def test_version_and_help() -> None:
    assert runner.invoke(app, ["--version"]).stdout.strip() == f"onebit {__version__}"
    assert "plan" in runner.invoke(app, ["--help"]).stdout


def test_every_command_is_in_the_readme() -> None:
    commands = {command.callback.__name__ for command in app.registered_commands if command.callback}
    assert commands <= set(re.findall(r"onebit (\w+)", README.read_text()))


def test_a_file_that_the_system_refuses_is_one_line(tmp_path: Path) -> None:
    full = "from onebit.cli import main; main.app = lambda: open(r'PATH', 'w'); main.main()"
    command = [sys.executable, "-c", full.replace("PATH", str(tmp_path / "nowhere" / "file"))]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert found.stderr == f"onebit: {tmp_path / 'nowhere' / 'file'}: No such file or directory\n"
