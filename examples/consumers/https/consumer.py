"""An HTTPS consumer: SNS posts an event, standardwebhooks checks it, and it is done once and acknowledged."""

import json
import os
import sqlite3
import ssl
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib import parse, request

from botocore import auth, awsrequest, session
from standardwebhooks import Webhook, WebhookVerificationError

API_URL, TOPIC_ARN, PUBLIC_URL, REGION = (os.environ[name] for name in ("API_URL", "TOPIC_ARN", "PUBLIC_URL", "AWS_REGION"))
SNS_URL = os.environ.get("SNS_URL", f"https://sns.{REGION}.amazonaws.com")
HEADERS = {"content-type": "application/json", "x-local-principal": os.environ.get("LOCAL_PRINCIPAL", "local")}  # AWS does not read the latter
WHO = {"env_code": int(os.environ.get("ENV_CODE", "1")), "consumer": os.environ.get("CONSUMER", "vendor-https")}
WANTS = {"definitions": ["VendorRegistration"], "kinds": ["transition", "hook"], "beat_seconds": int(os.environ.get("BEAT_SECONDS", "20"))}
aws, turn, stopped, secret = session.get_session(), threading.Lock(), threading.Event(), {"key": os.environ.get("SIGNING_KEY")}
memory = sqlite3.connect(os.environ.get("DATABASE", "https.sqlite3"), isolation_level=None, check_same_thread=False)
memory.execute("CREATE TABLE IF NOT EXISTS done (ack_guid TEXT PRIMARY KEY, outcome TEXT, next_event INT)")


def work(event: dict) -> int | None:
    """Yours: do what the event asks for, return the event to raise next. OSError: not now; any other error: never; a crash: again, so make it repeatable."""
    return event["on_success_event"] if event["kind"] == "hook" else None


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


class Door(BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self) -> None:
        try:
            event = self.receive(json.loads(self.rfile.read(min(int(self.headers["content-length"]), 1_000_000))))
        except (AttributeError, KeyError, OSError, TypeError, ValueError, WebhookVerificationError) as error:
            return self.send_error(400, type(error).__name__)
        self.send_response(204)
        self.end_headers()
        with turn:  # SNS has its answer; what follows takes the time it takes
            return event and handle(event)

    def receive(self, envelope: dict) -> dict | None:
        if envelope["Type"] == "SubscriptionConfirmation":  # visits an address of our own making: the one in the message could be anybody's
            return request.urlopen(f"{SNS_URL}/?Action=ConfirmSubscription&TopicArn={TOPIC_ARN}&Token={parse.quote(envelope['Token'])}", timeout=10).close()  # noqa: S310
        attributes = {name: attribute["Value"] for name, attribute in envelope["MessageAttributes"].items()}
        event = Webhook(secret["key"]).verify(envelope["Message"], attributes)
        return event if (event["env_code"], attributes["consumer"]) == tuple(WHO.values()) and event["ack_guid"] else None


if __name__ == "__main__":
    server = ThreadingHTTPServer((os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "8443"))), Door)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(os.environ["TLS_CERT"], os.environ["TLS_KEY"])
    server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    wants = {**WANTS, "endpoint": {"protocol": "https", "address": PUBLIC_URL}, "return_key": not secret["key"]}
    secret["key"] = call("POST", "/v1/consumers", {**WHO, **wants})["signing_key"] or secret["key"]
    print("ready", PUBLIC_URL, flush=True)
    while not stopped.wait(WANTS["beat_seconds"]):
        with turn, suppress(OSError):  # a beat waits for its turn, so it means that events are handled
            call("POST", "/v1/heartbeat", WHO)
