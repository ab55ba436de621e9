"""Bad input on every route: the right status and code, nothing written, nothing leaked."""

import json
from typing import Any

import pytest

from tests.functions.conftest import Answer, Stack, http_event, role
from workflow_engine.entry import container
from workflow_engine.entry.openapi import apps
from workflow_engine.entry.routes import DEFAULT_MAX_BYTES, Route

EVERY = [(app.name, route) for app in apps() for route in app.routes]
PRIVATE = [(name, route) for name, route in EVERY if not route.options.get("is_public")]
WITH_BODY = [(name, route) for name, route in PRIVATE if "request" in route.options]
VALUES = {"guid": "00000000-0000-4000-8000-000000000000", "ack_guid": "00000000-0000-4000-8000-000000000000", "id": "1", "name": "X", "consumer": "x"}


def keys(pairs: list[tuple[str, Route]]) -> list[str]:
    return [route.key for _, route in pairs]


def path_of(route: Route) -> str:
    return route.path.format(**VALUES)


def call(stack: Stack, name: str, route: Route, body: Any = None, **more: Any) -> Answer:
    return stack.call(name, route.method, path_of(route), body, **more)


def refused(answer: Answer, status: int, code: str) -> None:
    assert (answer.status, answer.code) == (status, code), answer.text
    assert set(answer.body) == {"type", "title", "status", "code", "detail", "errors"}


@pytest.fixture
def untouched(stack: Stack):
    """Whatever the test does, the database stays as it was."""
    before = stack.contents()
    yield stack
    assert stack.contents() == before


@pytest.mark.parametrize(("name", "route"), WITH_BODY, ids=keys(WITH_BODY))
def test_a_body_that_is_no_object_is_refused(untouched, name, route):
    for body in ("", "{", "[]", "7", '"text"', '{"a": 1, "a": 2}', '{"reason": NaN}', '{"reason": "\\ud800"}', '{"x":' + "[" * 100 + "]" * 100 + "}"):
        refused(call(untouched, name, route, body), 400, "INVALID_REQUEST")
    refused(call(untouched, name, route), 400, "INVALID_REQUEST")
    broken = http_event(route.method, path_of(route), "%%%") | {"isBase64Encoded": True}
    refused(untouched.http(name, broken), 400, "INVALID_REQUEST")


@pytest.mark.parametrize(("name", "route"), WITH_BODY, ids=keys(WITH_BODY))
def test_a_body_over_the_routes_limit_is_too_large(untouched, name, route):
    limit = route.options.get("max_bytes", DEFAULT_MAX_BYTES)
    refused(call(untouched, name, route, json.dumps({"x": "y" * limit})), 413, "TOO_LARGE")


@pytest.mark.parametrize(("name", "route"), WITH_BODY, ids=keys(WITH_BODY))
def test_unknown_fields_and_wrong_types_are_refused_with_a_pointer(untouched, name, route):
    model: Any = route.options["request"]
    wrong = {
        field: {"not": ["right"]}
        for field, info in model.model_fields.items()
        if info.annotation is not Any and field not in {"payload", "data", "definition", "policy"}
    }
    answer = call(untouched, name, route, {**wrong, "sur/prise": 1})
    refused(answer, 400, "INVALID_REQUEST")
    pointers = {item["pointer"] for item in answer.body["errors"]}
    assert {f"/{field}" for field in wrong if field != "acks"} | {"/sur~1prise"} <= pointers | {"/progress", "/endpoint"}


@pytest.mark.parametrize(("name", "route"), PRIVATE, ids=keys(PRIVATE))
def test_without_a_caller_nothing_happens(untouched, name, route):
    for authorizer in ({"iam": {}}, {"jwt": {"claims": {}}}, {"iam": {"userArn": "arn:aws:iam::1:x"}}):
        refused(call(untouched, name, route, {"reason": "x"}, authorizer=authorizer), 403, "NOT_OWNER")


@pytest.mark.parametrize(("name", "route"), EVERY, ids=keys(EVERY))
def test_an_unknown_query_parameter_is_refused(untouched, name, route):
    refused(call(untouched, name, route, {"reason": "x"}, query="surprise=1"), 400, "INVALID_REQUEST")


