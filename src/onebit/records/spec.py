"""What a study is made from. Command line, page and Python build one of these specs, and nothing else makes a study.

An option is a field of a spec: its default, its help and its bounds stand there, and so does every check of options
that needs no table. An interface adds the form in which an option is given, and how its name is written. Here is what
all studies have; ``selection_spec.py`` and ``training_spec.py`` have the rest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Self

from onebit.errors import OptionError
from onebit.randomness import fresh_seed
from onebit.records.option import Option, options
from onebit.records.setting import ANSWERS_PER_ITEM, DELTA

#: Share of planted questions where gold is named and no share is given.
GOLD_SHARE = 0.05
#: Seconds that a rater takes to answer yes or no, for forecasts in hours. Adults read 238 words of English a minute
#: (Brysbaert 2019), so three seconds for a text of twelve words; and two to decide and to press a key, a guess.
SECONDS_PER_ANSWER = 5.0
#: Seconds to choose one of many labels instead: taken to be twice as long, which is a guess.
SECONDS_PER_LABEL = 10.0


@dataclass(frozen=True, kw_only=True)
class StudySpec:
    """The options that both kinds of study have: what is promised, what raters see, what the columns of a file are.

    ``gold`` is a column of the file, or the right labels by row: one label, or several. Raises OptionError.
    """

    delta: Annotated[float, Option("Probability with which what the study states may be wrong.", above=0, below=1)] = (
        DELTA
    )
    budget: Annotated[
        int | None,
        Option(
            f"Maximum number of answers. Without it: {ANSWERS_PER_ITEM} for each item to train a classifier, and to "
            "choose a model as many as it takes. To choose a model with a budget and no eps, all of it is used.",
            least=1,
            most=10**9,
        ),
    ] = None
    seed: Annotated[
        int | None,
        Option(
            "For replay and simulation only: by default it is drawn from the operating system and recorded, and what "
            "is promised rests on that.",
            least=0,
        ),
    ] = None
    overlap: Annotated[
        int, Option("Raters who answer each question, an odd number; the majority's answer counts.", least=1, most=99)
    ] = 1
    lease_seconds: Annotated[
        float, Option("Seconds for which a question is kept for a rater.", above=0, below=math.inf)
    ] = 60.0
    instructions: Annotated[str, Option("What raters are told before they begin.")] = ""
    descriptions: Annotated[Mapping[str, str] | None, Option("What labels mean, as raters are told.")] = None
    gold_share: Annotated[
        float | None,
        Option(
            f"Share of planted questions, about the items of the column of gold; {GOLD_SHARE} where one is named.",
            least=0,
            most=0.5,
        ),
    ] = None
    repeat_share: Annotated[
        float, Option("Share of questions that a rater is asked a second time.", least=0, most=0.5)
    ] = 0.0
    media: Annotated[
        str | None, Option("Column with paths or addresses of pictures, sounds or videos, which raters see and hear.")
    ] = None
    media_root: Annotated[str | None, Option("Folder that the paths of pictures, sounds and videos are below.")] = None
    media_hosts: Annotated[
        tuple[str, ...],
        Option("Host from which raters' browsers may load pictures, sounds and videos; several may be named."),
    ] = ()
    markdown: Annotated[bool, Option("What raters read is Markdown: shown with its headings, lists and code.")] = False
    id: Annotated[str | None, Option("Column that names the items.")] = None
    truth: Annotated[
        str | None,
        Option("Column with right labels: it is left out, and is neither a model nor learned from nor shown."),
    ] = None
    show: Annotated[tuple[str, ...], Option("Column that raters are shown; several may be named.")] = ()
    gold: Annotated[
        str | Mapping[int, int | Collection[int]] | None,
        Option(
            "Column with right labels where they are known, several with | between; plants questions that check raters."
        ),
    ] = None
    labels: Annotated[
        tuple[str, ...] | None,
        Option("All labels that raters may be asked about. Without it: those that the models give."),
    ] = None

    #: The kind of study that is made of it.
    kind: ClassVar[str]
    #: Whether the seed that stands here came from the operating system all the same.
    seed_is_drawn: bool = False

    def __post_init__(self) -> None:
        for name, option in options(type(self)).items():
            value = getattr(self, name)
            if value is not None:
                option.check(name, value)
                if option.form == "array":
                    object.__setattr__(self, name, tuple(value))
        self._check_raters()
        self._check_columns()
        self._check_kind()

    def with_seed(self) -> Self:
        """The same, with a seed: the one given, or one that is drawn from the operating system."""
        return self if self.seed is not None else replace(self, seed=fresh_seed(), seed_is_drawn=True)

    @property
    def planted_share(self) -> float:
        """The share of planted questions, said or not."""
        if self.gold_share is None:
            return 0.0 if self.gold is None else GOLD_SHARE
        return self.gold_share

    @property
    def check_share(self) -> float:
        """The share of what raters are given that only checks them."""
        return self.planted_share + self.repeat_share

    @property
    def seconds_per_answer(self) -> float:
        """Seconds that an answer is taken to need in a forecast."""
        return SECONDS_PER_ANSWER

    def _seen_columns(self) -> tuple[str | None, ...]:
        """The columns that raters see, or that are learned from."""
        return self.id, self.media, *self.show

    def _check_kind(self) -> None:
        """Refuse what this kind of study cannot have."""

    def _check_raters(self) -> None:
        if self.overlap % 2 == 0:
            raise OptionError("overlap", f"overlap is {self.overlap}; it must be odd, so that a majority can be had")
        if self.planted_share > 0 and self.gold is None:
            raise OptionError(
                "gold_share",
                f"gold_share is {self.gold_share} and there is no gold; questions are planted about items whose right "
                "labels are known, so name their column as gold",
            )
        if self.check_share >= 1:
            raise OptionError(
                "repeat_share",
                f"repeat_share is {self.repeat_share} beside planted questions of {self.planted_share}; that leaves no "
                "room for other questions, so give smaller shares",
            )
        self._check_media()

    def _check_media(self) -> None:
        places = {"media_root": self.media_root, "media_hosts": self.media_hosts}
        given = [name for name, place in places.items() if place]
        if self.media is not None and not given:
            raise OptionError(
                "media",
                f"media is {self.media!r}; it needs media_root, the folder that its paths are below, or media_hosts, "
                "the hosts of its addresses",
            )
        if self.media is None and given:
            raise OptionError(given[0], f"{given[0]} is given and there is no media; name the column as media")

    def _check_columns(self) -> None:
        """Right labels are in columns of their own, or raters would see them."""
        right = {"truth": self.truth, "gold": self.gold if isinstance(self.gold, str) else None}
        used = Counter([*self._seen_columns(), *right.values()])
        for name, column in right.items():
            if column is not None and used[column] > 1:
                raise OptionError(
                    name, f"the column {column!r} has another use too; right labels must not be shown or learned from"
                )
        if self.labels is not None and len(set(self.labels) - {""}) < max(2, len(self.labels)):
            raise OptionError(
                "labels",
                f"the labels are {', '.join(self.labels) or 'none'}; there must be two or more, all different, and "
                "none empty",
            )
