"""Triggers at the same moment, and everything at once: real threads, a connection each."""

import itertools
import random
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from tests.support.engine import RecordingPublisher, Workbench
from tests.support.facts import Delivery, codes, deliveries, lost_in_lanes, steps
from tests.support.racing import Overlap, at_once, crew
from tests.support.scenes import lamp, leave, leave_with_hook, policy_lamp, resume, suspend
from workflow_engine.errors import ConflictError

CALLERS = 50
ROUNDS = 25


@pytest.mark.scenario(21)
def test_fifty_first_triggers_of_one_new_ref_make_one_instance_and_one_step(bench: Workbench):
    leave_with_hook(bench)
    answers = at_once([partial(sandbox.trigger, "Submit") for sandbox in crew(bench, CALLERS)])
    assert sorted(answer.reason or "applied" for answer in answers) == ["NoOpAlreadyInState"] * (CALLERS - 1) + ["applied"]
    assert len({answer.instance_guid for answer in answers}) == 1
    assert bench.count("instance") == 1
    assert steps(bench) == [(1, "Draft", 10, "Submitted")]
    assert deliveries(bench) == [Delivery(), Delivery(kind="hook")]
    assert bench.sent() == [("c1", 1, "transition", 1), ("c1", 1, "hook", 1)]
    assert codes(bench) == ["NOOP_ALREADY_IN_STATE"] * (CALLERS - 1)


@pytest.mark.scenario(21, 105)
def test_fifty_calls_of_one_first_request_get_one_answer(bench: Workbench):
    leave_with_hook(bench)
    answers = at_once([partial(sandbox.trigger, "Submit", request_id="r-1") for sandbox in crew(bench, CALLERS)])
    assert sorted(answer.replayed for answer in answers) == [False] + [True] * (CALLERS - 1)
    assert len({answer.model_copy(update={"replayed": False}).model_dump_json() for answer in answers}) == 1
    assert steps(bench) == [(1, "Draft", 10, "Submitted")]
    assert bench.sent() == [("c1", 1, "transition", 1), ("c1", 1, "hook", 1)]
    assert codes(bench) == ["DUPLICATE_REQUEST"] * (CALLERS - 1)


@pytest.mark.scenario(18)
def test_one_event_by_two_callers_at_once_is_applied_once(bench: Workbench):
    leave(bench)
    pair = crew(bench, 2)
    for number in range(ROUNDS):
        ref = f"R-{number}"
        if number % 2:
            bench.trigger("Sumbit", ref)
        answers = at_once([partial(sandbox.trigger, "Submit", ref) for sandbox in pair])
        assert sorted((answer.applied, answer.reason) for answer in answers) == [(False, "NoOpAlreadyInState"), (True, None)]
        assert len({answer.instance_guid for answer in answers}) == 1
    assert bench.count("lifecycle") == bench.count("ack_consumer") == len(bench.sent()) == ROUNDS


@pytest.mark.scenario(18)
def test_two_events_that_exclude_each_other_at_once_are_one_step(bench: Workbench):
    leave(bench)
    pair = crew(bench, 2)
    for number in range(ROUNDS):
        ref = f"R-{number}"
        bench.trigger("Submit", ref)
        answers = at_once([partial(sandbox.trigger, event, ref) for sandbox, event in zip(pair, ("Approve", "Reject"), strict=True)])
        assert sorted((answer.applied, answer.reason) for answer in answers) == [(False, "InstanceIsTerminal"), (True, None)]
        assert len(steps(bench, ref)) == 2
    assert bench.count("instance") == ROUNDS


@pytest.mark.scenario(18)
@pytest.mark.parametrize("is_new", [True, False], ids=["new", "existing"])
def test_a_caller_that_meets_an_open_transition_waits_and_sees_it_done(bench: Workbench, *, is_new: bool):
    leave(bench)
    if not is_new:
        bench.trigger("Sumbit")
    first, second = Overlap(bench).run(lambda sandbox: sandbox.trigger("Submit"), lambda sandbox: sandbox.trigger("Approve"))
    assert (first.applied, first.seq) == (True, 1)
    assert (second.applied, second.seq, second.from_state) == (True, 2, "Submitted")
    assert steps(bench) == [(1, "Draft", 10, "Submitted"), (2, "Submitted", 20, "Approved")]
    # The second saw the first one's event unanswered, so its own is held.
    assert [row.status for row in deliveries(bench)] == ["PENDING", "HELD"]


