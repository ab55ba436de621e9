"""What must be true of the tables and of what was published at any moment, whatever was cut or killed before."""

import json
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from tests.support.engine import Workbench
from workflow_engine.models.enums import AckStatus, EventKind
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.flags import LifeCycleInstanceFlag, LifeCycleStateFlag

Rows = list[dict[str, Any]]
_OPEN = {AckStatus.PENDING, AckStatus.DELIVERED}
_BLOCKING = {AckStatus.PENDING, AckStatus.PARKED}


def broken(bench: Workbench, messages: Iterable[WorkMessage] | None = None) -> list[str]:
    """Everything that is wrong, in words; messages in the order of their publishing, by default the bench's."""
    sent = list(bench.publisher.messages if messages is None else messages)
    return [*_timelines(bench), *_acks(bench), *_lanes(bench), *_requests(bench), *_published(bench, sent)]


def _timelines(bench: Workbench) -> list[str]:
    """The path has no gap and no fork, begins at the beginning and ends where the instance stands."""
    steps = _grouped(bench.sql("SELECT id, instance_id, seq, from_state, to_state, event_id FROM lifecycle ORDER BY instance_id, seq"), "instance_id")
    data = {row["lifecycle_id"] for row in bench.sql("SELECT lifecycle_id FROM lifecycle_data")}
    flags = {row["id"]: row["flags"] for row in bench.sql("SELECT id, flags FROM state")}
    found: list[str] = []
    for instance in bench.sql("SELECT id, seq, current_state, last_event, flags FROM instance"):
        path = steps.pop(instance["id"], [])
        found += _path(f"instance {instance['id']}", instance, path, flags)
        found += [f"step {step['id']} has no data" for step in path if step["id"] not in data]
    return found + [f"steps without instance {instance_id}" for instance_id in steps]


def _path(name: str, instance: dict[str, Any], path: Rows, flags: dict[int, int]) -> list[str]:
    ends = [path[-1]["to_state"], path[-1]["event_id"], path[-1]["seq"]] if path else [instance["current_state"], None, 0]
    first = path[0]["from_state"] if path else instance["current_state"]
    is_final = bool(flags[instance["current_state"]] & LifeCycleStateFlag.FINAL)
    rules = {
        "seq has a gap": [step["seq"] for step in path] != list(range(1, len(path) + 1)),
        "path has a gap": any(one["to_state"] != two["from_state"] for one, two in pairwise(path)),
        "does not begin in the initial state": not flags[first] & LifeCycleStateFlag.INITIAL,
        "does not stand at its last step": [instance["current_state"], instance["last_event"], instance["seq"]] != ends,
        "is Completed, or not, against its state": bool(instance["flags"] & LifeCycleInstanceFlag.COMPLETED) != is_final,
    }
    return [f"{name} {rule}" for rule, is_broken in rules.items() if is_broken]


def _acks(bench: Workbench) -> list[str]:
    """One ack per step and hook, its body telling of that step, with a row for each consumer, all of its instance, seq and kind."""
    acks = bench.sql(
        "SELECT a.id, a.guid, a.instance_id, a.body, l.id AS lifecycle_id, l.seq, l.instance_id AS of_instance, h.id AS hook_id FROM ack a "
        "LEFT JOIN lc_ack la ON la.ack_id = a.id LEFT JOIN hook_ack ha ON ha.ack_id = a.id LEFT JOIN hook h ON h.id = ha.hook_id "
        "LEFT JOIN lifecycle l ON l.id = COALESCE(la.lifecycle_id, h.lifecycle_id)"
    )
    rows = _grouped(bench.sql("SELECT ack_id, consumer_id, instance_id, seq, kind FROM ack_consumer"), "ack_id")
    found: list[str] = []
    for ack in acks:
        kind = EventKind.HOOK if ack["hook_id"] else EventKind.TRANSITION
        own = rows.pop(ack["id"], [])
        body = json.loads(ack["body"])
        place = (ack["of_instance"], ack["seq"], kind)
        rules = {
            "belongs to no step": ack["lifecycle_id"] is None or ack["instance_id"] != ack["of_instance"],
            "has no consumer": not own,
            "has rows of another place": any((row["instance_id"], row["seq"], row["kind"]) != place for row in own),
            "tells of another event": (body["ack_guid"], body["lifecycle_id"], body["seq"], body["kind"])
            != (ack["guid"], ack["lifecycle_id"], ack["seq"], kind.label),
        }
        found += [f"ack {ack['id']} {rule}" for rule, is_broken in rules.items() if is_broken]
    return found + [f"rows without ack {ack_id}" for ack_id in rows]


