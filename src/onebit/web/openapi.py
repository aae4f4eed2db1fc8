"""The OpenAPI document, from the descriptions of the operations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from onebit import __version__
from onebit.web.calls import Operation
from onebit.web.schema import fields, whole

_ERRORS = {
    400: "the body is no JSON, or the host is not known",
    401: "the link does not work",
    403: "not for this link",
    404: "there is no such thing",
    409: "answered already, another question by now, or begun by another version of onebit",
    413: "too large",
    422: "something in the request cannot be",
    429: "too many wrong links from this address, or too many requests by this link",
    503: "the store cannot be reached or written, or the study is open elsewhere; nothing was acknowledged, try again",
}
ERROR = fields(
    {"error": {"type": "string"}},
    {
        "field": {"type": "string", "description": "the part of the request that it is about, where it is about one"},
        "refused": {
            "type": "boolean",
            "description": "true where sending it again is of no use",
        },
    },
)
_ALWAYS = (400, 401, 403, 413, 422, 429, 503)


def document(operations: Iterable[Operation]) -> dict[str, Any]:
    """The whole document."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "onebit",
            "version": __version__,
            "description": "Yes/no questions for raters, and what their answers show. A rater's link ends in the token "
            "that the rater's operations want; the owner's link, in that of the owner's.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {
                "owner": {"type": "http", "scheme": "bearer"},
                "rater": {"type": "http", "scheme": "bearer"},
            },
            "schemas": {"Error": ERROR},
        },
    }


def _described(operation: Operation) -> dict[str, Any]:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": whole(0, 2**31 - 1)}
        for name in re.findall(r"\{(\w+)\}", operation.path)
    ]
    parameters += [
        {"name": name, "in": "query", "required": schema.get("required", False), "schema": _without(schema, "required")}
        for name, schema in operation.query.items()
    ]
    media, schema = (
        ("application/json", operation.answer) if isinstance(operation.answer, dict) else (operation.answer, {})
    )
    responses: dict[str, Any] = {"200": {"description": "done", "content": {media: {"schema": schema}}}}
    errors = {*_ALWAYS, *operation.errors, *((404,) if "{" in operation.path else ())}
    for status in sorted(errors):
        content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
        responses[str(status)] = {"description": _ERRORS[status], "content": content}
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "security": [{operation.who: []}],
        "parameters": parameters,
        "responses": responses,
    }
    if operation.streams and operation.method == "POST":
        described["requestBody"] = {"required": True, "content": {"application/octet-stream": {"schema": {}}}}
    elif operation.body is not None:
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": operation.body}}}
    return described


def _without(schema: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != name}