class Turmoil:
    """Applications, consumers, a monitor and an operator, all on the same few lamps at once."""

    REFS = ("R-0", "R-1", "R-2")
    CONSUMERS = ("c1", "c2")

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._guids = [bench.trigger("Switch on", ref, "Lamp").instance_guid for ref in self.REFS]
        self._stop = threading.Event()
        self.errors: list[BaseException] = []
        self.done: dict[str, int] = {}

    def run(self, turns: int) -> None:
        workers: list[tuple[str, Callable[[Workbench, random.Random], None], int]] = [
            *(("trigger", self._trigger, turns) for _ in range(3)),
            *(("ack", self._ack, turns) for _ in range(3)),
            *(("monitor", self._watch, turns // 4) for _ in range(2)),
            ("admin", self._administer, turns // 2),
        ]
        sandboxes = crew(self._bench, len(workers))
        calls = [partial(self._work, sandbox, *worker, seed) for seed, (sandbox, worker) in enumerate(zip(sandboxes, workers, strict=True))]
        at_once(calls)

    def _work(self, sandbox: Workbench, name: str, act: Callable[[Workbench, random.Random], None], turns: int, seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311  # a repeatable choice
        for _ in range(turns):
            if self._stop.is_set():
                return
            try:
                act(sandbox, chance)
                self.done[name] = self.done.get(name, 0) + 1
            except Exception as error:  # noqa: BLE001  # whatever reaches a caller is what the test is about
                self.errors.append(error)
                self._stop.set()

    def _trigger(self, sandbox: Workbench, chance: random.Random) -> None:
        event = chance.choice((1, 2, 3))
        sandbox.trigger(event, chance.choice(self.REFS), "Lamp", request_id=chance.choice((None, f"{event}-{chance.randrange(20)}")))

    def _ack(self, sandbox: Workbench, chance: random.Random) -> None:
        consumer = chance.choice(self.CONSUMERS)
        guids = [message.webhook_id for message in list(sandbox.publisher.messages)[-30:] if message.consumer == consumer]
        outcomes = ("Delivered", "Delivered", "Processed", "Processed", "Retry", "Failed")
        chosen = chance.sample(guids, min(len(guids), chance.choice((1, 1, 4))))
        if chosen:
            sandbox.ack_batch([{"ack_guid": guid, "outcome": chance.choice(outcomes)} for guid in chosen], consumer)

    def _watch(self, sandbox: Workbench, chance: random.Random) -> None:
        sandbox.clock.advance(chance.choice((1, 45)))
        sandbox.monitor()

    def _administer(self, sandbox: Workbench, chance: random.Random) -> None:
        # Suspending twice is a conflict, and an answer.
        with suppress(ConflictError):
            chance.choice((suspend, resume))(sandbox, chance.choice(self._guids))


def first_sends_in_order(publisher: RecordingPublisher) -> bool:
    """Per lane, an event is first sent after all events before it."""
    first: dict[tuple[int, int], list[int]] = {}
    for message in publisher.messages:
        seen = first.setdefault(message.lane, [])
        if message.seq not in seen:
            seen.append(message.seq)
    return all(seqs == sorted(seqs) for seqs in first.values())


def settle(bench: Workbench) -> None:
    """Resume what is suspended, then let the consumers process everything."""
    for row in bench.sql("SELECT guid FROM instance WHERE flags & 2"):
        resume(bench, row["guid"])
    for _ in range(200):
        bench.clock.advance(1_000)
        bench.monitor()
        open_rows: Any = bench.sql(
            "SELECT a.guid, CONVERT(c.consumer_guid USING utf8mb4) AS consumer FROM ack_consumer ac JOIN ack a ON a.id = ac.ack_id "
            "JOIN consumer c ON c.id = ac.consumer_id WHERE ac.status IN (1, 2) ORDER BY ac.seq LIMIT 100"
        )
        if not open_rows:
            return
        for consumer, rows in itertools.groupby(sorted(open_rows, key=lambda row: row["consumer"]), key=lambda row: row["consumer"]):
            bench.ack_batch([{"ack_guid": row["guid"], "outcome": "Processed"} for row in rows], consumer)


@pytest.mark.scenario(103)
def test_applications_consumers_monitors_and_operators_at_once_never_see_an_error(make_bench: Any):
    bench = make_bench(max_retry_count=4)
    lamp(
        bench,
        *Turmoil.CONSUMERS,
        policy=policy_lamp([{"state": "On", "emit": [{"route": "APP.LIGHT"}]}], timeouts=[{"state": "On", "timeout_minutes": 5, "timeout_event": 2}]),
    )
    turmoil = Turmoil(bench)
    turmoil.run(turns=60)
    assert turmoil.errors == []
    assert set(turmoil.done) == {"trigger", "ack", "monitor", "admin"}
    assert bench.noticed("MONITOR_ERROR") == bench.noticed("TRIGGER_ERROR") == []
    assert lost_in_lanes(bench) == []
    assert first_sends_in_order(bench.publisher)
    counted = bench.sql("SELECT i.seq, COUNT(*) AS steps, MAX(l.seq) AS last FROM instance i JOIN lifecycle l ON l.instance_id = i.id GROUP BY i.id, i.seq")
    assert [(row["steps"], row["last"]) for row in counted] == [(row["seq"], row["seq"]) for row in counted]
    settle(bench)
    assert bench.count("ack_consumer", "status IN (0, 1, 2, 5, 6)") == 0
    assert first_sends_in_order(bench.publisher)
    sent = {(message.consumer, message.webhook_id) for message in bench.publisher.messages}
    assert len(sent) == bench.count("ack_consumer")
