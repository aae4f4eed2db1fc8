"""JSON Schemas: one text that the OpenAPI document shows and that every request is checked by."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from onebit.errors import InvalidInputError

Schema = dict[str, Any]


class FieldError(InvalidInputError):
    """Something in a request that cannot be; ``field`` is the name of the part that it is about."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@contextmanager
def at_field(field: str) -> Iterator[None]:
    """Whatever is refused in here is about this field."""
    try:
        yield
    except InvalidInputError as error:
        raise FieldError(field, str(error)) from None


#: Characters in a name that a request makes up.
MOST_NAME = 1000

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def text(most: int, least: int = 1, **more: Any) -> Schema:
    return {"type": "string", "minLength": least, "maxLength": most, **more}


def whole(least: int, most: int, **more: Any) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most, **more}


def fields(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """An object with these fields and no others."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def check(value: Any, schema: Schema, where: str = "the body") -> None:
    """InvalidInputError, which says where, unless a value is as the schema says."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(_is(value, kind) for kind in kinds):
        raise InvalidInputError(f"{where} must be {' or '.join(kinds)}")
    if "enum" in schema and value not in schema["enum"]:
        raise InvalidInputError(f"{where} must be one of {', '.join(map(repr, schema['enum']))}")
    if isinstance(value, str):
        _check_text(value, schema, where)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _check_number(value, schema, where)
    elif isinstance(value, list):
        if len(value) > schema["maxItems"]:
            raise InvalidInputError(f"{where} has {len(value)} entries; at most {schema['maxItems']} are taken")
        for place, each in enumerate(value):
            check(each, schema["items"], f"{where}[{place}]")
    elif isinstance(value, dict):
        _check_object(value, schema, where)


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    # JSON has one kind of number, so 2.0 is a whole one.
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])


def _check_text(value: str, schema: Schema, where: str) -> None:
    if not schema.get("minLength", 0) <= len(value) <= schema["maxLength"]:
        raise InvalidInputError(
            f"{where} has {len(value)} characters; it must have {schema.get('minLength', 0)} to {schema['maxLength']}"
        )
    # A database refuses these two, and nobody types them.
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InvalidInputError(f"{where} holds a character that is none (NUL, or half of a pair)")


def _check_number(value: float, schema: Schema, where: str) -> None:
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    above, below = schema.get("exclusiveMinimum", -math.inf), schema.get("exclusiveMaximum", math.inf)
    if not (low <= value <= high and above < value < below):
        raise InvalidInputError(f"{where} is {value!r}, which is out of its range")


def _check_object(value: dict[str, Any], schema: Schema, where: str) -> None:
    known, others = schema.get("properties", {}), schema["additionalProperties"]
    for name in schema.get("required", ()):
        if name not in value:
            raise InvalidInputError(f"{where} lacks {name!r}")
    for name, each in value.items():
        if name in known:
            with at_field(name):
                check(each, known[name], name)
        elif others:
            _check_text(name, text(MOST_NAME), f"a name in {where}")
            check(each, others, f"{where}[{name!r}]")
        else:
            raise InvalidInputError(f"{where} has {name!r}, which is not known; known are {', '.join(known)}")
