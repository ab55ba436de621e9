"""Everything that writes, as (how it begins, what is done): to be cut, killed and compared with how it goes undisturbed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.documents import definition_l, policy_l
from tests.support.engine import PRINCIPAL, Workbench
from tests.support.scenes import fail, resume, suspend
from workflow_engine.models.admin import ActivateRequest, OwnerRequest
from workflow_engine.models.runtime import UpsertRuntimeRequest

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
