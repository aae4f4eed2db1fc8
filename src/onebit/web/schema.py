"""JSON Schemas: one text that the OpenAPI document shows and that every request is checked by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from onebit.errors import InvalidInputError, OptionError, check_choice, check_range
from onebit.web.constants import MOST_NAME

Schema = dict[str, Any]


@contextmanager
def at_field(field: str) -> Iterator[None]:
    """Whatever is refused in here is about this field."""
    try:
        yield
    except InvalidInputError as error:
        raise OptionError(field, str(error)) from None


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
    if "enum" in schema:
        check_choice(where, value, tuple(schema["enum"]))
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
    whole = schema["type"] == "integer"
    least, most = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    check_range(where, int(value) if whole else value, whole=whole, least=least, most=most, above=above, below=below)


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
