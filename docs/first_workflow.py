"""A first workflow through the real handlers, on a private database, with moto for AWS: `python -m docs.first_workflow`."""

# ruff: noqa: INP001, T201  # a page that runs, and talks to a terminal

import importlib.util
import json
import os
from types import SimpleNamespace
from typing import Any

import boto3
from moto import mock_aws

from local.database import running_server

QUIET = {"POWERTOOLS_LOG_LEVEL": "CRITICAL", "POWERTOOLS_METRICS_DISABLED": "true", "POWERTOOLS_SERVICE_NAME": "first"}
MADE_UP = {"AWS_DEFAULT_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
CONTEXT = SimpleNamespace(aws_request_id="1", get_remaining_time_in_millis=lambda: 28_000)
CALLER = {"iam": {"userArn": "arn:aws:sts::123456789012:assumed-role/orders/me"}}
QUEUE = "arn:aws:sqs:eu-central-1:123456789012:orders"
LEAVE = {
    "name": "Leave",
    "states": [{"name": "Draft", "is_initial": True}, {"name": "Review"}, {"name": "Approved", "is_final": True}],
    "events": [{"code": 10, "name": "Submit"}, {"code": 20, "name": "Approve"}],
    "transitions": [{"from": "Draft", "event": 10, "to": "Review"}, {"from": "Review", "event": 20, "to": "Approved"}],
}


def invoke(function: str, event: dict[str, Any]) -> dict[str, Any]:
    """Do what Lambda does: load the function's handler and call it."""
    spec = importlib.util.spec_from_file_location(f"handler_{function}", f"functions/{function}/handler.py")
    if spec is None or spec.loader is None:
        raise ImportError(function)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    answer: dict[str, Any] = module.lambda_handler(event, CONTEXT)
    return answer


def call(function: str, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Do what API Gateway does: hand over the request with its caller, and give the answer back."""
    event = {"rawPath": path, "requestContext": {"http": {"method": method}, "authorizer": CALLER}, "body": json.dumps(body)}
    answer = invoke(function, event)
    if answer["statusCode"] != 200:  # noqa: PLR2004
        raise RuntimeError(answer["body"])
    found: dict[str, Any] = json.loads(answer["body"])
    return found


def prepare(database_url: str) -> Any:
    """Make what the template makes (topics, the signing secret, tables) and the consumer's own queue."""
    sns, sqs, secrets = (boto3.client(name) for name in ("sns", "sqs", "secretsmanager"))  # type: ignore[call-overload]
    topics = {name: sns.create_topic(Name=name)["TopicArn"] for name in ("WORK", "NOTICE")}
    os.environ["WFE_SIGNING_SECRET_ARN"] = secrets.create_secret(Name="signing", SecretString='{"current": "a master key"}')["ARN"]
    os.environ |= {"WFE_DATABASE_URL": database_url, **{f"WFE_{name}_TOPIC_ARN": arn for name, arn in topics.items()}}
    invoke("migrate", {"action": "migrate"})
    sqs.create_queue(QueueName="orders")
    return sqs


def walk(sqs: Any) -> None:
    """Import, register, trigger, receive, acknowledge, and look at what happened."""
    me = {"env_code": 1, "consumer": "orders"}
    call("import", "POST", "/v1/import", {"env_code": 1, "definition": LEAVE})
    endpoint = {"protocol": "sqs", "address": QUEUE}
    call("heartbeat", "POST", "/v1/consumers", {**me, "definitions": ["Leave"], "kinds": ["transition"], "endpoint": endpoint})

    submit = {"env_code": 1, "def_name": "Leave", "external_ref": "L-7", "event": "Submit", "request_id": "r-1"}
    moved = call("trigger", "POST", "/v1/trigger", submit)
    instance = f"/v1/instances/{moved['instance_guid']}"
    print("trigger  ", moved["from_state"], "->", moved["to_state"], "| seq", moved["seq"])
    print("why      ", call("query", "GET", f"{instance}/why")["summary"])

    message = sqs.receive_message(QueueUrl="orders", MessageAttributeNames=["All"])["Messages"][0]
    event = json.loads(message["Body"])
    print("received ", event["kind"], event["external_ref"], event["to_state"], "| attempt", message["MessageAttributes"]["attempt"]["StringValue"])
    print("ack      ", call("ack", "POST", "/v1/ack", {**me, "ack_guid": event["ack_guid"], "outcome": "Processed"})["status"])
    print("why      ", call("query", "GET", f"{instance}/why")["summary"])

    step = call("query", "GET", f"{instance}/timeline")["timeline"][0]
    receipts = ", ".join(f"{one['consumer']} {one['status']} after {one['sends']} send" for one in step["receipts"])
    print("timeline ", step["from_state"], "->", step["to_state"], "|", receipts)
    again = call("trigger", "POST", "/v1/trigger", submit)
    print("again    ", "applied", again["applied"], "| replayed", again["replayed"], "| seq", again["seq"])


def main() -> None:
    os.environ |= QUIET | MADE_UP
    with running_server(profile="fast") as server, mock_aws():
        walk(prepare(server.url))


if __name__ == "__main__":
    main()
