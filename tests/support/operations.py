"""Everything that writes, as (how it begins, what is done): to be cut, killed and compared with how it goes undisturbed."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.documents import definition_l, policy_l
from tests.support.engine import PRINCIPAL, Workbench
from tests.support.facts import deliveries, stands, steps
from tests.support.scenes import fail, resume, suspend
from workflow_engine.models.admin import ActivateRequest, OwnerRequest
from workflow_engine.models.runtime import UpsertRuntimeRequest

_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HOOKS = [{"route": "APP.LEAVE.DECIDE"}, {"route": "APP.LEAVE.TELL"}]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`begin` makes the scene and returns what `act` needs; `options` are the engine's."""

    begin: Callable[[Workbench], Any]
    act: Callable[[Workbench, Any], Any]
    options: dict[str, Any]


OPERATIONS: dict[str, Operation] = {}


def operation(name: str, begin: Callable[[Workbench], Any], act: Callable[[Workbench, Any], Any], **options: Any) -> None:
    # Without jitter the due times do not depend on ids.
    OPERATIONS[name] = Operation(begin=begin, act=act, options={"backoff_jitter_percent": 0} | options)


def leave(bench: Workbench) -> None:
    """L with two hooks on Submitted and two consumers."""
    bench.import_(definition_l(), policy_l(rules=[{"state": "Submitted", "emit": _HOOKS}]))
    bench.register("c1")
    bench.register("c2")


def submitted(bench: Workbench, *refs: str) -> list[Any]:
    """Instances in Submitted; five seconds go by, as they do between an event and its answer."""
    leave(bench)
    answers = [bench.trigger("Submit", ref, request_id="r-1") for ref in refs or ("R-1",)]
    bench.clock.advance(5)
    return answers


def one_held(bench: Workbench, *refs: str) -> list[Any]:
    """Submitted without hooks, and Approved held behind it for c1 and c2: the next word releases."""
    bench.import_(definition_l())
    bench.register("c1")
    bench.register("c2")
    answers = [bench.trigger("Submit", ref) for ref in refs or ("R-1",)]
    for ref in refs or ("R-1",):
        bench.trigger("Approve", ref)
    bench.clock.advance(5)
    return answers


def suspended(bench: Workbench) -> Any:
    """c1 never answered, so the engine gave up; something is held behind it."""
    first = one_held(bench)[0]
    bench.process_all("c2")
    for seconds in (41, 81):
        bench.clock.advance(seconds)
        bench.monitor()
    return first


def due(bench: Workbench) -> None:
    submitted(bench, "R-1", "R-2", "R-3")
    bench.clock.advance(41)


def catching_up(bench: Workbench) -> None:
    """c1 was down while two instances went two steps; it is back, and nothing was ever sent to it."""
    bench.import_(definition_l(), policy_l(rules=[{"state": "Submitted", "emit": _HOOKS}]))
    bench.register("c1", beat_seconds=10)
    bench.register("c2")
    bench.clock.advance(60)
    for ref in ("R-1", "R-2"):
        bench.trigger("Submit", ref)
        bench.trigger("Approve", ref)
    bench.beat("c1")


def down_for_a_day(bench: Workbench) -> None:
    leave(bench)
    bench.register("c3", beat_seconds=10)
    bench.clock.advance(days=1, seconds=60)


def exhausted(bench: Workbench, on_exhausted: str) -> None:
    bench.import_(definition_l())
    bench.register("c1", on_exhausted=on_exhausted)
    for ref in ("R-1", "R-2"):
        bench.trigger("Submit", ref)
        bench.trigger("Approve", ref)
    bench.clock.advance(41)
    bench.monitor()
    bench.clock.advance(81)


def in_review(bench: Workbench) -> None:
    """Two instances whose timeout is due, with everything acknowledged."""
    submitted(bench, "R-1", "R-2")
    bench.trigger(40, "R-1")
    bench.trigger(40, "R-2")
    bench.process_all("c1", "c2")
    bench.clock.advance(minutes=61)


def stale(bench: Workbench) -> None:
    submitted(bench, "R-1", "R-2")
    bench.process_all("c1", "c2")
    bench.clock.advance(days=2)


def said_only(bench: Workbench) -> None:
    """A timeout without event is due."""
    definition = definition_l()
    del definition["states"][2]["timeout_event"]
    bench.import_(definition)
    bench.register("c1")
    bench.trigger("Submit")
    bench.trigger(40)
    bench.process_all("c1")
    bench.clock.advance(minutes=61)


