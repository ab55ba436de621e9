"""Walks through the handlers as applications and consumers take them: HTTP in, SNS and SQS out."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from tests.functions.conftest import Stack, read_event, role
from tests.support.cloud import client

SCHEDULE = read_event("monitor", "every_minute")
REFERENCE = {"env_code": 1, "def_name": "VendorRegistration", "external_ref": "V-1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A consumer with a queue of its own: it checks every signature and drops what it had before."""

    stack: Stack
    name: str
    queue_url: str
    key: str
    seen: set[str] = field(default_factory=set)

    def take(self) -> list[dict[str, Any]]:
        sqs, found = client("sqs"), []
        while messages := sqs.receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=10, MessageAttributeNames=["All"]).get("Messages"):
            for message in messages:
                attributes = {name: value["StringValue"] for name, value in message["MessageAttributes"].items()}
                # Signed anew by the reference library: its own check would also look at the age, and a queue may keep a message for days.
                signed_at = datetime.fromtimestamp(int(attributes["webhook-timestamp"]), UTC)
                assert Webhook(self.key).sign(attributes["webhook-id"], signed_at, message["Body"]) in attributes["webhook-signature"].split()
                if attributes["webhook-id"] not in self.seen:
                    found.append(json.loads(message["Body"]))
                self.seen.add(attributes["webhook-id"])
                sqs.delete_message(QueueUrl=self.queue_url, ReceiptHandle=message["ReceiptHandle"])
        return found

    def ack(self, event: dict[str, Any], outcome: str) -> dict[str, Any]:
        body = {"env_code": 1, "consumer": self.name, "ack_guid": event["ack_guid"], "outcome": outcome}
        return self.stack.call("ack", "POST", "/v1/ack", body, authorizer=role(self.name)).body

    def beat(self) -> dict[str, Any]:
        return self.stack.call("heartbeat", "POST", "/v1/heartbeat", {"env_code": 1, "consumer": self.name}, authorizer=role(self.name)).body


def worker(stack: Stack, name: str, **more: Any) -> Worker:
    sqs = client("sqs")
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    registration = {"env_code": 1, "consumer": name, "definitions": ["*"], "kinds": ["transition", "hook"], "beat_seconds": None} | more
    answer = stack.call("heartbeat", "POST", "/v1/consumers", {**registration, "endpoint": {"protocol": "sqs", "address": arn}}, authorizer=role(name))
    assert (answer.status, answer.body["subscription"]) == (200, "confirmed"), answer.text
    return Worker(stack=stack, name=name, queue_url=url, key=answer.body["signing_key"])


@pytest.fixture
def vendors(stack: Stack) -> Stack:
    assert stack.http("import", read_event("import", "definition_and_policy")).status == 200
    return stack


def trigger(stack: Stack, event: int | str, **more: Any) -> dict[str, Any]:
    answer = stack.call("trigger", "POST", "/v1/trigger", {**REFERENCE, "event": event, **more})
    assert answer.status == 200, answer.text
    return answer.body


def monitor(stack: Stack) -> dict[str, Any]:
    return stack.invoke("monitor", SCHEDULE)


def status(stack: Stack, guid: str) -> str:
    return stack.call("query", "GET", f"/v1/instances/{guid}").body["status"]


@pytest.mark.scenario(14)
def test_a_vendor_is_submitted_reviewed_and_approved(vendors):
    crew = worker(vendors, "reviewer")
    first = trigger(vendors, "Submit", request_id="r-1", payload={"iban": "DE00"})
    transition, hook = crew.take()
    assert (transition["kind"], hook["kind"], hook["route"]) == ("transition", "hook", "APP.REVIEW.ASSIGN")
    assert [transition["ack_guid"], hook["ack_guid"]] == [first["ack_guid"], *first["hook_ack_guids"]]
    assert (transition["payload"], hook["on_success_event"]) == ({"iban": "DE00"}, 20)
    assert {crew.ack(event, "Processed")["status"] for event in (transition, hook)} == {"Processed"}
    last = trigger(vendors, hook["on_success_event"])
    assert (last["to_state"], status(vendors, last["instance_guid"])) == ("Approved", "Completed")
    crew.ack(crew.take()[0], "Processed")
    timeline = vendors.call("query", "GET", f"/v1/instances/{last['instance_guid']}/timeline").body
    assert [(step["event"], [receipt["status"] for receipt in step["receipts"]]) for step in timeline["timeline"]] == [
        ("Submit", ["Processed", "Processed"]),
        ("Approve", ["Processed"]),
    ]


