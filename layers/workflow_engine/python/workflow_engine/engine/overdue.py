"""Pass A: "everybody processed, nobody moved" is noticed; nothing else changes (guidelines 3.5 A)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from workflow_engine.engine.pass_gate import BEGINNING, PassGate
from workflow_engine.engine.rules.state_due import state_due
from workflow_engine.models.due import ClosedBadlyRow, DueInstanceRow, FiringsRow, StayRow
from workflow_engine.models.enums import NoticeCode, StateDueKind
from workflow_engine.models.flags import LifeCycleKindFlag
from workflow_engine.models.instance import InstanceRow
from workflow_engine.models.monitor import MonitorReport
from workflow_engine.models.notice import LifeCycleNotice
from workflow_engine.models.subscriber import SubscriberRow
from workflow_engine.models.transition import StateDue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workflow_engine.dal import DbExecutionLoad, Deadline, Statement, UnitIds, WorkFlowDAL
    from workflow_engine.engine.blueprint_manager import BlueprintManager
    from workflow_engine.engine.outbox import Outbox
    from workflow_engine.engine.ports import Clock
    from workflow_engine.options import WorkFlowEngineOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleSeen:
    """A locked instance whose time has come, with its stay and who listens."""

    instance: InstanceRow
    stay: StayRow
    firings: FiringsRow
    subscribers: list[SubscriberRow]
    closed_badly: list[ClosedBadlyRow]


class OverDueWatch:
    def __init__(self, dal: "WorkFlowDAL", blueprints: "BlueprintManager", outbox: "Outbox", clock: "Clock", options: "WorkFlowEngineOptions") -> None:
        self._dal = dal
        self._blueprints = blueprints
        self._outbox = outbox
        self._clock = clock
        self._options = options

    def run(self, report: MonitorReport, gate: PassGate) -> None:
        now, after, deadline = self._clock.now(), BEGINNING, gate.deadline
        while gate.is_open():
            take = self._options.monitor_page_size
            page = self._dal.run_reading(deadline, lambda load, after=after: self._dal.read(load, self._dal.instance.list_due_paged(StateDueKind.STALE, now, after, take))[0])
            if page:
                self._handle(page, report, deadline)
            if len(page) < take:
                return
            after = (page[-1].state_due_at, page[-1].instance_id)

    def _handle(self, page: "Sequence[DueInstanceRow]", report: MonitorReport, deadline: "Deadline") -> None:
        ids = self._dal.unit_ids()
        # A notice per listener: more than the usual reserve when many listen.
        notices = self._dal.run(deadline, lambda load: self._unit(load, page, ids), reserve=len(page) * 20 + 512)
        self._outbox.send([], notices, deadline)
        report.found += len(page)
        report.noticed += len(notices)

    def _unit(self, load: "DbExecutionLoad", page: "Sequence[DueInstanceRow]", ids: "UnitIds") -> list[LifeCycleNotice]:
        seen = self._read(load, page)
        now = self._clock.now()
        statements: list[Statement] = []
        notices: list[LifeCycleNotice] = []
        for stale in seen:
            if stale.instance.state_due_at is None or stale.instance.state_due_at > now:
                continue
            is_overdue = stale.instance.is_active and not stale.stay.has_open
            if is_overdue:
                notices += self._notices(load, stale, now)
            statements.append(self._dal.instance.update_due(stale.instance.instance_id, self._next(load, stale, now, is_overdue=is_overdue)))
        if statements:
            self._dal.write(load, [*statements, *self._outbox.notice_statements(notices, ids)])
        return notices

    def _read(self, load: "DbExecutionLoad", page: "Sequence[DueInstanceRow]") -> list[StaleSeen]:
        dal, instance_ids = self._dal, sorted(row.instance_id for row in page)
        per_instance = [query for row in page for query in (dal.dispatch.list_subscribers_by_guid(row.instance_guid), dal.lc_timeout.get_firings(row.instance_id, row.stay_id))]
        locked, stays, badly, *rest = dal.read_mixed(
            load, [dal.instance.lock_free_by_ids(instance_ids), dal.due.list_stays(instance_ids), dal.due.list_closed_badly(instance_ids), *per_instance]
        )
        instances: dict[int, InstanceRow] = {row.instance_id: row for row in locked}
        by_stay: dict[int, StayRow] = {row.instance_id: row for row in stays}
        return [
            StaleSeen(
                instance=instances[row.instance_id],
                stay=by_stay[row.instance_id],
                firings=rest[2 * place + 1][0],
                subscribers=rest[2 * place],
                closed_badly=[one for one in badly if one.instance_id == row.instance_id],
            )
            for place, row in enumerate(page)
            if row.instance_id in instances and instances[row.instance_id].stay_id == row.stay_id
        ]

    def _next(self, load: "DbExecutionLoad", stale: StaleSeen, now: datetime, *, is_overdue: bool) -> StateDue:
        """After a notice: the stale duration, which is the throttle. With an ack open: a short while."""
        instance = stale.instance
        if not instance.is_active:
            return StateDue(stale_at=instance.stale_at)
        wait = self._options.default_state_stale_seconds if is_overdue else self._options.overdue_recheck_seconds
        blueprint = self._blueprints.get_blueprint_by_version_id(load, instance.def_version_id)
        policy = self._blueprints.attached_policy(load, blueprint, instance.policy_id)
        timeout = policy.timeouts.get(blueprint.states[instance.current_state_id].name_key)
        return state_due(timeout, instance.state_entered_at, stale.firings, now + timedelta(seconds=wait))

    def _notices(self, load: "DbExecutionLoad", stale: StaleSeen, now: datetime) -> list[LifeCycleNotice]:
        """One per consumer of transitions, with the nine fields of the guidelines; one without consumer where nobody listens."""
        listening = [row for row in stale.subscribers if row.kinds & LifeCycleKindFlag.TRANSITION]
        return [self._notice(load, stale, subscriber, now) for subscriber in listening or [None]]

    def _notice(self, load: "DbExecutionLoad", stale: StaleSeen, subscriber: SubscriberRow | None, now: datetime) -> LifeCycleNotice:
        instance = stale.instance
        blueprint = self._blueprints.get_blueprint_by_version_id(load, instance.def_version_id)
        state = blueprint.states[instance.current_state_id]
        failed = sum(row.count for row in stale.closed_badly if subscriber is None or row.consumer_id == subscriber.consumer_id)
        return LifeCycleNotice(
            code=NoticeCode.DEFAULT_STATE_STALE,
            occurred_at=now,
            env_code=blueprint.env_code,
            instance_id=instance.instance_id,
            instance_guid=instance.instance_guid,
            external_ref=instance.external_ref,
            consumer_id=subscriber.consumer_id if subscriber else None,
            consumer=subscriber.consumer if subscriber else None,
            data={
                "def_version_id": instance.def_version_id,
                "current_state_id": state.state_id,
                "state_name": state.name,
                "lc_id": stale.stay.lifecycle_id,
                "stale_seconds": int((now - instance.state_entered_at).total_seconds()),
                "failed": failed,
            },
        )
