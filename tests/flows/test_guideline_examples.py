"""The examples A to E of the guidelines, from the trigger to the last word, in both profiles of resend windows."""

from datetime import UTC, timedelta
from typing import Any

import pytest

from tests.support.engine import START, Workbench
from tests.support.facts import PROFILES, Delivery, codes, deliveries, everything, said, stands, steps
from workflow_engine.models.base import time_text
from workflow_engine.models.enums import NoticeKind
from workflow_engine.models.flags import LifeCycleInstanceFlag, LifeCycleTransitionLogFlag
from workflow_engine.models.trigger import LifeCycleTriggerResult

DAY, HOUR = 86_400, 3_600


def definition() -> dict[str, Any]:
    return {
        "name": "VendorPreQualification",
        "states": [
            {"name": "Draft", "is_initial": True},
            {"name": "Submitted"},
            {"name": "Review", "timeout_minutes": 60, "timeout_event": "AutoReject"},
            {"name": "Qualified", "is_final": True},
            {"name": "Rejected", "is_final": True},
        ],
        "events": [{"code": 1, "name": "Submit"}, {"code": 2, "name": "Look"}, {"code": 3, "name": "Qualify"}, {"code": 4, "name": "AutoReject"}],
        "transitions": [
            {"from": "Draft", "event": "Submit", "to": "Submitted"},
            {"from": "Submitted", "event": "Look", "to": "Review"},
            {"from": "Review", "event": "Qualify", "to": "Qualified"},
            {"from": "Review", "event": "AutoReject", "to": "Rejected"},
        ],
    }


@pytest.fixture(params=PROFILES.values(), ids=PROFILES.keys())
def timed(request: pytest.FixtureRequest, make_bench: Any) -> Workbench:
    bench = make_bench(**request.param)
    bench.import_(definition())
    bench.register("app")
    return bench


def trigger(bench: Workbench, event: str, **more: Any) -> LifeCycleTriggerResult:
    return bench.trigger(event, "VENDOR-00042", "VendorPreQualification", **more)


def facts(bench: Workbench) -> list[Delivery]:
    return deliveries(bench, "VENDOR-00042")


def test_example_a_a_normal_transition_with_both_acks(timed: Workbench):
    answer = trigger(timed, "Submit", request_id="req-2026-01-04-0001", payload={"turnover": 5})
    assert (answer.applied, answer.from_state, answer.to_state) == (True, "Draft", "Submitted")
    assert (timed.count("instance"), timed.count("lifecycle"), timed.count("lifecycle_data"), timed.count("ack"), timed.count("ack_consumer")) == (
        1,
        1,
        1,
        1,
        1,
    )
    (event,) = timed.bodies("app")
    told = ("external_ref", "ack_guid", "kind", "from_state", "to_state", "event", "lifecycle_id", "occurred_at", "payload")
    assert {name: event[name] for name in told} == {
        "external_ref": "VENDOR-00042",
        "ack_guid": answer.ack_guid,
        "kind": "transition",
        "from_state": "Draft",
        "to_state": "Submitted",
        "event": {"code": 1, "name": "Submit"},
        "lifecycle_id": answer.lifecycle_id,
        "occurred_at": time_text(START),
        "payload": {"turnover": 5},
    }
    timed.clock.advance(2)
    timed.ack(event["ack_guid"], "Delivered", "app")
    timed.clock.advance(20)
    timed.ack(event["ack_guid"], "Processed", "app")
    assert facts(timed) == [Delivery(consumer="app", status="PROCESSED", due=None, attempts=0, delivered=2, processed=22)]
    timed.clock.advance(HOUR)
    timed.monitor()
    assert (len(timed.sent()), codes(timed)) == (1, [])


@pytest.mark.scenario(48)
def test_example_b_an_unconfirmed_event_is_sent_again_after_the_pending_window(timed: Workbench):
    window = timed.options.ack_pending_resend_seconds
    answer = trigger(timed, "Submit")
    timed.clock.advance(window - 1)
    before = everything(timed)
    timed.monitor()
    assert everything(timed) == before
    assert len(timed.sent()) == 1
    timed.clock.advance(1)
    report = timed.monitor()
    assert (report.found, report.sent) == (1, 1)
    first, again = timed.publisher.messages
    assert (again.webhook_id, again.body, again.attempt, again.first_sent_at) == (answer.ack_guid, first.body, 2, START)
    (row,) = facts(timed)
    # The first resend comes after the plain window, the next ones ever later: backoff, with jitter from here on.
    assert row == Delivery(consumer="app", due=row.due, attempts=2, sends=2, last_retry=window)
    assert window + 2 * window <= (row.due or 0) <= window + 2.2 * window
    (notice,) = timed.publisher.notices
    assert notice.code.kind is NoticeKind.WARN
    assert notice.body() == {
        "code": "ACK_RETRY",
        "kind": "Warn",
        "env_code": 1,
        "instance_id": timed.sql("SELECT id FROM instance")[0]["id"],
        "instance_guid": answer.instance_guid,
        "external_ref": "VENDOR-00042",
        "consumer_id": timed.sql("SELECT id FROM consumer")[0]["id"],
        "consumer": "app",
        "ack_guid": answer.ack_guid,
        "occurred_at": time_text(START + timedelta(seconds=window)),
        "data": {"kind": "transition", "seq": 1, "stage": "pending", "count": 2, "sends": 2, "age_seconds": window},
    }
    assert codes(timed) == ["ACK_RETRY"]