@pytest.mark.parametrize(("name", "route"), EVERY, ids=keys(EVERY))
def test_another_method_is_told_exactly_the_paths_methods(untouched, name, route):
    answer = untouched.call(name, "PATCH", path_of(route), {})
    refused(answer, 405, "METHOD_NOT_ALLOWED")
    assert answer.headers["allow"].split(", ") == sorted(other.method for _, other in EVERY if other.path == route.path)


@pytest.mark.parametrize("path", ["/", "/v1", "/v2/trigger", "/v1/trigger/", "/v1//trigger", "/v1/instances/x/y", "/v1/trigger/../import"])
def test_an_unknown_path_is_not_found(untouched, path):
    for name in ("query", "trigger"):
        refused(untouched.call(name, "POST", path, {}), 404, "ROUTE_NOT_FOUND")


@pytest.mark.parametrize(
    ("name", "route"), [pair for pair in PRIVATE if pair[1].path != "/v1/health"], ids=lambda value: value.key if isinstance(value, Route) else value
)
def test_a_fault_of_ours_is_told_without_details_and_logged_with_them(stack, monkeypatch, capsys, name, route):
    def broken() -> None:
        raise KeyError("secret internals")

    monkeypatch.setattr(container, "engine", broken)
    monkeypatch.setattr("workflow_engine.entry.http._request", lambda *_: None)
    monkeypatch.setattr("workflow_engine.entry.http._query", lambda *_: Anything())
    answer = call(stack, name, route, {})
    refused(answer, 500, "INTERNAL")
    assert "secret" not in answer.text
    assert "secret internals" in capsys.readouterr().out


class Anything:
    """A query that has whatever is asked of it."""

    def __getattr__(self, name: str) -> str:
        return name


@pytest.fixture
def without_database(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Stack:
    monkeypatch.setenv("WFE_DATABASE_URL", "mysql://nobody:hunter2@127.0.0.1:1/none")
    container.settings.cache_clear()
    return stack


TRIGGER = {"env_code": 1, "def_name": "X", "external_ref": "R", "event": 10, "payload": {"card": "4111-secret"}}


@pytest.mark.scenario(118)
def test_without_a_database_a_trigger_answers_503_and_says_so_to_operators(without_database, capsys):
    answer = without_database.call("trigger", "POST", "/v1/trigger", TRIGGER)
    refused(answer, 503, "UNAVAILABLE")
    assert int(answer.headers["retry-after"]) > 0
    assert [notice["attributes"]["code"] for notice in without_database.received()] == ["TRIGGER_ERROR"]
    output = capsys.readouterr().out
    assert "hunter2" not in answer.text + output
    assert "4111-secret" not in output


@pytest.mark.scenario(88)
def test_health_answers_503_without_a_database(without_database):
    answer = without_database.call("query", "GET", "/v1/health")
    assert (answer.status, answer.headers["content-type"]) == (503, "application/json")
    assert (answer.body["healthy"], answer.body["database"], answer.body["due"]) == (False, False, None)


def test_no_payload_reaches_the_log(stack, capsys):
    for body in (TRIGGER, {**TRIGGER, "event": {}}, json.dumps(TRIGGER)[:-1]):
        stack.call("trigger", "POST", "/v1/trigger", body)
    output = capsys.readouterr().out
    assert "4111-secret" not in output
    assert '"external_ref":"R"' in output


@pytest.mark.parametrize("value", ["n" * 2000, "a\x00b", "a\x85b", "a\ud800b"], ids=["endless", "a zero byte", "a control character", "half a surrogate pair"])
def test_a_path_parameter_that_nothing_can_be_named_is_not_found(untouched, value):
    refused(untouched.call("query", "GET", f"/v1/instances/{value}"), 404, "ROUTE_NOT_FOUND")


def test_the_stage_in_front_of_the_path_is_left_out(stack):
    event = http_event("GET", "/v1/health", authorizer=role())
    event["rawPath"] = "/prod/v1/health"
    event["requestContext"]["stage"] = "prod"
    assert stack.http("query", event).status == 200


def test_the_document_needs_no_caller(stack):
    event = http_event("GET", "/v1/openapi.json")
    del event["requestContext"]["authorizer"]
    answer = stack.http("query", event)
    assert (answer.status, answer.body["openapi"]) == (200, "3.1.0")
