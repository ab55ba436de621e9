"""Pass B as a pure decision: which due rows are claimed, which are given up."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.engine import START
from tests.support.made import OPTIONS, ack_row, after, dispatch_consumer, instance_row
from workflow_engine.engine.rules.backoff import resend_due
from workflow_engine.engine.rules.lanes import send_order
from workflow_engine.engine.rules.redispatch import PageDecision, PageSeen, decide_page, whole_seqs
from workflow_engine.models.ack import AckConsumerRow
from workflow_engine.models.enums import AckStatus, EventKind, GaveUp
from workflow_engine.models.flags import LifeCycleInstanceFlag
from workflow_engine.models.instance import InstanceRow

NOW = after(100)
LIMIT = OPTIONS.max_retry_count
SUSPENDED = LifeCycleInstanceFlag.ACTIVE | LifeCycleInstanceFlag.SUSPENDED


def decide(rows: list[AckConsumerRow], instances: dict[int, InstanceRow | None] | None = None, **consumer: Any) -> PageDecision:
    known = {row.instance_id: instance_row(row.instance_id) for row in rows} if instances is None else instances
    return decide_page(PageSeen(consumer=dispatch_consumer(**consumer), rows=rows, instances=known), NOW, OPTIONS)


def test_a_due_row_is_claimed_one_attempt_higher_and_said():
    row = ack_row(trigger_count=2, sends=3)
    decision = decide([row])
    assert decision.claimed == [replace(row, trigger_count=3, sends=4, next_due=resend_due(row.status, 3, (7, 1), NOW, OPTIONS), modified=NOW)]
    assert (decision.gave_up, decision.suspended) == ([], {})
    (notice,) = decision.notices
    assert notice.body() == {
        "code": "ACK_RETRY",
        "kind": "Warn",
        "env_code": 1,
        "instance_id": 7,
        "instance_guid": "guid-7",
        "external_ref": "R-7",
        "consumer_id": 1,
        "consumer": "c1",
        "ack_guid": "ack-1",
        "occurred_at": "2026-01-01T12:01:40.000000Z",
        "data": {"kind": "transition", "seq": 1, "stage": "pending", "count": 3, "sends": 4, "age_seconds": 100},
    }


def test_a_reminder_says_how_long_ago_the_event_was_delivered():
    row = ack_row(status=AckStatus.DELIVERED, delivered_at=after(30), trigger_count=0, kind=EventKind.HOOK)
    (notice,) = decide([row]).notices
    assert notice.data == {"kind": "hook", "seq": 1, "stage": "delivered", "count": 1, "sends": 2, "age_seconds": 70}


def test_the_first_dispatch_of_a_row_that_waited_for_a_beat_is_no_retry():
    row = ack_row(trigger_count=0, sends=0, first_sent_at=None, next_due=START)
    decision = decide([row])
    assert decision.claimed == [replace(row, trigger_count=1, sends=1, first_sent_at=NOW, next_due=after(140), modified=NOW)]
    assert decision.notices == []


@pytest.mark.parametrize(
    ("choice", "status", "code", "suspended"),
    [
        (GaveUp.SUSPEND, AckStatus.SUSPENDING, "ACK_SUSPEND", {7: f"consumer 'c1' did not acknowledge transition ack-1 (seq 1) in {LIMIT} attempts"}),
        (GaveUp.PARK, AckStatus.PARKED, "ACK_PARKED", {}),
        (GaveUp.SKIP, AckStatus.FAILED, "ACK_SKIPPED", {}),
    ],
)
def test_an_exhausted_row_is_given_up_as_its_consumer_chose(choice: GaveUp, status: AckStatus, code: str, suspended: dict[int, str]):
    row = ack_row(trigger_count=LIMIT)
    decision = decide([row], on_exhausted=choice)
    assert decision.gave_up == [replace(row, status=status, next_due=None, gave_up=choice, modified=NOW)]
    assert (decision.claimed, decision.suspended) == ([], suspended)
    assert [(notice.code.value, notice.data) for notice in decision.notices] == [
        (code, {"kind": "transition", "seq": 1, "stage": "pending", "count": LIMIT, "max_retry_count": LIMIT})
    ]


def test_an_exhausted_row_of_a_missing_instance_can_only_be_told_of():
    decision = decide([ack_row(trigger_count=LIMIT)], {7: None})
    assert [(row.status, row.gave_up) for row in decision.gave_up] == [(AckStatus.FAILED, GaveUp.SKIP)]
    (notice,) = decision.notices
    assert (notice.code.value, notice.instance_id, notice.instance_guid, notice.external_ref) == ("ACK_FAIL", 7, None, None)
    assert decision.suspended == {}


def test_where_one_row_suspends_its_instance_nothing_of_it_is_sent_and_others_are():
    rows = [ack_row(1, seq=1), ack_row(2, seq=2, trigger_count=LIMIT), ack_row(3, seq=2, kind=EventKind.HOOK, trigger_count=LIMIT), ack_row(4, instance_id=8)]
    decision = decide(rows)
    assert [row.ack_id for row in decision.gave_up] == [2, 3]
    assert [row.ack_id for row in decision.claimed] == [4]
    assert list(decision.suspended) == [7]
    assert [notice.code.value for notice in decision.notices] == ["ACK_SUSPEND", "ACK_SUSPEND", "ACK_RETRY"]


def test_rows_of_a_suspended_instance_or_of_one_that_somebody_holds_are_left_alone():
    rows = [ack_row(1, instance_id=7), ack_row(2, instance_id=8), ack_row(3, instance_id=9)]
    decision = decide(rows, {7: instance_row(7, flags=SUSPENDED), 9: instance_row(9)})
    assert [row.ack_id for row in decision.claimed] == [3]
    assert decision.gave_up == []


PAGES = st.lists(
    st.builds(
        lambda instance, seq, kind, count, status: {"instance_id": instance, "seq": seq, "kind": kind, "trigger_count": count, "status": status},
        st.integers(1, 4),
        st.integers(1, 4),
        st.sampled_from(EventKind),
        st.integers(0, LIMIT + 1),
        st.sampled_from([AckStatus.PENDING, AckStatus.DELIVERED]),
    ),
    max_size=20,
).map(lambda facts: [ack_row(number, **one) for number, one in enumerate(facts, 1)])
CONDITIONS = st.fixed_dictionaries({number: st.sampled_from(["active", "suspended", "locked", "missing"]) for number in range(1, 5)})


def seen_as(conditions: dict[int, str]) -> dict[int, InstanceRow | None]:
    made: dict[int, InstanceRow | None] = {}
    for number, condition in conditions.items():
        if condition != "locked":
            made[number] = (
                None if condition == "missing" else instance_row(number, flags=SUSPENDED if condition == "suspended" else LifeCycleInstanceFlag.ACTIVE)
            )
    return made


@given(PAGES, CONDITIONS, st.sampled_from(GaveUp))
def test_of_any_page_each_row_is_claimed_given_up_or_left_alone_for_a_reason(rows: list[AckConsumerRow], conditions: dict[int, str], choice: GaveUp):
    decision = decide(rows, seen_as(conditions), on_exhausted=choice)
    claimed, gave_up = {row.key: row for row in decision.claimed}, {row.key: row for row in decision.gave_up}
    for row in rows:
        is_there = conditions[row.instance_id] in {"active", "missing"}
        assert (row.key in gave_up) == (is_there and row.trigger_count >= LIMIT)
        assert (row.key in claimed) == (is_there and row.trigger_count < LIMIT and row.instance_id not in decision.suspended)
    assert decision.claimed == sorted(decision.claimed, key=send_order)
    assert all(row.next_due is not None and row.next_due > NOW for row in decision.claimed)
    assert all(row.next_due is None for row in decision.gave_up)
    assert set(decision.suspended) <= {row.instance_id for row in decision.gave_up if choice is GaveUp.SUSPEND and conditions[row.instance_id] == "active"}


@given(PAGES, st.integers(1, 25))
def test_a_page_that_is_too_long_is_cut_between_steps_never_inside_one(rows: list[AckConsumerRow], limit: int):
    kept, ordered = whole_seqs(rows, limit), sorted(rows, key=send_order)
    assert kept == ordered[: len(kept)]
    assert len(kept) >= min(limit, len(rows))
    left = {(row.instance_id, row.seq) for row in ordered[len(kept) :]}
    assert left.isdisjoint((row.instance_id, row.seq) for row in kept)
    without_last = [row for row in kept if (row.instance_id, row.seq) != (kept[-1].instance_id, kept[-1].seq)]
    assert len(without_last) < limit, "no more is taken than must be"
