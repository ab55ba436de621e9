"""A first workflow of your own, through the real handlers: change it and run `python -m docs.first_workflow`."""

# ruff: noqa: INP001, T201  # a page that runs, and talks to a terminal

from typing import Any

from local.lambda_calls import call
from local.walk_cloud import Mailbox, walk_environment

LEAVE = {
    "name": "Leave",
    "states": [{"name": "Draft", "is_initial": True}, {"name": "Review"}, {"name": "Approved", "is_final": True}],
    "events": [{"code": 10, "name": "Submit"}, {"code": 20, "name": "Approve"}],
    "transitions": [{"from": "Draft", "event": 10, "to": "Review"}, {"from": "Review", "event": 20, "to": "Approved"}],
}
SUBMIT = {"env_code": 1, "def_name": "Leave", "external_ref": "L-7", "event": "Submit", "request_id": "r-1"}
ME = {"env_code": 1, "consumer": "registry"}


def story(queue: Mailbox) -> None:
    """Import, register, trigger, receive, acknowledge, and look at what happened."""
    _post("import", "/v1/import", {"env_code": 1, "definition": LEAVE})
    listens = {"definitions": ["Leave"], "kinds": ["transition"], "endpoint": {"protocol": "sqs", "address": queue.queue_arn}}
    _post("heartbeat", "/v1/consumers", {**ME, **listens})

    moved = _post("trigger", "/v1/trigger", SUBMIT)
    instance = f"/v1/instances/{moved['instance_guid']}"
    print("trigger  ", moved["from_state"], "->", moved["to_state"], "| seq", moved["seq"])
    print("why      ", _get(f"{instance}/why")["summary"])

    message = queue.take()[0]
    event = message["body"]
    print("received ", event["kind"], event["external_ref"], event["to_state"], "| attempt", message["attributes"]["attempt"])
    print("ack      ", _post("ack", "/v1/ack", {**ME, "ack_guid": event["ack_guid"], "outcome": "Processed"})["status"])
    print("why      ", _get(f"{instance}/why")["summary"])

    step = _get(f"{instance}/timeline")["timeline"][0]
    receipts = ", ".join(f"{one['consumer']} {one['status']}, sent {one['sends']} time" for one in step["receipts"])
    print("timeline ", step["from_state"], "->", step["to_state"], "|", receipts)
    again = _post("trigger", "/v1/trigger", SUBMIT)
    print("again    ", "applied", again["applied"], "| replayed", again["replayed"], "| seq", again["seq"])


def _post(function: str, path: str, body: dict[str, Any]) -> Any:
    return call(function, "POST", path, body).ok()


def _get(path: str) -> Any:
    return call("query", "GET", path).ok()


if __name__ == "__main__":
    with walk_environment() as mailboxes:
        story(mailboxes["registry"])
