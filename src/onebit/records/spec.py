"""What a study is made from. Command line, page and Python build one of these specs, and nothing else makes a study.

An option is a field of a spec: its default, its help and its bounds stand here, and so does every check of options
that needs no table. An interface adds the form in which an option is given, and how its name is written.
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
from onebit.records.setting import (
    ANSWERS_PER_ITEM,
    DELTA,
    AskingProtocol,
    Population,
    SelectorName,
    Setting,
    TrainingProtocol,
    TrainingSetting,
)

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
            "choose a model as many as it takes.",
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
    image: Annotated[str | None, Option("Column with paths of images, which raters see.")] = None
    image_root: Annotated[str | None, Option("Folder that the paths of images are below.")] = None
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
        return self.id, self.image, *self.show

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
        if (self.image is None) != (self.image_root is None):
            raise OptionError(
                "image" if self.image_root is None else "image_root",
                "an image column needs image_root, the folder that its paths are below, and vice versa; give both",
            )

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


@dataclass(frozen=True, kw_only=True)
class SelectionSpec(StudySpec):
    """A study of which of N models is the best."""

    kind: ClassVar[str] = "selection"

    eps: Annotated[
        float, Option("How far the accuracy of the chosen model may be below that of the best.", above=0, below=1)
    ] = 0.01
    protocol: Annotated[
        AskingProtocol,
        Option(
            "one-shot: one label of an item each time it is drawn; follow-up: labels of an item until a yes, where "
            "raters accept one label per item at most; labels: the label itself."
        ),
    ] = "one-shot"
    population: Annotated[
        Population, Option("pool: best on these items; stream: best on what they were drawn from.")
    ] = "pool"
    learner: Annotated[SelectorName, Option("certified, or for comparison paper (Algorithm 1) or uniform.")] = (
        "certified"
    )
    f_no: Annotated[
        float,
        Option(
            "How often the answer that counts (with overlap, the majority's) is no to a right label, at most; one-shot "
            "only.",
            least=0,
            below=1,
        ),
    ] = 0.0
    f_yes: Annotated[float, Option("How often it is yes to a wrong label, at most.", least=0, below=1)] = 0.0
    exhaustive: Annotated[
        bool,
        Option(
            "Every item's right label is one of the labels; then the last that is left need not be asked (follow-up)."
        ),
    ] = False

    def setting(self) -> Setting:
        """What the log keeps; a seed is drawn from the operating system if none was given."""
        spec = self.with_seed()
        return Setting(
            eps=self.eps,
            delta=self.delta,
            protocol=self.protocol,
            population=self.population,
            budget=self.budget,
            seed=spec.seed or 0,
            f_no=self.f_no,
            f_yes=self.f_yes,
            exhaustive=self.exhaustive,
            seed_given=not spec.seed_is_drawn,
        )

    @property
    def seconds_per_answer(self) -> float:
        return SECONDS_PER_LABEL if self.protocol == "labels" else SECONDS_PER_ANSWER

    def _check_kind(self) -> None:
        self._check_errors()
        with_protocol = f"with the protocol {self.protocol}"
        if self.exhaustive and self.protocol != "follow-up":
            raise OptionError(
                "exhaustive",
                f"exhaustive is given {with_protocol}; it says that the last label need not be asked, and only "
                "follow-up asks one label after another. Leave it out, or ask by follow-up",
            )
        if self.learner != "certified" and self.protocol != "one-shot":
            raise OptionError(
                "learner",
                f"learner is {self.learner} {with_protocol}; it asks one yes/no question about each example and "
                "nothing else. Ask one-shot, or use the learner certified",
            )
        if self.protocol == "labels" and self.overlap > 1:
            raise OptionError(
                "overlap",
                f"overlap is {self.overlap} {with_protocol}; several raters are for yes/no questions. Give 1, or ask "
                "yes or no",
            )
        if self.protocol == "labels" and self.check_share > 0:
            raise OptionError(
                "repeat_share" if self.repeat_share > 0 else "gold_share",
                f"checks of raters are given {with_protocol}; they are yes/no questions. Leave them out, or ask yes or "
                "no",
            )

    def _check_errors(self) -> None:
        """Raters who err: with which rates, and who can allow for them."""
        if self.f_no + self.f_yes == 0:
            return
        name = "f_no" if self.f_no > 0 else "f_yes"
        given = f"{name} is {getattr(self, name)}"
        if self.f_no + self.f_yes >= 1:
            raise OptionError(
                name,
                f"{given}, and f_no and f_yes are {self.f_no + self.f_yes:g} together; they must be below 1 together, "
                "or a yes says nothing",
            )
        if self.protocol != "one-shot":
            raise OptionError(
                name,
                f"{given} with the protocol {self.protocol}, which takes every answer for right; use one-shot for "
                "raters who err: one question per item",
            )
        if self.learner != "certified":
            raise OptionError(
                name, f"{given} with the learner {self.learner}; only the learner certified can allow for errors"
            )


@dataclass(frozen=True, kw_only=True)
class TrainingSpec(StudySpec):
    """A study in which raters train a classifier. Without ``labels`` they are those of the column ``truth``."""

    kind: ClassVar[str] = "training"

    protocol: Annotated[
        TrainingProtocol,
        Option(
            "follow-up: items are chosen and asked about until a yes; one-shot: one question about each item drawn."
        ),
    ] = "follow-up"
    labels: Annotated[
        tuple[str, ...] | None,
        Option(
            "The labels that raters are asked about. Without it: those of the column of right labels, if one is named."
        ),
    ] = None
    target: Annotated[float | None, Option("Stop once this accuracy is shown.", above=0, below=1)] = None
    audit: Annotated[
        int | None, Option("Answers kept for the accuracy interval; without it, a twentieth of all.", least=0)
    ] = None
    text: Annotated[
        tuple[str, ...],
        Option("Column of texts to learn from, and from no other; several may be named. Raters see them too."),
    ] = ()

    def setting(self, n_items: int) -> TrainingSetting:
        """What the log keeps, for so many items; a seed is drawn from the operating system if none was given."""
        spec = self.with_seed()
        return TrainingSetting(
            budget=ANSWERS_PER_ITEM * n_items if self.budget is None else self.budget,
            protocol=self.protocol,
            target=self.target,
            audit=self.audit,
            delta=self.delta,
            seed=spec.seed or 0,
            seed_given=not spec.seed_is_drawn,
        )

    def _seen_columns(self) -> tuple[str | None, ...]:
        return *super()._seen_columns(), *self.text

    def _check_kind(self) -> None:
        if self.labels is None and self.truth is None:
            raise OptionError("labels", "no labels are given; raters are asked about them, so name two or more")
