"""The report's sentences: what was shown, what is promised and what is not, what was assumed."""

from __future__ import annotations

import math

from onebit.report.record import Report


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


def chosen_in_words(report: Report) -> str:
    return " and ".join(report.chosen) if report.chosen else "No model"


def asked_for(report: Report) -> str:
    """What was asked of raters, in the plural."""
    return "labels" if report.setting.protocol == "labels" else "yes/no answers"


def headline(report: Report) -> str:
    """What was shown about the chosen model, in one sentence that needs no mathematics."""
    eps, n_models = report.certified_eps, f"{report.n_models:,}"
    if not report.chosen or eps is None:
        return f"The {report.answers:,} {asked_for(report)} so far do not choose between the {n_models} models yet."
    if eps >= 1:
        return (
            f"It leads after {report.answers:,} {asked_for(report)}; so few do not show how far another of the "
            f"{n_models} models may be ahead."
        )
    if eps == 0:
        return f"The best: none of the {n_models} models is right more often."
    return (
        f"Within {fraction(eps)} of the best: no other of the {n_models} models is right more often by more than "
        f"{points(eps)} percentage point{'' if points(eps) == '1' else 's'}."
    )


def confidence(report: Report) -> str:
    """How sure that is, and what it took."""
    delta = report.setting.delta
    runs = f"{100 * delta:.3g} in 100" if delta >= 0.01 else f"{delta:.2%} of"
    is_shown = report.certified_eps is not None and report.certified_eps < 1
    return (
        f"{'Shown by' if is_shown else 'So far there are'} {report.answers:,} {asked_for(report)}. The method makes a "
        f"wrong statement in at most {runs} runs, whatever the models and the data are."
    )


def against_the_aim(report: Report) -> str:
    """How what was shown compares with what was asked for, in words that call it neither success nor failure."""
    aim, eps = fraction(report.setting.eps), report.certified_eps
    if report.status == "certified":
        return f"Asked for was: within {aim} of the best. The run ended by itself when that was shown."
    shown = "" if eps is None or eps >= 1 else f" What is shown so far is: within {fraction(eps)}."
    why = f" The run ended there because {report.reason}." if report.reason else ""
    return f"Asked for was: within {aim} of the best.{shown}{why}"


def promised(report: Report) -> list[str]:
    """What is guaranteed."""
    sure = f"{1 - report.setting.delta:.4g}"
    if report.learner != "certified":
        return [f"For this learner ({report.learner}): {report.promise}.", best_means(report)]
    return [
        f"With probability at least {sure}, at every moment of the run at once: the best model is among those that "
        "have not been ruled out, and no model is ahead of the leader by more than the certified eps of that moment.",
        "So the statement about the chosen model holds although the run was watched and could be stopped at any time.",
        best_means(report),
    ]


def best_means(report: Report) -> str:
    if report.setting.population == "pool":
        return f"“Best” means: right most often on the {report.n_items:,} items of this table."
    return "“Best” means: right most often on the population that the items of this table were drawn from."


def not_promised(report: Report) -> list[str]:
    """What a reader may not conclude."""
    told = [
        "That the chosen model is good: it is compared with the others in the table, and all may be poor.",
        "That it stays the best elsewhere, or on next month's data.",
    ]
    if report.learner == "certified":
        told.insert(
            0,
            "Anything about two models of which neither is the best. A bound in the leaderboard reads “if this model "
            "is the best, …”, and says nothing if it is not.",
        )
    return told


def assumed(report: Report) -> list[str]:
    """What the promise rests on."""
    setting = report.setting
    told = [_raters(report)]
    if setting.protocol in ("follow-up", "labels"):
        told.append("Every item has exactly one right label.")
    else:
        told.append("Where several labels of an item are acceptable, a model is right if a rater accepts its label.")
    share = report.cant_tell / max(report.answers, 1)
    told.append(
        f"“Can't tell” ({report.cant_tell:,} of {report.answers:,} answers, {share:.1%}) counts for nobody. That is "
        "fair if it depends on the item and not on the label that was asked about."
    )
    if setting.population == "stream":
        told.append("The items of the table are independent draws from the population.")
    told.append("A model that gives no label for an item is wrong there.")
    return told


def _raters(report: Report) -> str:
    setting = report.setting
    if report.excess is not None:
        return "Raters were simulated from the known right labels" + (
            ", with errors at the rates given." if setting.f_no + setting.f_yes > 0 else ", and did not err."
        )
    if setting.f_no + setting.f_yes > 0:
        return (
            f"Raters say no to a right label at most {setting.f_no:.1%} of the time and yes to a wrong one at most "
            f"{setting.f_yes:.1%}, at the same rates for every item and label."
        )
    if setting.protocol == "one-shot":
        return (
            "Raters do not err. If they do, the statement is about how often a rater accepts a model's label, not "
            "about how often the label is right."
        )
    return "Raters do not err."
