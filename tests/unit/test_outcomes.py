"""Every word on every row, as a pure decision."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.made import OPTIONS, ack_row, after, held_row
from workflow_engine.engine.rules.outcomes import OutcomeMoment, apply_outcome, is_closed_by_consumer
from workflow_engine.models.ack import AckConsumerRow, AckItem
from workflow_engine.models.enums import AckOutcome, AckStatus, GaveUp, NoticeCode

GUID = "5f0c1a9e-0000-4000-8000-000000000001"
NOW = after(100)
GAVE_UP = {AckStatus.PARKED: GaveUp.PARK, AckStatus.SUSPENDING: GaveUp.SUSPEND}
AFTER = {
    AckOutcome.DELIVERED: AckStatus.DELIVERED,
    AckOutcome.PROCESSED: AckStatus.PROCESSED,
    AckOutcome.FAILED: AckStatus.FAILED,
    AckOutcome.RETRY: AckStatus.PENDING,
}

OPEN_ROWS = {
    "pending": ack_row(),
    "delivered": ack_row(status=AckStatus.DELIVERED, delivered_at=after(50), next_due=after(290), trigger_count=2),
    "parked": ack_row(status=AckStatus.PARKED, gave_up=GaveUp.PARK, next_due=None, trigger_count=12),
    "suspending": ack_row(status=AckStatus.SUSPENDING, gave_up=GaveUp.SUSPEND, next_due=None, trigger_count=12),
    "skipped": ack_row(status=AckStatus.FAILED, gave_up=GaveUp.SKIP, next_due=None, trigger_count=12),
    "held": held_row(),
}
CLOSED_ROWS = {
    "processed": ack_row(status=AckStatus.PROCESSED, next_due=None, processed_at=after(60)),
    "failed": ack_row(status=AckStatus.FAILED, next_due=None),
}


def item(outcome: AckOutcome, **more: Any) -> AckItem:
    return AckItem(ack_guid=GUID, outcome=outcome, **more)


def moment(*, is_suspended: bool = False) -> OutcomeMoment:
    return OutcomeMoment(now=NOW, is_suspended=is_suspended, options=OPTIONS)


@pytest.mark.parametrize("name", OPEN_ROWS)
@pytest.mark.parametrize("outcome", AckOutcome)
def test_a_word_on_an_open_row_applies(name: str, outcome: AckOutcome):
    row = OPEN_ROWS[name]
    change = apply_outcome(row, item(outcome), moment())
    if (name, outcome) == ("delivered", AckOutcome.DELIVERED):
        assert (change.result, change.row, change.notice) == ("unchanged", row, None)
        return
    delivered_at, processed = row.delivered_at or NOW, replace(row, gave_up=None, modified=NOW)
    wanted = {
        AckOutcome.DELIVERED: replace(processed, status=AckStatus.DELIVERED, next_due=NOW + timedelta(seconds=240), trigger_count=0, delivered_at=delivered_at),
        AckOutcome.PROCESSED: replace(processed, status=AckStatus.PROCESSED, next_due=None, delivered_at=delivered_at, processed_at=NOW),
        AckOutcome.FAILED: replace(processed, status=AckStatus.FAILED, next_due=None),
        AckOutcome.RETRY: replace(
            processed, status=AckStatus.PENDING, next_due=NOW + timedelta(seconds=40), trigger_count=min(row.trigger_count, 11), retry_count=row.retry_count + 1
        ),
    }[outcome]
    if (name, outcome) == ("held", AckOutcome.RETRY):
        # It waits for its turn anyway, and must not jump the queue.
        wanted = replace(row, retry_count=1, modified=NOW)
    assert (change.result, change.row) == ("applied", wanted)
    assert change.notice == (NoticeCode.CONSUMER_FAILURE if outcome is AckOutcome.FAILED else None)


@pytest.mark.parametrize("name", CLOSED_ROWS)
@pytest.mark.parametrize("outcome", AckOutcome)
def test_a_row_that_the_consumer_closed_never_changes(name: str, outcome: AckOutcome):
    row = CLOSED_ROWS[name]
    change = apply_outcome(row, item(outcome), moment())
    is_repeat = (name, outcome) in {("processed", AckOutcome.PROCESSED), ("processed", AckOutcome.DELIVERED), ("failed", AckOutcome.FAILED)}
    assert (change.result, change.row, change.notice) == (("unchanged", row, None) if is_repeat else ("stale", row, NoticeCode.STALE_ACK))


@pytest.mark.parametrize("name", OPEN_ROWS)
@pytest.mark.parametrize("outcome", AckOutcome)
def test_while_the_instance_is_suspended_nothing_becomes_due(name: str, outcome: AckOutcome):
    row = replace(OPEN_ROWS[name], next_due=None)
    more = {"retry_at": after(1_000)} if outcome is AckOutcome.RETRY else {}
    assert apply_outcome(row, item(outcome, **more), moment(is_suspended=True)).row.next_due is None


def test_a_retry_at_a_given_time_is_due_exactly_then():
    assert apply_outcome(ack_row(), item(AckOutcome.RETRY, retry_at=after(5_000)), moment()).row.next_due == after(5_000)


def rows() -> st.SearchStrategy[AckConsumerRow]:
    return st.builds(
        lambda status, count, skipped: ack_row(
            status=status, trigger_count=count, gave_up=GAVE_UP.get(status) or (GaveUp.SKIP if skipped and status is AckStatus.FAILED else None)
        ),
        st.sampled_from(AckStatus),
        st.integers(0, 40),
        st.booleans(),
    )


@given(rows(), st.sampled_from([AckOutcome.DELIVERED, AckOutcome.PROCESSED, AckOutcome.FAILED]))
def test_saying_a_thing_twice_is_saying_it_once(row: AckConsumerRow, outcome: AckOutcome):
    once = apply_outcome(row, item(outcome), moment())
    twice = apply_outcome(once.row, item(outcome), OutcomeMoment(now=after(200), is_suspended=False, options=OPTIONS))
    assert twice.row == once.row
    assert twice.result == ("stale" if once.result == "stale" else "unchanged")


@given(rows(), st.lists(st.sampled_from(AckOutcome), min_size=1, max_size=6))
def test_whatever_is_said_a_row_stays_whole(row: AckConsumerRow, outcomes: list[AckOutcome]):
    for outcome in outcomes:
        before, change = row, apply_outcome(row, item(outcome), moment())
        row = change.row
        if change.result != "applied":
            assert row == before
            continue
        assert row.gave_up is None or before.status == AckStatus.HELD
        assert row.retry_count == before.retry_count + (outcome is AckOutcome.RETRY)
        assert row.status == AFTER[outcome] or (before.status, outcome) == (AckStatus.HELD, AckOutcome.RETRY)
        assert (row.next_due is None) == (row.status in {AckStatus.PROCESSED, AckStatus.FAILED}) or row.status == AckStatus.HELD
        assert is_closed_by_consumer(row) == (outcome in {AckOutcome.PROCESSED, AckOutcome.FAILED})


@given(st.integers(0, 2_000), st.integers(1, 1_000))
def test_after_a_retry_one_attempt_is_always_left(attempts: int, limit: int):
    options = replace(OPTIONS, max_retry_count=limit)
    row = apply_outcome(ack_row(trigger_count=attempts), item(AckOutcome.RETRY), OutcomeMoment(now=NOW, is_suspended=False, options=options)).row
    assert row.trigger_count < limit
    assert row.trigger_count <= attempts
