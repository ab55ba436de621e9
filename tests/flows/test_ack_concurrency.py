"""Acks and triggers that meet, and acks that are cut off: the lane is released once, at once, and never lost."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from tests.support.engine import Workbench
from tests.support.facts import Delivery, codes, deliveries, delivery, held, lost_in_lanes
from tests.support.racing import Overlap, at_once, crew, on
from tests.support.scenes import lamp, policy_lamp
from workflow_engine.adapters.database import url_target
from workflow_engine.dal import Db, DbExecutionLoad, Query, Statement
from workflow_engine.models.trigger import LifeCycleTriggerResult

ROUNDS = 40
# A race that loses an event now and then would show itself in as many meetings.
MEETINGS = 300


def step(bench: Workbench, event: int, ref: str = "R-1") -> LifeCycleTriggerResult:
    return bench.trigger(event, ref, "Lamp")


@pytest.mark.scenario(46)
def test_of_processed_and_failed_at_once_one_wins_and_the_lane_is_released_once(bench: Workbench):
    lamp(bench)
    pair = crew(bench, 2)
    for number in range(ROUNDS):
        ref = f"R-{number}"
        first, second = step(bench, 1, ref), step(bench, 2, ref)
        answers = at_once([partial(sandbox.ack, first.ack_guid, outcome) for sandbox, outcome in zip(pair, ("Processed", "Failed"), strict=True)])
        assert sorted(answer.result for answer in answers) == ["applied", "stale"]
        assert len({answer.status for answer in answers}) == 1
        assert [message.webhook_id for message in bench.publisher.messages].count(second.ack_guid) == 1
    assert len(bench.noticed("STALE_ACK")) == ROUNDS
    assert codes(bench).count("CONSUMER_FAILURE") == bench.count("ack_consumer", "status = 4")
    assert lost_in_lanes(bench) == []


@pytest.mark.scenario(46)
@pytest.mark.parametrize("outcomes", [("Processed", "Failed"), ("Failed", "Processed")])
def test_the_later_of_two_contradicting_words_waits_and_is_stale(bench: Workbench, outcomes: tuple[str, str]):
    lamp(bench)
    guid = step(bench, 1).ack_guid
    step(bench, 2)
    first, second = Overlap(bench).run(*(lambda sandbox, outcome=outcome: sandbox.ack(guid, outcome) for outcome in outcomes))
    assert ((first.result, first.status), (second.result, second.status)) == (("applied", outcomes[0]), ("stale", outcomes[0]))
    assert bench.sent() == [("c1", 1, "transition", 1), ("c1", 2, "transition", 1)]


@pytest.mark.scenario(46)
def test_the_last_two_words_of_a_step_at_once_release_the_next_step_once(bench: Workbench):
    lamp(bench, policy=policy_lamp([{"state": "On", "emit": [{"route": "APP.1"}]}]))
    pair = crew(bench, 2)
    for number in range(ROUNDS):
        ref = f"R-{number}"
        first, second = step(bench, 1, ref), step(bench, 2, ref)
        at_once([partial(sandbox.ack, guid, "Delivered") for sandbox, guid in zip(pair, (first.ack_guid, first.hook_ack_guids[0]), strict=True)])
        assert [message.webhook_id for message in bench.publisher.messages].count(second.ack_guid) == 1


@pytest.mark.scenario(102)
def test_a_trigger_that_waits_for_an_ack_sends_its_event_at_once(bench: Workbench):
    lamp(bench)
    guid = step(bench, 1).ack_guid
    acked, triggered = Overlap(bench).run(lambda sandbox: sandbox.ack(guid, "Delivered"), lambda sandbox: step(sandbox, 2))
    assert (acked.result, triggered.applied) == ("applied", True)
    assert bench.sent() == [("c1", 1, "transition", 1), ("c1", 2, "transition", 1)]
    assert delivery(bench, seq=2) == Delivery(seq=2)


@pytest.mark.scenario(102)
def test_an_ack_that_waits_for_a_trigger_releases_its_event_at_once(bench: Workbench):
    lamp(bench)
    guid = step(bench, 1).ack_guid
    triggered, acked = Overlap(bench).run(lambda sandbox: step(sandbox, 2), lambda sandbox: sandbox.ack(guid, "Delivered"))
    assert (acked.result, triggered.applied) == ("applied", True)
    assert bench.sent() == [("c1", 1, "transition", 1), ("c1", 2, "transition", 1)]
    assert delivery(bench, seq=2) == Delivery(seq=2)


@pytest.mark.scenario(102)
def test_a_batch_that_waits_for_a_trigger_releases_its_event_at_once(bench: Workbench):
    lamp(bench)
    guids = [step(bench, 1, ref).ack_guid for ref in ("R-1", "R-2")]
    Overlap(bench).run(lambda sandbox: step(sandbox, 2), lambda sandbox: sandbox.ack_batch([{"ack_guid": guid, "outcome": "Delivered"} for guid in guids]))
    assert bench.sent()[2:] == [("c1", 2, "transition", 1)]


@pytest.mark.scenario(102)
def test_hundreds_of_acks_and_triggers_that_meet_never_leave_an_event_behind(bench: Workbench):
    lamp(bench)
    first, second = crew(bench, 2)
    guid = step(bench, 1).ack_guid
    for number in range(MEETINGS):
        calls = [partial(first.ack, guid, "Delivered"), partial(step, second, 2 - number % 2)]
        results = at_once(calls if number % 4 < 2 else calls[::-1])
        (triggered,) = [result for result in results if isinstance(result, LifeCycleTriggerResult)]
        assert triggered.applied
        last = bench.publisher.messages[-1]
        assert (last.webhook_id, last.attempt) == (triggered.ack_guid, 1), f"event {triggered.seq} waits for the monitor"
        guid = triggered.ack_guid
    assert [seq for _, seq, _, _ in bench.sent()] == list(range(1, MEETINGS + 2))
    assert lost_in_lanes(bench) == []


class ProcessKilledError(BaseException):
    """The sandbox is gone: nobody rolls back, retries or publishes."""


class KillingDb(Db):
    """Dies in the next write packet, after the given number of its statements ran."""

    def __init__(self, target: Any) -> None:
        super().__init__(target)
        self.after: int | None = None
        self.length = 0

    def send(self, load: DbExecutionLoad, packet: Sequence[Statement | Query[Any]]) -> list[Any]:
        if self.after is None or packet[-1].sql != "COMMIT":
            return super().send(load, packet)
        self.length = len(packet)
        if self.after:
            super().send(load, packet[: self.after])
        self.close()
        raise ProcessKilledError


@pytest.mark.scenario(47)
@pytest.mark.parametrize("outcome", ["Processed", "Failed"])
def test_an_ack_killed_at_any_point_leaves_outcome_and_release_both_or_neither(bench: Workbench, outcome: str):
    """Failed adds a notice to the packet."""
    lamp(bench, policy=policy_lamp([{"state": "Off", "emit": [{"route": "APP.1"}]}]))
    db = KillingDb(url_target(bench.database_url))
    sandbox = on(bench, db)
    sandbox.dal.run(sandbox.deadline(), lambda _load: None)
    before = [Delivery(), held(seq=2), held(seq=2, kind="hook")]
    done = Delivery(status="PROCESSED", due=None, delivered=0, processed=0) if outcome == "Processed" else Delivery(status="FAILED", due=None)
    after = [done, Delivery(seq=2), Delivery(seq=2, kind="hook")]
    place = 0
    while place == 0 or place <= db.length:
        ref, db.after = f"R-{place}", place
        guid = step(bench, 1, ref).ack_guid
        step(bench, 2, ref)
        with pytest.raises(ProcessKilledError):
            sandbox.ack(guid, outcome)
        is_committed = place == db.length
        assert deliveries(bench, ref) == (after if is_committed else before)
        assert codes_stored(bench, ref) == (["CONSUMER_FAILURE"] if is_committed and outcome == "Failed" else [])
        # Whoever comes next finishes it: the consumer repeats its word, the monitor sends what was not published.
        assert bench.ack(guid, outcome).result == ("unchanged" if is_committed else "applied")
        place += 1
    bench.clock.advance(40)
    bench.monitor()
    for number in range(place):
        told = [(body["seq"], body["kind"]) for body in bench.bodies() if body["external_ref"] == f"R-{number}"]
        assert told[:3] == [(1, "transition"), (2, "transition"), (2, "hook")]
    assert lost_in_lanes(bench) == []
    assert place > 4


def codes_stored(bench: Workbench, ref: str) -> list[str]:
    return [row["code"] for row in bench.sql(f"SELECT code FROM notice WHERE external_ref = '{ref}' ORDER BY id")]
