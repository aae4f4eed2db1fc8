"""The report as one HTML file: no script, no other file, light or dark as the reader's device is."""

from __future__ import annotations

import shlex
from html import escape
from importlib.resources import files
from typing import Literal

from onebit import __version__
from onebit.report import words
from onebit.report.charts import eps_chart, survivors_chart
from onebit.report.record import Entry, Price, Report

#: Characters above which a model's name is set smaller.
LONG_NAME = 40


def as_html(report: Report, study: str | None = None) -> str:
    """The whole page; of a study by that name, or of a run in a folder, where the report lies."""
    folder = files("onebit.report")
    style = "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in ("common.css", "style.css"))
    body = "".join(
        [
            _certificate(report),
            _prices(report),
            _charts(report),
            _leaderboard(report),
            '<div class="pair">',
            _list("What is promised", words.promised(report)),
            _list("What is not promised", words.not_promised(report)),
            "</div>",
            _list("What was assumed", words.assumed(report)),
            _verify(report, study),
        ]
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(words.chosen_in_words(report))}: the choice among {report.n_models} models</title>"
        f"<style>{style}</style></head>\n<body><main>{body}</main></body></html>\n"
    )


def _certificate(report: Report) -> str:
    badge = {"certified": "certified", "budget": "shown so far", "suspended": "suspended"}[report.status]
    figures = [
        (f"{report.answers:,}", f"{words.asked_for(report)} asked for"),
        (f"{report.n_models - report.survivors:,}", f"of {report.n_models:,} models shown not to be the best")
        if report.survivors is not None
        else (f"{report.n_models:,}", "models compared"),
        (_share(report.free_rounds, report.rounds), "of examples needed no question")
        if report.setting.protocol == "one-shot"
        else (f"{report.rounds:,}", f"of {report.n_items:,} items had to be looked at"),
        (_duration(report.seconds), "from start to end"),
    ]
    if report.excess is not None:
        figures.insert(3, (f"{report.excess:.4f}", "true excess error, known here because the right labels are"))
    simulated = '<span class="badge simulated">simulated</span>' if report.simulated else ""
    shown = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for value, name in figures)
    return (
        f'<header><p class="kicker"><span class="badge {report.status}">{badge}</span>{simulated} &nbsp;'
        f"{escape(report.table)}: {report.n_models:,} models, {report.n_items:,} items, {report.n_labels:,} labels</p>"
        f"<h1{' class=long' if len(words.chosen_in_words(report)) > LONG_NAME else ''}>"
        f'{escape(words.chosen_in_words(report))}</h1><p class="lead">{escape(words.headline(report))}</p>'
        f"<p>{escape(words.confidence(report))}</p><p>{escape(words.against_the_aim(report))}</p>"
        f'<dl class="figures">{shown}</dl></header>'
    )


def _prices(report: Report) -> str:
    if not report.prices:
        return ""
    own = Price(f"This run ({report.learner}, {report.setting.protocol})", report.answers, _unit(report), "counted")
    prices = [own, *sorted(report.prices, key=lambda price: price.answers)]
    most = max(price.answers for price in prices) or 1
    rows = "".join(_price_row(price, price is own, most) for price in prices)
    return (
        "<section><h2>What it cost, and what it would have cost</h2>"
        '<table><thead><tr><th>way to choose</th><th class="number">answers or labels</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></section>"
    )


def _price_row(price: Price, is_own: bool, most: int) -> str:
    width = 100 * price.answers / most
    return (
        f"<tr{' class=this' if is_own else ''}><td>{escape(price.way)} "
        f'<span class="soft">· {escape(price.source)}</span>'
        f'<span class="bar" style="width:{width:.1f}%"></span></td>'
        f'<td class="number">{price.answers:,}<br><span class="soft">{price.unit}</span></td></tr>'
    )


