"""A Lambda consumer: SNS hands over an event, its signature is checked, and it is done once and acknowledged."""

import hashlib
import hmac
import json
import os
import time
from base64 import b64decode, b64encode
from functools import cache
from typing import Any
from urllib import request

import boto3
from botocore import auth, awsrequest

API_URL, REGION = os.environ["API_URL"], os.environ["AWS_REGION"]
HEADERS = {"content-type": "application/json", "x-local-principal": os.environ.get("LOCAL_PRINCIPAL", "local")}  # AWS does not read the latter
WHO = {"env_code": int(os.environ["ENV_CODE"]), "consumer": os.environ["CONSUMER"]}
aws = boto3.Session(region_name=REGION)
memory = aws.resource("dynamodb").Table(os.environ["TABLE_NAME"])


def work(event: dict) -> int | None:
    """Yours: do what the event asks for, return the event to raise next. OSError: not now; any other error: never; a crash: again, so make it repeatable."""
    return event["on_success_event"] if event["kind"] == "hook" else None


@cache
def signing_key() -> bytes:
    return b64decode(aws.client("secretsmanager").get_secret_value(SecretId=os.environ["SIGNING_SECRET_ARN"])["SecretString"].removeprefix("whsec_"))


def is_genuine(attributes: dict[str, str], body: str) -> bool:
    """Without the age that standardwebhooks checks: SNS may have tried for days, and deduplication protects against what is old."""
    content = f"{attributes.get('webhook-id')}.{attributes.get('webhook-timestamp')}.{body}".encode()
    wanted = b"v1," + b64encode(hmac.digest(signing_key(), content, hashlib.sha256))
    return any(hmac.compare_digest(wanted, given.encode()) for given in attributes.get("webhook-signature", "").split(" "))


def call(method: str, path: str, body: dict | None = None) -> dict:
    signed = awsrequest.AWSRequest(method, API_URL + path, HEADERS, json.dumps(body).encode() if body else None)
    auth.SigV4Auth(aws.get_credentials().get_frozen_credentials(), "execute-api", REGION).add_auth(signed)
    with request.urlopen(request.Request(signed.url, signed.data, dict(signed.headers), method=method), timeout=10) as answer:  # noqa: S310  # our own setting
        return json.load(answer)


def ack(event: dict, outcome: str, message: str = "") -> None:
    call("POST", "/v1/ack", {**WHO, "ack_guid": event["ack_guid"], "outcome": outcome, "message": message[:500] or None})
    print(outcome, event["ack_guid"], event["kind"], event["external_ref"], message)


def has_moved_on(event: dict) -> bool:
    instance = call("GET", f"/v1/instances/{event['instance_guid']}")
    return (instance["seq"], instance["current_state"]) != (event["seq"], event["to_state"])


def attempt(event: dict) -> tuple[str, int | None, str]:
    try:
        return "Processed", work(event), ""
    except Exception as error:  # noqa: BLE001  # not now, or never: then the engine tells people
        return "Retry" if isinstance(error, OSError) else "Failed", None, repr(error)


def remember(event: dict, facts: dict, **condition: Any) -> None:
    memory.put_item(Item={"ack_guid": event["ack_guid"], "expires_at": int(time.time()) + 30 * 86_400, **facts}, **condition)  # SNS may try for 23 days


def recall(event: dict, seconds: int) -> tuple[str, int | None, str] | None:
    """What was decided before. Nothing when the event is new: then it is ours for so long, because Lambda runs copies side by side."""
    now, is_free = int(time.time()), "attribute_not_exists(ack_guid) OR busy_until < :now"
    try:
        remember(event, {"busy_until": now + seconds}, ConditionExpression=is_free, ExpressionAttributeValues={":now": now})
    except memory.meta.client.exceptions.ConditionalCheckFailedException:
        known = memory.get_item(Key={"ack_guid": event["ack_guid"]}, ConsistentRead=True)["Item"]
        return known["outcome"], known["next_event"], ""  # a KeyError: another copy is at it, Lambda asks again in a minute
    return None


def handle(event: dict, seconds: int) -> None:
    """Done once, however often it comes; and an instance that has moved on is left alone. It is looked at again after the work, which takes its time."""
    ack(event, "Delivered")
    outcome, next_event, message = recall(event, seconds) or (("Processed", None, "") if has_moved_on(event) else attempt(event))
    remember(event, {"busy_until": 0} if outcome == "Retry" else {"outcome": outcome, "next_event": next_event})
    if next_event is not None and not has_moved_on(event):
        raised = call("POST", "/v1/trigger", {"instance_guid": event["instance_guid"], "event": int(next_event), "request_id": event["ack_guid"]})
        outcome = "Retry" if raised["reason"] == "InstanceNotActive" else outcome  # suspended: the event comes again when it is resumed
    ack(event, outcome, message)


def handler(sns_event: dict, context: Any) -> None:
    for sns in (record["Sns"] for record in sns_event["Records"]):
        attributes = {name: attribute["Value"] for name, attribute in sns["MessageAttributes"].items()}
        event = json.loads(sns["Message"]) if is_genuine(attributes, sns["Message"]) else None
        if event is None:
            signing_key.cache_clear()  # or is the key a new one? What comes next will tell
            print("refused", sns["MessageId"])
        elif (event["env_code"], attributes["consumer"]) == tuple(WHO.values()) and event["ack_guid"]:
            handle(event, context.get_remaining_time_in_millis() // 1000)
