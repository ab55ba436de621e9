"""The lists of `why`, made from the rows of each consumer's lane."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from workflow_engine.engine.rules.liveness import is_live
from workflow_engine.models.enums import AckStatus, EventKind, GaveUp
from workflow_engine.models.why import DownConsumer, GaveUpAck, HeldAck, HeldBy, HeldReason, LaneRow, OpenAck, WhyAckRow

MOST_ENTRIES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """Consumers and the rows of their lanes by status, as far as they were read."""

    consumers: Mapping[int, LaneRow]
    rows: Sequence[WhyAckRow]
    now: datetime
    ttl_seconds: int

    def of(self, *statuses: AckStatus) -> list[WhyAckRow]:
        chosen = [row for row in self.rows if row.status in statuses]
        return sorted(chosen, key=lambda row: (row.seq, row.kind, row.consumer))[:MOST_ENTRIES]

    def is_alive(self, lane: LaneRow | None) -> bool:
        if lane is None or lane.deleted_id:
            return False
        return is_live(lane.beat_seconds, bool(lane.is_always_live), lane.last_beat, self.now, self.ttl_seconds)


def statuses_of(lane: LaneRow) -> list[AckStatus]:
    """What there is to read in a lane."""
    flags = {
        AckStatus.PENDING: lane.has_pending,
        AckStatus.DELIVERED: lane.has_delivered,
        AckStatus.HELD: lane.has_held,
        AckStatus.PARKED: lane.has_parked,
        AckStatus.SUSPENDING: lane.has_suspending,
    }
    return [status for status, is_there in flags.items() if is_there]


def open_acks(lanes: Lanes) -> list[OpenAck]:
    return [_open(lanes, row) for row in lanes.of(AckStatus.PENDING, AckStatus.DELIVERED)]


def held_acks(lanes: Lanes, *, is_suspended: bool) -> list[HeldAck]:
    """Each held row with the row that holds it: the lowest that blocks its lane, or what suspended the instance."""
    blockers = lanes.of(AckStatus.PENDING, AckStatus.PARKED)
    suspending = next((row.ack_guid for row in lanes.of(AckStatus.SUSPENDING)), None)
    suspended = HeldBy(ack_guid=suspending, reason="suspended") if is_suspended else None
    return [
        HeldAck(ack_guid=row.ack_guid, seq=row.seq, consumer=row.consumer, held_by=suspended or _blocker(row, blockers)) for row in lanes.of(AckStatus.HELD)
    ]


def gave_up_acks(lanes: Lanes, failed: Iterable[WhyAckRow]) -> list[GaveUpAck]:
    rows = [*lanes.of(AckStatus.SUSPENDING, AckStatus.PARKED), *(row for row in failed if row.gave_up is not None)]
    return [_gave_up(row) for row in rows[:MOST_ENTRIES]]


def down_consumers(lanes: Lanes) -> list[DownConsumer]:
    """Who has events here or listens to the definition, and does not beat; longest silent first."""
    down = [lane for lane in lanes.consumers.values() if not lane.deleted_id and not lanes.is_alive(lane)]
    return [DownConsumer(consumer=lane.consumer, last_beat=lane.last_beat) for lane in sorted(down, key=lambda lane: lane.last_beat)[:MOST_ENTRIES]]


def _open(lanes: Lanes, row: WhyAckRow) -> OpenAck:
    return OpenAck(
        ack_guid=row.ack_guid,
        kind=EventKind(row.kind).label,
        route=row.route,
        seq=row.seq,
        consumer=row.consumer,
        alive=lanes.is_alive(lanes.consumers.get(row.consumer_id)),
        status=AckStatus(row.status).label,
        attempts=row.attempts,
        next_due=row.next_due,
    )


def _blocker(row: WhyAckRow, blockers: Sequence[WhyAckRow]) -> HeldBy | None:
    first = next((one for one in blockers if one.consumer_id == row.consumer_id and one.seq < row.seq), None)
    if first is None:
        return None
    reason: HeldReason = "parked" if first.status == AckStatus.PARKED else "pending"
    return HeldBy(ack_guid=first.ack_guid, reason=reason)


def _gave_up(row: WhyAckRow) -> GaveUpAck:
    return GaveUpAck(
        ack_guid=row.ack_guid,
        kind=EventKind(row.kind).label,
        route=row.route,
        seq=row.seq,
        consumer=row.consumer,
        gave_up=GaveUp(row.gave_up).label if row.gave_up else "",
        attempts=row.attempts,
        message=row.message,
        gave_up_at=row.modified,
    )
