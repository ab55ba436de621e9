"""Suspending and resuming: what becomes of an instance's open rows and its due time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from workflow_engine.engine.rules.lanes import LaneView, free_rows, release
from workflow_engine.engine.rules.liveness import is_live
from workflow_engine.engine.rules.state_due import state_due
from workflow_engine.models.ack import AckConsumerRow
from workflow_engine.models.enums import AckStatus, SuspendedBy
from workflow_engine.models.flags import LifeCycleInstanceFlag
from workflow_engine.models.instance import InstanceRow
from workflow_engine.models.transition import StateDue

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Statement, WorkFlowDAL
    from workflow_engine.engine.blueprint_manager import BlueprintManager
    from workflow_engine.models.subscriber import DispatchConsumerRow
    from workflow_engine.options import WorkFlowEngineOptions

Changes = dict[tuple[int, int], AckConsumerRow]
# All rows of an instance; a number because every list is bounded.
_ALL = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceRows:
    """All open rows of an instance, and what the engine gave up; held rows only of each lane's lowest seq."""

    pending: list[AckConsumerRow]
    delivered: list[AckConsumerRow]
    gave_up: list[AckConsumerRow]
    held: list[AckConsumerRow]
    consumers: "dict[int, DispatchConsumerRow]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rearmed:
    statements: "list[Statement]"
    released: list[AckConsumerRow]


