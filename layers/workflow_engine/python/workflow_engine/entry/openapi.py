"""The OpenAPI document, made from the handlers' routes and their models: `python -m workflow_engine.entry.openapi`."""

import importlib.util
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from workflow_engine.entry.http import HttpApp
from workflow_engine.entry.problem import CONTENT_TYPE
from workflow_engine.entry.routes import DOCUMENT, Route

ROOT = Path(__file__).resolve().parents[5]
PUBLISHED = ROOT / "docs" / "openapi.json"
STATUS_BY_CODE = {
    "INVALID_REQUEST": 400,
    "INVALID_DEFINITION": 400,
    "INVALID_POLICY": 400,
    "NOT_OWNER": 403,
    "DEFINITION_NOT_FOUND": 404,
    "INSTANCE_NOT_FOUND": 404,
    "CONSUMER_NOT_FOUND": 404,
    "ACK_NOT_FOUND": 404,
    "RUNTIME_NOT_FOUND": 404,
    "NO_TRANSITION_CONSUMER": 409,
    "REQUEST_ID_REUSED": 409,
    "VERSION_CONFLICT": 409,
    "ENDPOINT_IN_USE": 409,
    "STATUS_CONFLICT": 409,
    "TOO_LARGE": 413,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
}
_REF = "#/components/schemas/{model}"
_ABOUT = (
    "A database-backed workflow engine. Unknown routes answer 404 ROUTE_NOT_FOUND, unknown methods 405 METHOD_NOT_ALLOWED; every error is a problem document."
)
_SECURITY_SCHEMES = {
    "iam": {"type": "apiKey", "name": "Authorization", "in": "header", "description": "AWS Signature Version 4"},
    "jwt": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
}
_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "code", "detail", "errors"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string", "enum": [*STATUS_BY_CODE, "ROUTE_NOT_FOUND", "METHOD_NOT_ALLOWED"]},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "code", "message"],
                "properties": {"pointer": {"type": "string"}, "code": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}
Mode = Literal["validation", "serialization"]
_MODES: tuple[tuple[str, Mode], ...] = (("request", "validation"), ("query", "validation"), ("answer", "serialization"))


def apps(functions: Path = ROOT / "functions") -> Iterator[HttpApp]:
    """Load every handler by its path and return those that serve routes."""
    for file in sorted(functions.glob("*/handler.py")):
        spec = importlib.util.spec_from_file_location(f"handler_{file.parent.name}", file)
        if spec is None or spec.loader is None:
            raise ImportError(str(file))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        if hasattr(module, "app"):
            yield module.app


def document(served: Iterable[HttpApp]) -> dict[str, Any]:
    listed = [(app.name, route) for app in served for route in app.routes]
    schemas, components = _schemas([route for _, route in listed])
    paths: dict[str, dict[str, Any]] = {}
    for function, route in sorted(listed, key=lambda pair: (pair[1].path, pair[1].method)):
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(function, route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "WorkFlowEngine", "version": "1", "description": _ABOUT},
        "security": [{name: []} for name in _SECURITY_SCHEMES],
        "paths": paths,
        "components": {"schemas": {**components, "Problem": _PROBLEM}, "securitySchemes": _SECURITY_SCHEMES},
    }


def text_of(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=True) + "\n"


def _schemas(routes: list[Route]) -> tuple[dict[tuple[int, Mode], Any], dict[str, Any]]:
    """All models at once, so that two of one name cannot hide each other."""
    wanted: dict[tuple[int, Mode], TypeAdapter[Any]] = {}
    for route in routes:
        for kind, mode in _MODES:
            model: Any = route.options.get(kind)
            if model is not None:
                wanted[id(model), mode] = TypeAdapter(model)
    found, definitions = TypeAdapter.json_schemas([(key, key[1], adapter) for key, adapter in wanted.items()], ref_template=_REF)
    # A query string is spelled out as parameters; only what its fields refer to is a component.
    names = {model.__name__ for route in routes if (model := route.options.get("query"))}
    return {key: schema for (key, _), schema in found.items()}, {name: part for name, part in definitions.get("$defs", {}).items() if name not in names}


def _operation(function: str, route: Route, schemas: dict[tuple[int, Mode], Any]) -> dict[str, Any]:
    options = route.options
    operation: dict[str, Any] = {"operationId": route.handler.__name__, "tags": [function], "summary": options.get("summary", "")}
    if options.get("is_public"):
        operation["security"] = []
    parameters = [*_path_parameters(route), *_query_parameters(route), *_header_parameters(route)]
    if parameters:
        operation["parameters"] = parameters
    if "request" in options:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schemas[id(options["request"]), "validation"]}}}
    answer: Any = options.get("answer")
    schema = schemas[id(answer), "serialization"] if answer is not None else {"type": "object"}
    content = {"application/json": {"schema": schema}}
    responses: dict[str, Any] = {"200": {"description": "OK", "content": content}, **_error_responses(route)}
    if options.get("may_be_unhealthy"):
        responses["503"]["content"].update(content)
    return {**operation, "responses": responses}


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    kinds = {"id": {"type": "integer", "minimum": 1}}
    return [{"name": name, "in": "path", "required": True, "schema": kinds.get(name, {"type": "string", "minLength": 1})} for name in route.path_names]


def _query_parameters(route: Route) -> list[dict[str, Any]]:
    model = route.options.get("query")
    if model is None:
        return []
    schema = model.model_json_schema(ref_template=_REF)
    required = schema.get("required", [])
    return [{"name": name, "in": "query", "required": name in required, "schema": part} for name, part in schema["properties"].items()]


def _header_parameters(route: Route) -> list[dict[str, Any]]:
    if not route.options.get("takes_idempotency_key"):
        return []
    schema = {"type": "string", "minLength": 1, "maxLength": 128}
    return [
        {"name": "Idempotency-Key", "in": "header", "required": False, "schema": schema, "description": "the request_id; must equal it where both are given"}
    ]


def _error_responses(route: Route) -> dict[str, Any]:
    codes = [*route.options.get("codes", ()), "INTERNAL"]
    if not route.options.get("is_public"):
        codes += ["INVALID_REQUEST", "NOT_OWNER", "UNAVAILABLE"]
    if "request" in route.options:
        codes.append("TOO_LARGE")
    by_status: dict[int, list[str]] = {}
    for code in sorted(set(codes)):
        by_status.setdefault(STATUS_BY_CODE[code], []).append(code)
    return {str(status): _error_response(status, named) for status, named in sorted(by_status.items())}


def _error_response(status: int, codes: list[str]) -> dict[str, Any]:
    response: dict[str, Any] = {"description": ", ".join(codes), "content": {CONTENT_TYPE: {"schema": {"$ref": _REF.format(model="Problem")}}}}
    if status == STATUS_BY_CODE["UNAVAILABLE"]:
        response["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    return response


if __name__ == "__main__":
    TEXT = text_of(document(apps()))
    for place in (PUBLISHED, DOCUMENT):
        place.parent.mkdir(exist_ok=True)
        place.write_text(TEXT, "utf-8")
