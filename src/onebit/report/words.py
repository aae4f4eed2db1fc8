"""The report's sentences about its run: what was shown, how surely, and what became of what is assumed.

What a certificate promises, and what it assumes, is in ``onebit/promise.py``.
"""

from __future__ import annotations

import math

from onebit import promise
from onebit.report import gate_words, tiers_words
from onebit.report.record import Report, Span


def points(eps: float) -> str:
    """A difference of accuracy in percentage points, rounded up so that it stays true.

    >>> points(0.0101), points(0.03)
    ('1.01', '3')
    """
    return f"{math.ceil(1e4 * eps - 1e-6) / 100:g}"


def fraction(eps: float) -> str:
    """The same as a fraction, as eps is given.

    >>> fraction(0.030512)
    '0.0306'
    """
    return f"{math.ceil(1e4 * eps - 1e-6) / 1e4:g}"


def at_most(delta: float) -> str:
    """How often a statement may be wrong.

    >>> at_most(0.05), at_most(0.001)
    ('at most 5 in 100', 'at most 0.10% of')
    """
    return f"at most {100 * delta:.3g} in 100" if delta >= 0.01 else f"at most {delta:.2%} of"


def duration(seconds: float) -> str:
    """A length of time, as a person says it.

    >>> duration(65), duration(600), duration(9000)
    ('65.0 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def chosen_in_words(report: Report) -> str:
    """What the report is headed by: the chosen model, or what a gate says."""
    if report.gate and report.status != "suspended":
        return gate_words.title(report)
    if report.placings:
        return tiers_words.title(report)
    return " and ".join(report.chosen) if report.chosen else "No model"


def asked_for(report: Report) -> str:
    """What was asked of raters, in the plural."""
    return "labels" if report.setting.protocol == "labels" else "yes/no answers"


def answers_so_far(report: Report, whose: str = "") -> str:
    """How many answers there are, one of them in the singular."""
    words = asked_for(report)
    return f"{report.answers:,}{whose} {words.removesuffix('s') if report.answers == 1 else words}"


def is_unasked(report: Report) -> bool:
    """Whether nothing was answered, and nothing is shown without that: then nobody leads."""
    return report.answers == 0 and (report.certified_eps is None or report.certified_eps >= 1)


def headline(report: Report) -> str:
    """What was shown about the chosen model, in one sentence that needs no mathematics."""
    eps, n_models = report.certified_eps, f"{report.n_models:,}"
    is_right = promise.is_about_accuracy(report.setting, report.simulated)
    praised = "right" if is_right else "accepted by raters"
    if report.status == "suspended":
        return f"Nothing is certified: {promise.contradiction(report.setting)} too often for this way of asking."
    if is_unasked(report):
        return f"Nobody has answered yet, so nothing is known about the {n_models} models."
    if report.gate:
        return gate_words.headline(report)
    if report.placings:
        return tiers_words.headline(report)
    if not report.chosen or eps is None:
        return f"{answers_so_far(report)} so far do not choose between the {n_models} models yet."
    if eps >= 1:
        return (
            f"It leads after {answers_so_far(report)}; so few do not show how far another of the {n_models} models may "
            "be ahead."
        )
    if eps == 0:
        return f"The best: none of the {n_models} models is {praised} more often."
    return (
        f"Within {fraction(eps)} of the best: no other of the {n_models} models is {praised} more often by "
        f"more than {points(eps)} percentage point{'' if points(eps) == '1' else 's'}."
    )


def confidence(report: Report) -> str:
    """How sure that is, and what it took."""
    is_shown = report.certified_eps is not None and report.certified_eps < 1
    whose, verb = " simulated" if report.simulated else "", "is" if report.answers == 1 else "are"
    if report.status == "suspended":
        return f"There {'was' if report.answers == 1 else 'were'} {answers_so_far(report, whose)}."
    return (
        f"{'Shown by' if is_shown else f'So far there {verb}'} {answers_so_far(report, whose)}. If what the report "
        "lists under “What was assumed” holds, the method makes a wrong statement in "
        f"{at_most(report.setting.delta)} runs, whatever the models and the items are."
    )


STAYS_MADE = "What was once shown stays shown, whenever you stop."


def safe_to_stop(report: Report) -> str:
    """Whether the aim is shown, in a word or two."""
    return "safe to stop" if report.status == "certified" else "not yet"


def percent(share: float) -> str:
    """
    >>> percent(0.6449)
    '64%'
    """
    return f"{100 * share:.0f}%"


def span(found: Span) -> str:
    """An interval in percent, rounded outwards so that it stays true, with the estimate before it.

    >>> span(Span(0.644, 0.551, 0.72))
    '64% (55% to 72%)'
    """
    told = f"{math.floor(100 * found.low + 1e-6)}% to {math.ceil(100 * found.high - 1e-6)}%"
    return told if found.estimate is None else f"{percent(found.estimate)} ({told})"


def difference(found: Span) -> str:
    """The same in percentage points, with signs.

    >>> difference(Span(-0.021, -0.05, 0.0101))
    '-2.1 (-5 to +1.1)'
    """
    ends = math.floor(1000 * found.low + 1e-6) / 10, math.ceil(1000 * found.high - 1e-6) / 10
    told = " to ".join(f"{end:+g}" if end else "0" for end in ends)
    return told if found.estimate is None else f"{100 * found.estimate:+.1f} ({told})"


def praised(report: Report) -> str:
    """What a model is on an item on which it scores; with error rates, what is counted is what raters say."""
    raters_err = report.setting.f_no + report.setting.f_yes > 0
    return "right" if promise.is_about_accuracy(report.setting, report.simulated) and not raters_err else "accepted"


def counted_on(report: Report) -> str:
    """The items on which it is counted how often models are accepted."""
    if report.all_count:
        return "all items"
    which = "items on which models differ"
    return which if report.n_counted is None else f"the {report.n_counted:,} {which}"


def about_intervals(report: Report) -> list[str]:
    """What the intervals of the leaderboard are about, and how surely they hold."""
    is_right = praised(report) == "right"
    how = "the model is right" if is_right else "raters accept what the model says"
    told = [f"“{praised(report).capitalize()}”: of {counted_on(report)}, the share where {how}."]
    if not report.all_count:
        told.append("Where all models say the same nobody was asked, so how often they are right there is not known.")
    told.append("The difference to the chosen model is in percentage points of all items; below 0 the model is behind.")
    if report.setting.f_no + report.setting.f_yes > 0:
        told.append("Both count what raters say, errors included: they are rates of yes, not of being right.")
    sure = 1 - report.setting.delta
    told.append(
        f"With probability {sure:.4g} all of these intervals hold together, whenever one looks. This is a statement of "
        "its own, beside the certificate."
    )
    return told


def about_evidence(report: Report) -> str:
    """What the chart shows."""
    told = (
        f"The run ends when no model can be ahead of the leading one by more than {fraction(report.setting.eps)}. The "
        "line is the evidence for that about the model of which least is known, in percent of what is needed."
    )
    if not report.closest or report.status == "certified":
        return told
    return f"{told} Now this is {' = '.join(report.closest)}."


def about_prices(report: Report) -> str:
    """What the forecasts among the prices rest on; empty if there are none."""
    if not any(price.source.startswith("forecast") for price in report.prices):
        return ""
    return (
        "A forecast runs the other way on this table to the same aim, several times, with right labels that are "
        "imagined where raters did not say them. It is no promise."
    )


def against_the_aim(report: Report) -> str:
    """How what was shown compares with the aim, in words that call it neither success nor failure."""
    if report.gate:
        return gate_words.against_the_aim(report)
    if report.placings:
        return tiers_words.against_the_aim(report)
    eps, is_over = report.certified_eps, report.status == "certified" or report.reason is not None
    told = f"The aim {'was' if is_over else 'is'} to be within {fraction(report.setting.eps)} of the best."
    if report.status == "certified":
        return f"{told} The run ended by itself when this was shown."
    if eps is not None and eps < 1:
        told += f" So far it is shown to be within {fraction(eps)}."
    return f"{told} The run ended there because {report.reason}." if report.reason else told


def why_suspended(report: Report) -> str:
    """Why a run was suspended, and what to do."""
    return (
        f"{report.n_contradicted:,} of {report.n_checks:,} checks contradicted what {report.setting.protocol} rests "
        f"on: {promise.contradiction(report.setting)}; {promise.ADVICE}"
    )


def promised(report: Report) -> list[str]:
    """What is guaranteed."""
    about = report.setting, report.n_items, report.simulated
    if report.status == "suspended":
        return ["Nothing: what this way of asking assumes was found not to hold."]
    if report.learner != "certified":
        return [f"For this learner ({report.learner}): {report.promise}.", promise.best_means(*about)]
    return promise.promised(*about)


def not_promised(report: Report) -> list[str]:
    """What a reader may not conclude."""
    if report.status == "suspended":
        return ["Anything about any of the models."]
    pairs = [promise.about_pairs(report.setting)] if report.learner == "certified" else []
    return [*pairs, *promise.not_promised(report.setting, report.simulated)]


def found(report: Report) -> list[str]:
    """What the run shows about what was assumed."""
    share = report.cant_tell / max(report.answers, 1)
    told = [f"“Can't tell” was {report.cant_tell:,} of {report.answers:,} answers ({share:.1%})."]
    if report.setting.protocol == "follow-up":
        told.insert(0, _checks(report))
    if report.setting.seed_given:
        told.append(
            f"The seed, {report.setting.seed}, was given by whoever started the run. The promise holds only if they "
            "chose it as is assumed. The log does not show that."
        )
    else:
        told.append(
            "The seed came from the operating system when the run was created, so nobody could know it before. The log "
            "records it."
        )
    return told


def _checks(report: Report) -> str:
    if report.n_checks == 0:
        return "One label per item was not tested: after a yes, no other label was asked about any item."
    told = (
        f"One label per item was checked by one more question about {report.n_checks:,} items; "
        f"{report.n_contradicted:,} of them contradicted it"
    )
    if report.status == "suspended":
        return f"{told}: too often."
    return (
        f"{told}. Checks find gross violations only: if one item in ten breaks it, thirty checks miss this more than "
        "one time in three."
    )