class Suspension:
    def __init__(self, dal: "WorkFlowDAL", blueprints: "BlueprintManager", options: "WorkFlowEngineOptions") -> None:
        self._dal = dal
        self._blueprints = blueprints
        self._options = options

    def suspend(self, instance: InstanceRow, by: SuspendedBy, message: str, now: datetime) -> tuple[InstanceRow, "Statement"]:
        """Set the flag beside the others; nothing is due while it is set."""
        said = instance.message if instance.flags & LifeCycleInstanceFlag.FAILED else message[:500]
        after = replace(instance, flags=instance.flags | LifeCycleInstanceFlag.SUSPENDED, suspended_by=by, message=said)
        return after, self._dal.instance.update_flags(after, StateDue(), now)

    def disarm(self, rows: Iterable[AckConsumerRow], now: datetime) -> "list[Statement]":
        """Take the due times of open rows away."""
        return self._no_due([row for row in rows if row.next_due is not None], now)

    def read_open(self, load: "DbExecutionLoad", instance_ids: Sequence[int]) -> dict[int, list[AckConsumerRow]]:
        """Read the rows that have, or may have, a due time: one packet, however many instances."""
        statuses = (AckStatus.PENDING, AckStatus.DELIVERED)
        found = self._dal.read_all(load, [self._dal.ack_consumer.list_by_instance(key, status, _ALL) for key in instance_ids for status in statuses])
        return {key: [*found[2 * place], *found[2 * place + 1]] for place, key in enumerate(instance_ids)}

    def read_rows(self, load: "DbExecutionLoad", instance_id: int) -> InstanceRows:
        """Read everything that a resume touches, in two packets."""
        leaf = self._dal.ack_consumer
        pending, delivered, suspending, parked, failed, lanes = self._dal.read_mixed(
            load,
            [
                leaf.list_by_instance(instance_id, AckStatus.PENDING, _ALL),
                leaf.list_by_instance(instance_id, AckStatus.DELIVERED, _ALL),
                leaf.list_by_instance(instance_id, AckStatus.SUSPENDING, _ALL),
                leaf.list_by_instance(instance_id, AckStatus.PARKED, _ALL),
                leaf.list_gave_up(instance_id, AckStatus.FAILED, _ALL),
                leaf.list_held_lanes(instance_id),
            ],
        )
        gave_up = [*suspending, *parked, *failed]
        consumer_ids = {row.consumer_id for row in [*pending, *delivered, *gave_up]} | {lane.consumer_id for lane in lanes}
        held_reads = [leaf.list_lowest_held((lane.consumer_id, instance_id)) for lane in lanes]
        consumers, *held = self._dal.read_mixed(load, [self._dal.dispatch.list_consumers_by_ids(sorted(consumer_ids) or [0]), *held_reads])
        return InstanceRows(
            pending=pending,
            delivered=delivered,
            gave_up=gave_up,
            held=[row for rows in held for row in rows],
            consumers={row.consumer_id: row for row in consumers},
        )

    def due_after_resume(self, load: "DbExecutionLoad", instance: InstanceRow) -> StateDue:
        """Take up the timeout and the stale time where they were; nothing for an instance that is not active."""
        if not instance.is_active:
            return StateDue()
        blueprint = self._blueprints.get_blueprint_by_version_id(load, instance.def_version_id)
        policy = self._blueprints.attached_policy(load, blueprint, instance.policy_id)
        firings = self._dal.read(load, self._dal.lc_timeout.get_firings(instance.instance_id, instance.stay_id))[0][0]
        timeout = policy.timeouts.get(blueprint.states[instance.current_state_id].name_key)
        return state_due(timeout, instance.state_entered_at, firings, instance.stale_at or instance.state_entered_at)

    def lift(self, load: "DbExecutionLoad", instance: InstanceRow, now: datetime) -> tuple[InstanceRow, "Statement"]:
        # Why an operator failed it is worth more than why it was suspended.
        said = instance.message if instance.flags & LifeCycleInstanceFlag.FAILED else None
        after = replace(instance, flags=instance.flags & ~LifeCycleInstanceFlag.SUSPENDED, suspended_by=None, message=said)
        return after, self._dal.instance.update_flags(after, self.due_after_resume(load, after), now)

    def rearm(self, rows: InstanceRows, changed: Changes, *, reopen: bool, now: datetime, hold_back: bool = False) -> Rearmed:
        """Make sent open rows due now, reopen what was given up if asked, and release each lane's lowest held seq where nothing lower blocks.

        `hold_back` leaves what is released to the monitor, for callers that do not publish.
        """
        open_rows = [row for row in [*rows.pending, *rows.delivered] if row.key not in changed and row.next_due is None]
        alive = {consumer_id for consumer_id, row in rows.consumers.items() if not row.is_deleted}
        reopened = [self._reopened(row, now) for row in rows.gave_up if reopen and row.consumer_id in alive and row.key not in changed]
        after = changed | {row.key: row for row in reopened}
        released: list[AckConsumerRow] = []
        for consumer_id in sorted({row.consumer_id for row in rows.held}):
            released += self._released(rows, consumer_id, after, now, hold_back=hold_back)
        statements = [*self._due_now(open_rows, now), *(self._dal.ack_consumer.update(row) for row in [*reopened, *released])]
        return Rearmed(statements=statements, released=[row for row in released if row.sends])

    def _released(self, rows: InstanceRows, consumer_id: int, changed: Changes, now: datetime, *, hold_back: bool) -> list[AckConsumerRow]:
        lane = LaneView(
            blockers=[row for row in [*rows.pending, *rows.gave_up] if row.consumer_id == consumer_id],
            held=[row for row in rows.held if row.consumer_id == consumer_id],
        )
        # A batch changes rows of other instances too, and their seqs mean nothing here.
        of_lane = {key: row for key, row in changed.items() if row.lane == lane.held[0].lane}
        consumer = rows.consumers[consumer_id]
        live = is_live(consumer.beat_seconds, bool(consumer.is_always_live), consumer.last_beat, now, self._options.consumer_ttl_seconds)
        return release(free_rows(lane, of_lane), is_live=live and not hold_back, now=now, options=self._options)

    def _reopened(self, row: AckConsumerRow, now: datetime) -> AckConsumerRow:
        return replace(row, status=AckStatus.PENDING, next_due=now, trigger_count=0, gave_up=None, modified=now)

    def _due_now(self, rows: Sequence[AckConsumerRow], now: datetime) -> "list[Statement]":
        """Sent rows are due at once, with an attempt left for it: what is resumed must not be given up by the next pass."""
        most = self._options.max_retry_count - 1
        return [self._dal.ack_consumer.rearm(consumer_id, ack_ids, most, now) for consumer_id, ack_ids in _by_consumer(rows)]

    def _no_due(self, rows: Sequence[AckConsumerRow], now: datetime) -> "list[Statement]":
        return [self._dal.ack_consumer.disarm(consumer_id, ack_ids, now) for consumer_id, ack_ids in _by_consumer(rows)]


def _by_consumer(rows: Sequence[AckConsumerRow]) -> list[tuple[int, list[int]]]:
    by_consumer: dict[int, list[int]] = {}
    for row in rows:
        by_consumer.setdefault(row.consumer_id, []).append(row.ack_id)
    return sorted(by_consumer.items())
