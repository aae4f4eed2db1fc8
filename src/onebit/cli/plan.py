"""``onebit plan``: what choosing from a table will cost, or what the theorems ask for, side by side."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from onebit.cli import options as opt
from onebit.cli.sequel_plan import sequel_figures, sequel_in_words, sequel_rows
from onebit.cli.table_plan import print_table_plan, table_figures
from onebit.errors import InvalidInputError
from onebit.learners.paper import rates, schedule
from onebit.records import SECONDS_PER_ANSWER, SelectionSpec
from onebit.study.constants import PLANNED_EPS

#: What the theorems are asked for unless it is said.
DEFAULT_EPS = 0.05
ABOUT_A_TABLE = (
    "--id, --truth, --show, --models, --reference, --judge, --long, --model, --output, --protocol, --error-rates, "
    "--overlap, --rows and --whole are about a table; give the table, too"
)


def plan(
    table: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TABLE",
            help="A table, or logs, as for onebit select: forecast what choosing from it costs. Or one that need not "
            "fit into memory: a folder of Parquet files, or a URL such as s3://bucket/folder.",
            show_default=False,
        ),
    ] = None,
    labels: Annotated[
        int | None, typer.Option(help="Without a table: K, the number of labels.", show_default=False)
    ] = None,
    hypotheses: Annotated[
        int | None,
        typer.Option(help="Without a table: N, the number of hypotheses (models) to choose from.", show_default=False),
    ] = None,
    natarajan: Annotated[
        int | None,
        typer.Option(help="Natarajan dimension of an infinite class, in place of --hypotheses.", show_default=False),
    ] = None,
    eps: Annotated[
        list[float] | None,
        typer.Option(
            metavar="EPS",
            help="Excess error to reach, by default 0.05; for a table several times, by default 0.05, 0.02, 0.01.",
            show_default=False,
        ),
    ] = None,
    delta: opt.Delta = SelectionSpec.delta,
    gamma: Annotated[
        float | None,
        typer.Option(
            help="Share of uniform guesses in phase 2, above 0 and at most 1/2, the default.", show_default=False
        ),
    ] = None,
    right: Annotated[
        int | None,
        typer.Option(
            help="For the sequel: s, how many labels of an item may be right, by default 1.", show_default=False
        ),
    ] = None,
    list_size: Annotated[
        int | None,
        typer.Option(
            help="For the sequel: m, how many labels are predicted and asked at once, by default 1.", show_default=False
        ),
    ] = None,
    id: Annotated[
        str | None, typer.Option(help="Column of the table that names the items.", show_default=False)
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(help="Column of the table with right labels: no model, and not used.", show_default=False),
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column of the table that is no model; several times.", show_default=False),
    ] = None,
    models: opt.Models = None,
    reference: opt.Reference = None,
    equal: opt.Equal = SelectionSpec.equal,
    long: opt.Long = SelectionSpec.long,
    model: opt.Model = None,
    output: opt.Output = None,
    judge: opt.Judge = None,
    protocol: opt.Protocol = SelectionSpec.protocol,
    error_rates: opt.ErrorRates = None,
    overlap: opt.Overlap = SelectionSpec.overlap,
    seconds_per_answer: Annotated[float, typer.Option(help="For the rater-hours of a table.")] = SECONDS_PER_ANSWER,
    rows: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Of a folder of Parquet files or a URL: rows drawn at random, on which the forecast rests; 10,000.",
            show_default=False,
        ),
    ] = None,
    whole: Annotated[
        bool,
        typer.Option(
            "--whole",
            help="Of such a table: votes, agreement and equal models by one pass over all rows, and not by those drawn "
            "alone; outputs are compared as they are.",
        ),
    ] = False,
    workers: opt.Workers = "1",
    as_json: opt.AsJson = False,
) -> None:
    """What it will cost: forecast for a table of yours, or what the theorems ask for.

    Examples: onebit plan votes.csv --id key, and onebit plan --labels 10 --hypotheses 1000 --eps 0.05

    With a table, selections are rehearsed on truths that the models' votes make likely: a forecast, no promise. It is
    one for one-shot and one for follow-up, or for free texts one for a panel, unless --protocol names one.

    Of a table that is too large to be read, rows are drawn as by onebit draw, for a selection with --population stream;
    the same rows each time. What they show without a label is told, too: by them, or with --whole by all rows.

    Without one, the theorems' rounds are computed: the paper's, its sequel's, uniform guesses, full labels, and the
    best possible order. An infinite class is given by its Natarajan dimension. It is first covered by a finite one,
    from unlabelled examples that cost no answer; the cover takes half of eps and of delta, and its largest possible
    size stands for N. These are worst-case sizes that hold before anything is seen. The paper's beat uniform guesses
    only below a tiny eps, which is printed.
    """
    given = locals()
    if table:
        if any(each is not None for each in (labels, hypotheses, natarajan, gamma, right, list_size)):
            raise InvalidInputError(
                "--labels, --hypotheses, --natarajan, --gamma, --right and --list-size are for a plan without a table; "
                "a table has its own"
            )
        spec = opt.spec_of(SelectionSpec, {**given, "eps": None, "labels": None})
        figures = table_figures(
            table, spec, tuple(eps or PLANNED_EPS), seconds_per_answer, Console(stderr=True), workers, rows, whole
        )
    else:
        about_a_table = (id, truth, models, reference, model, output, judge, error_rates, rows)
        used = any((whole, show, long, protocol != "auto", overlap > 1))
        if used or any(each is not None for each in about_a_table):
            raise InvalidInputError(ABOUT_A_TABLE)
        figures = _for_theorems(
            labels, hypotheses, natarajan, eps, delta, gamma, _one_unless(right), _one_unless(list_size)
        )
    if as_json:
        print(json.dumps(figures))
    elif table:
        print_table_plan(figures, Console())
    else:
        _print(figures, Console())


def _for_theorems(
    labels: int | None,
    hypotheses: int | None,
    natarajan: int | None,
    eps: list[float] | None,
    delta: float,
    gamma: float | None,
    sparsity: int,
    list_size: int,
) -> dict[str, Any]:
    if labels is None:
        raise InvalidInputError("give a table, or the number of labels: --labels K")
    if (hypotheses is None) == (natarajan is None):
        raise InvalidInputError("give the size of the class: either --hypotheses N or --natarajan D")
    all_eps = eps or [DEFAULT_EPS]
    if len(all_eps) > 1:
        raise InvalidInputError(f"--eps is given {len(all_eps)} times; several are for a plan with a table")
    gamma = schedule.THEOREM_GAMMA if gamma is None else gamma
    if natarajan is None:
        figures = plan_figures(labels, hypotheses or 0, all_eps[0], delta, gamma)
        rivals = rates.rival_rounds(labels, hypotheses or 0, all_eps[0], delta)
        figures["rivals"] = [asdict(rival) for rival in rivals]
        n_hypotheses, finite_eps, finite_delta = hypotheses or 0, all_eps[0], delta
    else:
        if list_size > 1:
            raise InvalidInputError(
                "--list-size is for --hypotheses: the Natarajan dimension is that of a class which gives one label"
            )
        figures = infinite_figures(labels, natarajan, all_eps[0], delta, gamma)
        n_hypotheses, (finite_eps, finite_delta) = figures["hypotheses"], schedule.after_cover(all_eps[0], delta)
    sequel = sequel_figures(labels, n_hypotheses, finite_eps, finite_delta, gamma, sparsity, list_size)
    if sequel["wins_below_eps"] is not None:
        sequel["wins_below_eps"] *= all_eps[0] / finite_eps
    figures["sequel"] = sequel
    return {**figures, "optimal_rate": {"order": _best_order(figures)}}


def _best_order(figures: dict[str, Any]) -> float:
    """The least order that is known: the sequel's, or that of a rival."""
    K, eps, delta, sequel = (figures[key] for key in ("labels", "eps", "delta", "sequel"))
    if "natarajan" in figures:
        return rates.natarajan_optimal_order(K, figures["natarajan"], eps, delta, sequel["sparsity"])
    lists = {key: sequel[key] for key in ("sparsity", "list_size")}
    order = schedule.optimal_rate(K, figures["hypotheses"], eps, delta, **lists)
    rivals = [rival["rounds"] for rival in figures["rivals"] if rival["is_order"]]
    return min(order, *rivals) if set(lists.values()) == {1} else order