def _charts(report: Report) -> str:
    eps = eps_chart(report)
    if not eps:
        return ""
    return (
        '<div class="pair"><section><h2>How far anyone can be ahead (certified eps)</h2>'
        f"{eps}</section><section><h2>Models that may still be the best</h2>{survivors_chart(report)}</section></div>"
    )


def _leaderboard(report: Report) -> str:
    left = [entry for entry in report.leaderboard if entry.ahead_at_most is not None]
    out = [entry for entry in report.leaderboard if entry.ahead_at_most is None]
    if not left:
        return ""
    with_truth = any(entry.accuracy is not None for entry in left)
    head = "<th>model</th><th>what is shown</th>" + ('<th class="number">true accuracy</th>' if with_truth else "")
    rows = "".join(_entry_row(report, entry, with_truth) for entry in left)
    eliminated = "".join(f"<li>{_names(entry)}{_accuracy(entry)}</li>" for entry in out)
    n_out = sum(len(entry.names) for entry in out)
    more = (
        f'<details class="out"><summary>{n_out:,} models shown not to be the best</summary>'
        f"<ul>{eliminated}</ul></details>"
        if out
        else ""
    )
    return (
        '<section class="long"><h2>Leaderboard</h2>'
        f'<table class="board"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}</section>'
    )


def _entry_row(report: Report, entry: Entry, with_truth: bool) -> str:
    is_chosen = set(entry.names) <= set(report.chosen)
    bound = words.fraction(entry.ahead_at_most or 0.0)
    told = (
        "<b>chosen</b>" if is_chosen else f"if this model is the best, it is ahead of the chosen one by at most {bound}"
    )
    accuracy = (
        f'<td class="number">{"" if entry.accuracy is None else f"{entry.accuracy:.4f}"}</td>' if with_truth else ""
    )
    return f'<tr><td class="model">{_names(entry)}</td><td>{told}</td>{accuracy}</tr>'


def _names(entry: Entry) -> str:
    same = " (they predict the same)" if len(entry.names) > 1 else ""
    return escape(" = ".join(entry.names)) + same


def _accuracy(entry: Entry) -> str:
    return "" if entry.accuracy is None else f" · {entry.accuracy:.4f}"


def _list(title: str, sentences: list[str]) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<section><h2>{escape(title)}</h2><ul>{items}</ul></section>"


def _verify(report: Report, study: str | None) -> str:
    setting = report.setting
    facts = (
        f"eps {setting.eps:g}, delta {setting.delta:g}, {setting.protocol}, {setting.population}, seed {setting.seed} "
        f"({'given' if setting.seed_given else 'from the operating system'}), "
        f"budget {'none' if setting.budget is None else f'{setting.budget:,}'}"
        f"{', exhaustive' if setting.exhaustive else ''}"
        f"{f', error rates {setting.f_no:g} and {setting.f_yes:g}' if setting.f_no + setting.f_yes > 0 else ''}"
    )
    place = "in the file log.jsonl beside this report" if study is None else f"in the log of the study {escape(study)}"
    how = f"Every question, with its probability, and every answer is {place}."
    if report.learner == "certified":
        command = "onebit verify DIR" if study is None else f"onebit study verify {shlex.quote(study)}"
        where = "DIR is the folder of this report" if study is None else "where the study is kept"
        how += (
            " This draws every question again from the table and the seed, and recomputes the certificate "
            f"independently of the learner ({where}):</p><pre><code>{escape(command)}</code></pre><p>"
        )
    log = (
        ""
        if report.log_digest is None
        else f"Log: {report.n_events:,} events, digest <code>{escape(report.log_digest)}</code>. "
    )
    return (
        f'<section><h2>How to verify it</h2><p>{how}</p><p class="soft">{escape(facts)}. '
        f"The digest of the table (sha256): <code>{escape(report.digest)}</code>. {log}"
        f"onebit {escape(__version__)}.</p></section>"
    )


def _unit(report: Report) -> Literal["answers", "labels"]:
    return "labels" if report.setting.protocol == "labels" else "answers"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "-"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