def held_by_operator(bench: Workbench) -> str:
    """Suspended by an operator; c1 has answered the first event meanwhile, so the second is free once it is resumed."""
    first = one_held(bench)[0]
    suspend(bench, first.instance_guid)
    bench.ack(first.ack_guid, "Processed")
    bench.clock.advance(5)
    return str(first.instance_guid)


def not_taken(bench: Workbench) -> None:
    submitted(bench)
    bench.publisher.refuse = lambda message: message.consumer == "c1"


def two_versions(bench: Workbench) -> None:
    leave(bench)
    bench.import_(definition_l(version=2, transitions=[*definition_l()["transitions"], {"from": "Draft", "event": 30, "to": "Rejected"}]))


def _item(answer: Any, outcome: str) -> dict[str, Any]:
    return {"ack_guid": answer.ack_guid, "outcome": outcome}


operation("trigger, new instance", leave, lambda bench, _: bench.trigger("Submit", request_id="r-1", payload={"a": 1}, actor="eve"))
operation("trigger, new instance, no request_id", leave, lambda bench, _: bench.trigger("Submit"))
operation("trigger, existing instance", submitted, lambda bench, _: bench.trigger("Approve", request_id="r-2"))
operation("trigger, existing instance, no request_id", submitted, lambda bench, _: bench.trigger("Approve"))
operation("trigger, by guid", submitted, lambda bench, made: bench.trigger("Approve", instance_guid=made[0].instance_guid))
operation("trigger without acks, new instance", leave, lambda bench, _: bench.trigger("Submit", ack_required=False))
operation("trigger without acks", submitted, lambda bench, _: bench.trigger("Approve", request_id="r-2", ack_required=False))
operation("refusal", submitted, lambda bench, _: bench.trigger("Submit", request_id="r-2"))
operation("refusal, new instance", leave, lambda bench, _: bench.trigger("Approve", request_id="r-1"))
operation("refusal, no request_id", submitted, lambda bench, _: bench.trigger("Submit"))
operation("refusal, new instance, no request_id", leave, lambda bench, _: bench.trigger("Approve"))
operation("replay", submitted, lambda bench, _: bench.trigger("Submit", request_id="r-1"))
operation("ack Delivered with release", one_held, lambda bench, made: bench.ack(made[0].ack_guid, "Delivered"))
operation("ack Processed with release", one_held, lambda bench, made: bench.ack(made[0].ack_guid, "Processed"))
operation("ack Failed with release", one_held, lambda bench, made: bench.ack(made[0].ack_guid, "Failed", message="no"))
operation("ack Retry", one_held, lambda bench, made: bench.ack(made[0].ack_guid, "Retry"))
operation("ack of a held event", one_held, lambda bench, _: bench.ack(held_guid(bench), "Processed"))
operation(
    "ack, batch with release",
    lambda bench: one_held(bench, "R-1", "R-2", "R-3"),
    lambda bench, made: bench.ack_batch([_item(made[0], "Processed"), _item(made[1], "Delivered"), _item(made[2], "Retry")]),
)
operation("ack that lifts a suspension", suspended, lambda bench, made: bench.ack(made.ack_guid, "Processed"), max_retry_count=2)
operation("monitor, due page", due, lambda bench, _: bench.monitor())
operation("monitor, pages smaller than a seq", catching_up, lambda bench, _: bench.monitor(), monitor_page_size=2)
operation("monitor, consumer down", down_for_a_day, lambda bench, _: bench.monitor())
operation("monitor, suspends", lambda bench: exhausted(bench, "suspend"), lambda bench, _: bench.monitor(), max_retry_count=2)
operation("monitor, skips", lambda bench: exhausted(bench, "skip"), lambda bench, _: bench.monitor(), max_retry_count=2)
operation("monitor, parks", lambda bench: exhausted(bench, "park"), lambda bench, _: bench.monitor(), max_retry_count=2)
operation("monitor, timeout page", in_review, lambda bench, _: bench.monitor())
operation("monitor, timeout without event", said_only, lambda bench, _: bench.monitor())
operation("monitor, overdue page", stale, lambda bench, _: bench.monitor())
operation("admin, suspend", submitted, lambda bench, made: suspend(bench, made[0].instance_guid))
operation("admin, resume", held_by_operator, resume)
operation("admin, fail", submitted, lambda bench, made: fail(bench, made[0].instance_guid))
operation(
    "admin, owner",
    leave,
    lambda bench, _: bench.engine.set_consumer_owner("c1", OwnerRequest(env_code=1, principal="other", reason="moved"), PRINCIPAL, bench.deadline()),
)
operation(
    "admin, activate",
    two_versions,
    lambda bench, _: bench.engine.activate_version("Leave", ActivateRequest(env_code=1, version=1, reason="back"), PRINCIPAL, bench.deadline()),
)
operation("registration, new", submitted, lambda bench, _: bench.register("c3", definitions=["Leave"]) > 0)
operation("registration, changed", submitted, lambda bench, _: bench.register("c2", kinds=["transition"]) > 0)
operation("deletion", submitted, lambda bench, _: bench.engine.delete_consumer(1, "c2", PRINCIPAL, bench.deadline()))
operation("heartbeat", submitted, lambda bench, _: bench.beat())
operation("given back", not_taken, lambda bench, _: bench.trigger("Submit", "R-2"))
operation("import", leave, lambda bench, _: bench.import_(definition_l(name="Other"), policy_l(**{"for": {"definition": "Other"}}, policy_name="other.policy")))
operation(
    "runtime",
    submitted,
    lambda bench, made: bench.engine.upsert_runtime(
        UpsertRuntimeRequest(instance_guid=made[0].instance_guid, activity="call", status="done"), bench.deadline()
    ),
)