def plan_figures(n_labels: int, n_hypotheses: int, eps: float, delta: float, gamma: float) -> dict[str, Any]:
    """All figures of the command; its JSON."""
    printed = schedule.printed_plan(n_labels, n_hypotheses, eps, delta, gamma)
    theorem = schedule.theorem_plan(n_labels, n_hypotheses, eps, delta, gamma)
    return {
        "labels": n_labels,
        "hypotheses": n_hypotheses,
        "eps": eps,
        "delta": delta,
        "gamma": gamma,
        "tolerance": schedule.tolerance(n_labels, gamma),
        "paper": _phases(theorem, n_labels, n_hypotheses),
        "paper_as_printed": _phases(printed, n_labels, n_hypotheses),
        "uniform": {"rounds": schedule.uniform_rounds(n_labels, n_hypotheses, eps, delta)},
        "full_information": {"rounds": schedule.full_information_rounds(n_hypotheses, eps, delta)},
    }


def infinite_figures(n_labels: int, dimension: int, eps: float, delta: float, gamma: float) -> dict[str, Any]:
    """The figures for a class of this Natarajan dimension: its cover, and what the learner of the cover needs."""
    cover = schedule.theorem_cover(n_labels, dimension, eps, delta)
    size = schedule.cover_growth(cover, n_labels, dimension)
    rest_eps, rest_delta = schedule.after_cover(eps, delta)
    finite = plan_figures(n_labels, size, rest_eps, rest_delta, gamma)
    for key in ("paper", "paper_as_printed"):
        below = finite[key]["wins_below_eps"]
        finite[key]["wins_below_eps"] = None if below is None else below * eps / rest_eps
    return {
        **finite,
        "natarajan": dimension,
        "eps": eps,
        "delta": delta,
        "uniform_order": rates.natarajan_order(n_labels, dimension, eps, delta),
        "cover": {"unlabelled": cover.n_points, "max_hypotheses": size, "radius": cover.radius},
    }


