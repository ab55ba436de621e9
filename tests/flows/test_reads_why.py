"""Why an instance stands still, asked in the situations that the engine itself brings about."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.support.documents import definition_l
from tests.support.engine import START, Workbench
from tests.support.reads import Reads
from tests.support.rows import Rows
from tests.support.scenes import fail, lamp, leave, leave_with_hook, resume, suspend
from workflow_engine.errors import NotFoundError
from workflow_engine.models.enums import AckStatus, GaveUp, SuspendedBy
from workflow_engine.models.flags import LifeCycleInstanceFlag
from workflow_engine.models.instance import EventView
from workflow_engine.models.why import DownConsumer, HeldAck, HeldBy, OpenAck, PossibleEvent, RunningTimeout


def opened(ack_guid: str | None, **changes: Any) -> OpenAck:
    """An event just sent to c1."""
    fields = {"kind": "transition", "route": None, "seq": 1, "consumer": "c1", "alive": True, "status": "Pending", "attempts": 1}
    return OpenAck(**{"ack_guid": ack_guid, **fields, "next_due": START + timedelta(seconds=40), **changes})


def test_an_instance_that_waits_for_its_consumers(bench: Workbench, reads: Reads):
    leave_with_hook(bench, "c1")
    step = bench.trigger("Submit")
    why = reads.why(step.instance_guid)
    assert why.instance == reads.instance(step.instance_guid)
    assert why.summary == "It waits for c1 to acknowledge step 1 (sent 1 time, due at 2026-01-01T12:00:40.000000Z)."
    assert why.open == [opened(step.ack_guid), opened(step.hook_ack_guids[0], kind="hook", route="APP.LEAVE.DECIDE")]
    assert (why.held, why.gave_up, why.down, why.timeout, why.notices) == ([], [], [], None, [])
    assert why.events == [
        PossibleEvent(code=20, name="Approve", to_state="Approved"),
        PossibleEvent(code=30, name="Reject", to_state="Rejected"),
        PossibleEvent(code=40, name="40", to_state="Review"),
    ]


def test_later_events_are_held_by_the_pending_one_of_their_lane(bench: Workbench, reads: Reads):
    leave(bench, "c1", "c2")
    first, second = bench.trigger("Submit"), bench.trigger(40)
    bench.ack(first.ack_guid, "Delivered", "c2")
    why = reads.why(first.instance_guid)
    assert why.held == [HeldAck(ack_guid=second.ack_guid or "", seq=2, consumer="c1", held_by=HeldBy(ack_guid=first.ack_guid, reason="pending"))]
    assert why.open == [
        opened(first.ack_guid),
        opened(first.ack_guid, consumer="c2", status="Delivered", attempts=0, next_due=START + timedelta(minutes=4)),
        opened(second.ack_guid, consumer="c2", seq=2),
    ]


def test_a_consumer_that_is_down_is_named(bench: Workbench, reads: Reads):
    bench.import_(definition_l())
    bench.register("c1", beat_seconds=10)
    bench.clock.advance(31)
    step = bench.trigger("Submit")
    why = reads.why(step.instance_guid)
    assert why.down == [DownConsumer(consumer="c1", last_beat=START)]
    assert why.open == [opened(step.ack_guid, alive=False, attempts=0, next_due=START + timedelta(seconds=31))]
    assert "c1 is down since 2026-01-01T12:00:00.000000Z" in why.summary


def test_a_consumer_of_another_definition_or_environment_is_none_of_its_business(bench: Workbench, reads: Reads):
    leave(bench, "c1")
    bench.register("elsewhere", env_code=2, beat_seconds=10)
    bench.register("other", definitions=["Other"], beat_seconds=10)
    bench.clock.advance(60)
    assert reads.why(bench.trigger("Submit").instance_guid).down == []


def test_a_running_timeout_is_shown_with_its_event(bench: Workbench, reads: Reads):
    leave(bench, "c1")
    bench.trigger("Submit")
    bench.clock.advance(60)
    guid = bench.trigger(40).instance_guid
    bench.process_all("c1")
    why = reads.why(guid)
    due_at = START + timedelta(minutes=61)
    assert why.timeout == RunningTimeout(event=EventView(code=30, name="Reject"), mode="once", n=0, max_retry=None, due_at=due_at)
    assert why.summary == (
        "Every consumer has processed step 2, and nobody has raised the next event (Approve or Reject); "
        "the timeout raises Reject at 2026-01-01T13:01:00.000000Z."
    )


def test_a_repeated_timeout_counts_its_firings_in_the_stay(bench: Workbench, reads: Reads):
    loop = {"timeout_minutes": 60, "timeout_mode": "repeat", "timeout_event": 3, "max_retry": 2}
    policy = {"policy_name": "p", "defName": "Lamp", "params": [], "rules": [], "timeouts": [{"state": "On", **loop}]}
    lamp(bench, "c1", policy=policy)
    guid = bench.trigger(1, "R-1", "Lamp").instance_guid
    bench.clock.advance(hours=1)
    bench.monitor()
    timeout = reads.why(guid).timeout
    assert timeout == RunningTimeout(event=EventView(code=3, name="Flicker"), mode="repeat", n=1, max_retry=2, due_at=START + timedelta(hours=2))
    for _ in range(2):
        bench.clock.advance(hours=1)
        bench.monitor()
    assert reads.why(guid).timeout is None


def test_an_operators_suspension_holds_everything(bench: Workbench, reads: Reads):
    leave(bench, "c1")
    first, second = bench.trigger("Submit"), bench.trigger(40)
    suspend(bench, first.instance_guid)
    why = reads.why(first.instance_guid)
    assert why.summary == 'An operator suspended it ("looking into it"); it goes on when an operator resumes it.'
    assert why.held == [HeldAck(ack_guid=second.ack_guid or "", seq=2, consumer="c1", held_by=HeldBy(ack_guid=None, reason="suspended"))]
    assert why.open == [opened(first.ack_guid, next_due=None)]
    assert why.timeout is None
    assert [event.name for event in why.events] == ["Approve", "Reject"]
    resume(bench, first.instance_guid)
    assert reads.why(first.instance_guid).held[0].held_by == HeldBy(ack_guid=first.ack_guid, reason="pending")


def test_the_engines_suspension_shows_the_event_it_gave_up_on(make_bench: Any):
    bench = make_bench(max_retry_count=1)
    reads = Reads(bench)
    leave(bench, "c1")
    first, second = bench.trigger("Submit"), bench.trigger(40)
    bench.clock.advance(hours=1)
    bench.monitor()
    why = reads.why(first.instance_guid)
    assert why.summary == (
        "The engine suspended it because c1 did not acknowledge step 1 after 1 attempt; it goes on when c1 acknowledges or an operator resumes it."
    )
    assert [(ack.ack_guid, ack.gave_up, ack.consumer, ack.attempts) for ack in why.gave_up] == [(first.ack_guid, "suspend", "c1", 1)]
    assert why.held == [HeldAck(ack_guid=second.ack_guid or "", seq=2, consumer="c1", held_by=HeldBy(ack_guid=first.ack_guid, reason="suspended"))]
    assert why.notices[0].code == "ACK_SUSPEND"


@pytest.mark.parametrize(
    ("on_exhausted", "beginning"), [("park", "The engine gave up on c1 at step 1 and parked its events"), ("skip", "It waits for c1 to acknowledge step 2")]
)
def test_what_becomes_of_a_lane_that_was_given_up(make_bench: Any, on_exhausted: str, beginning: str):
    bench = make_bench(max_retry_count=1)
    reads = Reads(bench)
    bench.import_(definition_l())
    bench.register("c1", on_exhausted=on_exhausted)
    first, second = bench.trigger("Submit"), bench.trigger(40)
    bench.clock.advance(minutes=10)
    bench.monitor()
    why = reads.why(first.instance_guid)
    assert why.summary.startswith(beginning)
    if on_exhausted == "park":
        assert why.held == [HeldAck(ack_guid=second.ack_guid or "", seq=2, consumer="c1", held_by=HeldBy(ack_guid=first.ack_guid, reason="parked"))]
        assert [ack.gave_up for ack in why.gave_up] == ["park"]


def test_a_consumers_own_failure_is_the_reason(bench: Workbench, reads: Reads):
    leave(bench, "c1")
    step = bench.trigger("Submit")
    bench.ack(step.ack_guid, "Failed", message="no stock")
    why = reads.why(step.instance_guid)
    assert why.summary == 'c1 reported step 1 as Failed ("no stock"), and nobody has raised the next event (Approve, Reject or 40).'
    assert why.gave_up == []
    assert [notice.code for notice in why.notices] == ["CONSUMER_FAILURE"]


def test_a_step_without_acknowledgement_says_so(bench: Workbench, reads: Reads):
    leave(bench, "c1")
    guid = bench.trigger("Submit", ack_required=False).instance_guid
    assert reads.why(guid).summary.startswith("Step 1 asked for no acknowledgement, and nobody has raised the next event")


def test_an_instance_made_by_a_refused_event_waits_for_its_first(bench: Workbench, reads: Reads):
    leave(bench, "c1")
    why = reads.why(bench.trigger("Approve").instance_guid)
    assert why.summary == "It was created in state Draft, and no event has moved it yet (Submit)."
    assert [notice.code for notice in why.notices] == ["TRANSITION_REJECTED"]


def test_an_ended_instance_can_be_moved_by_nothing(bench: Workbench, reads: Reads):
    leave(bench, "c1")
    bench.trigger("Submit")
    guid = bench.trigger("Approve").instance_guid
    assert reads.why(guid).summary == "It is Completed in state Approved, and no event can move it any more; its last events still go to c1."
    bench.process_all("c1")
    why = reads.why(guid)
    assert (why.summary, why.events, why.open) == ("It is Completed in state Approved, and no event can move it any more.", [], [])


def test_a_failed_instance_gives_the_operators_reason(bench: Workbench, reads: Reads):
    leave(bench, "c1")
    guid = bench.trigger("Submit").instance_guid
    bench.process_all("c1")
    fail(bench, guid)
    assert reads.why(guid).summary == 'It was ended as Failed ("beyond repair"), and no event can move it any more.'


def test_an_archived_instance_says_so(rows: Rows, reads: Reads):
    instance = rows.instance(rows.definition(), flags=int(LifeCycleInstanceFlag.ARCHIVED))
    assert reads.why(instance.guid).summary == "It is archived; nothing can move it any more."


def test_rows_of_a_deleted_consumer_are_told_until_they_are_closed(rows: Rows, reads: Reads):
    instance = rows.instance(rows.definition())
    rows.step(instance)
    gone = rows.consumer("gone", definitions=(), deleted_id=1)
    rows.ack(instance, [gone])
    why = reads.why(instance.guid)
    assert why.summary == "It waits for gone to acknowledge step 1; gone has been deleted, and the monitor closes its events."
    assert why.down == []


def test_no_lane_crowds_out_another(rows: Rows, reads: Reads):
    instance = rows.instance(rows.definition())
    rows.step(instance)
    consumers = [rows.consumer(f"c{number:02}") for number in range(40)]
    rows.ack(instance, consumers)
    for number in range(10):
        rows.ack(instance, consumers, AckStatus.HELD, route=f"APP.{number}", seq=1)
    why = reads.why(instance.guid)
    assert {ack.consumer for ack in why.open} == {consumer.name for consumer in consumers}
    assert {ack.consumer for ack in why.held} == {consumer.name for consumer in consumers}
    assert len(why.held) <= 100


def test_what_was_skipped_in_the_current_step_is_shown(rows: Rows, reads: Reads):
    instance = rows.instance(rows.definition(), suspended_by=None)
    rows.step(instance)
    skipped = rows.ack(instance, [rows.consumer("c1")], AckStatus.FAILED, gave_up=int(GaveUp.SKIP))
    why = reads.why(instance.guid)
    assert [(ack.ack_guid, ack.gave_up) for ack in why.gave_up] == [(skipped.guid, "skip")]
    assert why.summary.startswith("The engine gave up on c1 at step 1 and went on without it")


def test_a_completed_instance_that_was_suspended_is_explained_by_its_suspension(rows: Rows, reads: Reads):
    flags = int(LifeCycleInstanceFlag.COMPLETED | LifeCycleInstanceFlag.SUSPENDED)
    instance = rows.instance(rows.definition(), flags=flags, suspended_by=int(SuspendedBy.ENGINE), message="c1 never answered")
    assert reads.why(instance.guid).summary == 'The engine suspended it ("c1 never answered"); it goes on when an operator resumes it.'


def test_an_unknown_instance_needs_no_explanation(reads: Reads):
    with pytest.raises(NotFoundError):
        reads.why(str(uuid4()))
