"""What a selection is made from: the options of ``spec.py``, and those that only a choice among models has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, ClassVar, Literal, Self

from onebit.errors import OptionError
from onebit.records.option import Option
from onebit.records.setting import AskingProtocol, Population, ProtocolChoice, SelectorName, Setting
from onebit.records.spec import SECONDS_PER_ANSWER, SECONDS_PER_LABEL, StudySpec

#: How far the chosen model may be behind the best, unless it is said or a budget is to be spent.
EPS = 0.01
#: The margin of a gate, unless another is given: one percentage point.
MARGIN = 0.01
#: What an empty output is.
EmptyOutput = Literal["abstains", "answer"]


def eps_of_budget(budget: int) -> float:
    """What so many answers show, roughly: what bets are made for where a budget is spent. Any would be sound.

    Origin: the four tables of benchmarks/selection.py need 661 to 3,886 answers for an eps of .01.

    >>> eps_of_budget(300)
    0.05
    """
    return round(min(0.2, max(0.002, 15 / budget)), 6)


#: What a selection looks for, and how surely: a study that goes on from another, or watches it, takes that over.
AIM = ("eps", "delta", "baseline", "candidates", "margin", "top", "tiers")


@dataclass(frozen=True, kw_only=True)
class SelectionSpec(StudySpec):
    """A study of which of N models is the best."""

    kind: ClassVar[str] = "selection"

    eps: Annotated[
        float | None,
        Option(
            f"How far the accuracy of the chosen model may be below that of the best; {EPS} unless a budget is given. "
            "With a budget and no eps, all of it is used for the best choice.",
            above=0,
            below=1,
        ),
    ] = None
    baseline: Annotated[
        str | None,
        Option("The model in use: then candidates are held against it (a gate), and no best model is looked for."),
    ] = None
    candidates: Annotated[
        tuple[str, ...],
        Option("Model that is held against the baseline; several may be named. Without it: all others of the table."),
    ] = ()
    margin: Annotated[
        float | None,
        Option(
            "A candidate passes the gate if it is worse than the baseline by less than this, if at all; "
            f"{MARGIN} where a baseline is named.",
            above=0,
            below=1,
        ),
    ] = None
    top: Annotated[
        int | None,
        Option("Name so many best models and not one: no other is ahead of any of them by more than eps.", least=1),
    ] = None
    tiers: Annotated[
        bool,
        Option("Compare all pairs of models, until of each one is better, or the two are within eps of each other."),
    ] = False
    protocol: Annotated[
        ProtocolChoice,
        Option(
            "one-shot: one label of an item each time it is drawn; follow-up: labels of an item until a yes, where "
            "raters accept one label per item at most; panel: every distinct output of an item, for free texts of "
            "which several may be right; labels: the label itself; auto: panel for free texts, one-shot otherwise."
        ),
    ] = "auto"
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
    models: Annotated[
        str | None,
        Option(
            "Columns of the models' outputs, with * for the model's name: answer_*. Without it: every column that is "
            "nothing else."
        ),
    ] = None
    verdicts: Annotated[
        str | None,
        Option("Columns with a yes or no about each output, with * for the model's name: right_*. For simulation."),
    ] = None
    reference: Annotated[str | None, Option("Column with a right answer, which raters see beside the item.")] = None
    equal: Annotated[
        str,
        Option(
            "When two outputs of an item are one, and asked once: exact; normalised (but for case, spaces and "
            "punctuation); or columns whose values are compared, with * for the model's name: cluster_*."
        ),
    ] = "exact"
    empty: Annotated[
        EmptyOutput, Option("abstains: an empty output is not accepted, and nothing is asked; answer: it is asked.")
    ] = "abstains"
    one_at_a_time: Annotated[
        bool,
        Option(
            "Show raters one output of an item at a time, and not all together: what they say of one then depends less "
            "on the others (panel)."
        ),
    ] = False
    long: Annotated[
        bool, Option("The table has one row per item and model, with columns for item (id), model and output.")
    ] = False
    model: Annotated[
        str | None, Option("Column of a long table that names the model. Without it: by its usual names.")
    ] = None
    output: Annotated[
        str | None, Option("Column of a long table with the model's output. Without it: by its usual names.")
    ] = None
    exhaustive: Annotated[
        bool,
        Option(
            "Every item's right label is one of the labels; then the last that is left need not be asked (follow-up)."
        ),
    ] = False

    judge: Annotated[
        str | None,
        Option(
            "What an automatic judge says, to save answers: columns of scores from 0 to 1, as in judge_* where the "
            "star stands for the model's name; a column with its label for each item; or a file of scores with the "
            "id column and a column per model. It never touches what is promised."
        ),
    ] = None

    def decided(self, is_open: bool) -> Self:
        """The spec with a protocol for a table whose outputs are free texts, or labels."""
        return replace(self, protocol=self._protocol_for(is_open))

    def _protocol_for(self, is_open: bool) -> AskingProtocol:
        if self.protocol != "auto":
            return self.protocol
        if self.exhaustive:
            return "follow-up"
        allows = self.learner == "certified" and self.f_no + self.f_yes == 0
        return "panel" if is_open and allows else "one-shot"

    def setting(self) -> Setting:
        """What the log keeps; a seed is drawn from the operating system if none was given."""
        spec = self.with_seed()
        return Setting(
            eps=self._eps_of_setting() if self.baseline is None else self.gate_margin,
            delta=self.delta,
            protocol=self._protocol_for(is_open=False),
            population=self.population,
            budget=self.budget,
            seed=spec.seed or 0,
            f_no=self.f_no,
            f_yes=self.f_yes,
            exhaustive=self.exhaustive,
            seed_given=not spec.seed_is_drawn,
            # The table of a gate begins with the baseline (``models_of_gate``).
            baseline=None if self.baseline is None else 0,
            top=self.top,
            tiers=self.tiers,
            spends=self.spends,
        )

    @property
    def spends(self) -> bool:
        """Whether a budget is spent on the best choice: it is given, and nothing else that is to be shown."""
        aims = self.eps, self.baseline, self.top, self.tiers or None
        return self.budget is not None and all(aim is None for aim in aims) and self.learner == "certified"

    def _eps_of_setting(self) -> float:
        if self.spends and self.budget is not None:
            return eps_of_budget(self.budget)
        return EPS if self.eps is None else self.eps

    @property
    def gate_margin(self) -> float:
        """The margin of a gate, said or not."""
        return MARGIN if self.margin is None else self.margin

    def models_of_gate(self, models: Sequence[str]) -> tuple[str, ...] | None:
        """The models of a table that a gate is about, the baseline first; None without a gate."""
        if self.baseline is None:
            return None
        for name, model in (("baseline", self.baseline), *(("candidates", each) for each in self.candidates)):
            if model not in models:
                raise OptionError(name, f"there is no model {model!r}; the table has {', '.join(models)}")
        candidates = self.candidates or tuple(model for model in models if model != self.baseline)
        if not candidates:
            raise OptionError(
                "candidates", f"{self.baseline!r} is the only model of the table; add one to hold against it"
            )
        return self.baseline, *candidates

    @property
    def seconds_per_answer(self) -> float:
        return SECONDS_PER_LABEL if self.protocol == "labels" else SECONDS_PER_ANSWER

    def check_has_models(self, n_models: int) -> None:
        """OptionError if the table has too few models for what is looked for."""
        if self.top is not None and self.top >= n_models:
            raise OptionError(
                "top", f"top is {self.top} and the table has {n_models} models; one at least must be left out"
            )
        if self.tiers and n_models < 2:
            raise OptionError("tiers", "tiers is given and the table has one model; add one to compare it with")

    def _check_kind(self) -> None:
        self._check_gate()
        self._check_ranks()
        self._check_errors()
        self._check_outputs()
        for name in ("model", "output"):
            if getattr(self, name) is not None and not self.long:
                raise OptionError(
                    name,
                    f"{name} is {getattr(self, name)!r} and long is not given; only a long table has such a column. "
                    "Give long, or leave it out",
                )
        self._check_judge()
        with_protocol = f"with the protocol {self.protocol}"
        if self.exhaustive and self.protocol not in ("auto", "follow-up"):
            raise OptionError(
                "exhaustive",
                f"exhaustive is given {with_protocol}; it says that the last label need not be asked, and only "
                "follow-up asks one label after another. Leave it out, or ask by follow-up",
            )
        if self.learner != "certified" and self.protocol not in ("auto", "one-shot"):
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

    def _check_not_given(self, names: Sequence[str], to: str) -> None:
        """OptionError if one of these options is not as it is by default: what is made has no use for it."""
        defaults = {each.name: each.default for each in fields(self)}
        for name in names:
            if getattr(self, name) != defaults[name]:
                raise OptionError(name, f"{name} is given to {to}; leave it out")

    def _check_gate(self) -> None:
        """A baseline makes a gate, which has its own aim."""
        if self.baseline is None:
            for name in ("candidates", "margin"):
                if getattr(self, name):
                    raise OptionError(
                        name, f"{name} is given and no baseline; name the model that candidates are held against"
                    )
            return
        if self.eps is not None:
            raise OptionError(
                "eps", f"eps is {self.eps} with a baseline; a gate has a margin in its place, so give that"
            )
        if self.learner != "certified":
            raise OptionError("learner", f"learner is {self.learner} with a baseline; only certified can hold a gate")
        if self.baseline in self.candidates or len(set(self.candidates)) < len(self.candidates):
            raise OptionError(
                "candidates",
                f"the candidates are {', '.join(self.candidates)} and the baseline is {self.baseline}; each model must "
                "be named once, or it would be held against itself",
            )

    def _check_ranks(self) -> None:
        """Several best models, or all pairs: one aim at a time."""
        for name in [each for each in ("top", "tiers") if getattr(self, each)]:
            if self.baseline is not None:
                raise OptionError(name, f"{name} is given with a baseline, which makes a gate; give one of the two")
            if self.learner != "certified":
                raise OptionError(
                    name, f"{name} is given with the learner {self.learner}, which names one model; use certified"
                )
        if self.top is not None and self.tiers:
            raise OptionError("tiers", "top and tiers are both given; tiers ranks all models, so leave one out")

    def _check_outputs(self) -> None:
        """Columns of outputs, and what is equal."""
        for name, pattern in (("models", self.models), ("verdicts", self.verdicts)):
            if pattern is not None and pattern.count("*") != 1:
                raise OptionError(
                    name, f"{name} is {pattern!r}; write one * where the model's name stands, as in answer_*"
                )
        if self.equal not in ("exact", "normalised") and self.equal.count("*") != 1:
            raise OptionError(
                "equal",
                f"equal is {self.equal!r}; it must be exact, normalised, or name columns with one * where the model's "
                "name stands",
            )
        if self.verdicts is not None and self.truth is not None:
            raise OptionError("verdicts", "verdicts and truth are both given; either says what is right, so give one")

    def _seen_columns(self) -> tuple[str | None, ...]:
        return *super()._seen_columns(), self.reference

    def _check_judge(self) -> None:
        """A judge is for guesses, and nobody is shown what it says."""
        if self.judge is None:
            return
        if self.judge in (*self._seen_columns(), self.truth, self.gold):
            raise OptionError(
                "judge",
                f"the column {self.judge!r} has another use too; a judge's column is for guesses alone, and raters who "
                "see it would follow it",
            )
        if self.judge.count("*") > 1:
            raise OptionError("judge", f"judge is {self.judge!r}; one star stands for the name of each model")
        self.check_may_judge()

    @property
    def may_judge(self) -> bool:
        """Whether guesses are made, which a judge could better."""
        return self.protocol != "labels" and self.learner == "certified"

    def check_may_judge(self) -> None:
        """OptionError where a judge would serve nothing."""
        if not self.may_judge:
            asks = f"the protocol {self.protocol}" if self.protocol == "labels" else f"the learner {self.learner}"
            raise OptionError(
                "judge",
                f"judge is given with {asks}, which makes no guesses for it to better; leave it out, or ask yes or no "
                "with the learner certified",
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
        if self.protocol not in ("auto", "one-shot"):
            raise OptionError(
                name,
                f"{given} with the protocol {self.protocol}, which takes every answer for right; use one-shot for "
                "raters who err: one question per item",
            )
        if self.learner != "certified":
            raise OptionError(
                name, f"{given} with the learner {self.learner}; only the learner certified can allow for errors"
            )
