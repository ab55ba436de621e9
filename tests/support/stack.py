"""A local stack in this process, called over HTTP as anybody would; and one in a process of its own, as `make serve` runs it."""

import http.client
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from local.database import DatabaseServer
from local.stack import Stack, StackSettings, running_stack
from local.stack.cloud import client
from tests.support.server import create_database, drop_database

ROOT = Path(__file__).parents[2]
LEAVE = {
    "name": "Leave",
    "states": [{"name": "Draft", "is_initial": True}, {"name": "Review"}, {"name": "Approved", "is_final": True}],
    "events": [{"code": 10, "name": "Submit"}, {"code": 20, "name": "Approve"}, {"code": 30, "name": "Nudge"}],
    "transitions": [
        {"from": "Draft", "event": 10, "to": "Review"},
        {"from": "Review", "event": 20, "to": "Approved"},
        {"from": "Review", "event": 30, "to": "Review"},
    ],
}


@dataclass(frozen=True)
class Answered:
    status: int
    body: Any
    headers: dict[str, str]


@dataclass(frozen=True)
class StackCaller:
    """Short ways to ask a running stack."""

    url: str
    stack: Stack | None = None

    def call(self, method: str, path: str, body: Any = None, *, principal: str | None = None, content_type: str = "application/json") -> Answered:
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
        headers = {"content-type": content_type} | ({"x-local-principal": principal} if principal else {})
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, data, headers)
            response = connection.getresponse()
            text = response.read()
            return Answered(response.status, json.loads(text) if text else None, {name.lower(): value for name, value in response.getheaders()})
        finally:
            connection.close()

    def ok(self, method: str, path: str, body: Any = None, *, principal: str | None = None) -> Any:
        answered = self.call(method, path, body, principal=principal)
        assert answered.status == 200, answered
        return answered.body

    def listen(self, consumer: str, endpoint: dict[str, str] | None = None, principal: str | None = None) -> dict[str, Any]:
        """Import the definition and register a consumer of it."""
        self.ok("POST", "/v1/import", {"env_code": 1, "definition": LEAVE})
        body = {"env_code": 1, "consumer": consumer, "definitions": ["Leave"], "kinds": ["transition"], "beat_seconds": 3600, "endpoint": endpoint}
        registered: dict[str, Any] = self.ok("POST", "/v1/consumers", {name: value for name, value in body.items() if value is not None}, principal=principal)
        return registered

    def trigger(self, ref: str, event: str = "Submit") -> dict[str, Any]:
        moved: dict[str, Any] = self.ok("POST", "/v1/trigger", {"env_code": 1, "def_name": "Leave", "external_ref": ref, "event": event})
        return moved

    def aws(self, service: str) -> Any:
        return client(service, self.ok("GET", "/_local")["aws"])

    def published(self, after: int = 0) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.ok("GET", f"/_local/published?after={after}")
        return messages


@contextmanager
def stack_on(server: DatabaseServer, **options: str) -> Generator[StackCaller]:
    """A stack with a database of its own on the server of this run."""
    url = create_database(server.url)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"WFE_DATABASE_URL": url, **options}.items():
            patch.setenv(name, value)
        with running_stack(StackSettings(port=0)) as running:
            yield StackCaller(running.url, running)
    drop_database(url)


@pytest.fixture
def stack(database_server: DatabaseServer) -> Generator[StackCaller]:
    with stack_on(database_server) as running:
        yield running


class ServeProcess:
    """`python -m local.serve` in a process group of its own."""

    def __init__(self, environment: dict[str, str]) -> None:
        path = {"PYTHONPATH": os.pathsep.join([str(ROOT / "layers/workflow_engine/python"), str(ROOT)])}
        given = {name: value for name, value in os.environ.items() if not name.startswith("WFE_")}
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "local.serve"],
            cwd=ROOT,
            env=given | path | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def ready(self) -> StackCaller:
        """Wait for the line that says so."""
        assert self.process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            assert selector.select(90), "no line within 90 s"
        line = self.process.stdout.readline()
        assert line.startswith("ready http://"), (line, self.process.stderr and self.process.stderr.read())
        return StackCaller(line.split()[1])

    def end(self, number: int = signal.SIGINT) -> tuple[int, float]:
        """Signal the whole group, as a terminal does; return the exit code and the seconds it took."""
        began = time.monotonic()
        os.killpg(self.process.pid, number)
        return self.process.wait(20), time.monotonic() - began

    def failure(self) -> str:
        """Wait for an end that comes by itself; return what was said."""
        _, error = self.process.communicate(timeout=90)
        assert self.process.returncode == 1, error
        return error


@contextmanager
def serving(**environment: str) -> Generator[ServeProcess]:
    made = ServeProcess({"DB": os.environ.get("DB") or "mariadb", **environment})
    with made.process:
        try:
            yield made
        finally:
            if made.process.poll() is None:
                made.end(signal.SIGTERM)
