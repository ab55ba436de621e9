"""Pass B: what is not acknowledged is sent again, the same to the byte, more and more rarely."""

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from tests.support.engine import START, Workbench
from tests.support.facts import PROFILES, Delivery, codes, deliveries, everything, stands
from tests.support.scenes import leave, leave_with_hook, suspend
from workflow_engine.models.base import time_text
from workflow_engine.models.trigger import LifeCycleTriggerResult

Bench = Callable[..., Workbench]
PROFILE = pytest.mark.parametrize("windows", PROFILES.values(), ids=PROFILES)


def expected_notice(bench: Workbench, answer: LifeCycleTriggerResult, **data: Any) -> dict[str, Any]:
    row = bench.sql("SELECT ac.instance_id, ac.consumer_id FROM ack_consumer ac")[0]
    return {
        "code": "ACK_RETRY",
        "kind": "Warn",
        "env_code": 1,
        "instance_id": row["instance_id"],
        "instance_guid": answer.instance_guid,
        "external_ref": "R-1",
        "consumer_id": row["consumer_id"],
        "consumer": "c1",
        "ack_guid": answer.ack_guid,
        "occurred_at": time_text(bench.clock.at),
        "data": {"kind": "transition", "seq": 1, **data},
    }


def due_times(bench: Workbench, passes: int) -> list[float]:
    """Run a pass at every moment the newest row is due; return those moments."""
    moments: list[float] = []
    for _ in range(passes):
        due = deliveries(bench)[-1].due
        assert due is not None
        bench.clock.at = START + timedelta(seconds=due)
        assert bench.monitor().sent == 1
        moments.append(due)
    return moments


@pytest.mark.scenario(48)
@PROFILE
def test_a_pending_row_is_untouched_within_its_window(make_bench: Bench, windows: dict[str, int]):
    bench = make_bench(**windows)
    leave(bench)
    bench.trigger("Submit")
    bench.clock.advance(windows["ack_pending_resend_seconds"] - 1)
    before = everything(bench)
    report = bench.monitor()
    assert (report.found, report.sent, report.noticed, codes(bench)) == (0, 0, 0, [])
    assert (everything(bench), bench.sent()) == (before, [("c1", 1, "transition", 1)])


@pytest.mark.scenario(48)
@PROFILE
def test_a_pending_row_is_sent_again_after_its_window_with_the_same_guid_and_body(make_bench: Bench, windows: dict[str, int]):
    bench, window = make_bench(**windows), windows["ack_pending_resend_seconds"]
    leave(bench)
    answer = bench.trigger("Submit", payload={"b": 1, "a": "é"}, actor="anna")
    bench.clock.advance(window + 1)
    report = bench.monitor()
    first, second = bench.publisher.messages
    assert (second.webhook_id, second.body.encode(), second.attempt, second.first_sent_at) == (answer.ack_guid, first.body.encode(), 2, START)
    assert (first.webhook_id, first.attempt) == (answer.ack_guid, 1)
    assert second.body == bench.sql("SELECT body FROM ack")[0]["body"]
    row = deliveries(bench)[0]
    assert row == Delivery(due=row.due, attempts=2, sends=2, last_retry=window + 1)
    expected = expected_notice(bench, answer, stage="pending", count=2, sends=2, age_seconds=window + 1)
    assert [notice.body() for notice in bench.publisher.notices] == [expected]
    assert (report.found, report.sent, report.noticed, report.oldest_due_seconds) == (1, 1, 1, 1)


@pytest.mark.scenario(49)
@PROFILE
def test_a_delivered_row_is_sent_again_only_after_the_longer_window(make_bench: Bench, windows: dict[str, int]):
    bench, window = make_bench(**windows), windows["ack_delivered_resend_seconds"]
    assert window > windows["ack_pending_resend_seconds"]
    leave(bench)
    answer = bench.trigger("Submit")
    bench.clock.advance(5)
    bench.ack(answer.ack_guid, "Delivered")
    bench.clock.advance(window - 1)
    bench.monitor()
    assert bench.sent() == [("c1", 1, "transition", 1)]
    bench.clock.advance(2)
    bench.monitor()
    first, second = bench.publisher.messages
    assert (second.webhook_id, second.body, second.attempt) == (first.webhook_id, first.body, 2)
    row = deliveries(bench)[0]
    assert row == Delivery(status="DELIVERED", due=row.due, attempts=1, sends=2, last_retry=window + 6, delivered=5)
    expected = expected_notice(bench, answer, stage="delivered", count=1, sends=2, age_seconds=window + 1)
    assert [notice.body() for notice in bench.publisher.notices] == [expected]


@pytest.mark.scenario(49)
def test_in_the_same_time_a_delivered_row_is_sent_less_often_than_a_pending_one(bench: Workbench):
    leave(bench)
    bench.trigger("Submit", "PENDING")
    bench.ack(bench.trigger("Submit", "DELIVERED").ack_guid, "Delivered")
    for _ in range(180):
        bench.clock.advance(10)
        bench.monitor()
    assert deliveries(bench, "PENDING")[0].sends > deliveries(bench, "DELIVERED")[0].sends > 1


