"""Pass B, decided from what was read: which due rows are claimed, which are given up."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from workflow_engine.engine.rules.backoff import resend_due
from workflow_engine.engine.rules.lanes import send_order
from workflow_engine.models.ack import AckConsumerRow
from workflow_engine.models.enums import AckStatus, EventKind, GaveUp, NoticeCode
from workflow_engine.models.instance import InstanceRow
from workflow_engine.models.notice import LifeCycleNotice
from workflow_engine.models.subscriber import DispatchConsumerRow
from workflow_engine.options import WorkFlowEngineOptions

_STATUS_OF = {GaveUp.SUSPEND: AckStatus.SUSPENDING, GaveUp.PARK: AckStatus.PARKED, GaveUp.SKIP: AckStatus.FAILED}
_CODE_OF = {GaveUp.SUSPEND: NoticeCode.ACK_SUSPEND, GaveUp.PARK: NoticeCode.ACK_PARKED, GaveUp.SKIP: NoticeCode.ACK_SKIPPED}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSeen:
    """A page under its locks: rows whose instance somebody else holds are not among them; a missing instance is None."""

    consumer: DispatchConsumerRow
    rows: Sequence[AckConsumerRow]
    instances: dict[int, InstanceRow | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDecision:
    claimed: list[AckConsumerRow] = field(default_factory=list)
    gave_up: list[AckConsumerRow] = field(default_factory=list)
    # Instances that one of the rows suspends, with the reason.
    suspended: dict[int, str] = field(default_factory=dict)
    notices: list[LifeCycleNotice] = field(default_factory=list)


def decide_page(seen: PageSeen, now: datetime, options: WorkFlowEngineOptions) -> PageDecision:
    """Claim in lane order; where one row suspends its instance, nothing of that instance is sent."""
    decision = PageDecision()
    rows = [row for row in sorted(seen.rows, key=send_order) if _is_to_do(row, seen)]
    exhausted = [row for row in rows if row.trigger_count >= options.max_retry_count]
    for row in exhausted:
        _give_up(decision, seen, row, now, options)
    for row in rows:
        if row not in exhausted and row.instance_id not in decision.suspended:
            _claim(decision, seen, row, now, options)
    return decision


def _is_to_do(row: AckConsumerRow, seen: PageSeen) -> bool:
    if row.instance_id not in seen.instances:
        return False
    instance = seen.instances[row.instance_id]
    return instance is None or not instance.is_suspended


def _claim(decision: PageDecision, seen: PageSeen, row: AckConsumerRow, now: datetime, options: WorkFlowEngineOptions) -> None:
    attempts = row.trigger_count + 1
    due = resend_due(row.status, attempts, (row.instance_id, row.seq), now, options)
    claimed = replace(row, trigger_count=attempts, sends=row.sends + 1, first_sent_at=row.first_sent_at or now, next_due=due, modified=now)
    decision.claimed.append(claimed)
    if row.sends:
        stage = "delivered" if row.status == AckStatus.DELIVERED else "pending"
        since = row.delivered_at if stage == "delivered" else row.first_sent_at
        age = int((now - (since or row.created)).total_seconds())
        decision.notices.append(
            _notice(NoticeCode.ACK_RETRY, seen, row, now, {"stage": stage, "count": claimed.trigger_count, "sends": claimed.sends, "age_seconds": age})
        )


def _give_up(decision: PageDecision, seen: PageSeen, row: AckConsumerRow, now: datetime, options: WorkFlowEngineOptions) -> None:
    """As the consumer chose; an instance that is missing can only be told of."""
    instance = seen.instances[row.instance_id]
    choice = GaveUp(seen.consumer.on_exhausted) if instance is not None else GaveUp.SKIP
    code = _CODE_OF[choice] if instance is not None else NoticeCode.ACK_FAIL
    decision.gave_up.append(replace(row, status=_STATUS_OF[choice], next_due=None, gave_up=choice, modified=now))
    stage = "delivered" if row.status == AckStatus.DELIVERED else "pending"
    decision.notices.append(_notice(code, seen, row, now, {"stage": stage, "count": row.trigger_count, "max_retry_count": options.max_retry_count}))
    if choice is GaveUp.SUSPEND and instance is not None and row.instance_id not in decision.suspended:
        event = f"{EventKind(row.kind).label} {row.ack_guid} (seq {row.seq})"
        decision.suspended[row.instance_id] = f"consumer '{seen.consumer.consumer}' did not acknowledge {event} in {row.trigger_count} attempts"


def _notice(code: NoticeCode, seen: PageSeen, row: AckConsumerRow, now: datetime, data: dict[str, object]) -> LifeCycleNotice:
    instance = seen.instances[row.instance_id]
    return LifeCycleNotice(
        code=code,
        occurred_at=now,
        env_code=seen.consumer.env_code,
        instance_id=row.instance_id,
        instance_guid=instance.instance_guid if instance else None,
        external_ref=instance.external_ref if instance else None,
        consumer_id=row.consumer_id,
        consumer=seen.consumer.consumer,
        ack_guid=row.ack_guid,
        data={"kind": EventKind(row.kind).label, "seq": row.seq, **data},
    )


def whole_seqs(rows: Sequence[AckConsumerRow], limit: int) -> list[AckConsumerRow]:
    """Cut a page that hooks have made too long, never inside a seq; what is left stays due."""
    kept: list[AckConsumerRow] = []
    group: list[AckConsumerRow] = []
    for row in sorted(rows, key=send_order):
        if group and (group[0].instance_id, group[0].seq) != (row.instance_id, row.seq):
            kept, group = [*kept, *group], []
            if len(kept) >= limit:
                return kept
        group.append(row)
    return [*kept, *group]