def held_guid(bench: Workbench) -> str:
    """The event that is held back from c1."""
    return str(
        bench.sql("SELECT a.guid FROM ack a JOIN ack_consumer ac ON ac.ack_id = a.id WHERE ac.status = 0 ORDER BY ac.ack_id, ac.consumer_id LIMIT 1")[0]["guid"]
    )


def facts(bench: Workbench, answer: Any = None) -> dict[str, Any]:
    """What the world looks like, without the ids and guids that differ from run to run."""
    refs = [row["ref"] for row in bench.sql("SELECT CONVERT(external_ref USING utf8mb4) AS ref FROM instance ORDER BY external_ref")]
    return {
        "answer": _plain(answer),
        "instances": {ref: (_plain(stands(bench, ref)), steps(bench, ref), deliveries(bench, ref)) for ref in refs},
        "requests": _requests(bench),
        "firings": bench.sql("SELECT n FROM lc_timeout ORDER BY instance_id, n"),
        "audit": bench.sql("SELECT action, actor, reason FROM admin_audit ORDER BY created, action"),
        "consumers": bench.sql(
            "SELECT consumer_guid, owner, kinds, definitions, deleted_id > 0 AS is_deleted, last_beat, closed_ack_id FROM consumer ORDER BY 1"
        ),
        "listening": bench.sql("SELECT c.consumer_guid, s.definition_key FROM subscription s JOIN consumer c ON c.id = s.consumer_id ORDER BY 1, 2"),
        "versions": bench.sql(
            "SELECT d.name, v.version, d.active_version = v.id AS is_active FROM definition d JOIN def_version v ON v.definition_id = d.id ORDER BY 1, 2"
        ),
        "policies": bench.sql("SELECT p.name, COUNT(*) AS n FROM policy p JOIN def_policy l ON l.policy_id = p.id GROUP BY p.name ORDER BY 1"),
        "runtime": bench.sql("SELECT activity, status, is_frozen FROM runtime ORDER BY 1"),
        "sent": bench.sent(),
        "published": sorted(notice.code.value for notice in bench.publisher.notices),
        "stored": sorted({row["code"] for row in bench.sql("SELECT code FROM notice")}),
    }


def unknown_guids(bench: Workbench, answer: Any) -> set[str]:
    """Guids of acks and instances that were answered but are not in the tables."""
    known = {row["guid"] for row in bench.sql("SELECT guid FROM ack UNION ALL SELECT guid FROM instance")}
    return _guids(answer.model_dump(mode="json") if hasattr(answer, "model_dump") else answer) - known


def _guids(value: Any) -> set[str]:
    if isinstance(value, dict):
        named = {value[name] for name in ("ack_guid", "instance_guid") if isinstance(value.get(name), str)}
        return named.union(value.get("hook_ack_guids", []), *(_guids(one) for one in value.values()))
    return set().union(*(_guids(one) for one in value)) if isinstance(value, list) else set()


def _requests(bench: Workbench) -> list[tuple[str, Any]]:
    found = "SELECT CONVERT(r.request_id USING utf8mb4) AS request_id, r.answer FROM request_log r JOIN instance i ON i.id = r.instance_id"
    rows = bench.sql(f"{found} ORDER BY i.external_ref, 1")
    return [(re.sub(r"timeout:\d+", "timeout:…", row["request_id"]), _plain(json.loads(row["answer"]))) for row in rows]


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json")
    elif hasattr(value, "as_dict"):
        value = {name: count for name, count in value.as_dict().items() if name != "seconds"}
    if isinstance(value, dict):
        return {name: "id" if name.endswith("_id") and isinstance(one, int) else _plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, str):
        return re.sub(r"whsec_\d+", "whsec", _GUID.sub("guid", value))
    return value