def test_pending_rows_wait_twice_as_long_each_time_up_to_a_quarter_of_an_hour(bench: Workbench):
    leave(bench)
    bench.trigger("Submit")
    moments = due_times(bench, 10)
    waits = [later - earlier for earlier, later in pairwise([0.0, *moments])]
    assert waits[0] == 40
    for wait, plain in zip(waits[1:], [80, 160, 320, 640, 900, 900, 900, 900, 900], strict=True):
        assert plain <= round(wait, 3) <= min(plain * 1.1, 900)
    assert any(round(wait, 3) != plain for wait, plain in zip(waits[1:5], [80, 160, 320, 640], strict=True)), "attempts have their jitter"


def test_delivered_rows_wait_twice_as_long_each_time_too(bench: Workbench):
    leave(bench)
    bench.ack(bench.trigger("Submit").ack_guid, "Delivered")
    moments = due_times(bench, 5)
    waits = [later - earlier for earlier, later in pairwise([0.0, *moments])]
    assert waits[0] == 240
    for wait, plain in zip(waits[1:], [480, 900, 900, 900], strict=True):
        assert plain <= round(wait, 3) <= min(plain * 1.1, 900)


def test_the_jitter_is_the_same_for_the_same_row_and_attempt_and_spreads_a_crowd(bench: Workbench):
    leave(bench)
    for number in range(20):
        bench.trigger("Submit", f"R-{number}")
    bench.clock.advance(40)
    bench.monitor()
    dues = [deliveries(bench, f"R-{number}")[0].due for number in range(20)]
    assert len(set(dues)) > 15
    bench.sql("UPDATE ack_consumer SET trigger_count = 1, sends = 1, next_due = created")
    bench.another().monitor()
    assert [deliveries(bench, f"R-{number}")[0].due for number in range(20)] == dues


@PROFILE
def test_factor_one_is_the_fixed_window_of_the_guidelines(make_bench: Bench, windows: dict[str, int]):
    pending, delivered = windows.values()
    bench = make_bench(**windows, backoff_factor=1)
    leave(bench)
    answer = bench.trigger("Submit")
    assert due_times(bench, 6) == [pending * number for number in range(1, 7)]
    bench.ack(answer.ack_guid, "Delivered")
    assert due_times(bench, 3) == [6 * pending + delivered * number for number in range(1, 4)]


@pytest.mark.scenario(53)
@PROFILE
def test_twelve_attempts_with_a_fixed_window_then_the_instance_is_suspended(make_bench: Bench, windows: dict[str, int]):
    bench = make_bench(**windows, backoff_factor=1)
    leave(bench)
    bench.trigger("Submit")
    due_times(bench, 11)
    bench.clock.advance(windows["ack_pending_resend_seconds"])
    report = bench.monitor()
    assert (report.sent, report.failed, report.suspended, len(bench.sent())) == (0, 1, 1, 12)
    assert stands(bench)["flags"] == 3


def test_hooks_are_sent_again_with_their_transition_in_the_authors_order(bench: Workbench):
    leave_with_hook(bench, "c1", "c2")
    answer = bench.trigger("Submit")
    bench.publisher.messages.clear()
    bench.clock.advance(40)
    bench.monitor()
    assert bench.sent() == [(consumer, 1, kind, 2) for consumer in ("c1", "c2") for kind in ("transition", "hook")]
    assert [message.webhook_id for message in bench.publisher.messages] == [answer.ack_guid, answer.hook_ack_guids[0]] * 2
    assert [message.route for message in bench.publisher.messages] == [None, "APP.LEAVE.DECIDE"] * 2
    assert [notice.data["kind"] for notice in bench.noticed("ACK_RETRY")] == ["transition", "hook"] * 2


@pytest.mark.scenario(101)
def test_a_completed_instance_goes_on_delivering_until_its_events_are_processed(bench: Workbench):
    leave(bench)
    bench.trigger("Submit")
    bench.process_all("c1")
    answer = bench.trigger("Approve")
    assert stands(bench) | {"flags": 4, "state": "Approved", "state_due_at": None} == stands(bench)
    moments = due_times(bench, 3)
    assert [message.attempt for message in bench.publisher.messages if message.seq == 2] == [1, 2, 3, 4]
    assert moments[0] == 40
    bench.ack(answer.ack_guid, "Processed")
    bench.clock.advance(days=3)
    assert bench.monitor().found == 0


@pytest.mark.scenario(101, 53)
def test_a_completed_instance_whose_events_are_never_answered_is_suspended_and_completed_underneath(make_bench: Bench):
    bench = make_bench(max_retry_count=2)
    leave(bench)
    bench.trigger("Submit")
    bench.process_all("c1")
    bench.trigger("Approve")
    due_times(bench, 1)
    bench.clock.advance(hours=1)
    bench.monitor()
    assert (stands(bench)["flags"], stands(bench)["suspended_by"]) == (2 | 4, 1)
    assert deliveries(bench)[-1].gave_up == "suspend"


@pytest.mark.scenario(101)
def test_only_a_suspension_holds_rows_back(bench: Workbench):
    leave(bench)
    answer = bench.trigger("Submit")
    suspend(bench, answer.instance_guid)
    before = everything(bench)
    bench.clock.advance(days=2)
    assert (bench.monitor().found, everything(bench), len(bench.sent())) == (0, before, 1)
