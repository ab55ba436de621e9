"""API Gateway on this machine: the routes of template.yaml, and the 2.0 events that its HTTP API sends to functions."""

import base64
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, unquote

from local.lambdas.calls import ACCOUNT
from local.lambdas.template import read_template

PRINCIPAL_HEADER = "x-local-principal"
DEFAULT_PRINCIPAL = "local"
DEFAULT_ROUTE = "$default"
# Bodies of other types arrive as base64, also what `curl -d` sends without saying that it is JSON.
_TEXT_TYPES = re.compile(r"^(text/.*|application/(json|javascript|xml|.*\+json|.*\+xml))$")
_FUNCTION = re.compile(r"\$\{(\w+)\.Arn\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayRoute:
    """`function` is a folder below functions/."""

    key: str
    pattern: re.Pattern[str]
    function: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """`path` as it stood in the request line, without the query."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    source_ip: str = "127.0.0.1"

    @property
    def principal(self) -> str:
        return self.headers.get(PRINCIPAL_HEADER) or DEFAULT_PRINCIPAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    route: GatewayRoute
    path_parameters: dict[str, str] | None


class Gateway:
    """Finds the function of a request as API Gateway would, and writes its event."""

    def __init__(self) -> None:
        self._resources: dict[str, Any] = read_template()["Resources"]
        paths: dict[str, dict[str, Any]] = self._resources["HttpApi"]["Properties"]["DefinitionBody"]["paths"]
        found = [self._route(method, path, operation) for path, methods in paths.items() for method, operation in methods.items()]
        # A path without variables wins over one with them.
        self.routes = sorted((route for route in found if route.key != DEFAULT_ROUTE), key=lambda route: route.key.count("{"))
        self._default = next(route for route in found if route.key == DEFAULT_ROUTE)

    def match(self, request: HttpRequest) -> Matched:
        for route in self.routes:
            found = route.pattern.fullmatch(f"{request.method} {request.path}")
            if found:
                return Matched(route=route, path_parameters={name: unquote(value) for name, value in found.groupdict().items()} or None)
        return Matched(route=self._default, path_parameters=None)

    def _route(self, method: str, path: str, operation: dict[str, Any]) -> GatewayRoute:
        named = _FUNCTION.search(operation["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"])
        if named is None:
            raise ValueError(f"template.yaml: {method} {path} names no function")
        folder = str(self._resources[named[1]]["Properties"]["CodeUri"]).removeprefix("functions/")
        key = DEFAULT_ROUTE if path == f"/{DEFAULT_ROUTE}" else f"{method.upper()} {path}"
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(key))
        return GatewayRoute(key=key, pattern=re.compile(pattern), function=folder)


def event_of(request: HttpRequest, matched: Matched, now: datetime) -> dict[str, Any]:
    """The event of payload format 2.0, with an IAM role as its caller."""
    path = unquote(request.path)
    query: dict[str, str] = {}
    for name, value in parse_qsl(request.query, keep_blank_values=True):
        query[name] = f"{query[name]},{value}" if name in query else value
    headers = {name: value for name, value in request.headers.items() if name != "cookie"}
    body, is_base64 = _body_of(request)
    event = {
        "version": "2.0",
        "routeKey": matched.route.key,
        "rawPath": path,
        "rawQueryString": request.query,
        "headers": headers,
        "requestContext": _context_of(request, matched.route.key, path, now),
        "body": body,
        "isBase64Encoded": is_base64,
    }
    optional: dict[str, Any] = {"queryStringParameters": query, "pathParameters": matched.path_parameters, "cookies": _cookies_of(request)}
    return event | {name: value for name, value in optional.items() if value}


def _context_of(request: HttpRequest, route_key: str, path: str, now: datetime) -> dict[str, Any]:
    caller = {
        "accessKey": "local",
        "accountId": ACCOUNT,
        "callerId": f"AROALOCAL:{request.principal}",
        "cognitoIdentity": None,
        "principalOrgId": None,
        "userArn": f"arn:aws:sts::{ACCOUNT}:assumed-role/{request.principal}/local",
        "userId": f"AROALOCAL:{request.principal}",
    }
    http = {"method": request.method, "path": path, "protocol": "HTTP/1.1", "sourceIp": request.source_ip, "userAgent": request.headers.get("user-agent", "")}
    return {
        "accountId": ACCOUNT,
        "apiId": "local",
        "authorizer": {"iam": caller},
        "domainName": request.headers.get("host", "localhost"),
        "domainPrefix": "local",
        "http": http,
        "requestId": str(uuid.uuid4()),
        "routeKey": route_key,
        "stage": "$default",
        "time": now.strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "timeEpoch": int(now.timestamp() * 1000),
    }


def _cookies_of(request: HttpRequest) -> list[str]:
    return [cookie.strip() for cookie in request.headers.get("cookie", "").split(";") if cookie.strip()]


def _body_of(request: HttpRequest) -> tuple[str | None, bool]:
    if not request.body:
        return None, False
    content_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if _TEXT_TYPES.match(content_type):
        try:
            return request.body.decode(), False
        except UnicodeDecodeError:
            pass
    return base64.b64encode(request.body).decode(), True
