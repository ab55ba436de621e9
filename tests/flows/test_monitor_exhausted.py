"""Pass B and a consumer that never answers: suspend, park or skip, for transitions and for hooks."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.engine import START, Workbench
from tests.support.facts import Delivery, deliveries, delivery, everything, held, said, stands
from tests.support.scenes import definition_lamp, leave, leave_with_hook, policy_lamp, resume
from workflow_engine.models.base import time_text

CHOICES = pytest.mark.parametrize(
    ("choice", "status", "code"), [("suspend", "SUSPENDING", "ACK_SUSPEND"), ("park", "PARKED", "ACK_PARKED"), ("skip", "FAILED", "ACK_SKIPPED")]
)


@pytest.fixture
def hasty(make_bench: Any) -> Workbench:
    """Gives up after two attempts, forty seconds apart."""
    return make_bench(max_retry_count=2, backoff_factor=1)


def exhaust(bench: Workbench) -> None:
    """From the first dispatch to the moment at which the second attempt's time is over; the pass at that moment is the test's."""
    bench.clock.advance(40)
    bench.monitor()
    bench.clock.advance(40)
    bench.publisher.messages.clear()
    bench.publisher.notices.clear()


def codes_of(bench: Workbench) -> list[str]:
    """What was published since the notices were last cleared."""
    return [notice.code.value for notice in bench.publisher.notices]


def walk_lamp(bench: Workbench, steps: int, external_ref: str = "R-1") -> None:
    for number in range(steps):
        bench.trigger(1 + number % 2, external_ref, "Lamp")


@pytest.mark.scenario(53)
def test_a_row_at_the_limit_that_is_still_due_fails_and_suspends_its_instance_with_a_message(hasty: Workbench):
    leave(hasty)
    answer = hasty.trigger("Submit")
    exhaust(hasty)
    report = hasty.monitor()
    assert (report.found, report.sent, report.failed, report.suspended, report.noticed) == (1, 0, 1, 1, 1)
    assert deliveries(hasty) == [Delivery(status="SUSPENDING", due=None, attempts=2, sends=2, last_retry=40, gave_up="suspend")]
    message = f"consumer 'c1' did not acknowledge transition {answer.ack_guid} (seq 1) in 2 attempts"
    now = stands(hasty)
    assert (now["flags"], now["suspended_by"], now["message"], now["state_due_at"], now["state"]) == (3, 1, message, None, "Submitted")
    row = hasty.sql("SELECT instance_id, consumer_id FROM ack_consumer")[0]
    assert [notice.body() for notice in hasty.publisher.notices] == [
        {
            "code": "ACK_SUSPEND",
            "kind": "Warn",
            "env_code": 1,
            "instance_id": row["instance_id"],
            "instance_guid": answer.instance_guid,
            "external_ref": "R-1",
            "consumer_id": row["consumer_id"],
            "consumer": "c1",
            "ack_guid": answer.ack_guid,
            "occurred_at": time_text(START + timedelta(seconds=80)),
            "data": {"kind": "transition", "seq": 1, "stage": "pending", "count": 2, "max_retry_count": 2},
        }
    ]
    assert hasty.count("notice", "code = 'ACK_SUSPEND'") == 1


@pytest.mark.scenario(53)
def test_a_row_at_the_limit_is_left_alone_until_it_is_due(hasty: Workbench):
    leave(hasty)
    hasty.trigger("Submit")
    exhaust(hasty)
    hasty.clock.advance(-1)
    before = everything(hasty)
    assert (hasty.monitor().found, everything(hasty)) == (0, before)


@pytest.mark.scenario(53)
def test_the_limit_is_per_stage(hasty: Workbench):
    leave(hasty)
    answer = hasty.trigger("Submit")
    hasty.clock.advance(40)
    hasty.monitor()
    hasty.ack(answer.ack_guid, "Delivered")
    assert deliveries(hasty)[0].attempts == 0
    for _ in range(2):
        hasty.clock.advance(240)
        assert hasty.monitor().sent == 1
    hasty.clock.advance(240)
    assert hasty.monitor().suspended == 1
    gave_up = said(hasty)[-1]
    assert gave_up == ("ACK_SUSPEND", {"kind": "transition", "seq": 1, "stage": "delivered", "count": 2, "max_retry_count": 2})
    row = deliveries(hasty)[0]
    assert (row.status, row.sends, row.delivered, row.gave_up) == ("SUSPENDING", 4, 40, "suspend")


@pytest.mark.scenario(53)
def test_the_event_of_an_instance_that_is_gone_can_only_be_told_of(hasty: Workbench):
    leave(hasty)
    answer = hasty.trigger("Submit")
    instance_id = hasty.sql("SELECT id FROM instance")[0]["id"]
    hasty.clock.advance(40)
    hasty.sql(f"DELETE FROM lifecycle_data WHERE lifecycle_id = {answer.lifecycle_id}")
    hasty.sql(f"DELETE FROM lc_ack WHERE lifecycle_id = {answer.lifecycle_id}")
    hasty.sql(f"DELETE FROM lifecycle WHERE instance_id = {instance_id}")
    hasty.sql(f"DELETE FROM instance WHERE id = {instance_id}")
    assert hasty.monitor().sent == 1
    assert [(message.env_code, message.definition) for message in hasty.publisher.messages] == [(1, "Leave")] * 2
    hasty.clock.advance(40)
    report = hasty.monitor()
    assert (report.failed, report.suspended) == (1, 0)
    told = hasty.publisher.notices[-1]
    assert (told.code, told.instance_id, told.instance_guid, told.consumer, told.ack_guid) == ("ACK_FAIL", instance_id, None, "c1", answer.ack_guid)
    assert hasty.sql("SELECT status, next_due, gave_up FROM ack_consumer") == [{"status": 4, "next_due": None, "gave_up": 3}]
    assert hasty.monitor().found == 0


@pytest.mark.scenario(54, 109)
@CHOICES
@pytest.mark.parametrize("kind", ["transition", "hook"])
def test_each_choice_is_kept_for_transitions_and_for_hooks(hasty: Workbench, kind: str, choice: str, status: str, code: str):
    leave_with_hook(hasty)
    hasty.register("c1", on_exhausted=choice)
    answer = hasty.trigger("Submit")
    answered, silent = (answer.hook_ack_guids[0], answer.ack_guid) if kind == "transition" else (answer.ack_guid, answer.hook_ack_guids[0])
    hasty.ack(answered, "Processed")
    exhaust(hasty)
    report = hasty.monitor()
    is_suspended = int(choice == "suspend")
    assert (report.sent, report.failed, report.suspended) == (0, 1, is_suspended)
    assert delivery(hasty, kind=kind) == Delivery(kind=kind, status=status, due=None, attempts=2, sends=2, last_retry=40, gave_up=choice)
    assert stands(hasty)["flags"] == 1 + 2 * is_suspended
    assert [(notice.code, notice.ack_guid, notice.data["kind"]) for notice in hasty.publisher.notices] == [(code, silent, kind)]


@pytest.mark.scenario(55)
def test_the_other_rows_of_a_suspended_instance_are_not_sent(hasty: Workbench):
    hasty.import_(definition_lamp())
    hasty.register("silent")
    hasty.register("steady")
    walk_lamp(hasty, 2)
    walk_lamp(hasty, 1, "OTHER")
    hasty.clock.advance(40)
    hasty.monitor()
    steady = next(message.webhook_id for message in hasty.publisher.messages if (message.consumer, message.seq) == ("steady", 1))
    hasty.ack(steady, "Delivered", "steady")
    hasty.clock.advance(40)
    hasty.publisher.messages.clear()
    hasty.monitor()
    assert stands(hasty)["flags"] == 3
    assert [(row.consumer, row.seq, row.status, row.due) for row in deliveries(hasty)] == [
        ("silent", 1, "SUSPENDING", None),
        ("silent", 2, "HELD", None),
        ("steady", 1, "DELIVERED", None),
        ("steady", 2, "PENDING", None),
    ]
    before = [row for row in everything(hasty)["ack_consumer"] if row[2] == hasty.sql("SELECT id FROM instance WHERE external_ref = 'R-1'")[0]["id"]]
    for _ in range(20):
        hasty.clock.advance(600)
        hasty.monitor()
    assert [row for row in everything(hasty)["ack_consumer"] if row in before] == before
    assert {message.instance_id for message in hasty.publisher.messages} <= {
        row["id"] for row in hasty.sql("SELECT id FROM instance WHERE external_ref = 'OTHER'")
    }


@pytest.mark.scenario(55)
def test_a_row_that_is_due_all_the_same_is_not_sent_while_its_instance_is_suspended(hasty: Workbench):
    leave(hasty)
    hasty.trigger("Submit")
    hasty.sql("UPDATE instance SET flags = 3, suspended_by = 2")
    before = everything(hasty)
    hasty.clock.advance(3_600)
    report = hasty.monitor()
    assert (report.sent, report.failed, everything(hasty), len(hasty.sent())) == (0, 0, before, 1)


@pytest.mark.scenario(55)
def test_a_row_that_suspends_its_instance_takes_the_rest_of_its_page_along(hasty: Workbench):
    hasty.import_(definition_lamp())
    hasty.register("c1")
    guids = [hasty.trigger(1 + number % 2, def_name="Lamp").ack_guid for number in range(3)]
    for guid in guids:
        hasty.ack(guid, "Delivered")
    for guid in guids:
        hasty.ack(guid, "Retry")
    hasty.sql("UPDATE ack_consumer SET trigger_count = 2 WHERE seq = 2")
    hasty.publisher.messages.clear()
    hasty.clock.advance(40)
    report = hasty.monitor()
    assert (report.found, report.sent, report.failed, hasty.sent()) == (3, 0, 1, [])
    assert [(row.seq, row.status, row.due) for row in deliveries(hasty)] == [(1, "PENDING", None), (2, "SUSPENDING", None), (3, "PENDING", None)]


@pytest.mark.scenario(109)
def test_park_stops_one_lane_the_others_flow_and_resume_reopens_it(hasty: Workbench):
    hasty.import_(definition_lamp())
    hasty.register("parked", on_exhausted="park")
    hasty.register("steady")
    walk_lamp(hasty, 2)
    hasty.process_all("steady")
    exhaust(hasty)
    hasty.monitor()
    assert codes_of(hasty) == ["ACK_PARKED"]
    walk_lamp(hasty, 1)
    walk_lamp(hasty, 1, "OTHER")
    assert hasty.sent() == [("steady", 3, "transition", 1), ("parked", 1, "transition", 1), ("steady", 1, "transition", 1)]
    assert stands(hasty)["flags"] == 1
    of_parked = [row for row in deliveries(hasty) if row.consumer == "parked"]
    assert of_parked == [
        Delivery(consumer="parked", status="PARKED", due=None, attempts=2, sends=2, last_retry=40, gave_up="park"),
        held(consumer="parked", seq=2),
        held(consumer="parked", seq=3),
    ]
    resume(hasty, hasty.sql("SELECT guid FROM instance WHERE external_ref = 'R-1'")[0]["guid"])
    assert delivery(hasty, consumer="parked", seq=1) == Delivery(consumer="parked", due=80, attempts=0, sends=2, last_retry=40)
    hasty.publisher.messages.clear()
    hasty.monitor()
    assert hasty.sent("parked")[0] == ("parked", 1, "transition", 3)
    hasty.process_all("parked")
    assert [row.status for row in deliveries(hasty) if row.consumer == "parked"] == ["PROCESSED"] * 3


@pytest.mark.scenario(109)
def test_skip_lets_the_lane_go_on_in_the_same_pass(hasty: Workbench):
    hasty.import_(definition_lamp(), policy_lamp([{"state": "Off", "emit": [{"route": "APP.COOL"}]}]))
    hasty.register("hurried", on_exhausted="skip")
    walk_lamp(hasty, 3)
    exhaust(hasty)
    report = hasty.monitor()
    assert (report.failed, report.suspended, report.sent) == (1, 0, 2)
    assert hasty.sent() == [("hurried", 2, "transition", 1), ("hurried", 2, "hook", 1)]
    assert deliveries(hasty) == [
        Delivery(consumer="hurried", status="FAILED", due=None, attempts=2, sends=2, last_retry=40, gave_up="skip"),
        Delivery(consumer="hurried", seq=2, due=120, first_sent=80),
        Delivery(consumer="hurried", seq=2, kind="hook", due=120, first_sent=80),
        held(consumer="hurried", seq=3),
    ]
    assert stands(hasty)["flags"] == 1
    assert codes_of(hasty) == ["ACK_SKIPPED"]


@pytest.mark.scenario(109)
def test_a_skipped_row_frees_nothing_while_another_row_of_its_step_is_open(hasty: Workbench):
    leave_with_hook(hasty)
    hasty.register("c1", on_exhausted="skip")
    answer = hasty.trigger("Submit")
    hasty.trigger(40)
    hasty.ack(answer.ack_guid, "Retry", retry_at=(START + timedelta(hours=1)).isoformat())
    exhaust(hasty)
    hasty.monitor()
    assert [(row.seq, row.kind, row.status) for row in deliveries(hasty)][:3] == [
        (1, "transition", "PENDING"),
        (1, "hook", "FAILED"),
        (2, "transition", "HELD"),
    ]
    assert hasty.sent() == []


@pytest.mark.scenario(109)
@pytest.mark.parametrize("choice", ["suspend", "park", "skip"])
def test_what_was_given_up_costs_no_pass_anything_until_somebody_acts(hasty: Workbench, choice: str):
    leave(hasty)
    hasty.register("c1", on_exhausted=choice)
    hasty.trigger("Submit")
    exhaust(hasty)
    hasty.monitor()
    before = everything(hasty)["ack_consumer"]
    for _ in range(5):
        hasty.clock.advance(3_600)
        assert hasty.monitor().found == 0
    assert everything(hasty)["ack_consumer"] == before


@pytest.mark.parametrize("choice", ["suspend", "park", "skip"])
def test_a_page_that_gives_many_rows_up_takes_no_more_round_trips_than_one_that_gives_up_one(hasty: Workbench, choice: str):
    hasty.import_(definition_lamp())
    hasty.register("c1", on_exhausted=choice)
    trips: list[int] = []
    for refs in (["ONE"], [f"R-{number}" for number in range(30)]):
        for ref in refs:
            walk_lamp(hasty, 2, ref)
        exhaust(hasty)
        before = hasty.dal.round_trips
        assert hasty.monitor().failed == len(refs)
        trips.append(hasty.dal.round_trips - before)
        hasty.sql("UPDATE ack_consumer SET next_due = NULL")
    assert trips[1] <= trips[0] + 1, "one more for a block of ids"


@pytest.mark.scenario(109)
def test_a_completed_instance_that_its_last_event_suspended_is_completed_again_after_resume(hasty: Workbench):
    leave(hasty)
    hasty.trigger("Submit")
    hasty.process_all("c1")
    answer = hasty.trigger("Approve")
    hasty.clock.advance(40)
    hasty.monitor()
    hasty.clock.advance(40)
    hasty.monitor()
    assert stands(hasty)["flags"] == 2 | 4
    assert resume(hasty, answer.instance_guid).status == "Completed"
    assert (stands(hasty)["flags"], stands(hasty)["state_due_at"]) == (4, None)
    hasty.publisher.messages.clear()
    hasty.monitor()
    assert hasty.sent() == [("c1", 2, "transition", 3)]
    hasty.process_all("c1")
    assert (deliveries(hasty)[-1].status, stands(hasty)["flags"]) == ("PROCESSED", 4)


@pytest.mark.scenario(53)
def test_a_suspended_instance_can_be_exhausted_again_after_resume(hasty: Workbench):
    leave(hasty)
    answer = hasty.trigger("Submit")
    exhaust(hasty)
    hasty.monitor()
    resume(hasty, answer.instance_guid)
    hasty.publisher.messages.clear()
    for _ in range(3):
        hasty.monitor()
        hasty.clock.advance(40)
    assert hasty.sent() == [("c1", 1, "transition", 3), ("c1", 1, "transition", 4)]
    assert (stands(hasty)["flags"], codes_of(hasty)) == (3, ["ACK_SUSPEND", "ACK_RETRY", "ACK_RETRY", "ACK_SUSPEND"])
