"""The API of the local stack as a WSGI application: requests to the real handlers, and the /_local routes that exist only here."""

import json
import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from typing import Any, BinaryIO
from urllib.parse import parse_qs, urlsplit

from local.lambdas.calls import LocalContext, handler_of
from local.stack.cloud import Published
from local.stack.deliveries import is_loopback
from local.stack.gateway import Gateway, HttpRequest, event_of
from local.stack.sandboxes import Sandboxes
from workflow_engine.dal import Deadline
from workflow_engine.entry import container

# Lambda takes 6 MB for an event; API Gateway itself would take 10.
MAX_BODY_BYTES = 6 * 1024 * 1024
MONITOR_SECONDS = 58.0
FUNCTION_SECONDS = 28.0
_log = logging.getLogger(__name__)
_DIGITS = 12
_YEAR_SECONDS = 366 * 86_400
# The engine's clock stays where every time can be written.
_FIRST_YEAR, _LAST_YEAR = 2000, 2200


class LocalProblem(Exception):  # noqa: N818  # what the caller did wrong, not what we did
    """A request that the local routes or the gateway itself refuse."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})


@dataclass(frozen=True, kw_only=True)
class StackApi:
    """`about` is what `GET /_local` tells; `passing` is held while the monitor makes a pass."""

    sandboxes: Sandboxes
    published: Published
    about: dict[str, Any]
    passing: threading.Lock = field(default_factory=threading.Lock)
    gateway: Gateway = field(default_factory=Gateway)
    is_loopback_only: bool = True

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        try:
            self._refuse_strange_host(environ)
            request = _request_of(environ)
            reply = self._local(request) if request.path == "/_local" or request.path.startswith("/_local/") else self._function(request)
        except LocalProblem as problem:
            reply = _json({"message": str(problem)}, problem.status)
        except Exception:  # noqa: BLE001  # whatever a caller sends, the answer is JSON and the trace is in the log
            _log.exception("a request could not be handled")
            reply = _json({"message": "Internal Server Error"}, 500)
        status = f"{reply.status} {HTTPStatus(reply.status).phrase}"
        start_response(status, [*reply.headers.items(), ("content-length", str(len(reply.body)))])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [reply.body]

    def _refuse_strange_host(self, environ: dict[str, Any]) -> None:
        """A page in a browser may have its own name point to this machine; what we tell here is not for it."""
        host = urlsplit(f"//{environ.get('HTTP_HOST', '')}").hostname or ""
        if self.is_loopback_only and host and not is_loopback(host):
            raise LocalProblem(403, "this stack is asked as 127.0.0.1 or localhost; WFE_BIND lets it listen elsewhere")

    def _function(self, request: HttpRequest) -> Reply:
        matched = self.gateway.match(request)
        event = event_of(request, matched, container.clock().real_now())
        context = LocalContext(FUNCTION_SECONDS)
        try:
            answer = self.sandboxes.run(lambda: handler_of(matched.route.function)(event, context))
        except Exception as error:
            _log.exception("the function %s failed", matched.route.function)
            raise LocalProblem(500, "Internal Server Error") from error
        return Reply(status=answer["statusCode"], body=str(answer.get("body", "")).encode(), headers=dict(answer.get("headers", {})))

    def _local(self, request: HttpRequest) -> Reply:
        routes: dict[str, dict[str, Callable[[HttpRequest], Any]]] = {
            "/_local": {"GET": lambda _: self.about},
            "/_local/clock": {"PUT": _move_clock},
            "/_local/monitor": {"POST": lambda _: self.sandboxes.run(self._monitor)},
            "/_local/published": {"GET": self._list_published, "DELETE": self._clear_published},
        }
        methods = routes.get(request.path)
        if methods is None:
            raise LocalProblem(404, f"there is no {request.path}; there are {', '.join(routes)}")
        if request.method not in methods:
            raise LocalProblem(405, f"{request.path} takes {' and '.join(methods)}")
        return _json(methods[request.method](request))

    def _monitor(self) -> dict[str, Any]:
        """One pass whatever the lease, after the one that runs."""
        with self.passing:
            return container.engine().run_monitor_once(Deadline.after(MONITOR_SECONDS)).as_dict()

    def _list_published(self, request: HttpRequest) -> list[dict[str, Any]]:
        after = parse_qs(request.query).get("after", ["0"])[0]
        if not after.isdecimal() or len(after) > _DIGITS:
            raise LocalProblem(400, "after must be a number from 0 on")
        return self.published.after(int(after))

    def _clear_published(self, _request: HttpRequest) -> dict[str, Any]:
        self.published.clear()
        return {}


def _move_clock(request: HttpRequest) -> dict[str, Any]:
    try:
        seconds = json.loads(request.body)["advance_seconds"]
    except (ValueError, KeyError, TypeError, RecursionError):
        seconds = None
    # So written, NaN is refused too.
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not abs(seconds) <= _YEAR_SECONDS:
        raise LocalProblem(400, 'send {"advance_seconds": N}, a number, at most a year')
    clock = container.clock()
    if not _FIRST_YEAR <= (clock.now() + timedelta(seconds=seconds)).year <= _LAST_YEAR:
        raise LocalProblem(400, f"the clock stays between {_FIRST_YEAR} and {_LAST_YEAR}")
    clock.advance(float(seconds))
    return {"now": clock.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")}


def _request_of(environ: dict[str, Any]) -> HttpRequest:
    path, _, query = str(environ.get("RAW_URI") or environ["PATH_INFO"]).partition("?")
    headers = {name[5:].replace("_", "-").lower(): str(value) for name, value in environ.items() if name.startswith("HTTP_")}
    headers |= {name: str(environ[key]) for name, key in (("content-type", "CONTENT_TYPE"), ("content-length", "CONTENT_LENGTH")) if environ.get(key)}
    return HttpRequest(method=str(environ["REQUEST_METHOD"]), path=path, query=query, headers=headers, body=_body_of(environ))


def _body_of(environ: dict[str, Any]) -> bytes:
    stream: BinaryIO = environ["wsgi.input"]
    length = str(environ.get("CONTENT_LENGTH") or "")
    if len(length) > _DIGITS:
        raise LocalProblem(413, "Request Too Long")
    try:
        if environ.get("wsgi.input_terminated"):
            body = stream.read(MAX_BODY_BYTES + 1)
        else:
            body = stream.read(min(int(length), MAX_BODY_BYTES + 1)) if length.isdecimal() else b""
    except (OSError, ValueError) as error:
        raise LocalProblem(400, "the body cannot be read") from error
    if len(body) > MAX_BODY_BYTES:
        raise LocalProblem(413, "Request Too Long")
    return body


def _json(value: object, status: int = 200) -> Reply:
    return Reply(status=status, body=json.dumps(value).encode())