@pytest.mark.scenario(50, 51, 95)
def test_a_worker_that_was_down_gets_its_backlog_in_order_after_its_beat(vendors):
    crew = worker(vendors, "sleeper", beat_seconds=10)
    vendors.bench.clock.advance(3600)
    guid = trigger(vendors, "Submit")["instance_guid"]
    trigger(vendors, "Approve")
    assert monitor(vendors)["sent"] == 0
    assert crew.take() == []
    why = vendors.call("query", "GET", f"/v1/instances/{guid}/why").body
    assert [down["consumer"] for down in why["down"]] == ["sleeper"]
    crew.beat()
    monitor(vendors)
    backlog = crew.take()
    assert [(event["seq"], event["kind"]) for event in backlog] == [(1, "transition"), (1, "hook")]
    crew.beat()
    for event in backlog:
        crew.ack(event, "Delivered")
    assert [event["seq"] for event in crew.take()] == [2]


@pytest.mark.scenario(53, 109)
def test_a_worker_that_never_answers_suspends_the_instance_until_an_operator_resumes_it(vendors):
    crew = worker(vendors, "silent")
    guid = trigger(vendors, "Submit")["instance_guid"]
    for _ in range(40):
        vendors.bench.clock.advance(600)
        if monitor(vendors)["suspended"]:
            break
    assert status(vendors, guid) == "Suspended"
    assert trigger(vendors, "Approve")["reason"] == "InstanceNotActive"
    crew.take()
    crew.seen.clear()
    resumed = vendors.call("admin", "POST", f"/v1/instances/{guid}/resume", {"reason": "worker is back"}, authorizer=role("operator"))
    assert (resumed.status, resumed.body["status"]) == (200, "Active")
    monitor(vendors)
    assert {event["kind"] for event in crew.take()} == {"transition", "hook"}


@pytest.mark.scenario(64)
def test_nobody_decides_for_two_days_and_the_policys_timeout_rejects(vendors):
    crew = worker(vendors, "slow")
    guid = trigger(vendors, "Submit")["instance_guid"]
    for event in crew.take():
        crew.ack(event, "Processed")
    vendors.bench.clock.advance(2 * 86_400 + 60)
    assert monitor(vendors)["timed_out"] == 1
    assert [(event["to_state"], event["event"]["name"]) for event in crew.take()] == [("Rejected", "Reject")]
    assert status(vendors, guid) == "Completed"
    codes = {notice["code"] for notice in vendors.call("query", "GET", "/v1/notices", query=f"instance_guid={guid}").body["items"]}
    assert {"STATE_TIMEOUT_EXCEEDED", "TIMEOUT_FIRED"} <= codes


@pytest.mark.scenario(115)
@pytest.mark.parametrize(("size", "is_omitted"), [(190 * 1024, False), (200 * 1024 - 200, True)], ids=["whole", "omitted"])
def test_a_payload_travels_whole_or_is_read_by_its_consumer(vendors, size, is_omitted):
    crew = worker(vendors, "reader")
    trigger(vendors, "Submit", payload="x" * size)
    for event in crew.take():
        assert event.get("payload_omitted", False) == is_omitted
        answer = vendors.call("query", "GET", f"/v1/acks/{event['ack_guid']}", query="env_code=1&consumer=reader", authorizer=role("reader"))
        assert answer.body["event"]["payload"] == "x" * size


@pytest.mark.scenario(24)
def test_a_topic_that_is_gone_costs_no_answer_and_no_event(vendors):
    crew = worker(vendors, "patient")
    topics = client("sns").list_topics()["Topics"]
    work = next(topic["TopicArn"] for topic in topics if topic["TopicArn"].endswith(":work"))
    client("sns").delete_topic(TopicArn=work)
    assert trigger(vendors, "Submit")["applied"] is True
    assert crew.take() == []
    client("sns").create_topic(Name="work")
    worker(vendors, "patient", return_key=True)
    vendors.bench.clock.advance(60)
    monitor(vendors)
    assert [event["kind"] for event in crew.take()] == ["transition", "hook"]
