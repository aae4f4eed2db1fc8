"""What a certificate promises, what it does not, and what it assumes: one text for results, reports and pages.

The sentences are for somebody who employs raters and knows no statistics; ``docs/certificate.md`` has the argument.
They follow from the setting alone. A report adds what its run has shown. ``simulated``: the answers come from right
labels, and nobody was asked.
"""

from __future__ import annotations

from onebit.records import Setting, WatchSetting

#: What no certificate says.
ABOUT_PAIRS = (
    "Anything about two models of which neither is the best. A bound in the leaderboard begins with “if this model is "
    "the best”. It says nothing if the model is not the best."
)
#: What no gate says.
ABOUT_CANDIDATES = "Anything about two candidates beside each other. Each is held against the baseline alone."
#: What is not said where several best models are named.
ABOUT_THE_BEST = (
    "Anything about two models that are both among the best ones, or both not among them. Who of the named is better "
    "is not said."
)
#: What tiers do not say.
ABOUT_TIERS = (
    "That models which are tied, or in one tier, are equally good. Tied means that they differ by less than the eps; "
    "in one tier are models between which no line can be drawn."
)
#: What to do where follow-up was suspended.
ADVICE = "start again with one-shot, which allows several right labels per item, or none"


def about_pairs(setting: Setting) -> str:
    """What is not said of two models beside each other."""
    if setting.tiers:
        return ABOUT_TIERS
    if setting.top is not None:
        return ABOUT_THE_BEST
    return ABOUT_PAIRS if setting.baseline is None else ABOUT_CANDIDATES


def in_full(setting: Setting, n_items: int | None, simulated: bool = False) -> str:
    """What is promised and what is assumed, in one text."""
    return " ".join([*promised(setting, n_items, simulated), "This assumes:", *assumed(setting, simulated)])


def is_about_accuracy(setting: Setting, simulated: bool = False) -> bool:
    """Whether the promise is about how often models are right; otherwise it is about how often raters accept them.

    Simulated raters say what is right, unless error rates are given, and these are allowed for.
    """
    return simulated or setting.protocol == "labels" or setting.exhaustive or _raters_err(setting)


def promised(setting: Setting, n_items: int | None, simulated: bool = False) -> list[str]:
    """What is guaranteed about a pool of ``n_items``, or about the population of a stream."""
    if setting.baseline is not None:
        return _promised_by_gate(setting, n_items, simulated)
    if setting.ranks:
        return _promised_of_ranks(setting, n_items, simulated)
    ahead = (
        "No model is right more often than the chosen one"
        if is_about_accuracy(setting, simulated)
        else "Raters would accept no model more often than the chosen one"
    )
    return [
        f"With probability at least {1 - setting.delta:.4g}, two things hold at every moment of the run: the best "
        "model is among those that have not been ruled out, and no model is ahead of the leading one by more than the "
        "certified eps of that moment.",
        "So the promise holds although the run is watched, and whenever it is stopped.",
        f"{best_means(setting, n_items, simulated)} {ahead} by more than the certified eps.",
    ]


def _promised_by_gate(setting: Setting, n_items: int | None, simulated: bool) -> list[str]:
    return [
        f"With probability at least {1 - setting.delta:.4g}, everything that is said of every candidate is true, at "
        "every moment of the run: that it is better than the baseline, that it is worse, that it is not worse by the "
        "margin, and how far it may be behind or ahead.",
        "So the promise holds although the run is watched, and whenever it is stopped.",
        f"{best_means(setting, n_items, simulated)} “Worse” means: less often, by however little. “Not worse by the "
        f"margin” means: less often by less than {setting.eps:g}, if at all.",
    ]


def _promised_of_ranks(setting: Setting, n_items: int | None, simulated: bool) -> list[str]:
    what = (
        "everything that is said of every pair of models is true, at every moment of the run: which one is better, and "
        f"that two are within {setting.eps:g} of each other. So is what follows from it, the tiers and the ranks."
    )
    if setting.top is not None:
        what = (
            "two things hold at every moment of the run: who is shown to be among the best "
            f"{setting.top}, or not to be, is so; and no model that is not named is ahead of one that is by more than "
            "the certified eps of that moment."
        )
    return [
        f"With probability at least {1 - setting.delta:.4g}, {what}",
        "So the promise holds although the run is watched, and whenever it is stopped.",
        best_means(setting, n_items, simulated),
    ]


def best_means(setting: Setting, n_items: int | None, simulated: bool = False) -> str:
    """What models are compared by, and where."""
    if setting.population == "pool":
        where, each = f"the {n_items:,} items of this table", "each of"
    else:
        where, each = "the population that the items of this table were drawn from", "every item of"

    def means(praised: str) -> str:
        if setting.tiers:
            return f"“Better” means: {praised} more often"
        if setting.baseline is None:
            return f"“Best” means: {praised} most often"
        return f"“Better” means: {praised} more often than the baseline"

    if is_about_accuracy(setting, simulated):
        return f"{means('right')} on {where}."
    what = "output" if setting.protocol == "panel" else "label"
    return f"{means('accepted')}, if raters judged every model's {what} on {each} {where}."


