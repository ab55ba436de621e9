"""Whoever dies or freezes with an instance locked lets it go in bounded time, and no call of ours leaves anything locked or open."""

import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.documents import definition_l, policy_l
from tests.support.engine import PRINCIPAL
from tests.support.facts import steps
from tests.support.killed import Journal, Nursery, Work, hold_lock
from tests.support.operations import submitted
from tests.support.scenes import fail, resume, suspend
from tests.support.sessions import until_it_waits, within
from tests.support.wire import Wire, WiredBench
from workflow_engine.errors import DeadlineExceededError, WorkFlowError
from workflow_engine.models.admin import ActivateRequest, OwnerRequest
from workflow_engine.models.consumer import ListConsumersRequest, RegisterConsumerRequest
from workflow_engine.models.instances_api import ListInstancesRequest
from workflow_engine.models.notices_api import ListNoticesRequest
from workflow_engine.models.runtime import RuntimeStatusRequest, UpsertRuntimeRequest
from workflow_engine.models.timeline import TimelineRequest

APPROVED = [(1, "Draft", 10, "Submitted"), (2, "Submitted", 20, "Approved")]


@contextmanager
def holder(wire: Wire, nursery: Nursery, bench: WiredBench, folder: Path, idle_seconds: int = 60) -> Generator[None]:
    """Another process has the instance locked; it is killed in the end, if not before."""
    guid = submitted(bench)[0].instance_guid
    journal = folder / "journal"
    program = f"{hold_lock.__module__}:{hold_lock.__name__}"
    nursery.begin(
        Work(url=str(wire.server), looking_url=str(wire.server), journal=journal, program=program, argument=(guid, idle_seconds), at=bench.clock.now())
    )
    give_up_at = time.monotonic() + 10
    while not Journal(journal).read("locked"):
        assert time.monotonic() < give_up_at, Journal(journal).read("error")
    yield
    nursery.kill()
    assert nursery.end() == "killed"


@pytest.mark.scenario(116)
def test_a_killed_process_lets_its_lock_go_and_the_waiting_trigger_applies(wire: Wire, nursery: Nursery, bench_on_wire: WiredBench, tmp_path: Path):
    with ThreadPoolExecutor(1) as pool:
        with holder(wire, nursery, bench_on_wire, tmp_path):
            call = pool.submit(bench_on_wire.trigger, "Approve", request_id="r-2")
            until_it_waits(wire, wire.links[-1].server_id)
            assert not call.done()
        began = time.monotonic()
        answer = call.result(20)
    assert (answer.applied, answer.replayed, steps(bench_on_wire), wire.errors) == (True, False, APPROVED, [])
    assert time.monotonic() - began < 3


@pytest.mark.scenario(116)
def test_a_frozen_sandbox_loses_its_lock_with_its_idle_connection(wire: Wire, nursery: Nursery, bench_on_wire: WiredBench, tmp_path: Path):
    with holder(wire, nursery, bench_on_wire, tmp_path, idle_seconds=1):
        nursery.freeze()
        began = time.monotonic()
        answer = bench_on_wire.trigger("Approve", request_id="r-2")
        took = time.monotonic() - began
    assert (answer.applied, answer.replayed, steps(bench_on_wire)) == (True, False, APPROVED)
    assert took < 5


@pytest.mark.scenario(116)
def test_a_lock_held_longer_than_the_caller_can_wait_is_answered_in_time(wire: Wire, nursery: Nursery, bench_on_wire: WiredBench, tmp_path: Path):
    with holder(wire, nursery, bench_on_wire, tmp_path):
        nursery.freeze()
        began = time.monotonic()
        with pytest.raises(DeadlineExceededError):
            within(bench_on_wire, 0.6, lambda bench: bench.trigger("Approve", request_id="r-2"))
        took = time.monotonic() - began
    answer = bench_on_wire.trigger("Approve", request_id="r-2")
    assert (answer.applied, answer.replayed, steps(bench_on_wire)) == (True, False, APPROVED)
    assert 0.5 < took < 2


