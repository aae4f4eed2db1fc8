"""The OpenAPI document, and requests that it allows: none may break the server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from jsonschema_rs import validator_for
from schemathesis.openapi.loaders import from_dict
from schemathesis.transport.asgi import ASGI_TRANSPORT
from starlette.routing import Route
from tests.unit.web.served import Served, bearer, known_labels, right_answer, serve, write_table

from onebit.web.app import OPERATIONS
from onebit.web.openapi import ERROR, document

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
            routed |= {(route.path.replace(":number", ""), method) for method in (route.methods or set()) - {"HEAD"}}
    assert routed == described
    assert served.client.get("/api/v1/openapi.json").json() == DOCUMENT


def served_with_a_table(folder: Path) -> Iterator[Served]:
    made = serve(folder)
    write_table(folder / "table.csv", known=known_labels(20))
    yield made
    made.site.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """For requests that are made up: each of them starts and stops the server."""
    yield from served_with_a_table(tmp_path_factory.mktemp("api"))


@pytest.fixture
def fresh_site(tmp_path: Path) -> Iterator[Served]:
    yield from served_with_a_table(tmp_path)


SCHEMA: Any = from_dict(DOCUMENT)
FOUND_BY_ITSELF = settings(
    max_examples=EXAMPLES, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck)
)


def check_is_as_described(response: Any, raw: dict[str, Any]) -> None:
    """What came back has the types that the document says."""
    (media, content), *_ = raw["responses"][str(response.status_code)]["content"].items()
    # Schemathesis gives all headers of a name, a test client the one.
    given = response.headers["content-type"]
    assert (given[0] if isinstance(given, list) else given).split(";")[0] == media
    if media == "application/json":
        schema = ERROR if "$ref" in content["schema"] else content["schema"]
        validator_for(schema).validate(response.json())


def send(case: Any, site: Served) -> Any:
    """Send a request that was made up from the document; never a status that it does not name."""
    raw = case.operation.definition.raw
    token = site.owner if raw["security"][0].keys() == {"owner"} else site.ann
    # Links of the study under test must go on working, whatever is generated.
    if raw["operationId"] in ("revoke", "revoke_owner_link"):
        case.path_parameters["link"] = 2**30
    case.headers = {**(case.headers or {}), **bearer(token)}
    response = ASGI_TRANSPORT.send(case, app=site.client.app, base_url="http://127.0.0.1:8000")
    if case.method != case.operation.method.upper():
        assert response.status_code == 405
    else:
        assert response.status_code < 500, response.text
        assert str(response.status_code) in raw["responses"], response.text
        check_is_as_described(response, raw)
    if raw["operationId"] == "replace_owner_links" and response.status_code == 200:
        site.owner = response.json()["url"].rsplit("/", 1)[1]
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
        names = {"id": "id", "truth": "known", "gold": "known", "media": "text"}
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


def test_every_answer_has_the_types_that_the_document_says(fresh_site: Served) -> None:
    """One good call of each operation, in an order in which each can be done; others are made up and often refused."""
    site = fresh_site
    (question,) = site.ask(site.ann)
    told = {"question": question["question"], "answer": "yes", "token": "types"}
    link = site.post("studies/1/links", site.owner, rater="dan").json()["link"]
    owner = site.post("owner-links", site.owner, name="dan").json()["link"]
    table = {"path": "table.csv", "id": "id", "show": ["text", "known"], "protocol": "one-shot", "eps": 0.3}
    without_a_model = {"path": "table.csv", "id": "id", "show": ["text", "known", "model 0"], "name": "without a model"}
    made = site.post("studies", site.owner, **table, name="for deletion").json()["study"]
    calls: dict[str, tuple[str, str, Any]] = {
        "labels": ("labels", site.ann, None),
        "ask": ("ask", site.ann, {"n": 2}),
        "tell": ("tell", site.ann, told),
        "undo": ("undo", site.ann, {"question": question["question"]}),
        "progress": ("progress", site.ann, None),
        "studies": ("studies", site.owner, None),
        "status": ("studies/1", site.owner, None),
        "export": ("studies/1/export?format=csv", site.owner, None),
        "report": ("studies/1/report", site.owner, None),
        "backup": ("backup", site.owner, None),
        "links": ("studies/1/links", site.owner, None),
        "new_link": ("studies/1/links", site.owner, {"rater": "eve"}),
        "revoke": (f"studies/1/links/{link}", site.owner, None),
        "pause": ("studies/1/pause", site.owner, {"paused": False}),
        "answers": ("studies/1/answers", site.owner, None),
        "item": ("studies/1/items/0", site.owner, None),
        "rename": (f"studies/{made}/rename", site.owner, {"name": "still for deletion"}),
        "archive": (f"studies/{made}/archive", site.owner, {"archived": True}),
        "delete": (f"studies/{made}/delete", site.owner, {"name": "still for deletion"}),
        "owner_links": ("owner-links", site.owner, None),
        "new_owner_link": ("owner-links", site.owner, {"name": "eve"}),
        "revoke_owner_link": (f"owner-links/{owner}", site.owner, None),
        "upload": ("tables?name=table.csv", site.owner, b"id,a,b\n1,x,y\n2,y,y\n"),
        "columns": ("columns", site.owner, {"path": "table.csv"}),
        "plan": ("plan", site.owner, table),
        "create": ("studies", site.owner, {**table, "name": "types"}),
        "sequel": ("studies/1/sequel", site.owner, without_a_model),
        # The last, since it ends the others.
        "replace_owner_links": ("owner-links/replace", site.owner, {"name": "eve"}),
    }
    # A selection has no model, the stream never ends, only what is certified is watched: these have their own tests.
    assert set(calls) == {operation.name for operation in OPERATIONS} - {"model", "live", "watch"}
    described = {operation.name: operation for operation in OPERATIONS}
    for name, (path, token, body) in calls.items():
        operation = described[name]
        sent: Any = {"content": body} if isinstance(body, bytes) else {"json": body}
        response = site.client.request(operation.method, f"/api/v1/{path}", headers=bearer(token), **sent)
        assert response.status_code == 200, (name, response.text)
        check_is_as_described(response, DOCUMENT["paths"][operation.path][operation.method.lower()])
        if name == "replace_owner_links":
            site.owner = response.json()["url"].rsplit("/", 1)[1]


@pytest.mark.parametrize(
    "options",
    [
        {"trains": True},
        {"trains": True, "audit": 20, "target": 0.5},
        {"protocol": "labels"},
        {"protocol": "follow-up", "eps": 0.3, "gold_share": 0.0},
        {"overlap": 3},
    ],
    ids=["training", "training with an audit", "labels", "follow-up", "overlap"],
)
def test_every_kind_of_study_has_the_types_that_the_document_says(tmp_path: Path, options: dict[str, Any]) -> None:
    """Before the first answer, after some, and where nothing is left to ask: what is null then is said to be."""
    site = serve(tmp_path, **options)
    asked = {operation.name: operation for operation in OPERATIONS}
    try:
        for _ in range(3):
            calls = (("ask", "ask", site.ann), ("progress", "progress", site.ann), ("labels", "labels", site.ann))
            for name, path, token in (*calls, ("status", "studies/1", site.owner), ("studies", "studies", site.owner)):
                method = asked[name].method
                body = {"n": 3} if name == "ask" else None
                response = site.client.request(method, f"/api/v1/{path}", json=body, headers=bearer(token))
                assert response.status_code == 200, response.text
                check_is_as_described(response, DOCUMENT["paths"][asked[name].path][method.lower()])
            for question in site.ask(site.ann, 5):
                said = "can't tell" if question["label"] is None else right_answer(question)
                site.tell(site.ann, question, said)
    finally:
        site.site.close()
