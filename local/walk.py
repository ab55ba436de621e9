"""A walk through the handlers: one vendor from its request to its account, with everything that can go wrong on the way (`make walk`)."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from local.lambdas.calls import SCHEDULED, LocalContext, call, handler_of
from local.machine import ROOT, LocalSetupError
from local.walk_cloud import Mailbox, walk_environment
from workflow_engine.entry import container

EXAMPLE = ROOT / "examples" / "vendor_registration"
ENV, DEFINITION, REF = 1, "VendorRegistration", "VENDOR-00042"
# Long enough for one pass of the monitor, too short for a second.
_ONE_PASS_SECONDS = 14.0


@dataclass
class Walk:
    """Prints only what an answer or a received message says, and remembers it for the test that checks the walk."""

    mailboxes: dict[str, Mailbox]
    say: Callable[[str], None]
    seen: list[dict[str, Any]] = field(default_factory=list)

    def title(self, text: str) -> None:
        self.say(f"\n== {text}")

    def note(self, kind: str, text: str, facts: dict[str, Any]) -> None:
        self.seen.append({**facts, "fact": kind})
        self.say(f"   {kind:<9} {text}")

    def trigger(self, event: str) -> dict[str, Any]:
        body = {"env_code": ENV, "def_name": DEFINITION, "external_ref": REF, "event": event, "request_id": f"{event}-{len(self.seen)}", "actor": "walk"}
        answer: dict[str, Any] = call("trigger", "POST", "/v1/trigger", body).ok()
        moved = f"{answer['from_state']} -> {answer['to_state']}" if answer["applied"] else f"not applied: {answer['reason']}"
        self.note("trigger", f"{event}: {moved}", answer)
        return answer

    def receive(self, consumer: str) -> list[dict[str, Any]]:
        """Everything that has come through the consumer's own queue."""
        messages = self.mailboxes[consumer].take()
        for message in messages:
            event, attempt = message["body"], message["attributes"]["attempt"]
            what = event["route"] if event["kind"] == "hook" else f"{event['from_state']} -> {event['to_state']}"
            self.note(
                "received",
                f"{consumer}: seq {event['seq']} {event['kind']} {what} (attempt {attempt})",
                {"consumer": consumer, "attempt": int(attempt), **event},
            )
        return messages

    def ack(self, consumer: str, outcome: str) -> int:
        """Answer everything the consumer has got, and what that sets free, until nothing more comes."""
        count = 0
        while messages := self.receive(consumer):
            # The same event may have come several times; a consumer knows it by its ack_guid.
            for event in {message["body"]["ack_guid"]: message["body"] for message in messages}.values():
                body = {"env_code": ENV, "consumer": consumer, "ack_guid": event["ack_guid"], "outcome": outcome}
                answer = call("ack", "POST", "/v1/ack", body).ok()
                self.note("ack", f"{consumer}: seq {event['seq']} {event['kind']} {answer['status']}", {"consumer": consumer, **answer})
                count += 1
        return count

    def beat(self, consumer: str) -> None:
        answer = call("heartbeat", "POST", "/v1/heartbeat", {"env_code": ENV, "consumer": consumer}).ok()
        self.note("beat", f"{consumer}: {answer['pending']} pending", {"consumer": consumer, **answer})

    def later(self, text: str, seconds: float) -> None:
        container.clock().advance(seconds)
        self.note("clock", f"moved by {text}", {"seconds": seconds})

    def monitor(self) -> None:
        report = handler_of("monitor")(SCHEDULED, LocalContext(_ONE_PASS_SECONDS))
        self.note("monitor", ", ".join(f"{name} {report[name]}" for name in ("found", "sent", "failed", "timed_out", "noticed")), report)

    def notices(self, code: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = call("query", "GET", "/v1/notices", query={"env_code": ENV, "code": code}).ok()["items"]
        for item in items:
            self.note("notice", f"{item['code']} ({item['kind']}) {item['consumer'] or ''} {json.dumps(item['data'])}", item)
        return items


def main() -> int:
    """Run the walk on a private database and print it; exit 1 when a step went wrong."""
    try:
        with walk_environment() as mailboxes:
            walk(Walk(mailboxes=mailboxes, say=_print))
    except LocalSetupError as error:
        _print(f"\nthe walk went wrong: {error}")
        return 1
    return 0


def walk(it: Walk) -> None:
    _prepare(it)
    _normal_step(it)
    _resend(it)
    _down_and_back(it)
    _timeout(it)
    _overdue(it)
    _suspension(it)
    _end(it)


def _prepare(it: Walk) -> None:
    it.title("Import the definition and its policy, register two consumers")
    documents = {name: json.loads((EXAMPLE / f"{name}.json").read_text("utf-8")) for name in ("definition", "policy")}
    imported = call("import", "POST", "/v1/import", {"env_code": ENV, "env_name": "walk", **documents}).ok()
    it.note("import", f"{imported['definition']['name']} version {imported['definition']['version']}: {imported['definition']['result']}", imported)
    for consumer, mailbox in it.mailboxes.items():
        body = {
            "env_code": ENV,
            "consumer": consumer,
            "definitions": [DEFINITION],
            "kinds": ["transition", "hook"] if consumer == "registry" else ["transition"],
            "beat_seconds": 20,
            "endpoint": {"protocol": "sqs", "address": mailbox.queue_arn},
        }
        answer = call("heartbeat", "POST", "/v1/consumers", body).ok()
        it.note("register", f"{consumer}: id {answer['consumer_id']}, subscription {answer['subscription']}", {"consumer": consumer, **answer})


def _normal_step(it: Walk) -> None:
    it.title("A normal step: the event is told, delivered and processed")
    it.trigger("Start")
    it.ack("registry", "Delivered")
    it.ack("audit", "Processed")


def _resend(it: Walk) -> None:
    it.title("Nobody answers in time: the same event comes again")
    it.trigger("Accept")
    it.receive("registry")
    it.later("50 seconds", 50)
    it.beat("registry")
    it.beat("audit")
    it.monitor()
    it.ack("registry", "Processed")
    it.ack("audit", "Processed")
    it.notices("ACK_RETRY")


def _down_and_back(it: Walk) -> None:
    it.title("A consumer is down: it burns no attempts and catches up in order")
    it.later("2 minutes, in which only registry beats", 120)
    it.beat("registry")
    it.trigger("ValidationLate")
    it.trigger("Accept")
    it.trigger("RemindApprover")
    it.ack("registry", "Processed")
    it.receive("audit")
    it.beat("audit")
    it.monitor()
    it.ack("audit", "Processed")


def _timeout(it: Walk) -> None:
    it.title("A timeout fires: AwaitingApproval repeats its event every hour")
    it.later("61 minutes", 61 * 60)
    it.beat("registry")
    it.beat("audit")
    it.monitor()
    it.ack("registry", "Processed")
    it.ack("audit", "Processed")
    it.notices("TIMEOUT_FIRED")


def _overdue(it: Walk) -> None:
    it.title("Everybody processed, nobody moved: a second vendor stands in CheckVendorRegistered for a day")
    body = {"env_code": ENV, "def_name": DEFINITION, "external_ref": "VENDOR-00043", "event": "Start"}
    answer = call("trigger", "POST", "/v1/trigger", body).ok()
    it.note("trigger", f"Start: {answer['from_state']} -> {answer['to_state']}", answer)
    it.ack("registry", "Processed")
    it.ack("audit", "Processed")
    it.later("25 hours", 25 * 3600)
    it.monitor()
    it.notices("DEFAULT_STATE_STALE")
    it.beat("registry")
    it.beat("audit")
    it.monitor()
    it.ack("registry", "Processed")
    it.ack("audit", "Processed")


def _suspension(it: Walk) -> None:
    it.title("A consumer never answers: the instance is suspended, and goes on after its late word")
    it.trigger("RemindApprover")
    it.ack("registry", "Processed")
    say, it.say = it.say, _silent
    for _ in range(14):
        it.later("17 minutes", 17 * 60)
        it.beat("audit")
        it.beat("registry")
        it.monitor()
        it.ack("registry", "Processed")
    it.say = say
    it.note("clock", "moved by 17 minutes fourteen times, with a beat and a pass each; audit beats, but answers nothing", {"seconds": 14 * 17 * 60})
    it.notices("ACK_SUSPEND")
    guid = _instance(it)["instance_guid"]
    why = call("query", "GET", f"/v1/instances/{guid}/why").ok()
    it.note("why", why["summary"], why)
    it.ack("registry", "Processed")
    it.ack("audit", "Processed")
    _instance(it)


def _end(it: Walk) -> None:
    it.title("The last event, the timeline, and why it stands where it stands")
    it.trigger("Accept")
    it.ack("registry", "Processed")
    it.ack("audit", "Processed")
    guid = _instance(it)["instance_guid"]
    timeline = call("query", "GET", f"/v1/instances/{guid}/timeline").ok()
    for step in timeline["timeline"]:
        receipts = ", ".join(f"{one['consumer']} {one['kind']} {one['status']} after {one['sends']}" for one in step["receipts"])
        it.note("timeline", f"{step['seq']:>2} {step['from_state']} -> {step['to_state']} by {step['event']} ({step['actor']}): {receipts}", step)
    why = call("query", "GET", f"/v1/instances/{guid}/why").ok()
    it.note("why", why["summary"], why)


def _instance(it: Walk) -> dict[str, Any]:
    items: list[dict[str, Any]] = call("query", "GET", "/v1/instances", query={"env_code": ENV, "def_name": DEFINITION, "external_ref": REF}).ok()["items"]
    it.note("instance", f"{items[0]['external_ref']}: {items[0]['status']} in {items[0]['current_state']}, seq {items[0]['seq']}", items[0])
    return items[0]


def _silent(text: str) -> None:
    """Say nothing."""


def _print(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