def _one_unless(given: int | None) -> int:
    return 1 if given is None else given


def _phases(plan: schedule.Plan, n_labels: int, n_hypotheses: int) -> dict[str, Any]:
    phase_1 = schedule.collecting_rounds(plan.n_confirmed, n_labels, plan.delta)
    return {
        "M1": plan.n_confirmed,
        "T": plan.n_steps,
        "M2": plan.n_final,
        "phase_1_rounds": phase_1,
        "rounds": phase_1 + plan.n_final,
        "carries_theorem": plan.guarantee is not None,
        "wins_below_eps": schedule.break_even_eps(plan, n_labels, n_hypotheses),
    }


def _print(figures: dict[str, Any], console: Console) -> None:
    table = Table(
        title=(
            f"Rounds for an excess error of at most {figures['eps']:g} with probability {1 - figures['delta']:g}: "
            f"{figures['labels']} labels, {_class_in_words(figures)}"
        ),
        title_justify="left",
    )
    table.add_column("learner")
    table.add_column("rounds", justify="right")
    table.add_column("of which")
    table.add_row("full labels, ERM", f"{figures['full_information']['rounds']:,}", "2 log(2N/delta) / eps^2")
    table.add_row("uniform guesses", _large(figures["uniform"]["rounds"]), "48 K log(2N/delta) / eps^2")
    for key, name in (("paper", "Theorem 1, T from Theorem 3"), ("paper_as_printed", "Theorem 1, T as printed")):
        row = figures[key]
        parts = (
            f"phase 1: {_large(row['phase_1_rounds'])} to confirm M1 = {_large(row['M1'])}\n"
            f"phase 2: M2 = {_large(row['M2'])}\noracle calls: T = {_large(row['T'])}"
        )
        table.add_row(name, _large(row["rounds"]), parts)
    for cells in sequel_rows(figures["sequel"], _large):
        table.add_row(*cells)
    for rival in figures.get("rivals", ()):
        rounds = f"{'order ' if rival['is_order'] else ''}{_large(rival['rounds'])}"
        table.add_row(rival["learner"], rounds, f"{rival['formula']}\n{rival['guarantee']}; {rival['source']}")
    if "uniform_order" in figures:
        order = f"order {_large(figures['uniform_order'])}"
        table.add_row("uniform guesses, no cover", order, "K (d + log(1/delta)) / eps^2; Daniely et al. 2011")
    # For lists no lower bound is known.
    best = f"best {'possible' if figures['sequel']['list_size'] == 1 else 'known'} (2026)"
    table.add_row(
        best,
        f"order {_large(figures['optimal_rate']['order'])}",
        "the sequel's rate, or a lower one above; no constants",
    )
    console.print(table)
    if "cover" in figures:
        console.print(
            f"Cover: {figures['cover']['unlabelled']:,} unlabelled examples give at most "
            f"{_large(figures['cover']['max_hypotheses'])} hypotheses, of which one is within "
            f"{figures['cover']['radius']:g} of any in the class; the rounds above are for the other half of eps "
            "and delta.",
            soft_wrap=True,
        )
    console.print(_verdict(figures), soft_wrap=True)
    console.print(sequel_in_words(figures["sequel"]), soft_wrap=True)


def _verdict(figures: dict[str, Any]) -> str:
    """In words, for which eps the paper's sizes are the smaller ones."""
    below = figures["paper"]["wins_below_eps"]
    start = "Batches: b_t = (gamma t / 2K)^2 at t = 2^k - 1, else t, rounded up; steps 1/t; tolerance gamma^2 / 2K^2 "
    start += f"= {figures['tolerance']:.3g}.\n"
    if below is None:
        return (
            start + "Theorem 1 never asks for fewer rounds than uniform guesses here: K is too small for the constants."
        )
    words = (
        f"Theorem 1 asks for fewer rounds than uniform guesses only for eps below {below:.2g} "
        f"({figures['paper_as_printed']['wins_below_eps']:.2g} with the sizes as printed): its phase 1 does not "
        "depend on eps, but is of order K^9."
    )
    if not figures["paper_as_printed"]["carries_theorem"]:
        words += " T as printed is too small by a log T; only the other row carries the theorem."
    return start + words


def _class_in_words(figures: dict[str, Any]) -> str:
    if "natarajan" in figures:
        return f"a class of Natarajan dimension {figures['natarajan']}"
    return f"{figures['hypotheses']:,} hypotheses"


def _large(value: float) -> str:
    if value < 1e9:
        return f"{value:,.0f}"
    # A cover's size can be beyond the range of a float.
    return f"{value:.2e}" if value < 1e300 else f"10^{math.log10(value):.0f}"
