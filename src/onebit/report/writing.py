"""How pages are written: Jinja2 with everything escaped. The report and the web pages share templates."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from onebit import __version__, promise
from onebit.report import gate_words, judge_card, tiers_words, words

#: The report's templates and styles. ``common.css``, ``parts.html`` and ``chart.svg`` are for other pages as well.
TEMPLATES = Path(__file__).with_name("templates")


@cache
def writer(*folders: Path) -> Environment:
    """What renders the templates in ``folders``, and those of the report."""
    environment = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"version": __version__, "promise": promise, "words": words, "gate_words": gate_words}
    environment.globals |= {"tiers_words": tiers_words}
    environment.filters |= {"count": "{:,}".format, "fraction": words.fraction, "duration": words.duration}
    environment.filters |= {"span": words.span, "difference": words.difference}
    environment.filters |= {"share": judge_card.share_in_words, "judge_words": judge_card.in_words}
    return environment
