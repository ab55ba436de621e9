"""Calls the real handlers as Lambda would: loaded by path, with API Gateway 2.0 events."""

import importlib.util
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from local.machine import ROOT, LocalSetupError

FUNCTIONS = ROOT / "functions"
# What EventBridge Scheduler sends by itself.
SCHEDULED: dict[str, Any] = {"version": "0", "source": "aws.scheduler", "detail-type": "Scheduled Event", "time": "2026-01-01T00:00:00Z", "detail": {}}
ACCOUNT = "123456789012"


class LocalContext:
    """What a handler uses of Lambda's context; the time really runs."""

    def __init__(self, seconds: float = 28.0) -> None:
        self.aws_request_id = str(uuid4())
        self._ends_at = time.monotonic() + seconds

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self._ends_at - time.monotonic()) * 1000))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    body: Any

    def ok(self) -> Any:
        """Return the body, or say what was answered instead."""
        if self.status != 200:  # noqa: PLR2004  # every success of the API is a 200
            raise LocalSetupError(f"the engine answered {self.status}: {json.dumps(self.body)}")
        return self.body


@cache
def handler_of(function: str) -> Callable[[Any, Any], Any]:
    """Load `functions/<name>/handler.py`; `import` is a keyword, so it cannot be imported by name."""
    spec = importlib.util.spec_from_file_location(f"handler_of_{function}", FUNCTIONS / function / "handler.py")
    if spec is None or spec.loader is None:
        raise LocalSetupError(f"there is no handler of {function}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    handler: Callable[[Any, Any], Any] = module.lambda_handler
    return handler


def call(function: str, method: str, path: str, body: Any = None, *, query: dict[str, Any] | None = None, role: str = "local") -> Answer:
    """One HTTP call through its handler, signed by an IAM role."""
    response = handler_of(function)(http_event(method, path, body, query=query, role=role), LocalContext())
    return Answer(status=response["statusCode"], body=json.loads(response["body"]))


def http_event(method: str, path: str, body: Any, *, query: dict[str, Any] | None, role: str) -> dict[str, Any]:
    caller = {"accountId": ACCOUNT, "userArn": f"arn:aws:sts::{ACCOUNT}:assumed-role/{role}/walk", "cognitoIdentity": None}
    return {
        "version": "2.0",
        "routeKey": f"{method} {path}",
        "rawPath": path,
        "rawQueryString": urlencode(query or {}),
        "headers": {"content-type": "application/json"},
        "requestContext": {"stage": "$default", "http": {"method": method, "path": path}, "authorizer": {"iam": caller}},
        "body": None if body is None else json.dumps(body),
        "isBase64Encoded": False,
    }
