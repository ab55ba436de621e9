"""An SQS worker: it polls its queue, checks the signature of every message, does each event once and acknowledges it."""

import hashlib
import hmac
import json
import os
import sqlite3
import time
from base64 import b64decode, b64encode
from urllib import request

import boto3
from botocore import auth, awsrequest, exceptions

API_URL, REGION = os.environ["API_URL"], os.environ["AWS_REGION"]
HEADERS = {"content-type": "application/json", "x-local-principal": os.environ.get("LOCAL_PRINCIPAL", "local")}  # AWS does not read the latter
WHO = {"env_code": int(os.environ.get("ENV_CODE", "1")), "consumer": os.environ.get("CONSUMER", "vendor-sqs")}
WANTS = {"definitions": ["VendorRegistration"], "kinds": ["transition", "hook"], "beat_seconds": 20}
# Waits for messages as long as a beat, and hides a batch from other workers for as long as ten events may take.
POLL = {"MaxNumberOfMessages": 10, "WaitTimeSeconds": int(os.environ.get("WAIT_SECONDS", "20")), "VisibilityTimeout": 300, "MessageAttributeNames": ["All"]}
aws, sqs = boto3.Session(), boto3.client("sqs", REGION)
memory = sqlite3.connect(os.environ.get("DATABASE", "sqs.sqlite3"), isolation_level=None)
memory.execute("CREATE TABLE IF NOT EXISTS done (ack_guid TEXT PRIMARY KEY, outcome TEXT, next_event INT)")


def work(event: dict) -> int | None:
    """Yours: do what the event asks for, return the event to raise next. OSError: not now; any other error: never; a crash: again, so make it repeatable."""
    return event["on_success_event"] if event["kind"] == "hook" else None


def is_genuine(key: str, attributes: dict[str, str], body: str) -> bool:
    """Without the age that standardwebhooks checks: a message may have waited in the queue for days. Deduplication protects against old ones."""
    content = f"{attributes.get('webhook-id')}.{attributes.get('webhook-timestamp')}.{body}".encode()
    wanted = b"v1," + b64encode(hmac.digest(b64decode(key.removeprefix("whsec_")), content, hashlib.sha256))
    return any(hmac.compare_digest(wanted, given.encode()) for given in attributes.get("webhook-signature", "").split(" "))


def call(method: str, path: str, body: dict | None = None) -> dict:
    signed = awsrequest.AWSRequest(method, API_URL + path, HEADERS, json.dumps(body).encode() if body else None)
    auth.SigV4Auth(aws.get_credentials().get_frozen_credentials(), "execute-api", REGION).add_auth(signed)
    with request.urlopen(request.Request(signed.url, signed.data, dict(signed.headers), method=method), timeout=30) as answer:  # noqa: S310  # our own setting
        return json.load(answer)


def ack(event: dict, outcome: str, message: str = "") -> None:
    call("POST", "/v1/ack", {**WHO, "ack_guid": event["ack_guid"], "outcome": outcome, "message": message[:500] or None})
    print(outcome, event["ack_guid"], event["kind"], event["external_ref"], message, flush=True)


def has_moved_on(event: dict) -> bool:
    instance = call("GET", f"/v1/instances/{event['instance_guid']}")
    return (instance["seq"], instance["current_state"]) != (event["seq"], event["to_state"])


def attempt(event: dict) -> tuple[str, int | None, str]:
    try:
        return "Processed", work(event), ""
    except Exception as error:  # noqa: BLE001  # not now, or never: then the engine tells people
        return "Retry" if isinstance(error, OSError) else "Failed", None, repr(error)


def handle(event: dict) -> None:
    """Done once, however often it comes; and an instance that has moved on is left alone. It is looked at again after the work, which takes its time."""
    ack(event, "Delivered")
    known = memory.execute("SELECT outcome, next_event, '' FROM done WHERE ack_guid = ?", [event["ack_guid"]]).fetchone()
    outcome, next_event, message = known or (("Processed", None, "") if has_moved_on(event) else attempt(event))
    if outcome != "Retry":
        memory.execute("INSERT OR IGNORE INTO done VALUES (?, ?, ?)", [event["ack_guid"], outcome, next_event])
    if next_event is not None and not has_moved_on(event):
        raised = call("POST", "/v1/trigger", {"instance_guid": event["instance_guid"], "event": next_event, "request_id": event["ack_guid"]})
        outcome = "Retry" if raised["reason"] == "InstanceNotActive" else outcome  # suspended: the event comes again when it is resumed
    ack(event, outcome, message)


def receive(message: dict, key: str) -> None:
    attributes = {name: attribute["StringValue"] for name, attribute in message.get("MessageAttributes", {}).items()}
    if not is_genuine(key, attributes, message["Body"]):
        return print("refused", message["MessageId"], flush=True)
    event = json.loads(message["Body"])
    return handle(event) if (event["env_code"], attributes["consumer"]) == tuple(WHO.values()) and event["ack_guid"] else None


if __name__ == "__main__":
    queue_url = sqs.get_queue_url(QueueName=os.environ.get("QUEUE", WHO["consumer"]))["QueueUrl"]
    endpoint = {"protocol": "sqs", "address": sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]}
    signing_key = os.environ.get("SIGNING_KEY")
    signing_key = call("POST", "/v1/consumers", {**WHO, **WANTS, "endpoint": endpoint, "return_key": not signing_key})["signing_key"] or signing_key
    print("ready", queue_url, flush=True)
    while True:
        try:
            call("POST", "/v1/heartbeat", WHO)
            for message in sqs.receive_message(QueueUrl=queue_url, **POLL).get("Messages", []):
                receive(message, signing_key)
                sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"])
        except (OSError, exceptions.BotoCoreError, exceptions.ClientError) as error:  # what was not deleted comes again
            print(error, flush=True)
            time.sleep(5)
