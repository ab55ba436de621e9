"""The end of the story: the timeline as a table, the answer of `why` in a frame, both from one request each."""

from datetime import datetime, timedelta
from typing import Any

from local.demo.story import Story

_DAY = timedelta(days=1)


def show_timeline(it: Story, ref: str) -> None:
    """Print every step with its receipts, and compare what the engine says it sent with what was received."""
    answer = it.read(ref, "timeline")
    began = _time(answer["instance"]["created"])
    rows: list[list[str]] = []
    for step in answer["timeline"]:
        head = [str(step["seq"]), _age(_time(step["occurred_at"]) - began), step["event"], step["actor"] or "", step["to_state"]]
        for number, receipt in enumerate(step["receipts"]):
            who = f"{receipt['consumer']} hook" if receipt["kind"] == "hook" else receipt["consumer"]
            rows.append([*(head if number == 0 else [""] * len(head)), who, str(receipt["sends"]), receipt["status"]])
    heads = ["seq", "after", "event", "by", "to state", "told", "sends", "status"]
    it.show.plain(f"GET /v1/instances/{answer['instance']['guid']}/timeline")
    it.show.blank()
    it.show.table(heads, rows, right=("seq", "after", "sends"))
    receipts = [receipt for step in answer["timeline"] for receipt in step["receipts"]]
    it.expect("steps", list(range(1, 7)), [step["seq"] for step in answer["timeline"]])
    it.expect("status", {"Processed"}, {receipt["status"] for receipt in receipts})
    it.expect("the last state", "Registered", answer["instance"]["current_state"])
    it.show.blank()
    _compare(it, ref, receipts)


def _compare(it: Story, ref: str, receipts: list[dict[str, Any]]) -> None:
    for name, consumer in it.consumers.items():
        it.now_at(f"sends and arrivals of {name}")
        sent = sum(receipt["sends"] for receipt in receipts if receipt["consumer"] == name)
        arrived = sum(message.event["external_ref"] == ref for message in consumer.inbox.all)
        it.show.plain(f"{name:<9} {sent} sends by the timeline, {arrived} messages received by {consumer.transport}")
        it.expect("messages received", sent, arrived)


def show_why(it: Story, ref: str) -> None:
    why = it.read(ref, "why")
    instance = why["instance"]
    it.show.box(f"GET /v1/instances/{instance['instance_guid']}/why", [why["summary"], "", *_facts(why)])
    it.expect("open, held, given up and down together:", 0, sum(len(why[part]) for part in ("open", "held", "gave_up", "down")))
    it.expect("events that could move it", ["Accept", "Decline"], [event["name"] for event in why["events"]])


def _facts(why: dict[str, Any]) -> list[str]:
    instance, timeout = why["instance"], why["timeout"]
    waiting = [f"{len(why[part])} {words}" for part, words in (("open", "open"), ("held", "held back"), ("gave_up", "given up"))]
    facts = {
        "instance": f"{instance['external_ref']}, {instance['definition']} version {instance['def_version']}, {instance['status']}",
        "state": f"{instance['current_state']} since {_seconds(instance['state_entered_at'])}",
        "acks": ", ".join(waiting),
        "down": ", ".join(one["consumer"] for one in why["down"]) or "nobody",
        "timeout": f"{timeout['event']['name']} at {_seconds(timeout['due_at'])}"
        if timeout
        else f"none; looked at again at {_seconds(instance['state_due_at'])}",
        "could move": ", ".join(f"{event['name']}→{event['to_state']}" for event in why["events"]) or "nothing",
        "notices": ", ".join(f"{notice['code']} ({notice['kind']}, {notice['consumer']})" for notice in why["notices"]) or "none",
    }
    return [f"{name:<11} {text}" for name, text in facts.items()]


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _seconds(text: str | None) -> str:
    return text[:19].replace("T", " ") if text else "never"


def _age(age: timedelta) -> str:
    minutes, seconds = divmod(int(age.total_seconds()) % 86_400, 60)
    hours, minutes = divmod(minutes, 60)
    return (f"{age // _DAY}d " if age >= _DAY else "") + f"{hours:02}:{minutes:02}:{seconds:02}"
