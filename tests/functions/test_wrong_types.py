"""JSON types are taken at their word: text is no number, a number is no time, an unhashable request_id is no crash."""

import pytest

from tests.functions.conftest import Stack
from tests.support.documents import definition_l

TRIGGER = {"env_code": 1, "def_name": "Leave", "external_ref": "R-1", "event": 10}


@pytest.fixture
def ready(stack: Stack) -> Stack:
    stack.bench.import_(definition_l())
    stack.bench.register("c1")
    return stack


@pytest.mark.parametrize("value", ["1", 1.0, True])
def test_an_environment_code_is_a_whole_number(ready: Stack, value):
    before = ready.contents()
    answer = ready.call("trigger", "POST", "/v1/trigger", {**TRIGGER, "env_code": value})
    assert (answer.status, answer.code, [error["pointer"] for error in answer.body["errors"]]) == (400, "INVALID_REQUEST", ["/env_code"])
    assert ready.contents() == before


@pytest.mark.parametrize("value", [5, 1.5, "10", "20260101", "1700000000", "2026-01-31"])
def test_a_time_is_a_text_with_date_and_zone(ready: Stack, value):
    answer = ready.call("trigger", "POST", "/v1/trigger", {**TRIGGER, "occurred_at": value})
    assert (answer.status, [error["pointer"] for error in answer.body["errors"]]) == (400, ["/occurred_at"])


@pytest.mark.parametrize("value", [["x"], {"x": 1}, 7])
def test_a_request_id_that_is_no_text_contradicts_the_header(ready: Stack, value):
    answer = ready.call("trigger", "POST", "/v1/trigger", {**TRIGGER, "request_id": value}, headers={"Idempotency-Key": "q"})
    assert (answer.status, answer.code) == (400, "INVALID_REQUEST")


def test_a_request_id_of_the_engines_own_kind_is_refused_at_its_place(ready: Stack):
    answer = ready.call("trigger", "POST", "/v1/trigger", {**TRIGGER, "request_id": "timeout:0:1"})
    assert (answer.status, [error["pointer"] for error in answer.body["errors"]]) == (400, ["/request_id"])


@pytest.mark.parametrize("principal", [" ", "a\u0000b", ""])
def test_a_consumer_is_not_given_to_nobody(ready: Stack, principal):
    answer = ready.call("admin", "POST", "/v1/consumers/c1/owner", {"env_code": 1, "principal": principal, "reason": "x"})
    assert (answer.status, [error["pointer"] for error in answer.body["errors"]]) == (400, ["/principal"])


@pytest.mark.parametrize(("name", "code"), [("a\u0001b", "INVALID_VALUE"), ("a\nb", "INVALID_VALUE"), ("*", "RESERVED_NAME"), ("..", "RESERVED_NAME")])
def test_a_definition_cannot_have_a_name_that_messages_or_addresses_cannot_carry(stack: Stack, name, code):
    answer = stack.call("import", "POST", "/v1/import", {"env_code": 1, "definition": definition_l(name=name)})
    assert (answer.status, [(error["code"], error["pointer"]) for error in answer.body["errors"]]) == (400, [(code, "/definition/name")])


def test_after_the_last_version_number_there_is_a_conflict(stack: Stack):
    assert stack.call("import", "POST", "/v1/import", {"env_code": 1, "definition": definition_l(version=2_147_483_647)}).status == 200
    other = definition_l()
    del other["version"]
    other["states"][0]["name"] = "Sketch"
    other["transitions"][0]["from"] = "Sketch"
    answer = stack.call("import", "POST", "/v1/import", {"env_code": 1, "definition": other})
    assert (answer.status, answer.code) == (409, "VERSION_CONFLICT")
