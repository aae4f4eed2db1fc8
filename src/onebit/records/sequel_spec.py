"""What a study that goes on from another is made from: a table, and what raters see of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

from onebit.records.selection_spec import AIM, SelectionSpec
from onebit.records.setting import Setting

#: Options of a selection that a sequel takes over from its study, or that no study has that can be gone on from.
NOT_HERE = (
    *AIM,
    "protocol",
    "population",
    "learner",
    "f_no",
    "f_yes",
    "exhaustive",
    "overlap",
)


@dataclass(frozen=True, kw_only=True)
class SequelSpec(SelectionSpec):
    """A study that goes on from another, with its aim and its way to ask."""

    kind: ClassVar[str] = "selection"

    def _check_kind(self) -> None:
        self._check_not_given(NOT_HERE, "a sequel, which takes over the aim and the way to ask of its study")
        super()._check_kind()

    def after(self, setting: Setting, delta: float) -> SelectionSpec:
        """The selection that goes on from one with this ``setting``, with a share of delta."""
        given = {each.name: getattr(self, each.name) for each in fields(SelectionSpec)}
        return SelectionSpec(**given | {"eps": setting.eps, "protocol": setting.protocol, "delta": delta})