def _lanes(bench: Workbench) -> list[str]:
    """What is held is held by something; nothing overtakes it; what is open is due, unless its instance is suspended."""
    rows = bench.sql(
        "SELECT ac.*, i.flags AS instance_flags FROM ack_consumer ac JOIN instance i ON i.id = ac.instance_id ORDER BY ac.consumer_id, ac.instance_id, ac.seq"
    )
    lanes: dict[tuple[int, int], Rows] = {}
    for row in rows:
        lanes.setdefault((row["consumer_id"], row["instance_id"]), []).append(row)
    found: list[str] = []
    for row in rows:
        lane = lanes[row["consumer_id"], row["instance_id"]]
        is_suspended = bool(row["instance_flags"] & LifeCycleInstanceFlag.SUSPENDED)
        is_held, is_due = row["status"] == AckStatus.HELD, row["next_due"] is not None
        rules = {
            "is held by nothing": is_held and not is_suspended and not any(other["seq"] < row["seq"] and other["status"] in _BLOCKING for other in lane),
            "is held but was sent": is_held and bool(row["sends"] or row["trigger_count"] or is_due),
            "was overtaken": is_held and any(other["seq"] > row["seq"] and other["sends"] for other in lane),
            "is open but never due": row["status"] in _OPEN and not is_suspended and not is_due,
            "is closed but due": row["status"] not in _OPEN and is_due,
            "is due while suspended": is_suspended and is_due,
        }
        name = f"row {row['ack_id']}/{row['consumer_id']} (seq {row['seq']})"
        found += [f"{name} {rule}" for rule, is_broken in rules.items() if is_broken]
    return found


def _requests(bench: Workbench) -> list[str]:
    """A remembered answer tells of a step that exists, and every step with a request_id is remembered."""
    steps = {
        row["id"]: row for row in bench.sql("SELECT l.id, l.instance_id, l.seq, d.request_id FROM lifecycle l JOIN lifecycle_data d ON d.lifecycle_id = l.id")
    }
    remembered = bench.sql("SELECT instance_id, request_id, answer FROM request_log")
    found, told = [], set()
    for row in remembered:
        answer = json.loads(row["answer"])
        told.add(answer["lifecycle_id"])
        step = steps.get(answer["lifecycle_id"])
        if answer["applied"] and (
            step is None or (step["instance_id"], step["seq"], step["request_id"]) != (row["instance_id"], answer["seq"], row["request_id"])
        ):
            found.append(f"request {row['request_id']} remembers a step that is not there")
    return found + [f"step {step_id} is not remembered" for step_id, step in steps.items() if step["request_id"] is not None and step_id not in told]


def _published(bench: Workbench, messages: list[WorkMessage]) -> list[str]:
    """Bodies as stored, attempts rising, first sends of a lane by seq, the transition before its hooks."""
    kept = [message for message in messages if message.ack_id]
    bodies = {row["id"]: row["body"] for row in bench.sql("SELECT id, body FROM ack")}
    found = [f"message {message.webhook_id} differs from what is stored" for message in kept if bodies.get(message.ack_id) != message.body]
    for key, sends in _by(kept, lambda message: (message.webhook_id, message.consumer)).items():
        attempts = [message.attempt for message in sends]
        found += [f"{key} was sent as {attempts}"] if attempts != sorted(set(attempts)) else []
    for lane, sends in _by(kept, lambda message: message.lane).items():
        firsts = list({message.webhook_id: (message.seq, int(message.kind)) for message in sends}.values())
        found += [f"lane {lane} was first sent as {firsts}"] if firsts != sorted(firsts) else []
    return found


def _grouped(rows: Rows, column: str) -> dict[int, Rows]:
    groups: dict[int, Rows] = {}
    for row in rows:
        groups.setdefault(row[column], []).append(row)
    return groups


def _by(messages: list[WorkMessage], key: Callable[[WorkMessage], Any]) -> dict[Any, list[WorkMessage]]:
    groups: dict[Any, list[WorkMessage]] = {}
    for message in messages:
        groups.setdefault(key(message), []).append(message)
    return groups