def calls(bench: WiredBench, made: Any) -> dict[str, Callable[[], Any]]:
    """Every public method of the engine, with what it refuses as well."""
    engine, guid, time_left = bench.engine, made.instance_guid, bench.deadline
    runtime = UpsertRuntimeRequest(instance_guid=guid, activity="call", status="open")
    return {
        "import": lambda: bench.import_(definition_l(name="Other")),
        "import again": lambda: bench.import_(definition_l(), policy_l()),
        "import refused": lambda: bench.import_(definition_l(states=[])),
        "register": lambda: bench.register("c3"),
        "register again": lambda: bench.register("c2"),
        "register as a stranger": lambda: engine.register_consumer(registration("c1"), "stranger", time_left()),
        "heartbeat": bench.beat,
        "heartbeat of nobody": lambda: bench.beat("nobody"),
        "trigger": lambda: bench.trigger("Submit", "R-9", request_id="r-1"),
        "trigger replayed": lambda: bench.trigger("Submit", "R-9", request_id="r-1"),
        "trigger with another body": lambda: bench.trigger("Submit", "R-9", request_id="r-1", actor="eve"),
        "trigger refused": lambda: bench.trigger("Submit", request_id="r-8"),
        "trigger without acks": lambda: bench.trigger("Approve", "R-9", ack_required=False),
        "trigger of no definition": lambda: bench.trigger("Submit", def_name="None"),
        "trigger of no instance": lambda: bench.trigger("Submit", instance_guid="0" * 36),
        "ack": lambda: bench.ack(made.ack_guid, "Delivered"),
        "ack again": lambda: bench.ack(made.ack_guid, "Delivered"),
        "ack of nothing": lambda: bench.ack("0" * 36, "Delivered"),
        "ack by nobody": lambda: bench.ack(made.ack_guid, "Delivered", "nobody"),
        "acks": lambda: bench.ack_batch([{"ack_guid": made.ack_guid, "outcome": "Processed"}, {"ack_guid": "0" * 36, "outcome": "Processed"}]),
        "get_ack": lambda: engine.get_ack(made.ack_guid, 1, "c1", PRINCIPAL, time_left()),
        "monitor": bench.monitor,
        "list_definitions": lambda: engine.list_definitions(1, 10, None, time_left()),
        "get_definition": lambda: engine.get_definition(1, "Leave", time_left()),
        "list_definition_versions": lambda: engine.list_definition_versions(1, "Leave", 10, None, time_left()),
        "list_instances": lambda: engine.list_instances(ListInstancesRequest(), time_left()),
        "get_instance": lambda: engine.get_instance(guid, time_left()),
        "get_instance of nothing": lambda: engine.get_instance("0" * 36, time_left()),
        "timeline": lambda: engine.get_timeline_json(guid, TimelineRequest(), time_left()),
        "why": lambda: engine.why(guid, time_left()),
        "list_consumers": lambda: engine.list_consumers(ListConsumersRequest(), time_left()),
        "list_notices": lambda: engine.list_notices(ListNoticesRequest(), time_left()),
        "health": lambda: engine.health(time_left()),
        "runtime": lambda: engine.upsert_runtime(runtime, time_left()),
        "runtime again": lambda: engine.upsert_runtime(runtime, time_left()),
        "runtime status of nothing": lambda: engine.set_runtime_status(1, RuntimeStatusRequest(status="x"), time_left()),
        "suspend": lambda: suspend(bench, guid),
        "suspend again": lambda: suspend(bench, guid),
        "trigger while suspended": lambda: bench.trigger("Approve"),
        "resume": lambda: resume(bench, guid),
        "fail": lambda: fail(bench, guid),
        "owner": lambda: engine.set_consumer_owner("c2", OwnerRequest(env_code=1, principal="other", reason="x"), PRINCIPAL, time_left()),
        "activate": lambda: engine.activate_version("Leave", ActivateRequest(env_code=1, version=1, reason="x"), PRINCIPAL, time_left()),
        "delete": lambda: engine.delete_consumer(1, "c3", PRINCIPAL, time_left()),
        "delete again": lambda: engine.delete_consumer(1, "c3", PRINCIPAL, time_left()),
        "monitor, closing": bench.monitor,
    }


def registration(consumer: str) -> Any:
    return RegisterConsumerRequest(env_code=1, consumer=consumer, definitions=["*"], kinds=["transition"])


def test_no_public_call_leaves_a_transaction_open_or_a_row_locked(wire: Wire, bench_on_wire: WiredBench):
    made = submitted(bench_on_wire)[0]
    refused: list[str] = []
    found: dict[str, Any] = {}
    for name, call in calls(bench_on_wire, made).items():
        try:
            call()
        except WorkFlowError:
            refused.append(name)
        wire.sql("SELECT id FROM instance FOR UPDATE NOWAIT")
        found[name] = wire.is_in_transaction
    assert [name for name, is_open in found.items() if is_open] == []
    assert wire.sql(f"SELECT trx_state FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = {wire.links[-1].server_id}") == []
    assert refused == [
        "import refused",
        "register as a stranger",
        "heartbeat of nobody",
        "trigger with another body",
        "trigger of no definition",
        "trigger of no instance",
        "ack of nothing",
        "ack by nobody",
        "get_instance of nothing",
        "runtime status of nothing",
        "suspend again",
        "delete again",
    ]
