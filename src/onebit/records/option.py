"""What is said of an option beside its field: its help and its bounds, for every interface that offers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from onebit.errors import check_choice, check_range

#: How the types of options are called in JSON.
FORMS = {float: "number", int: "integer", bool: "boolean", str: "string", tuple: "array", Mapping: "object"}


@dataclass(frozen=True, slots=True)
class Option:
    """What an interface has to know of an option besides its name and default. Bounds that are None do not bind.

    ``form`` is one of FORMS; ``choices`` are all that can be given, where they are few. Both follow from the type.
    """

    help: str
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    form: str = ""
    choices: tuple[str, ...] = ()

    def check(self, name: str, value: object) -> None:
        """OptionError unless the value is within the bounds, or one of the choices."""
        if self.choices:
            check_choice(name, value, self.choices)
        if self.form in ("number", "integer"):
            bounds = {"least": self.least, "most": self.most, "above": self.above, "below": self.below}
            check_range(name, value, whole=self.form == "integer", **bounds)


def options(spec: Any) -> dict[str, Option]:
    """The options of a spec, by name: the fields of a dataclass that are annotated with them."""
    return _options(spec)


@cache
def _options(spec: Any) -> dict[str, Option]:
    hints = get_type_hints(spec, include_extras=True)
    return {
        each.name: _option(*get_args(hints[each.name]))
        for each in fields(spec)
        if get_origin(hints[each.name]) is Annotated
    }


def _option(kind: Any, option: Option) -> Option:
    """The option with its form and choices; of ``X | None``, those of X."""
    if get_origin(kind) is UnionType:
        kind = get_args(kind)[0]
    if get_origin(kind) is Literal:
        return replace(option, form="string", choices=get_args(kind))
    return replace(option, form=FORMS[get_origin(kind) or kind])
