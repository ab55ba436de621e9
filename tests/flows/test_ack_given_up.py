"""Rows the engine gave up: a late word applies as on a pending one, opens the lane, and lifts only the engine's own suspension."""

from typing import Any

import pytest

from tests.support.engine import Workbench
from tests.support.facts import Delivery, codes, deliveries, delivery, held, lost_in_lanes, stands
from tests.support.scenes import lamp, policy_lamp, resume, suspend
from workflow_engine.models.enums import StateDueKind, SuspendedBy
from workflow_engine.models.flags import LifeCycleInstanceFlag
from workflow_engine.models.trigger import LifeCycleTriggerResult

ACTIVE, SUSPENDED, COMPLETED = LifeCycleInstanceFlag.ACTIVE, LifeCycleInstanceFlag.SUSPENDED, LifeCycleInstanceFlag.COMPLETED
STATUS = {"suspend": "SUSPENDING", "park": "PARKED", "skip": "FAILED"}
AFTER = {"Delivered": "DELIVERED", "Processed": "PROCESSED", "Failed": "FAILED", "Retry": "PENDING"}


@pytest.fixture
def hasty(make_bench: Any) -> Workbench:
    """An engine that gives up after the second attempt."""
    return make_bench(max_retry_count=2)


def walk(bench: Workbench, *events: int) -> list[LifeCycleTriggerResult]:
    return [bench.trigger(event, def_name="Lamp") for event in events]


def give_up(bench: Workbench) -> None:
    """Two unanswered attempts, then the verdict."""
    for _ in range(2):
        bench.clock.advance(45)
        bench.monitor()
    bench.clock.advance(1_000)
    bench.monitor()


def given_up(bench: Workbench, on_exhausted: str, *events: int) -> list[LifeCycleTriggerResult]:
    """c1 never answered its first event; c2 has answered all of its own."""
    lamp(bench, "c1", "c2")
    bench.register("c1", on_exhausted=on_exhausted)
    answers = walk(bench, *events)
    bench.process_all("c2")
    give_up(bench)
    return answers


@pytest.mark.scenario(109)
@pytest.mark.parametrize("outcome", AFTER)
@pytest.mark.parametrize("on_exhausted", STATUS)
def test_a_late_word_applies_as_on_a_pending_row(hasty: Workbench, on_exhausted: str, outcome: str):
    (first,) = given_up(hasty, on_exhausted, 1)
    row = delivery(hasty, consumer="c1", seq=1)
    assert (row.status, row.due, row.gave_up, row.attempts) == (STATUS[on_exhausted], None, on_exhausted, 2)
    now = (hasty.clock.now() - hasty.publisher.messages[0].first_sent_at).total_seconds()
    due = {"Delivered": now + 240, "Retry": now + 40}.get(outcome)
    answer = hasty.ack(first.ack_guid, outcome, "c1")
    assert (answer.result, answer.status) == ("applied", AFTER[outcome].capitalize())
    row = delivery(hasty, consumer="c1", seq=1)
    assert (row.status, row.due, row.gave_up, row.retries) == (AFTER[outcome], due, None, int(outcome == "Retry"))
    assert stands(hasty)["flags"] == ACTIVE
    assert "STALE_ACK" not in codes(hasty)


@pytest.mark.scenario(109)
@pytest.mark.parametrize("outcome", ["Delivered", "Processed", "Failed"])
def test_a_late_word_opens_a_parked_lane_while_the_others_went_on_flowing(hasty: Workbench, outcome: str):
    first, second, _ = given_up(hasty, "park", 1, 2, 1)
    assert stands(hasty)["flags"] == ACTIVE
    assert [row.status for row in deliveries(hasty)] == ["PARKED", "HELD", "HELD", "PROCESSED", "PROCESSED", "PROCESSED"]
    walk(hasty, 2)
    assert hasty.sent("c2")[-1] == ("c2", 4, "transition", 1)
    assert {seq for _, seq, _, _ in hasty.sent("c1")} == {1}
    hasty.ack(first.ack_guid, outcome, "c1")
    assert hasty.sent("c1")[-1] == ("c1", 2, "transition", 1)
    hasty.ack(second.ack_guid, "Processed", "c1")
    assert hasty.sent("c1")[-1] == ("c1", 3, "transition", 1)
    assert lost_in_lanes(hasty) == []


@pytest.mark.scenario(109)
def test_a_late_retry_of_a_parked_event_sends_it_again_before_anything_else(hasty: Workbench):
    first, _ = given_up(hasty, "park", 1, 2)
    hasty.ack(first.ack_guid, "Retry", "c1")
    assert [row.status for row in deliveries(hasty)][:2] == ["PENDING", "HELD"]
    hasty.clock.advance(40)
    hasty.monitor()
    assert hasty.sent("c1")[-1] == ("c1", 1, "transition", 3)


