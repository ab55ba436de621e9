"""Lanes: the events of one consumer and one instance go out in the order of their seq."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from workflow_engine.engine.rules.backoff import first_due
from workflow_engine.models.ack import AckConsumerRow
from workflow_engine.models.enums import AckStatus
from workflow_engine.options import WorkFlowEngineOptions

# The most rows one seq can have in a lane: a transition and a hundred hooks.
MAX_ROWS_OF_SEQ = 101
_BLOCKING = frozenset({AckStatus.PENDING, AckStatus.PARKED})


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneView:
    """A lane as far as it was read: the lowest rows that block it, and the rows of its lowest held seq (or more held rows, lowest first)."""

    blockers: Sequence[AckConsumerRow]
    held: Sequence[AckConsumerRow]


def free_rows(lane: LaneView, changed: dict[tuple[int, int], AckConsumerRow]) -> list[AckConsumerRow]:
    """Return the held rows that may go now: the lowest held seq, if nothing lower blocks after the changes."""
    held = [row for row in lane.held if changed.get(row.key, row).status == AckStatus.HELD]
    if not held:
        return []
    lowest = min(row.seq for row in held)
    blockers = {row.key: row for row in lane.blockers} | changed
    if any(row.seq < lowest and row.status in _BLOCKING for row in blockers.values()):
        return []
    return [row for row in held if row.seq == lowest]


def release(rows: Iterable[AckConsumerRow], *, is_live: bool, now: datetime, options: WorkFlowEngineOptions) -> list[AckConsumerRow]:
    """Send to a live consumer now; leave it due at once for one that is down, with no attempt spent."""
    return [
        replace(
            row,
            status=AckStatus.PENDING,
            next_due=first_due(now, options) if is_live else now,
            trigger_count=int(is_live),
            sends=int(is_live),
            first_sent_at=now if is_live else None,
            modified=now,
        )
        for row in rows
    ]


def send_order(row: AckConsumerRow) -> tuple[int, int, int, int, int]:
    """Per consumer and instance by seq, the transition before its hooks, hooks in the author's order."""
    return (row.consumer_id, row.instance_id, row.seq, row.kind, row.ack_id)
