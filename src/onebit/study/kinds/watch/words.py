"""What is said of a watch, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onebit.study.kinds.watch.kind import WatchStatus


def title(status: WatchStatus) -> str:
    """The watch in a few words."""
    if status.alarms:
        return f"alarm: {status.chosen} is no longer within {status.eps:g} of {', '.join(status.alarms)}"
    return f"no alarm about {status.chosen}"


def heading(status: WatchStatus) -> str:
    """The same at the top of a page."""
    told = title(status)
    return told[0].upper() + told[1:]


def headline(status: WatchStatus) -> str:
    """What that means, in a sentence that needs no mathematics."""
    if status.alarms:
        return (
            "On fresh items raters accept another model more often, by more than was allowed. Choose anew, on items of "
            "today."
        )
    return (
        f"After batch {status.batch} nothing speaks clearly enough against the choice. That is no proof that it is "
        "still the best."
    )


def rival_lines(status: WatchStatus) -> list[str]:
    """One line per rival: how far it is to an alarm."""
    return [f"{name:15} {share:.0%} of an alarm" for name, share in status.evidence.items()]


def in_a_line(status: WatchStatus) -> str:
    """The watch as one line for a log; it begins with alarm or quiet, whatever the names of the models are."""
    told = title(status) if status.alarms else f"quiet: {title(status)}"
    open_ones = f", {status.n_unanswered} unanswered" if status.n_unanswered else ""
    return (
        f"{told} (batch {status.batch}, {status.n_answers:,} answers{open_ones}; a false alarm once in "
        f"{status.false_alarm_every:,.10g} batches at most)"
    )
