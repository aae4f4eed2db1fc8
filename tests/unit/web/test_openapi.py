"""The OpenAPI document, and requests that it allows: none may break the server."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from schemathesis.openapi.loaders import from_dict
from schemathesis.transport.asgi import ASGI_TRANSPORT
from starlette.routing import Route
from tests.unit.web.served import Served, bearer, known_labels, serve, write_table

from onebit.study.kinds.selection import making
from onebit.web.app import OPERATIONS
from onebit.web.openapi import document

DOCUMENT = document(OPERATIONS)
#: A stream without end, which the tests of watchers read.
ENDLESS = {"live"}
#: Requests that are made up for each operation.
EXAMPLES = 20


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
    folder = tmp_path_factory.mktemp("api")
    made = serve(folder)
    write_table(folder / "table.csv", known=known_labels(20))
    # Plans are cut off early, since dozens are made.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "PATIENCE", 0.05)
        yield made
    made.site.close()


SCHEMA: Any = from_dict(DOCUMENT)
FOUND_BY_ITSELF = settings(
    max_examples=EXAMPLES, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck)
)


def send(case: Any, site: Served) -> Any:
    """Send a request that was made up from the document; never a status that it does not name."""
    raw = case.operation.definition.raw
    token = site.owner if raw["security"][0].keys() == {"owner"} else site.ann
    # Links of the study under test must go on working, whatever is generated.
    if raw["operationId"] == "revoke":
        case.path_parameters["link"] = 2**30
    case.headers = {**(case.headers or {}), **bearer(token)}
    response = ASGI_TRANSPORT.send(case, app=site.client.app, base_url="http://127.0.0.1:8000")
    if case.method != case.operation.method.upper():
        assert response.status_code == 405
    else:
        assert response.status_code < 500, response.text
        assert str(response.status_code) in raw["responses"], response.text
    return response


@SCHEMA.exclude(operation_id=sorted(ENDLESS)).parametrize()  # type: ignore[untyped-decorator]
@FOUND_BY_ITSELF
def test_no_request_breaks_the_server(case: Any, site: Served) -> None:
    send(case, site)


@SCHEMA.include(operation_id=["plan", "create", "columns"]).parametrize()  # type: ignore[untyped-decorator]
@FOUND_BY_ITSELF
def test_no_choice_for_a_table_that_is_there_breaks_the_server(case: Any, site: Served) -> None:
    """The same, past the first check: what is generated names no table, and hardly ever a column of one."""
    if isinstance(case.body, dict):
        names = {"id": "id", "truth": "known", "gold": "known", "image": "text"}
        columns = {role: name for role, name in names.items() if case.body.get(role)}
        others = {key: value for key, value in case.body.items() if key not in (*names, "upload")}
        show = [name for name in ("text", "known") if name not in columns.values()]
        case.body = {**others, **columns, "path": "table.csv", "show": show}
    send(case, site)


@SCHEMA.include(operation_id=["ask", "tell", "undo"]).parametrize()  # type: ignore[untyped-decorator]
@FOUND_BY_ITSELF
def test_no_answer_to_a_question_that_was_given_breaks_the_server(case: Any, site: Served) -> None:
    """The same with the number of a question that the rater holds."""
    if isinstance(case.body, dict) and "question" in case.body:
        site.site.access.pause(1, False)  # as a request before may have left it
        case.body["question"] = site.ask(site.ann)[0]["question"]
    send(case, site)
