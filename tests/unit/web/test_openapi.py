"""The OpenAPI document, and requests that it allows: none may break the server."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from schemathesis.openapi.loaders import from_dict
from schemathesis.transport.asgi import ASGI_TRANSPORT
from starlette.routing import Route
from tests.unit.web.served import Served, bearer, serve

from onebit.web.app import OPERATIONS
from onebit.web.openapi import document

DOCUMENT = document(OPERATIONS)
#: A stream without end, which the tests of watchers read.
ENDLESS = {"live"}


def test_every_operation_of_the_api_is_in_the_document(served: Served) -> None:
    described = {(path, method.upper()) for path, methods in DOCUMENT["paths"].items() for method in methods}
    routed = set()
    app: Any = served.client.app
    for route in app.routes:
        if isinstance(route, Route) and route.path.startswith("/api/v1/") and not route.path.endswith("openapi.json"):
            routed |= {(route.path.replace(":int", ""), method) for method in (route.methods or set()) - {"HEAD"}}
    assert routed == described
    assert served.client.get("/api/v1/openapi.json").json() == DOCUMENT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = serve(tmp_path_factory.mktemp("api"))
    yield made
    made.site.close()


SCHEMA: Any = from_dict(DOCUMENT)


@SCHEMA.exclude(operation_id=sorted(ENDLESS)).parametrize()  # type: ignore[untyped-decorator]
@settings(max_examples=12, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck))
def test_no_request_breaks_the_server(case: Any, site: Served) -> None:
    owner = case.operation.definition.raw["security"][0].keys() == {"owner"}
    # Links of the study under test must go on working, whatever is generated.
    if case.operation.definition.raw["operationId"] == "revoke":
        case.path_parameters["link"] = 2**30
    headers = {**(case.headers or {}), **bearer(site.owner if owner else site.ann)}
    case.headers = headers
    response = ASGI_TRANSPORT.send(case, app=site.client.app, base_url="http://127.0.0.1:8000")
    if case.method != case.operation.method.upper():
        assert response.status_code == 405
        return
    assert response.status_code < 500, response.text
    assert str(response.status_code) in case.operation.definition.raw["responses"], response.text