@pytest.mark.scenario(109)
def test_a_skipped_event_holds_nobody_up_and_a_late_word_on_it_still_counts(hasty: Workbench):
    first, _ = given_up(hasty, "skip", 1, 2)
    assert hasty.sent("c1")[-1] == ("c1", 2, "transition", 1)
    assert [(row.status, row.gave_up) for row in deliveries(hasty)][:2] == [("FAILED", "skip"), ("PENDING", None)]
    sent = len(hasty.sent())
    assert hasty.ack(first.ack_guid, "Processed", "c1").result == "applied"
    assert [(row.status, row.gave_up) for row in deliveries(hasty)][:2] == [("PROCESSED", None), ("PENDING", None)]
    assert len(hasty.sent()) == sent


@pytest.mark.scenario(109)
@pytest.mark.parametrize("outcome", ["Delivered", "Processed", "Failed"])
def test_a_late_word_lifts_the_engines_suspension_and_everything_goes_on(hasty: Workbench, outcome: str):
    first, _ = given_up(hasty, "suspend", 1, 2)
    found = stands(hasty)
    assert (found["flags"], found["suspended_by"], found["state_due_at"]) == (ACTIVE | SUSPENDED, SuspendedBy.ENGINE, None)
    assert "did not acknowledge" in found["message"]
    assert delivery(hasty, consumer="c1", seq=2) == held(seq=2)
    assert hasty.trigger(1, def_name="Lamp").reason == "InstanceNotActive"
    hasty.ack(first.ack_guid, outcome, "c1")
    found = stands(hasty)
    assert (found["flags"], found["suspended_by"], found["message"]) == (ACTIVE, None, None)
    assert (found["state_due_kind"], found["state_due_at"]) == (StateDueKind.STALE, 86_400)
    assert hasty.sent("c1")[-1] == ("c1", 2, "transition", 1)
    assert hasty.trigger(1, def_name="Lamp").applied


@pytest.mark.scenario(109)
def test_lifting_makes_the_open_rows_of_all_consumers_due_again(hasty: Workbench):
    lamp(hasty, "c1", "c2")
    hasty.register("c2", beat_seconds=10)
    first, second = walk(hasty, 1, 2)
    hasty.beat("c2")
    hasty.ack(first.ack_guid, "Delivered", "c2")
    hasty.ack(second.ack_guid, "Delivered", "c2")
    give_up(hasty)
    assert stands(hasty)["flags"] & SUSPENDED
    assert [(row.status, row.due) for row in deliveries(hasty) if row.consumer == "c2"] == [("DELIVERED", None)] * 2
    now = (hasty.clock.now() - hasty.publisher.messages[0].first_sent_at).total_seconds()
    hasty.ack(first.ack_guid, "Processed", "c1")
    assert [(row.status, row.due) for row in deliveries(hasty) if row.consumer == "c2"] == [("DELIVERED", now)] * 2


@pytest.mark.scenario(109)
def test_the_suspension_stays_until_the_last_suspending_row_has_its_word(hasty: Workbench):
    lamp(hasty, "c1", policy=policy_lamp([{"state": "On", "emit": [{"route": "APP.1"}, {"route": "APP.2"}]}]))
    first, _ = walk(hasty, 1, 2)
    give_up(hasty)
    assert [row.status for row in deliveries(hasty)] == ["SUSPENDING"] * 3 + ["HELD"]
    for guid in (first.ack_guid, first.hook_ack_guids[0]):
        hasty.ack(guid, "Processed")
        assert stands(hasty)["flags"] == ACTIVE | SUSPENDED
        assert delivery(hasty, seq=2).status == "HELD"
    hasty.ack(first.hook_ack_guids[1], "Delivered")
    assert stands(hasty)["flags"] == ACTIVE
    assert hasty.sent()[-1] == ("c1", 2, "transition", 1)


@pytest.mark.scenario(109)
def test_one_batch_with_a_word_for_every_suspending_row_lifts_the_suspension(hasty: Workbench):
    lamp(hasty, "c1", policy=policy_lamp([{"state": "On", "emit": [{"route": "APP.1"}]}]))
    first, _ = walk(hasty, 1, 2)
    give_up(hasty)
    answers = hasty.ack_batch([{"ack_guid": guid, "outcome": "Processed"} for guid in (first.ack_guid, first.hook_ack_guids[0])])
    assert [answer.result for answer in answers] == ["applied"] * 2
    assert stands(hasty)["flags"] == ACTIVE
    assert [row.status for row in deliveries(hasty)] == ["PROCESSED", "PROCESSED", "PENDING"]
    assert hasty.sent()[-1] == ("c1", 2, "transition", 1)


@pytest.mark.scenario(109)
def test_a_late_word_does_not_lift_what_an_operator_suspended(hasty: Workbench):
    first, _ = given_up(hasty, "suspend", 1, 2)
    suspend(hasty, first.instance_guid)
    hasty.ack(first.ack_guid, "Processed", "c1")
    found = stands(hasty)
    assert (found["flags"], found["suspended_by"]) == (ACTIVE | SUSPENDED, SuspendedBy.OPERATOR)
    assert [(row.status, row.gave_up) for row in deliveries(hasty)][:2] == [("PROCESSED", None), ("HELD", None)]
    resume(hasty, first.instance_guid)
    assert stands(hasty)["flags"] == ACTIVE
    assert hasty.sent("c1")[-1] == ("c1", 2, "transition", 1)


