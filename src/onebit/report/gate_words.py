"""What the report of a gate says of its run: each candidate beside the baseline, in sentences and in one line."""

from __future__ import annotations

from onebit import promise
from onebit.records import GateVerdict, passes
from onebit.report.record import GateLine, Report


def overall(report: Report) -> str:
    """The gate in one word: "worse" if a candidate is, else "not yet" if one is not decided, else "pass"."""
    verdicts = {line.verdict for line in report.gate}
    return "worse" if "worse" in verdicts else "not yet" if "not yet" in verdicts else "pass"


def baseline(report: Report) -> str:
    return " = ".join(report.chosen)


def short(report: Report, line: GateLine) -> str:
    """A verdict in a few words, with both names.

    The margin is told with every verdict that it plays a part in.
    """
    told: dict[GateVerdict, str] = {
        "better": f"{line.name} is better than {baseline(report)}",
        "not worse": f"{line.name} is not worse than {baseline(report)} by the margin of {report.setting.eps:g}",
        "worse": f"{line.name} is worse than {baseline(report)}",
        "not yet": f"{line.name} beside {baseline(report)} is not decided yet",
    }
    return told[line.verdict]


def meaning(report: Report, line: GateLine) -> str:
    """What a verdict says, in one sentence that needs no mathematics."""
    praised = "right" if promise.is_about_accuracy(report.setting, report.simulated) else "accepted by raters"
    margin = f"{100 * report.setting.eps:g} percentage point{'' if report.setting.eps == 0.01 else 's'}"
    told: dict[GateVerdict, str] = {
        "better": f"It is {praised} more often.",
        "not worse": f"It is {praised} less often by less than {margin}, if at all.",
        "worse": f"It is {praised} less often, by however little.",
        "not yet": f"Not decided: it may be {praised} as often or more often, or less often by {margin} or more.",
    }
    return told[line.verdict]


def title(report: Report) -> str:
    """What stands at the top: the verdict, or how many candidates pass."""
    if len(report.gate) == 1:
        return short(report, report.gate[0])
    n_passing = sum(passes(line.verdict) for line in report.gate)
    return f"{n_passing} of {len(report.gate)} candidates pass the gate against {baseline(report)}"


def headline(report: Report) -> str:
    if len(report.gate) == 1:
        return meaning(report, report.gate[0])
    return f"{'; '.join(short(report, line) for line in report.gate)}."


def against_the_aim(report: Report) -> str:
    """What the gate asks, and why the run ended, if it did."""
    told = (
        f"A candidate passes the gate if it is better than {baseline(report)}, or worse by less than "
        f"{report.setting.eps:g}."
    )
    if report.status == "certified":
        return f"{told} The run ended by itself when {'this' if len(report.gate) == 1 else 'each'} was decided."
    return f"{told} The run ended there because {report.reason}." if report.reason else told


def in_a_line(report: Report) -> str:
    """The verdict of the gate as one line for a log.

    It begins with pass, worse or not yet, whatever the names of the models are.
    """
    whose = "simulated " if report.simulated else ""
    unit = "label" if report.setting.protocol == "labels" else "yes/no answer"
    answers = f"{report.answers:,} {whose}{unit}{'' if report.answers == 1 else 's'}"
    told = "; ".join(short(report, line) for line in report.gate)
    return f"{overall(report)}: {told} ({answers}, delta {report.setting.delta:g})"
