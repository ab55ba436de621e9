"""What a consumer's test needs around it: an environment of its own on a running stack, and the consumer as a program or a module."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Event, Thread
from types import ModuleType
from typing import Any

from tests.support.stack import ROOT, StackCaller

CONSUMERS = ROOT / "examples" / "consumers"
HTTPS, SQS, LAMBDA = CONSUMERS / "https" / "consumer.py", CONSUMERS / "sqs" / "worker.py", CONSUMERS / "lambda" / "src" / "consumer.py"
DEFINITION = "VendorRegistration"
CHECKED, NEXT = "CheckVendorRegistered", "PendingPQValidation"
_DOCUMENTS = {name: json.loads((ROOT / "examples/vendor_registration" / f"{name}.json").read_text("utf-8")) for name in ("definition", "policy")}
_PATIENCE_SECONDS = 20.0


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message as SNS takes it."""

    body: str
    attributes: dict[str, str]

    @property
    def event(self) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(self.body)
        return event

    @property
    def ack_guid(self) -> str:
        return str(self.event["ack_guid"])

    def changed(self, **attributes: str) -> "Message":
        return Message(body=self.body, attributes={**self.attributes, **{name.replace("_", "-"): value for name, value in attributes.items()}})


@dataclass(frozen=True, kw_only=True)
class Place:
    """An environment with the vendors' definition; `about` is what the stack tells of itself."""

    stack: StackCaller
    env_code: int
    about: dict[str, Any]

    def prepare(self) -> "Place":
        self.stack.ok("POST", "/v1/import", {"env_code": self.env_code, **_DOCUMENTS})
        return self

    def settings(self, consumer: str, **more: str) -> dict[str, str]:
        """What a consumer is told by its environment."""
        aws = {"AWS_REGION": self.about["region"], "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_ENDPOINT_URL": self.about["aws"]}
        return {**aws, "API_URL": self.stack.url, "ENV_CODE": str(self.env_code), "CONSUMER": consumer, **more}

    def register(self, consumer: str, **more: Any) -> dict[str, Any]:
        """Without an endpoint nobody delivers: the test hands the messages over itself."""
        body = {"env_code": self.env_code, "consumer": consumer, "definitions": [DEFINITION], "kinds": ["transition", "hook"], "beat_seconds": None}
        registered: dict[str, Any] = self.stack.ok("POST", "/v1/consumers", {**body, **more})
        return registered

    def trigger(self, ref: str, event: str = "Start", **more: Any) -> dict[str, Any]:
        body = {"env_code": self.env_code, "def_name": DEFINITION, "external_ref": ref, "event": event}
        moved: dict[str, Any] = self.stack.ok("POST", "/v1/trigger", {**body, **more})
        return moved

    def messages(self, consumer: str, ref: str) -> list[Message]:
        """Everything that was published for the consumer about one vendor, transition first."""
        mine = {"consumer": consumer, "env": str(self.env_code)}
        found = [Message(body=one["body"], attributes=one["attributes"]) for one in self.stack.published() if one["attributes"].items() >= mine.items()]
        return [message for message in found if message.event["external_ref"] == ref]

    def hook(self, consumer: str, ref: str, **more: Any) -> Message:
        """Start a vendor; return the message that asks for the check."""
        self.trigger(ref, **more)
        return next(message for message in self.messages(consumer, ref) if message.event["kind"] == "hook")

    def status(self, consumer: str, message: Message) -> str:
        return str(self.stack.ok("GET", f"/v1/acks/{message.ack_guid}?env_code={self.env_code}&consumer={consumer}")["status"])

    def instance(self, message: Message) -> dict[str, Any]:
        instance: dict[str, Any] = self.stack.ok("GET", f"/v1/instances/{message.event['instance_guid']}")
        return instance

    def steps(self, message: Message) -> list[str]:
        """The states that the vendor has come to."""
        return [step["to_state"] for step in self.stack.ok("GET", f"/v1/instances/{message.event['instance_guid']}/timeline")["timeline"]]

    def last_beat(self, consumer: str) -> str:
        (found,) = [one for one in self.stack.ok("GET", f"/v1/consumers?env_code={self.env_code}")["items"] if one["consumer"] == consumer]
        return str(found["last_beat"])

    def notices(self, code: str) -> list[dict[str, Any]]:
        notices: list[dict[str, Any]] = self.stack.ok("GET", f"/v1/notices?env_code={self.env_code}&code={code}")["items"]
        return notices


def until(is_so: Callable[[], bool]) -> None:
    """Ask again and again, a little apart, until it is so."""
    give_up_at, pause = time.monotonic() + _PATIENCE_SECONDS, Event()
    while not is_so():
        assert time.monotonic() < give_up_at
        pause.wait(0.05)


def sns_event(message: Message) -> dict[str, Any]:
    """What SNS hands to a function."""
    attributes = {name: {"Type": "String", "Value": value} for name, value in message.attributes.items()}
    sns = {"Type": "Notification", "MessageId": "1", "TopicArn": "arn", "Message": message.body, "MessageAttributes": attributes}
    return {"Records": [{"EventSource": "aws:sns", "EventVersion": "1.0", "Sns": sns}]}


def lambda_settings(place: Place, consumer: str, key: str) -> dict[str, str]:
    """Make the table and the secret that the Lambda consumer has; return its settings."""
    name, attribute = f"{consumer}-{place.env_code}", {"AttributeName": "ack_guid"}
    table = {"KeySchema": [{**attribute, "KeyType": "HASH"}], "AttributeDefinitions": [{**attribute, "AttributeType": "S"}]}
    place.stack.aws("dynamodb").create_table(TableName=name, BillingMode="PAY_PER_REQUEST", **table)
    secret = place.stack.aws("secretsmanager").create_secret(Name=name, SecretString=key)
    return place.settings(consumer, TABLE_NAME=name, SIGNING_SECRET_ARN=secret["ARN"])


def module_of(path: Path) -> ModuleType:
    """Load an example's file as it stands; it reads its settings from the environment, anew each time."""
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec, path
    assert spec.loader, path
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Program:
    """An example as a process of its own; what it prints is waited for."""

    def __init__(self, command: Sequence[str], settings: dict[str, str], cwd: Path | None = None) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "WFE_"))} | settings
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.process = subprocess.Popen(command, env=environment, cwd=cwd, text=True, start_new_session=True, **pipes)
        self.lines: list[str] = []
        self._has_ended = False
        self._changed = Condition()
        self._reader = Thread(target=self._read)
        self._reader.start()

    def says(self, text: str, times: int = 1) -> None:
        """Wait until so many lines hold the text."""
        with self._changed:
            self._changed.wait_for(lambda: self._has_ended or self._count(text) >= times, _PATIENCE_SECONDS)
            assert self._count(text) >= times, f"{text!r} was not said {times} times, but:\n{''.join(self.lines)}"

    def end(self) -> None:
        with suppress(ProcessLookupError):  # a short one has ended by itself
            os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(_PATIENCE_SECONDS)
        self._reader.join(_PATIENCE_SECONDS)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _count(self, text: str) -> int:
        return sum(text in line for line in self.lines)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self.lines.append(line)
                self._changed.notify_all()
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()


@contextmanager
def running(command: Sequence[str], settings: dict[str, str], *, cwd: Path | None = None, is_ready: str = "ready") -> Generator[Program]:
    """A command for the time of the block, begun when it says that it is ready."""
    made = Program(command, settings, cwd)
    try:
        made.says(is_ready)
        yield made
    finally:
        made.end()


def program(path: Path, settings: dict[str, str]) -> AbstractContextManager[Program]:
    return running([sys.executable, str(path)], settings)