@pytest.mark.scenario(109)
@pytest.mark.parametrize("by", ["word", "resume"])
def test_a_completed_instance_that_was_suspended_is_completed_again(hasty: Workbench, by: str):
    first, _ = given_up(hasty, "suspend", 1, 4)
    found = stands(hasty)
    assert (found["state"], found["flags"]) == ("Broken", COMPLETED | SUSPENDED)
    if by == "word":
        hasty.ack(first.ack_guid, "Processed", "c1")
    else:
        assert resume(hasty, first.instance_guid).status == "Completed"
    found = stands(hasty)
    assert (found["flags"], found["suspended_by"], found["state_due_at"]) == (COMPLETED, None, None)


@pytest.mark.scenario(109)
@pytest.mark.parametrize("on_exhausted", STATUS)
def test_resume_reopens_what_was_given_up_with_fresh_attempts(hasty: Workbench, on_exhausted: str):
    (first,) = given_up(hasty, on_exhausted, 1)
    resume(hasty, first.instance_guid)
    row = delivery(hasty, consumer="c1", seq=1)
    assert (row.status, row.attempts, row.gave_up) == ("PENDING", 0, None)
    hasty.monitor()
    assert hasty.sent("c1")[-1] == ("c1", 1, "transition", 3)
    assert stands(hasty)["flags"] == ACTIVE


@pytest.mark.scenario(121)
def test_a_retry_at_the_limit_of_attempts_is_sent_again_and_suspends_nothing(hasty: Workbench):
    lamp(hasty)
    (first,) = walk(hasty, 1)
    hasty.clock.advance(40)
    hasty.monitor()
    assert hasty.sent() == [("c1", 1, "transition", 1), ("c1", 1, "transition", 2)]
    assert delivery(hasty, seq=1).attempts == 2
    hasty.clock.advance(1)
    hasty.ack(first.ack_guid, "Retry")
    assert delivery(hasty, seq=1) == Delivery(due=81, attempts=1, sends=2, retries=1, last_retry=41)
    hasty.clock.advance(40)
    hasty.monitor()
    assert hasty.sent()[2:] == [("c1", 1, "transition", 3)]
    assert stands(hasty)["flags"] == ACTIVE
    assert codes(hasty) == ["ACK_RETRY"] * 2
    hasty.ack(first.ack_guid, "Delivered")


@pytest.mark.scenario(121)
def test_a_consumer_that_says_retry_again_and_again_is_never_given_up(hasty: Workbench):
    lamp(hasty)
    (first,) = walk(hasty, 1)
    for _ in range(10):
        hasty.ack(first.ack_guid, "Retry")
        hasty.clock.advance(40)
        hasty.monitor()
    assert [attempt for *_, attempt in hasty.sent()] == list(range(1, 12))
    assert delivery(hasty, seq=1).retries == 10
    assert stands(hasty)["flags"] == ACTIVE


@pytest.mark.scenario(109)
def test_a_batch_that_lifts_a_suspension_and_answers_held_events_leaves_no_event_behind(hasty: Workbench):
    lamp(hasty, "c1", "c2")
    hasty.register("c2", beat_seconds=10)
    first, second, third, _ = walk(hasty, 1, 2, 1, 2)
    give_up(hasty)
    assert [row.status for row in deliveries(hasty) if row.consumer == "c1"] == ["SUSPENDING", "HELD", "HELD", "HELD"]
    hasty.ack_batch([{"ack_guid": answer.ack_guid, "outcome": "Processed"} for answer in (first, second, third)])
    assert [row.status for row in deliveries(hasty) if row.consumer == "c1"] == ["PROCESSED", "PROCESSED", "PROCESSED", "PENDING"]
    assert hasty.sent("c1")[-1] == ("c1", 4, "transition", 1)
    assert lost_in_lanes(hasty) == []


@pytest.mark.scenario(109)
def test_a_word_on_another_instance_in_the_same_batch_does_not_hold_what_a_lifted_suspension_frees(hasty: Workbench):
    first, _ = given_up(hasty, "suspend", 1, 2)
    other = hasty.trigger(1, "R-2", "Lamp")
    hasty.ack_batch([{"ack_guid": first.ack_guid, "outcome": "Processed"}, {"ack_guid": other.ack_guid, "outcome": "Retry"}])
    assert stands(hasty)["flags"] == ACTIVE
    assert [row.status for row in deliveries(hasty) if row.consumer == "c1"] == ["PROCESSED", "PENDING"]
    assert hasty.sent("c1")[-1] == ("c1", 2, "transition", 1)
