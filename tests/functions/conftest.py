"""Handlers as Lambda calls them: loaded by path, on the real database, with moto for AWS."""

import importlib.util
import json
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.cloud import client, cloud
from tests.support.engine import Workbench
from tests.support.targets import contents_of, target_of
from workflow_engine.entry import container

ROOT = Path(__file__).parents[2]
EVENTS = ROOT / "events"


class Context:
    """What a handler uses of Lambda's context."""

    def __init__(self, seconds: float = 28.0) -> None:
        self.aws_request_id = "5f3cbb1e-0000-4000-8000-000000000000"
        self._seconds = seconds

    def get_remaining_time_in_millis(self) -> int:
        return int(self._seconds * 1000)


@cache
def handler_of(function: str) -> Callable[[Any, Any], Any]:
    spec = importlib.util.spec_from_file_location(f"handler_{function}", ROOT / "functions" / function / "handler.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.lambda_handler


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text)

    @property
    def code(self) -> str | None:
        return self.body.get("code") if self.headers["content-type"] == "application/problem+json" else None


@dataclass(slots=True)
class Stack:
    """The functions with their topics and one queue that hears everything."""

    bench: Workbench
    queue_url: str
    context: Context = field(default_factory=Context)

    def invoke(self, function: str, event: Any) -> Any:
        """Call the handler with its own copy of the event, as Lambda does."""
        return handler_of(function)(json.loads(json.dumps(event)), self.context)

    def http(self, function: str, event: Any) -> Answer:
        response = self.invoke(function, event)
        assert set(response) == {"statusCode", "headers", "body", "isBase64Encoded"}
        return Answer(status=response["statusCode"], headers=response["headers"], text=response["body"])

    def call(self, function: str, method: str, path: str, body: Any = None, **more: Any) -> Answer:
        return self.http(function, http_event(method, path, body, **more))

    def contents(self) -> dict[str, list[str]]:
        """Everything that is stored, but the notice about a refusal and the ids that were taken."""
        return contents_of(target_of(self.bench.database_url), without=frozenset({"notice", "id_block"}))

    def received(self) -> list[dict[str, Any]]:
        """Take everything that SNS delivered, as the queue got it."""
        sqs, found = client("sqs"), []
        while messages := sqs.receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=10, MessageAttributeNames=["All"]).get("Messages"):
            for message in messages:
                attributes = {name: value["StringValue"] for name, value in message.get("MessageAttributes", {}).items()}
                found.append({"body": json.loads(message["Body"]), "attributes": attributes})
                sqs.delete_message(QueueUrl=self.queue_url, ReceiptHandle=message["ReceiptHandle"])
        return found


def read_event(function: str, case: str) -> Any:
    return json.loads((EVENTS / function / f"{case}.json").read_text("utf-8"))


def role(name: str = "app", session: str = "s1") -> dict[str, Any]:
    return {"iam": {"accountId": "123456789012", "userArn": f"arn:aws:sts::123456789012:assumed-role/{name}/{session}", "cognitoIdentity": None}}


def http_event(method: str, path: str, body: Any = None, *, query: str = "", headers: dict[str, str] | None = None, authorizer: Any = None) -> dict[str, Any]:
    """A payload 2.0 event as `$default` gives it; `body` is text or becomes JSON."""
    text = body if body is None or isinstance(body, str) else json.dumps(body)
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"content-type": "application/json", **(headers or {})},
        "requestContext": {"stage": "$default", "http": {"method": method, "path": path}, "authorizer": authorizer or role()},
        "body": text,
        "isBase64Encoded": False,
    }


@pytest.fixture
def stack(clean_database: str, bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> Generator[Stack]:
    with cloud(monkeypatch):
        sns, sqs, secrets = (client(name) for name in ("sns", "sqs", "secretsmanager"))
        work, notices = (sns.create_topic(Name=name)["TopicArn"] for name in ("work", "notices"))
        queue_url = sqs.create_queue(QueueName="all")["QueueUrl"]
        queue_arn = sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        for topic in (work, notices):
            sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=queue_arn, Attributes={"RawMessageDelivery": "true"})
        signing = secrets.create_secret(Name="signing", SecretString=json.dumps({"current": "test-master"}))["ARN"]
        values = {"DATABASE_URL": clean_database, "WORK_TOPIC_ARN": work, "NOTICE_TOPIC_ARN": notices, "SIGNING_SECRET_ARN": signing}
        for name, value in values.items():
            monkeypatch.setenv(f"WFE_{name}", value)
        monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "wfe-test")
        monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "WorkFlowEngine")
        container.reset()
        # The engine's clock stands still unless a test moves it, and the monitor's pauses cost nothing.
        monkeypatch.setattr(container, "clock", cache(lambda: bench.clock))
        try:
            yield Stack(bench=bench, queue_url=queue_url)
        finally:
            container.reset()