def test_example_b_with_factor_one_the_window_stays_what_it_is(make_bench: Any):
    """The fixed window of the guidelines, by option."""
    bench = make_bench(ack_pending_resend_seconds=30, backoff_factor=1)
    bench.import_(definition())
    bench.register("app")
    trigger(bench, "Submit")
    for _ in range(5):
        bench.clock.advance(29)
        bench.monitor()
        bench.clock.advance(1)
        bench.monitor()
    assert [attempt for *_, attempt in bench.sent()] == [1, 2, 3, 4, 5, 6]


@pytest.mark.scenario(49)
def test_example_c_a_delivered_event_is_reminded_of_after_the_delivered_window(timed: Workbench):
    window = timed.options.ack_delivered_resend_seconds
    answer = trigger(timed, "Submit")
    timed.clock.advance(3)
    timed.ack(answer.ack_guid, "Delivered", "app")
    timed.clock.advance(window - 1)
    timed.monitor()
    assert len(timed.sent()) == 1
    timed.clock.advance(1)
    timed.monitor()
    first, reminder = timed.publisher.messages
    assert (reminder.webhook_id, reminder.body, reminder.attempt) == (answer.ack_guid, first.body, 2)
    (row,) = facts(timed)
    assert row == Delivery(consumer="app", status="DELIVERED", due=row.due, attempts=1, sends=2, delivered=3, last_retry=3 + window)
    assert said(timed) == [("ACK_RETRY", {"kind": "transition", "seq": 1, "stage": "delivered", "count": 1, "sends": 2, "age_seconds": window})]
    timed.ack(answer.ack_guid, "Processed", "app")
    timed.clock.advance(HOUR)
    timed.monitor()
    assert len(timed.sent()) == 2


@pytest.mark.scenario(64)
def test_example_d_a_state_that_lasts_too_long_is_left_by_its_timeout_event(timed: Workbench):
    trigger(timed, "Submit")
    trigger(timed, "Look")
    timed.process_all("app")
    timed.clock.advance(HOUR - 1)
    timed.monitor()
    assert stands(timed, "VENDOR-00042")["state"] == "Review"
    timed.clock.advance(61)
    timed.monitor()
    assert steps(timed, "VENDOR-00042")[2:] == [(3, "Review", 4, "Rejected")]
    assert stands(timed, "VENDOR-00042")["flags"] == LifeCycleInstanceFlag.COMPLETED
    row = timed.sql("SELECT l.id, l.flags, l.created, d.actor FROM lifecycle l JOIN lifecycle_data d ON d.lifecycle_id = l.id WHERE l.seq = 3")[0]
    assert (row["flags"], row["actor"], row["created"].replace(tzinfo=UTC)) == (LifeCycleTransitionLogFlag.SYSTEM, "system", timed.clock.now())
    assert said(timed) == [
        ("STATE_TIMEOUT_EXCEEDED", {"state": "Review", "age_seconds": HOUR + 60, "timeout_event": 4, "n": 1}),
        ("TIMEOUT_FIRED", {"n": 1, "event": 4, "state": "Review", "to_state": "Rejected", "lifecycle_id": row["id"]}),
    ]
    assert {(notice.external_ref, notice.code.kind) for notice in timed.publisher.notices} == {
        ("VENDOR-00042", NoticeKind.OVERDUE),
        ("VENDOR-00042", NoticeKind.INFO),
    }
    # The same pipeline: an event, an ack, a resend if it is not answered.
    assert timed.sent()[-1] == ("app", 3, "transition", 1)
    assert timed.bodies()[-1]["actor"] == "system"
    timed.monitor(passes=3)
    assert len(steps(timed, "VENDOR-00042")) == 3


@pytest.mark.scenario(60, 96)
def test_example_e_everybody_processed_and_nobody_moved_is_noticed_and_nothing_more(timed: Workbench):
    answer = trigger(timed, "Submit")
    timed.ack(answer.ack_guid, "Delivered", "app")
    timed.ack(answer.ack_guid, "Processed", "app")
    timed.clock.advance(DAY - 1)
    timed.monitor()
    assert codes(timed) == []
    timed.clock.advance(1)
    rows = facts(timed)
    timed.monitor()
    (notice,) = timed.publisher.notices
    assert (notice.code.value, notice.code.kind, notice.consumer, notice.external_ref, notice.instance_guid, notice.ack_guid) == (
        "DEFAULT_STATE_STALE",
        NoticeKind.OVERDUE,
        "app",
        "VENDOR-00042",
        answer.instance_guid,
        None,
    )
    ids = timed.sql("SELECT def_version_id, current_state FROM instance")[0]
    assert {
        "def_version_id": ids["def_version_id"],
        "current_state_id": ids["current_state"],
        "state_name": "Submitted",
        "lc_id": answer.lifecycle_id,
        "stale_seconds": DAY,
    }.items() <= notice.data.items()
    assert facts(timed) == rows
    assert (stands(timed, "VENDOR-00042")["state"], len(timed.sent())) == ("Submitted", 1)
    timed.monitor()
    assert len(timed.publisher.notices) == 1
    # The consumer looks, and triggers what it forgot.
    assert trigger(timed, "Look").applied
