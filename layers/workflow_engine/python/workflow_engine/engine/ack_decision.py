"""Acks, decided from what was read: a pure function over the rows of one consumer."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from workflow_engine.engine.rules.lanes import LaneView, free_rows, release
from workflow_engine.engine.rules.outcomes import MAX_RETRY_AHEAD, OutcomeChange, OutcomeMoment, apply_outcome
from workflow_engine.models.ack import AckAnswer, AckConsumerRow, AckItem, error_answer
from workflow_engine.models.base import optional_time_text
from workflow_engine.models.enums import AckOutcome, AckStatus, EventKind, NoticeCode, SuspendedBy
from workflow_engine.models.instance import InstanceRow
from workflow_engine.models.notice import LifeCycleNotice

if TYPE_CHECKING:
    from workflow_engine.engine.suspension import InstanceRows
    from workflow_engine.models.subscriber import DispatchConsumerRow
    from workflow_engine.options import WorkFlowEngineOptions

Changes = dict[tuple[int, int], AckConsumerRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceSeen:
    """A locked instance with this consumer's lane and the rows that suspend it."""

    instance: InstanceRow
    lane: LaneView
    suspending: list[AckConsumerRow]
    open_rows: "InstanceRows | None" = None

    def with_held(self, held: list[AckConsumerRow]) -> "InstanceSeen":
        return replace(self, lane=LaneView(blockers=self.lane.blockers, held=held))

    def with_rows(self, open_rows: "InstanceRows") -> "InstanceSeen":
        """The own lane may have been read beyond its lowest held seq, because held rows are answered too: that look is the better one."""
        own = {row.consumer_id for row in self.lane.held}
        held = [*self.lane.held, *(row for row in open_rows.held if row.consumer_id not in own)]
        return replace(self, open_rows=replace(open_rows, held=held))


@dataclass(frozen=True, slots=True, kw_only=True)
class AckSeen:
    consumer: "DispatchConsumerRow"
    rows: dict[str, AckConsumerRow]
    instances: dict[int, InstanceSeen]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifted:
    """An instance whose last suspending row has just been answered."""

    instance: InstanceRow
    open_rows: "InstanceRows"


@dataclass(frozen=True, slots=True, kw_only=True)
class AckDecision:
    now: datetime
    answers: list[AckAnswer]
    changed: Changes = field(default_factory=dict)
    released: list[AckConsumerRow] = field(default_factory=list)
    words: list[tuple[AckConsumerRow, str | None, datetime | None]] = field(default_factory=list)
    lifted: list[Lifted] = field(default_factory=list)
    notices: list[LifeCycleNotice] = field(default_factory=list)
    # Of the consumers whose rows were released; more than one where a suspension ended.
    names: dict[int, str] = field(default_factory=dict)

    def is_in(self, seen: AckSeen) -> bool:
        """Tell whether the rows carry this decision: its moment is its mark."""
        now_there = {row.key: row for row in seen.rows.values()}
        return any(key in now_there and (now_there[key].status, now_there[key].modified) == (row.status, self.now) for key, row in self.changed.items())


def decide_acks(seen: AckSeen, items: list[AckItem | AckAnswer], *, is_live: bool, now: datetime, options: "WorkFlowEngineOptions") -> AckDecision:
    """Apply the items in their order, then release each lane once."""
    items = [_refused(seen, item, now) or item for item in items]
    lifting = {key for key, place in seen.instances.items() if _lifts(place, seen, items)}
    decision = AckDecision(now=now, answers=[], names={seen.consumer.consumer_id: seen.consumer.consumer})
    for item in items:
        if isinstance(item, AckAnswer):
            decision.answers.append(item)
            continue
        row = seen.rows[item.ack_guid]
        instance = seen.instances[row.instance_id].instance
        is_suspended = instance.is_suspended and row.instance_id not in lifting
        change = apply_outcome(decision.changed.get(row.key, row), item, OutcomeMoment(now=now, is_suspended=is_suspended, options=options))
        _note(decision, seen, instance, item, change)
    for key, place in seen.instances.items():
        if key in lifting and place.open_rows is not None:
            decision.lifted.append(Lifted(instance=place.instance, open_rows=place.open_rows))
        elif not place.instance.is_suspended:
            of_lane = {row.key: row for row in decision.changed.values() if row.instance_id == key}
            decision.released.extend(release(free_rows(place.lane, of_lane), is_live=is_live, now=now, options=options))
    return decision


def _refused(seen: AckSeen, item: AckItem | AckAnswer, now: datetime) -> AckAnswer | None:
    if isinstance(item, AckAnswer):
        return item
    row = seen.rows.get(item.ack_guid)
    if row is None or row.instance_id not in seen.instances:
        return error_answer(item.ack_guid, 404, "ACK_NOT_FOUND", f"no ack {item.ack_guid} for this consumer")
    if item.retry_at is not None and item.retry_at > now + MAX_RETRY_AHEAD:
        return error_answer(item.ack_guid, 400, "INVALID_REQUEST", "retry_at: at most seven days ahead")
    return None


def _lifts(place: InstanceSeen, seen: AckSeen, items: list[AckItem | AckAnswer]) -> bool:
    """The engine's own suspension ends when its last suspending row gets any word."""
    answered = {seen.rows[item.ack_guid].key for item in items if isinstance(item, AckItem) and item.ack_guid in seen.rows}
    suspending = {row.key for row in place.suspending}
    return place.instance.suspended_by == SuspendedBy.ENGINE and bool(suspending) and suspending <= answered


def _note(decision: AckDecision, seen: AckSeen, instance: InstanceRow, item: AckItem, change: OutcomeChange) -> None:
    row = change.row
    if change.result == "applied":
        decision.changed[row.key] = row
        is_retry = item.outcome is AckOutcome.RETRY
        if item.message is not None or is_retry:
            decision.words.append((row, item.message, decision.now if is_retry else None))
    decision.answers.append(AckAnswer(ack_guid=item.ack_guid, result=change.result, status=AckStatus(row.status).label, next_due=row.next_due))
    if change.notice is not None:
        decision.notices.append(_notice(change.notice, seen, instance, item, change))


def _notice(code: NoticeCode, seen: AckSeen, instance: InstanceRow, item: AckItem, change: OutcomeChange) -> LifeCycleNotice:
    row = change.row
    return LifeCycleNotice(
        code=code,
        occurred_at=change.at,
        env_code=seen.consumer.env_code,
        instance_id=instance.instance_id,
        instance_guid=instance.instance_guid,
        external_ref=instance.external_ref,
        consumer_id=seen.consumer.consumer_id,
        consumer=seen.consumer.consumer,
        ack_guid=item.ack_guid,
        data={
            "kind": EventKind(row.kind).label,
            "outcome": item.outcome.value,
            "status": AckStatus(row.status).label,
            "message": item.message,
            "seq": row.seq,
            "retry_at": optional_time_text(item.retry_at),
        },
    )