def not_promised(setting: Setting, simulated: bool = False) -> list[str]:
    """What nobody may conclude, besides ``ABOUT_PAIRS``."""
    told = [
        "That the chosen model is good. It is compared with the other models of the table, and all may be poor.",
        "That it is the best elsewhere, or on next month's data.",
    ]
    if setting.ranks:
        told = [
            "That the models at the top are good. They are compared with the others of the table, and all may be poor.",
            "That the order is the same elsewhere, or on next month's data.",
        ]
    if setting.baseline is not None:
        told = [
            "That a candidate is good. It is compared with the baseline, and both may be poor.",
            "That it is so elsewhere, or on next month's data.",
        ]
    if not is_about_accuracy(setting, simulated):
        what = "an output" if setting.protocol == "panel" else "a label"
        told.append(f"That {what} which raters accept is right. Where raters err, they may accept a wrong one.")
    return told


def assumed(setting: Setting, simulated: bool = False) -> list[str]:
    """What the promise rests on."""
    told = [_raters(setting, simulated)]
    if not (simulated or setting.exhaustive or _raters_err(setting)):
        told.append(
            "What raters say about an item does not depend on when they are asked, and who is asked does not depend on "
            "how the study stands."
        )
    told += [_right_labels(setting, simulated), _cant_tell(setting)]
    if setting.population == "stream":
        told.append(
            "The items of the table are independent draws from the population. Models that are equal on this table are "
            "not taken to be equal there."
        )
    return [
        *told,
        f"A model that gives no {'output' if setting.protocol == 'panel' else 'label'} for an item is not accepted "
        "there.",
        "The seed, which decides what is asked, was chosen after the table was fixed, by somebody who did not make the "
        "table. It was never used before for these items.",
    ]


def _raters_err(setting: Setting) -> bool:
    return setting.f_no + setting.f_yes > 0


def _raters(setting: Setting, simulated: bool) -> str:
    if simulated:
        err = "err at the rates given" if _raters_err(setting) else "do not err"
        return f"The answers were simulated from the column of right labels, and nobody was asked. They {err}."
    if _raters_err(setting):
        return (
            "The answer that counts (with several raters per question, the majority's) is no to a right label at most "
            f"{setting.f_no:.1%} of the time, and yes to a wrong label at most {setting.f_yes:.1%} of the time. These "
            "rates are the same for every item and label, and errors do not depend on each other. The two bounds were "
            "given, not measured. Nothing is asked twice, so it does not matter whether a rater would repeat an error."
        )
    if setting.protocol == "labels":
        return "The right label of an item is the one that raters give it."
    if setting.exhaustive:
        return "No yes and no no of a rater is wrong."
    what = "output" if setting.protocol == "panel" else "label"
    return (
        f"Raters may err. The promise is about how often they accept a model's {what}. It is about how often the "
        f"{what} is right only as far as what they accept is right."
    )


def _right_labels(setting: Setting, simulated: bool) -> str:
    if setting.protocol == "panel":
        return (
            "An item may have several right outputs, or none. What raters say about an output does not depend on which "
            "others they see beside it. Equal outputs of an item have one verdict."
        )
    if setting.protocol == "one-shot":
        counts = "right" if is_about_accuracy(setting, simulated) else "accepted"
        return (
            f"An item may have several right labels, or none. A model scores on an item if its own label is {counts}."
        )
    if setting.protocol == "labels":
        return "Every item has one right label at most."
    if setting.exhaustive:
        return (
            "Every item has exactly one right label, and it is one of the labels. Once raters deny all others, the "
            "last one counts as right, mostly without a question."
        )
    return "Raters accept at most one label per item."


def _cant_tell(setting: Setting) -> str:
    if setting.protocol == "labels":
        return "“Can't tell” counts as no label: no model scores on the item."
    if setting.exhaustive:
        return "“Can't tell” does not deny a label. If raters deny all others, the label counts as right."
    if setting.protocol == "panel":
        return "“Can't tell” counts as “not a yes” to that output, and says nothing about others."
    return "“Can't tell” counts as “not a yes” to that label, and says nothing about other labels."


def contradiction(setting: Setting) -> str:
    """What the checks of follow-up find where its assumption does not hold."""
    return f"raters accepted two labels of one item{' or denied all labels of one' if setting.exhaustive else ''}"


def suspended(setting: Setting) -> str:
    """What is promised where checks contradicted the assumption too often: nothing."""
    return f"none: {contradiction(setting)} too often for this way of asking; {ADVICE}"


def of_watch(setting: WatchSetting) -> str:
    """What the alarm of a watch says, and how often it is false."""
    every = f"{setting.false_alarm_every:,.10g}"
    return (
        f"An alarm says of a rival: raters would accept it more often than the choice, by more than {setting.eps:g}, "
        "on the items of one of the batches at least; and also in the population of one of them, if its items are "
        f"independent draws. While one of these is not so, an alarm comes after {every} batches on average at the "
        f"earliest, and within b batches with probability at most b / {every}. That there is no alarm shows nothing. "
        "This assumes: the verdict on an output does not depend on when it is asked, or on what is shown beside it; "
        "and the seed of a batch is drawn after its table is fixed, by nobody who knows its rows."
    )
