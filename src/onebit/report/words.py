"""The report's sentences: what was shown, what is promised and what is not, what was assumed."""

from __future__ import annotations

import math

from onebit.records import Setting
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


def duration(seconds: float) -> str:
    """A length of time, as a person says it.

    >>> duration(65), duration(600), duration(9000)
    ('65.0 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def chosen_in_words(report: Report) -> str:
    return " and ".join(report.chosen) if report.chosen else "No model"


def asked_for(report: Report) -> str:
    """What was asked of raters, in the plural."""
    return "labels" if report.setting.protocol == "labels" else "yes/no answers"


def headline(report: Report) -> str:
    """What was shown about the chosen model, in one sentence that needs no mathematics."""
    eps, n_models = report.certified_eps, f"{report.n_models:,}"
    if report.status == "suspended":
        return f"Nothing is certified: {_contradiction(report)} too often for this way of asking."
    if not report.chosen or eps is None:
        return f"The {report.answers:,} {asked_for(report)} so far do not choose between the {n_models} models yet."
    if eps >= 1:
        return (
            f"It leads after {report.answers:,} {asked_for(report)}; so few do not show how far another of the "
            f"{n_models} models may be ahead."
        )
    if eps == 0:
        return f"The best: none of the {n_models} models is {_praised(report)} more often."
    return (
        f"Within {fraction(eps)} of the best: no other of the {n_models} models is {_praised(report)} more often by "
        f"more than {points(eps)} percentage point{'' if points(eps) == '1' else 's'}."
    )


def confidence(report: Report) -> str:
    """How sure that is, and what it took."""
    delta = report.setting.delta
    runs = f"{100 * delta:.3g} in 100" if delta >= 0.01 else f"{delta:.2%} of"
    is_shown = report.certified_eps is not None and report.certified_eps < 1
    whose = " simulated" if report.simulated else ""
    if report.status == "suspended":
        return f"There were {report.answers:,}{whose} {asked_for(report)}."
    return (
        f"{'Shown by' if is_shown else 'So far there are'} {report.answers:,}{whose} {asked_for(report)}. If what the "
        f"report lists under “What was assumed” holds, the method makes a wrong statement in at most {runs} runs, "
        "whatever the models and the items are."
    )


def against_the_aim(report: Report) -> str:
    """How what was shown compares with what was asked for, in words that call it neither success nor failure."""
    aim, eps = fraction(report.setting.eps), report.certified_eps
    if report.status == "certified":
        return f"Asked for was: within {aim} of the best. The run ended by itself when that was shown."
    shown = "" if eps is None or eps >= 1 else f" What is shown so far is: within {fraction(eps)}."
    why = f" The run ended there because {report.reason}." if report.reason else ""
    return f"Asked for was: within {aim} of the best.{shown}{why}"


def why_suspended(report: Report) -> str:
    """Why a run was suspended, and what to do."""
    return (
        f"{report.n_contradicted:,} of {report.n_checks:,} checks contradicted what {report.setting.protocol} rests "
        f"on: {_contradiction(report)}; start again with one-shot, which allows several right labels, or none"
    )


def _contradiction(report: Report) -> str:
    """What a check of follow-up may find."""
    also = " or denied all labels of one" if report.setting.exhaustive else ""
    return f"raters accepted two labels of one item{also}"


def promise(setting: Setting, n_items: int, simulated: bool = False) -> str:
    """What the certified learner promises, in one sentence."""
    where = f"on the {n_items:,} items of the table" if setting.population == "pool" else "on the population"
    if is_about_accuracy(setting, simulated):
        stated = f"no model is right more often than the chosen one by more than certified_eps, {where}"
    else:
        stated = (
            f"had the raters judged every model's label on every item ({where}), no model would have been accepted "
            "more often than the chosen one by more than certified_eps"
        )
    return (
        f"with probability at least {1 - setting.delta:.4g}, at any stopping time, if what is assumed holds: {stated}"
    )


def is_about_accuracy(setting: Setting, simulated: bool) -> bool:
    """Whether the statement is about how often models are right; otherwise it is about how often raters accept them.

    Simulated raters say what is right, unless error rates are given, and these are allowed for.
    """
    return simulated or setting.protocol == "labels" or setting.exhaustive or setting.f_no + setting.f_yes > 0


def promised(report: Report) -> list[str]:
    """What is guaranteed."""
    if report.status == "suspended":
        return ["Nothing: what this way of asking assumes was found not to hold."]
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
    """What "best" and "ahead" are about."""
    is_pool = report.setting.population == "pool"
    if is_about_accuracy(report.setting, report.simulated) or report.learner != "certified":
        where = "items of this table" if is_pool else "population that the items of this table were drawn from"
        return f"“Best” means: right most often on the {f'{report.n_items:,} ' if is_pool else ''}{where}."
    where = (
        f"every one of the {report.n_items:,} items of this table"
        if is_pool
        else "every item of the population that the items of this table were drawn from"
    )
    return (
        f"“Best” means: accepted most often, had the raters judged every model's label on {where}. Had they done so, "
        "no model would have been accepted more often than the chosen one by more than the certified eps."
    )


def not_promised(report: Report) -> list[str]:
    """What a reader may not conclude."""
    if report.status == "suspended":
        return ["Anything about any of the models."]
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
        if not is_about_accuracy(report.setting, report.simulated):
            told.append("That a label which raters accept is right: where raters err, so does what they accept.")
    return told


def assumed(report: Report) -> list[str]:
    """What the promise rests on."""
    setting = report.setting
    told = [_raters(report)]
    if not report.simulated and not is_about_accuracy(setting, report.simulated):
        told.append(
            "What raters say about a label of an item does not depend on when they are asked, and who is asked does "
            "not depend on how the study stands."
        )
    told += [_right_labels(report), _cant_tell(report)]
    if setting.population == "stream":
        told.append(
            "The items of the table are independent draws from the population. Models that are equal on this table "
            "are not taken to be equal there."
        )
    return [*told, "A model that gives no label for an item is not accepted there.", _seed(setting)]


def _praised(report: Report) -> str:
    """What the best model is more often than others."""
    return "right" if is_about_accuracy(report.setting, report.simulated) else "accepted by raters"


def _raters(report: Report) -> str:
    setting = report.setting
    errs = setting.f_no + setting.f_yes > 0
    if report.simulated:
        return "The answers were simulated from the column of right labels, and nobody was asked; they " + (
            "err at the rates given." if errs else "do not err."
        )
    if errs:
        return (
            f"The answer that counts (with several raters per question, the majority's) is no to a right label at most "
            f"{setting.f_no:.1%} of the time and yes to a wrong one at most {setting.f_yes:.1%}, at the same rates for "
            "every item and label, and each independently of the others. These bounds were given, not measured. "
            "Nothing is asked twice, so it does not matter whether a rater would repeat an error."
        )
    if setting.protocol == "labels":
        return "The right label of an item is the one that raters give it."
    if setting.exhaustive:
        return "No yes and no no of a rater is wrong."
    return (
        "Raters may err. The statement is about how often they accept a model's label, and about how often the label "
        "is right only as far as what they accept is right."
    )


def _right_labels(report: Report) -> str:
    setting = report.setting
    if setting.protocol == "one-shot":
        gets = "right" if is_about_accuracy(setting, report.simulated) else "accepted"
        return f"An item may have several right labels, or none: a model gets an item if its own label is {gets}."
    if setting.protocol == "labels":
        return "Every item has one right label at most."
    one = (
        "Every item has exactly one right label, and it is one of the labels: once all others are denied, the last is "
        "right, and mostly was not asked."
        if setting.exhaustive
        else "Raters accept at most one label per item."
    )
    if report.n_checks == 0:
        return f"{one} This was not tested: after a yes, no other label was asked about any item."
    checked = f"{one} This was checked by one more question about {report.n_checks:,} items, and contradicted at "
    if report.status == "suspended":
        return f"{checked}{report.n_contradicted:,}: too often."
    return (
        f"{checked}{report.n_contradicted:,}. Checks find gross violations: where one item in ten breaks it, thirty "
        "checks miss it more than once in three times."
    )


def _cant_tell(report: Report) -> str:
    share = report.cant_tell / max(report.answers, 1)
    means = (
        "counts as no label: no model gets the item"
        if report.setting.protocol == "labels"
        else "does not deny that label; where all others are denied, it is taken for right"
        if report.setting.exhaustive
        else "counts as “not a yes” to that label, and says nothing about other labels"
    )
    return f"“Can't tell” ({report.cant_tell:,} of {report.answers:,} answers, {share:.1%}) {means}."


def _seed(setting: Setting) -> str:
    if setting.seed_given:
        return (
            f"The seed that decides what is asked, {setting.seed}, was given by whoever started the run. The statement "
            "holds only if it was chosen after the table was fixed, by somebody who did not make the table, and was "
            "never used before for these items."
        )
    return (
        "The seed that decides what is asked came from the operating system when the run was created, so nobody could "
        "know it before; it is recorded in the log."
    )
