"""Errors to problem documents: one table, looked up along the error's class."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError

from workflow_engine.entry.answer import HttpResponse
from workflow_engine.errors import (
    ConflictError,
    ErrorItem,
    InvalidRequestError,
    MethodNotAllowedError,
    NotFoundError,
    NotOwnerError,
    StorageError,
    TooLargeError,
    WorkFlowError,
)

CONTENT_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 2
STATUS_BY_ERROR: Mapping[type[BaseException], HTTPStatus] = {
    InvalidRequestError: HTTPStatus.BAD_REQUEST,
    NotOwnerError: HTTPStatus.FORBIDDEN,
    NotFoundError: HTTPStatus.NOT_FOUND,
    MethodNotAllowedError: HTTPStatus.METHOD_NOT_ALLOWED,
    ConflictError: HTTPStatus.CONFLICT,
    TooLargeError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    StorageError: HTTPStatus.SERVICE_UNAVAILABLE,
}
# What the engine says about these is for its own people.
_HIDDEN = {
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something went wrong on our side.",
    HTTPStatus.SERVICE_UNAVAILABLE: "The engine could not do it in time; the same request may be sent again.",
}


def status_of(error: BaseException) -> HTTPStatus:
    found = (STATUS_BY_ERROR[kind] for kind in type(error).__mro__ if kind in STATUS_BY_ERROR)
    return next(found, HTTPStatus.INTERNAL_SERVER_ERROR)


def problem_response(error: BaseException) -> HttpResponse:
    """Return the answer that tells the caller what is wrong, and nothing else."""
    status = status_of(error)
    code = error.code if isinstance(error, WorkFlowError) and status not in _HIDDEN else _HIDDEN_CODES.get(status, "INTERNAL")
    detail = _HIDDEN.get(status) or str(error)
    errors = error.errors if isinstance(error, WorkFlowError) and status not in _HIDDEN else ()
    return HttpResponse(status=int(status), body=json.dumps(problem(int(status), code, detail, errors)), headers=_headers(error, status))


def problem(status: int, code: str, detail: str, errors: tuple[ErrorItem, ...] = ()) -> dict[str, Any]:
    items = [{"pointer": item.pointer, "code": item.code, "message": item.message} for item in errors]
    title = HTTPStatus(status).phrase
    return {"type": f"urn:workflow-engine:problem:{code.lower()}", "title": title, "status": status, "code": code, "detail": detail, "errors": items}


_HIDDEN_CODES = {HTTPStatus.SERVICE_UNAVAILABLE: StorageError.code, HTTPStatus.INTERNAL_SERVER_ERROR: WorkFlowError.code}


def _headers(error: BaseException, status: HTTPStatus) -> dict[str, str]:
    headers = {"content-type": CONTENT_TYPE}
    if isinstance(error, MethodNotAllowedError):
        headers["allow"] = ", ".join(error.allowed)
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        headers["retry-after"] = str(RETRY_AFTER_SECONDS)
    return headers


def invalid_request(error: ValidationError, given: Mapping[str, Any]) -> InvalidRequestError:
    """Translate pydantic's findings: a pointer from the request's root, a code, a sentence; never the value."""
    found: dict[tuple[str, str], ErrorItem] = {}
    for item in error.errors(include_url=False, include_input=False, include_context=False):
        pointer, code = _pointer(item["loc"], given, is_missing=item["type"] == "missing"), item["type"].upper()
        found.setdefault((pointer, code), ErrorItem(pointer=pointer, code=code, message=item["msg"].removeprefix("Value error, ")))
    return InvalidRequestError("the request is not valid", tuple(found.values()))


def _pointer(location: tuple[int | str, ...], given: Any, *, is_missing: bool) -> str:
    parts = [*_parts_in(location[:-1], given), *location[-1:]] if is_missing else _parts_in(location, given)
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def _parts_in(location: tuple[int | str, ...], given: Any) -> list[int | str]:
    """Leave out the names of union branches, which are no part of what was sent."""
    if not location:
        return []
    part, rest = location[0], location[1:]
    return [part, *_parts_in(rest, given[part])] if _holds(given, part) else _parts_in(rest, given)


def _holds(value: Any, part: int | str) -> bool:
    return part in value if isinstance(value, dict) else isinstance(value, list) and isinstance(part, int)
