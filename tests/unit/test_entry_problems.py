"""Problem documents: one table from error to status, and nothing of ours in the answer."""

import json
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from workflow_engine import errors
from workflow_engine.entry.openapi import STATUS_BY_CODE
from workflow_engine.entry.problem import invalid_request, problem_response, status_of

EXAMPLES: list[tuple[Exception, int, str]] = [
    (errors.InvalidRequestError("no"), 400, "INVALID_REQUEST"),
    (errors.InvalidDefinitionError("no"), 400, "INVALID_DEFINITION"),
    (errors.InvalidPolicyError("no"), 400, "INVALID_POLICY"),
    (errors.NotOwnerError("no"), 403, "NOT_OWNER"),
    (errors.NotFoundError("instance", "no"), 404, "INSTANCE_NOT_FOUND"),
    (errors.MethodNotAllowedError("no", ("GET", "POST")), 405, "METHOD_NOT_ALLOWED"),
    (errors.ConflictError("STATUS_CONFLICT", "no"), 409, "STATUS_CONFLICT"),
    (errors.TooLargeError("no"), 413, "TOO_LARGE"),
    (errors.StorageError("secret host"), 503, "UNAVAILABLE"),
    (errors.DeadlineExceededError("secret host"), 503, "UNAVAILABLE"),
    (errors.ConnectionLostError("secret host"), 503, "UNAVAILABLE"),
    (errors.AccessDeniedError("secret host"), 503, "UNAVAILABLE"),
    (errors.DuplicateKeyError("secret SQL", "uq"), 503, "UNAVAILABLE"),
    (errors.MissingKeyError("secret SQL"), 503, "UNAVAILABLE"),
    (errors.WorkFlowError("secret SQL"), 500, "INTERNAL"),
    (KeyError("secret key"), 500, "INTERNAL"),
    (RuntimeError("secret thing"), 500, "INTERNAL"),
]


@pytest.mark.parametrize(("error", "status", "code"), EXAMPLES, ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None)
def test_every_error_has_its_status_code_and_shape(error, status, code):
    response = problem_response(error)
    document = json.loads(response.body)
    assert set(document) == {"type", "title", "status", "code", "detail", "errors"}
    assert (response.status, document["status"], document["code"]) == (status, status, code)
    assert response.headers["content-type"] == "application/problem+json"
    assert ("retry-after" in response.headers) == (status == 503)
    assert response.headers.get("allow") == ("GET, POST" if status == 405 else None)
    assert "secret" not in response.body


def test_every_error_class_of_ours_is_in_the_table():
    classes = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.WorkFlowError) and kind is not errors.WorkFlowError]
    assert [kind for kind in classes if status_of(kind.__new__(kind)) == 500] == []


def test_the_documented_codes_have_the_statuses_of_the_table():
    assert {code: status for _, status, code in EXAMPLES if code != "METHOD_NOT_ALLOWED"}.items() <= STATUS_BY_CODE.items()


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    size: Annotated[int, Field(ge=1)]


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    event: Annotated[int, Field(strict=True)] | Annotated[str, Field(min_length=1)]
    inner: Inner | None = None
    many: list[Inner] = []


def findings(given: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(given)
    return [(item.pointer, item.code) for item in invalid_request(caught.value, given).errors]


def test_pointers_lead_to_what_was_sent_and_never_to_the_branch_of_a_union():
    assert findings({"event": {}}) == [("/event", "INT_TYPE"), ("/event", "STRING_TYPE")]
    assert findings({"event": ""}) == [("/event", "INT_TYPE"), ("/event", "STRING_TOO_SHORT")]
    assert findings({}) == [("/event", "MISSING")]
    assert findings({"event": 1, "inner": {}}) == [("/inner/size", "MISSING")]
    assert findings({"event": 1, "many": [{"size": 1}, {"size": 0}, {}]}) == [("/many/1/size", "GREATER_THAN_EQUAL"), ("/many/2/size", "MISSING")]
    assert findings({"event": 1, "a/b~c": 1}) == [("/a~1b~0c", "EXTRA_FORBIDDEN")]
    assert findings({"event": 1, "inner": 5}) == [("/inner", "MODEL_TYPE")]


def test_findings_never_repeat_the_value():
    given = {"event": 1, "inner": {"size": "hunter2"}}
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(given)
    assert "hunter2" not in str(invalid_request(caught.value, given).errors)
