"""What a consumer's word makes of its row (guidelines 3.4)."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from workflow_engine.models.ack import AckConsumerRow, AckItem
from workflow_engine.models.enums import AckOutcome, AckStatus, NoticeCode
from workflow_engine.options import WorkFlowEngineOptions

MAX_RETRY_AHEAD = timedelta(days=7)
# What a consumer may say again without contradicting itself.
_REPEATS = frozenset({(AckStatus.PROCESSED, AckOutcome.PROCESSED), (AckStatus.PROCESSED, AckOutcome.DELIVERED), (AckStatus.FAILED, AckOutcome.FAILED)})


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeChange:
    """`result` as the caller reads it; `row` as it is afterwards."""

    result: Literal["applied", "unchanged", "stale"]
    row: AckConsumerRow
    at: datetime
    notice: NoticeCode | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeMoment:
    """When a word arrives, and whether the instance is suspended: then nothing gets a due time."""

    now: datetime
    is_suspended: bool
    options: WorkFlowEngineOptions

    def due_after(self, seconds: int) -> datetime | None:
        return None if self.is_suspended else self.now + timedelta(seconds=seconds)


def is_closed_by_consumer(row: AckConsumerRow) -> bool:
    """Processed, or failed by the consumer's own verdict; what the engine gave up is still open to its word."""
    return row.status == AckStatus.PROCESSED or (row.status == AckStatus.FAILED and row.gave_up is None)


def apply_outcome(row: AckConsumerRow, item: AckItem, moment: OutcomeMoment) -> OutcomeChange:
    """Apply the word; a row that the consumer itself closed does not change any more."""
    if is_closed_by_consumer(row):
        is_repeat = (row.status, item.outcome) in _REPEATS
        return OutcomeChange(result="unchanged" if is_repeat else "stale", row=row, at=moment.now, notice=None if is_repeat else NoticeCode.STALE_ACK)
    if item.outcome is AckOutcome.DELIVERED:
        return _delivered(row, moment)
    if item.outcome is AckOutcome.RETRY:
        return _retry(row, item, moment)
    return _closed(row, item.outcome, moment)


def _closed(row: AckConsumerRow, outcome: AckOutcome, moment: OutcomeMoment) -> OutcomeChange:
    """Processed implies Delivered; Failed is the consumer's verdict on itself, never a suspension."""
    now = moment.now
    if outcome is AckOutcome.FAILED:
        failed = replace(row, status=AckStatus.FAILED, next_due=None, gave_up=None, modified=now)
        return OutcomeChange(result="applied", row=failed, at=now, notice=NoticeCode.CONSUMER_FAILURE)
    done = replace(row, status=AckStatus.PROCESSED, next_due=None, delivered_at=row.delivered_at or now, processed_at=now, gave_up=None, modified=now)
    return OutcomeChange(result="applied", row=done, at=now)


def _delivered(row: AckConsumerRow, moment: OutcomeMoment) -> OutcomeChange:
    """The second stage begins, with attempts of its own."""
    now = moment.now
    if row.status == AckStatus.DELIVERED:
        return OutcomeChange(result="unchanged", row=row, at=now)
    due = moment.due_after(moment.options.ack_delivered_resend_seconds)
    there = replace(row, status=AckStatus.DELIVERED, next_due=due, trigger_count=0, delivered_at=row.delivered_at or now, gave_up=None, modified=now)
    return OutcomeChange(result="applied", row=there, at=now)


def _retry(row: AckConsumerRow, item: AckItem, moment: OutcomeMoment) -> OutcomeChange:
    """Send it again later; one attempt is always left for that. A held row waits for its turn anyway and must not jump the queue."""
    asked = replace(row, retry_count=row.retry_count + 1, modified=moment.now)
    if row.status != AckStatus.HELD:
        due = moment.due_after(moment.options.ack_pending_resend_seconds)
        wanted = max(item.retry_at, moment.now) if item.retry_at is not None and not moment.is_suspended else due
        attempts = min(row.trigger_count, moment.options.max_retry_count - 1)
        asked = replace(asked, status=AckStatus.PENDING, next_due=wanted, trigger_count=attempts, gave_up=None)
    return OutcomeChange(result="applied", row=asked, at=moment.now)
