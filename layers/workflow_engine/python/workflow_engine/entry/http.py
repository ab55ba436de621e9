"""HttpApp: a small router over API Gateway's payload 2.0; parse, call, answer."""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, Unpack

from pydantic import BaseModel, ValidationError

from workflow_engine.entry import container, observability
from workflow_engine.entry.answer import HttpResponse, response_of
from workflow_engine.entry.identity import principal_of
from workflow_engine.entry.json_body import json_object
from workflow_engine.entry.problem import invalid_request, problem_response
from workflow_engine.entry.query_string import query_values, refuse_all
from workflow_engine.entry.routes import DEFAULT_MAX_BYTES, Route, RouteOptions, allowed_methods, match
from workflow_engine.errors import ErrorItem, InvalidRequestError, MethodNotAllowedError, NotFoundError

_IDEMPOTENCY_HEADER = "idempotency-key"
# Nothing that a path names is longer, or has control characters or half a surrogate pair in it.
_NAMEABLE = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,1024}")
Handler = TypeVar("Handler", bound=Callable[..., Any])


class HttpApp:
    """The routes of one function. A handler names what it wants: request, query, principal, deadline, or a parameter of its path."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.routes: list[Route] = []

    def route(self, method: str, path: str, **options: Unpack[RouteOptions]) -> Callable[[Handler], Handler]:
        def register(handler: Handler) -> Handler:
            self.routes.append(Route(method=method, path=path, handler=handler, options=options))
            return handler

        return register

    def resolve(self, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """Answer the request, whatever happens; a failure of ours is logged and told without details."""
        with observability.invocation(self.name, context) as started:
            try:
                response = self._respond(event, context)
            except Exception as error:  # noqa: BLE001  # the last line of defence: the caller gets a problem document, we get the trace
                response = problem_response(error)
                observability.failed(error, response.status)
            observability.answered(response.status, started)
            return response.for_gateway()

    def _respond(self, event: Mapping[str, Any], context: Any) -> HttpResponse:
        route, path_values = self._find(event)
        observability.add_keys(route=route.key)
        values: dict[str, Any] = {**path_values, "deadline": container.deadline_of(context)}
        if not route.options.get("is_public"):
            values["principal"] = principal_of(event)
        values["query"] = _query(route, event)
        values["request"] = _request(route, event)
        observability.correlate(values["request"], values["query"], path_values)
        answer = route.handler(**{name: values[name] for name in route.arguments})
        observability.correlate(answer)
        return response_of(answer)

    def _find(self, event: Mapping[str, Any]) -> tuple[Route, dict[str, str]]:
        method, path = _method_and_path(event)
        for route in self.routes:
            found = _path_values(route, event, method, path)
            if found is not None:
                return route, found
        allowed = allowed_methods(path)
        if allowed:
            raise MethodNotAllowedError("the path does not serve this method", allowed)
        raise NotFoundError("route", "there is no such route")


def _method_and_path(event: Mapping[str, Any]) -> tuple[str, str]:
    context = event["requestContext"]
    path, stage = str(event["rawPath"]), str(context.get("stage", "$default"))
    prefix = f"/{stage}/"
    return str(context["http"]["method"]), path.removeprefix(prefix[:-1]) if path.startswith(prefix) else path


def _path_values(route: Route, event: Mapping[str, Any], method: str, path: str) -> dict[str, str] | None:
    """API Gateway has matched already and gives decoded values; `$default` gives only the path, decoded too."""
    if event.get("routeKey") == route.key and route.path_names:
        values: dict[str, str] | None = {name: str(event["pathParameters"][name]) for name in route.path_names}
    else:
        values = match(route.path, path) if method == route.method else None
    if values and not all(_NAMEABLE.fullmatch(value) for value in values.values()):
        raise NotFoundError("route", "there is no such route")
    return values


def _query(route: Route, event: Mapping[str, Any]) -> BaseModel | None:
    values, model = query_values(event), route.options.get("query")
    if model is None:
        refuse_all(values)
        return None
    return _validated(model, values)


def _request(route: Route, event: Mapping[str, Any]) -> BaseModel | None:
    model = route.options.get("request")
    if model is None:
        return None
    body = json_object(event, route.options.get("max_bytes", DEFAULT_MAX_BYTES))
    if route.options.get("takes_idempotency_key"):
        _fill_request_id(body, event)
    return _validated(model, body)


def _fill_request_id(body: dict[str, Any], event: Mapping[str, Any]) -> None:
    given: Mapping[str, str] = event.get("headers") or {}
    headers = {name.lower(): value for name, value in given.items()}
    if _IDEMPOTENCY_HEADER not in headers:
        return
    key = headers[_IDEMPOTENCY_HEADER]
    if body.get("request_id") is not None and body["request_id"] != key:
        message = "request_id and the header Idempotency-Key contradict each other"
        raise InvalidRequestError(message, (ErrorItem(pointer="/request_id", code="CONTRADICTION", message=message),))
    body["request_id"] = key


def _validated(model: type[BaseModel], values: dict[str, Any]) -> BaseModel:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise invalid_request(error, values) from None
