"""What one batch of a watch is made from: fresh items, read as the table of a selection, and how much is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from onebit.errors import OptionError
from onebit.records.option import Option
from onebit.records.selection_spec import AIM, SelectionSpec
from onebit.records.setting import ProtocolChoice
from onebit.records.watch import ANSWERS_PER_BATCH, FALSE_ALARM_EVERY, WatchSetting, WatchSoFar

#: Options of a selection that a watch has no use for.
NOT_HERE = (
    *AIM,
    "learner",
    "population",
    "f_no",
    "f_yes",
    "exhaustive",
    "judge",
    "budget",
)


@dataclass(frozen=True, kw_only=True)
class WatchSpec(SelectionSpec):
    """A batch of fresh items on which the choice of a study is held against its rivals.

    ``so_far`` is what it takes over; whoever makes the batch puts it in.
    """

    kind: ClassVar[str] = "watch"

    protocol: Annotated[ProtocolChoice, Option("A watch asks about every output of an item (panel).")] = "panel"
    answers: Annotated[
        int,
        Option("A batch asks about items until so many answers are asked for; the last item may add some.", least=1),
    ] = ANSWERS_PER_BATCH
    false_alarm_every: Annotated[
        float | None,
        Option(
            "While nothing is wrong, a false alarm comes once in so many batches on average at most. Fixed by the "
            f"first batch; {FALSE_ALARM_EVERY} unless it says another.",
            least=1,
            most=10**9,
        ),
    ] = None

    so_far: WatchSoFar | None = None

    def _check_kind(self) -> None:
        self._check_not_given(NOT_HERE, "a watch, which takes over the choice and eps of its study")
        if self.protocol != "panel":
            raise OptionError("protocol", f"protocol is {self.protocol}; a watch asks about every output (panel)")
        super()._check_kind()

    def models_of_watch(self, models: Sequence[str]) -> tuple[str, ...]:
        """The models of a table that a batch is about: the choice, then its rivals, as in the batches before."""
        so_far = self._so_far()
        if so_far.chosen not in models:
            raise OptionError("models", f"the choice {so_far.chosen!r} is no model of the table: {', '.join(models)}")
        wanted = so_far.models or (so_far.chosen, *(each for each in models if each != so_far.chosen))
        missing = [each for each in wanted if each not in models]
        if missing:
            raise OptionError("models", f"the rival {missing[0]!r} is watched, and is no model of the table")
        return wanted

    def batch_setting(self) -> WatchSetting:
        """What the log keeps; a seed is drawn from the operating system if none was given."""
        spec, so_far = self.with_seed(), self._so_far()
        every = so_far.false_alarm_every or FALSE_ALARM_EVERY
        if self.false_alarm_every is not None:
            every = so_far.false_alarm_every or self.false_alarm_every
            if every != self.false_alarm_every:
                raise OptionError(
                    "false_alarm_every",
                    f"false_alarm_every is {self.false_alarm_every:g}, and the first batch fixed {every:g}; it cannot "
                    "be changed once there are answers, so leave it out",
                )
        return WatchSetting(
            eps=so_far.eps,
            false_alarm_every=float(every),
            answers=self.answers,
            batch=so_far.batch,
            of=so_far.of,
            after=so_far.after,
            carried=so_far.carried,
            seed=spec.seed or 0,
            seed_given=not spec.seed_is_drawn,
        )

    def _so_far(self) -> WatchSoFar:
        if self.so_far is None:
            raise OptionError("so_far", "a batch of a watch is made from a study that is watched: use onebit watch")
        return self.so_far
