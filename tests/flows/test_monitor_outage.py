"""The monitor when SNS does not take what is sent, and when something inside a pass breaks."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from tests.support.engine import START, Workbench
from tests.support.facts import Delivery, codes, deliveries, everything, said, stands, steps, waiting
from tests.support.scenes import lamp, leave, leave_with_hook
from workflow_engine.models.base import time_text
from workflow_engine.models.events import WorkMessage

HOUR = 3_600


def every_message(_message: WorkMessage) -> bool:
    return True


def to(consumer: str) -> Any:
    return lambda message: message.consumer == consumer


@pytest.mark.scenario(24)
def test_what_sns_did_not_take_is_sent_by_the_monitor_with_the_same_guid_and_body(bench: Workbench):
    leave(bench)
    bench.publisher.refuse = every_message
    answer = bench.trigger("Submit", payload={"days": 3})
    assert (answer.applied, bench.sent(), deliveries(bench)) == (True, [], [waiting(due=40)])
    assert said(bench) == [("DISPATCH_FAILURE", {"count": 1, "reason": "Throttling", "retry_at": time_text(START + timedelta(seconds=40))})]
    bench.publisher.refuse = lambda _message: False
    bench.clock.advance(39)
    bench.monitor()
    assert bench.sent() == []
    bench.clock.advance(1)
    report = bench.monitor()
    assert (report.found, report.sent, report.given_back) == (1, 1, 0)
    assert [(message.webhook_id, message.attempt) for message in bench.publisher.messages] == [(answer.ack_guid, 1)]
    assert bench.bodies()[0]["payload"] == {"days": 3}
    assert deliveries(bench) == [Delivery(due=80, first_sent=40, last_retry=40)]
    assert codes(bench) == ["DISPATCH_FAILURE"]


@pytest.mark.scenario(24)
def test_an_attempt_that_sns_did_not_take_is_given_back_and_due_after_the_window(bench: Workbench):
    leave(bench)
    bench.trigger("Submit")
    bench.publisher.refuse = every_message
    bench.clock.advance(40)
    report = bench.monitor()
    assert (report.found, report.sent, report.given_back, report.noticed) == (1, 0, 1, 2)
    assert deliveries(bench) == [Delivery(due=80, last_retry=40)]
    assert codes(bench) == ["ACK_RETRY", "DISPATCH_FAILURE"]


@pytest.mark.scenario(24)
def test_a_publisher_that_breaks_costs_no_attempt_either_and_is_named_as_such(bench: Workbench):
    leave(bench)
    bench.trigger("Submit")
    bench.publisher.breaks = ValueError("no such signer")
    bench.clock.advance(40)
    report = bench.monitor()
    assert (report.sent, report.given_back) == (0, 1)
    assert deliveries(bench) == [Delivery(due=80, last_retry=40)]
    assert said(bench)[-1] == ("EVENT_HANDLER_ERROR", {"count": 1, "reason": "ValueError", "retry_at": time_text(START + timedelta(seconds=80))})


@pytest.mark.scenario(108)
def test_an_hour_without_sns_burns_no_attempt_and_everything_arrives_in_order_afterwards(bench: Workbench):
    lamp(bench, "c1", "c2")
    refs = [f"R-{number}" for number in range(4)]
    for ref in refs:
        bench.trigger(1, ref, "Lamp")
    bench.publisher.refuse = every_message
    sent_before = len(bench.publisher.messages)
    for minute in range(60):
        bench.clock.advance(30)
        bench.monitor()
        if minute % 10 == 0:
            for ref in refs:
                bench.trigger(2 if minute % 20 == 0 else 1, ref, "Lamp")
        bench.clock.advance(30)
        bench.monitor()
    rows = bench.sql("SELECT status, trigger_count, sends FROM ack_consumer")
    assert Counter((row["status"], row["trigger_count"], row["sends"]) for row in rows) == {(1, 1, 1): 8, (0, 0, 0): 48}
    assert (len(bench.publisher.messages), bench.count("instance", "flags <> 1")) == (sent_before, 0)
    assert set(codes(bench)) == {"ACK_RETRY", "DISPATCH_FAILURE"}
    bench.publisher.refuse = lambda _message: False
    bench.clock.advance(60)
    bench.monitor()
    assert bench.process_all("c1", "c2") == 4 * 7 * 2
    for consumer in ("c1", "c2"):
        for instance_id in {message.instance_id for message in bench.publisher.messages}:
            lane = [message.seq for message in bench.publisher.messages if (message.consumer, message.instance_id) == (consumer, instance_id)]
            assert lane == [1, *range(1, 8)]
    assert bench.count("ack_consumer", "status <> 3") == 0


@pytest.mark.scenario(108)
def test_hooks_and_reminders_lose_no_attempt_in_an_outage_either(bench: Workbench):
    leave_with_hook(bench)
    answer = bench.trigger("Submit")
    bench.ack(answer.ack_guid, "Delivered")
    bench.publisher.refuse = every_message
    for _ in range(120):
        bench.clock.advance(30)
        bench.monitor()
    facts = {"sends": 1, "retries": 0, "last_retry": HOUR, "first_sent": 0}
    assert deliveries(bench) == [
        Delivery(**facts, status="DELIVERED", attempts=0, due=HOUR + 40, delivered=0),
        Delivery(**facts, kind="hook", attempts=1, due=HOUR + 40),
    ]
    assert stands(bench)["flags"] == 1


@pytest.mark.scenario(108)
def test_a_timeout_fires_in_an_outage_and_its_event_goes_out_afterwards(bench: Workbench):
    leave(bench)
    bench.trigger(10)
    bench.trigger(40)
    bench.process_all("c1")
    bench.publisher.refuse = every_message
    bench.clock.advance(HOUR)
    report = bench.monitor()
    assert (report.timed_out, report.sent, report.given_back) == (1, 0, 1)
    assert steps(bench)[-1] == (3, "Review", 30, "Rejected")
    assert deliveries(bench)[-1] == waiting(seq=3, due=HOUR + 40)
    bench.publisher.refuse = lambda _message: False
    bench.clock.advance(40)
    bench.monitor()
    assert bench.sent()[-1] == ("c1", 3, "transition", 1)


def test_one_notice_per_consumer_and_pass_tells_of_all_its_failures_with_a_count(make_bench: Any):
    bench = make_bench(monitor_page_size=2)
    leave(bench, "c1", "c2", "c3")
    for number in range(5):
        bench.trigger("Submit", f"R-{number}")
    for ref in ("T-1", "T-2", "T-3"):
        bench.trigger(10, ref)
        bench.trigger(40, ref)
    bench.process_all("c1", "c2", "c3")
    bench.sql(
        "UPDATE ack_consumer SET status = 1, next_due = created, processed_at = NULL WHERE seq = 1 AND instance_id IN (SELECT id FROM instance WHERE seq = 1)"
    )
    bench.publisher.notices.clear()
    bench.publisher.refuse = lambda message: message.consumer != "c3"
    bench.clock.advance(HOUR)
    report = bench.monitor()
    failures = [(notice.consumer, notice.data["count"], notice.ack_guid) for notice in bench.noticed("DISPATCH_FAILURE")]
    assert failures == [("c1", 8, None), ("c2", 8, None)]
    assert (report.sent, report.given_back, report.timed_out) == (8, 16, 3)
    assert report.noticed == len(bench.publisher.notices)


def test_a_consumer_whose_messages_are_refused_does_not_hold_up_the_others(make_bench: Any):
    bench = make_bench(monitor_page_size=2)
    leave(bench, "poisoned", "healthy")
    for number in range(20):
        bench.trigger("Submit", f"R-{number}")
        bench.clock.advance(1)
    bench.publisher.messages.clear()
    bench.publisher.refuse = to("poisoned")
    bench.clock.advance(40)
    bench.monitor()
    assert Counter(message.consumer for message in bench.publisher.messages) == {"healthy": 20}


@pytest.mark.scenario(59)
def test_an_error_inside_a_pass_is_said_and_the_other_jobs_and_the_next_pass_run(bench: Workbench):
    leave(bench, "broken", "healthy")
    for event in (10, 40):
        bench.trigger(event, "LATE")
    bench.process_all("broken", "healthy")
    bench.trigger(10)
    bench.sql("UPDATE consumer SET on_exhausted = 99 WHERE consumer_guid = 'broken'")
    bench.sql("UPDATE ack_consumer SET trigger_count = 12 WHERE status = 1 AND consumer_id = (SELECT id FROM consumer WHERE consumer_guid = 'broken')")
    bench.publisher.notices.clear()
    bench.clock.advance(HOUR)
    report = bench.monitor()
    errors = [(notice.code.kind.value, notice.env_code, notice.consumer, notice.data) for notice in bench.noticed("MONITOR_ERROR")]
    assert errors == [("Error", 1, "broken", {"count": 1, "error": "ValueError: 99 is not a valid GaveUp"})]
    assert (report.timed_out, steps(bench, "LATE")[-1]) == (1, (3, "Review", 30, "Rejected"))
    assert [(row.consumer, row.status, row.sends) for row in deliveries(bench)] == [("broken", "PENDING", 1), ("healthy", "PENDING", 2)]
    assert bench.sql("SELECT last_pass_at FROM monitor_lease")[0]["last_pass_at"] == bench.clock.at.replace(tzinfo=None)
    assert report.noticed == len(bench.publisher.notices)
    bench.sql("UPDATE consumer SET on_exhausted = 3 WHERE consumer_guid = 'broken'")
    bench.monitor()
    assert [(row.consumer, row.status, row.gave_up) for row in deliveries(bench)] == [("broken", "FAILED", "skip"), ("healthy", "PENDING", None)]
    assert len(bench.noticed("MONITOR_ERROR")) == 1


@pytest.mark.scenario(59)
@pytest.mark.parametrize(("told", "events"), [("STATE_TIMEOUT_EXCEEDED", (10, 40)), ("DEFAULT_STATE_STALE", (10,))])
def test_one_instance_that_cannot_be_handled_does_not_keep_the_others_waiting(bench: Workbench, told: str, events: tuple[int, ...]):
    leave(bench)
    for ref in ("BAD", "GOOD", "FINE"):
        for event in events:
            bench.trigger(event, ref)
    bench.process_all("c1")
    bench.sql("UPDATE instance SET current_state = 0 WHERE external_ref = 'BAD'")
    bench.clock.advance(24 * HOUR)
    bench.monitor()
    assert [notice.external_ref for notice in bench.noticed(told)] == ["GOOD", "FINE"]
    bad = bench.sql("SELECT guid, state_due_at FROM instance WHERE external_ref = 'BAD'")[0]
    assert [notice.data for notice in bench.noticed("MONITOR_ERROR")] == [{"count": 1, "error": f"WorkFlowError: instance {bad['guid']}: KeyError: 0"}]
    assert bad["state_due_at"] == (bench.clock.at + timedelta(seconds=60)).replace(tzinfo=None)


@pytest.mark.scenario(59)
def test_a_pass_without_database_harms_nothing_and_the_next_one_does_its_work(bench: Workbench):
    leave(bench)
    bench.trigger("Submit")
    bench.clock.advance(40)
    before = everything(bench)
    bench.sql("RENAME TABLE ack_consumer TO hidden")
    try:
        report = bench.monitor()
    finally:
        bench.sql("RENAME TABLE hidden TO ack_consumer")
    assert (report.sent, len(bench.noticed("MONITOR_ERROR")), everything(bench)) == (0, 1, before)
    assert bench.monitor().sent == 1
