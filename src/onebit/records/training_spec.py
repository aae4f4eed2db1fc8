"""What a training is made from: the options of ``spec.py``, and those that only a classifier has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from onebit.errors import OptionError
from onebit.records.option import Option
from onebit.records.setting import ANSWERS_PER_ITEM, TrainingProtocol, TrainingSetting
from onebit.records.spec import StudySpec


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
        int | None,
        Option(
            "Answers kept for the accuracy interval; without it, a twentieth of all, or what showing the target takes.",
            least=0,
        ),
    ] = None
    none_of_these: Annotated[
        bool, Option("Raters may say “none of these” where no label of the list is right; that settles the item.")
    ] = False
    f_no: Annotated[
        float,
        Option(
            "How often the answer that counts (with overlap, the majority's) is no to a right label, at most; the "
            "accuracy interval allows for it.",
            least=0,
            below=1,
        ),
    ] = 0.0
    f_yes: Annotated[float, Option("How often it is yes to a wrong label, at most.", least=0, below=1)] = 0.0
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
            f_no=self.f_no,
            f_yes=self.f_yes,
        )

    def _seen_columns(self) -> tuple[str | None, ...]:
        return *super()._seen_columns(), *self.text

    def _check_kind(self) -> None:
        if self.labels is None and self.truth is None:
            raise OptionError("labels", "no labels are given; raters are asked about them, so name two or more")
        if self.f_no + self.f_yes >= 1:
            raise OptionError(
                "f_no" if self.f_no > 0 else "f_yes",
                f"f_no and f_yes are {self.f_no + self.f_yes:g} together; they must be below 1 together, or a yes says "
                "nothing",
            )
