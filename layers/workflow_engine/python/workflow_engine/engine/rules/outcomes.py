"""What a consumer's word makes of its row (guidelines 3.4)."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from workflow_engine.models.ack import AckConsumerRow, AckItem
from workflow_engine.models.enums import AckOutcome, AckStatus, NoticeCode
from workflow_engine.options import WorkFlowEngineOptions

MAX_RETRY_AHEAD = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeChange:
    """`result` as the caller reads it; `row` as it is afterwards."""

    result: str
    row: AckConsumerRow
    notice: NoticeCode | None = None


def is_closed_by_consumer(row: AckConsumerRow) -> bool:
    """Processed, or failed by the consumer's own verdict; what the engine gave up is still open to its word."""
    return row.status == AckStatus.PROCESSED or (row.status == AckStatus.FAILED and row.gave_up is None)


def apply_outcome(row: AckConsumerRow, item: AckItem, now: datetime, *, is_suspended: bool, options: WorkFlowEngineOptions) -> OutcomeChange:
    if is_closed_by_consumer(row):
        return _on_closed(row, item.outcome)
    if item.outcome is AckOutcome.DELIVERED:
        return _delivered(row, now, is_suspended=is_suspended, options=options)
    if item.outcome is AckOutcome.PROCESSED:
        return _applied(replace(row, status=AckStatus.PROCESSED, next_due=None, delivered_at=row.delivered_at or now, processed_at=now, gave_up=None, modified=now))
    if item.outcome is AckOutcome.FAILED:
        return _applied(replace(row, status=AckStatus.FAILED, next_due=None, gave_up=None, modified=now), NoticeCode.CONSUMER_FAILURE)
    return _retry(row, item, now, is_suspended=is_suspended, options=options)


def _on_closed(row: AckConsumerRow, outcome: AckOutcome) -> OutcomeChange:
    is_repeat = (row.status, outcome) in {(AckStatus.PROCESSED, AckOutcome.PROCESSED), (AckStatus.PROCESSED, AckOutcome.DELIVERED), (AckStatus.FAILED, AckOutcome.FAILED)}
    return OutcomeChange(result="unchanged" if is_repeat else "stale", row=row, notice=None if is_repeat else NoticeCode.STALE_ACK)


def _delivered(row: AckConsumerRow, now: datetime, *, is_suspended: bool, options: WorkFlowEngineOptions) -> OutcomeChange:
    if row.status == AckStatus.DELIVERED:
        return OutcomeChange(result="unchanged", row=row)
    next_due = None if is_suspended else now + timedelta(seconds=options.ack_delivered_resend_seconds)
    return _applied(replace(row, status=AckStatus.DELIVERED, next_due=next_due, trigger_count=0, delivered_at=row.delivered_at or now, gave_up=None, modified=now))


def _retry(row: AckConsumerRow, item: AckItem, now: datetime, *, is_suspended: bool, options: WorkFlowEngineOptions) -> OutcomeChange:
    """Send it again later; one attempt is always left for that."""
    attempts = min(row.trigger_count, options.max_retry_count - 1)
    if row.status == AckStatus.HELD:
        # It waits for its turn anyway, and must not jump the queue.
        return _applied(replace(row, retry_count=row.retry_count + 1, modified=now))
    due = item.retry_at or now + timedelta(seconds=options.ack_pending_resend_seconds)
    return _applied(replace(row, status=AckStatus.PENDING, next_due=None if is_suspended else due, trigger_count=attempts, retry_count=row.retry_count + 1, gave_up=None, modified=now))


def _applied(row: AckConsumerRow, notice: NoticeCode | None = None) -> OutcomeChange:
    return OutcomeChange(result="applied", row=row, notice=notice)
