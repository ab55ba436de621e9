"""Pass A: "everybody processed, nobody moved" is noticed; nothing else changes (guidelines 3.5 A)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from workflow_engine.engine.due_instances import DueInstance, DueInstances
from workflow_engine.engine.pass_gate import PassGate
from workflow_engine.engine.pass_trouble import PassTrouble
from workflow_engine.errors import StorageError, WorkFlowError
from workflow_engine.models.due import DueInstanceRow, StayAckRow
from workflow_engine.models.enums import AckStatus, NoticeCode, StateDueKind
from workflow_engine.models.flags import LifeCycleKindFlag
from workflow_engine.models.monitor import MonitorReport
from workflow_engine.models.notice import LifeCycleNotice
from workflow_engine.models.subscriber import SubscriberRow
from workflow_engine.models.transition import StateDue

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, UnitIds
    from workflow_engine.engine.tools import EngineTools

_OPEN = frozenset({AckStatus.HELD, AckStatus.PENDING, AckStatus.DELIVERED})
_CLOSED_BADLY = frozenset({AckStatus.FAILED, AckStatus.PARKED, AckStatus.SUSPENDING})
# A notice per listener: more than the usual reserve of ids when many listen.
_LISTENERS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class StayNow:
    """The present stay of an instance: its last step, and what became of its acks."""

    lifecycle_id: int | None
    acks: list[StayAckRow]

    @property
    def has_open(self) -> bool:
        return any(row.status in _OPEN for row in self.acks)

    def failed_of(self, listener: SubscriberRow | None) -> int:
        """How many events of this stay the consumer failed or the engine gave up: closed, and worth saying."""
        return sum(row.count for row in self.acks if row.status in _CLOSED_BADLY and (listener is None or row.consumer_id == listener.consumer_id))


@dataclass(slots=True)
class StalePage:
    """What one attempt at a page decided; a lost connection may hide that it was committed."""

    decided_at: datetime
    dues: dict[int, StateDue] = field(default_factory=dict)
    notices: list[LifeCycleNotice] = field(default_factory=list)
    broken: list[WorkFlowError] = field(default_factory=list)


class OverDueWatch:
    def __init__(self, tools: "EngineTools") -> None:
        self._dal = tools.dal
        self._blueprints = tools.blueprints
        self._outbox = tools.outbox
        self._clock = tools.clock
        self._options = tools.options
        self._due = DueInstances(tools)

    def run(self, report: MonitorReport, gate: PassGate, trouble: PassTrouble) -> None:
        for page in self._due.pages(StateDueKind.STALE, gate):
            reserve = len(page) * _LISTENERS + 512
            done = self._dal.run(gate.deadline, partial(self._unit, page=page, ids=self._dal.unit_ids(), tried=[]), reserve=reserve)
            self._outbox.send([], done.notices, gate.deadline)
            report.found += len(page)
            report.noticed += len(done.notices)
            for error in done.broken:
                trouble.note(error)

    def _unit(self, load: "DbExecutionLoad", page: Sequence[DueInstanceRow], ids: "UnitIds", tried: list[StalePage]) -> StalePage:
        steps = self._dal.due.list_last_steps([row.instance_id for row in page])
        due, (last_steps, *acks) = self._due.read(load, page, steps, *(self._dal.due.list_stay_acks(row.instance_id, row.stay_seq) for row in page))
        for attempt in tried:
            if any(one.is_moved_to(attempt.dues.get(one.instance.instance_id)) for one in due):
                return attempt
        lifecycle_ids = {step.instance_id: step.lifecycle_id for step in last_steps}
        acks_of: dict[int, list[StayAckRow]] = {row.instance_id: found for row, found in zip(page, acks, strict=True)}
        done = StalePage(decided_at=self._clock.now())
        for one in due:
            if one.is_due(done.decided_at):
                instance_id = one.instance.instance_id
                self._decide(load, one, StayNow(lifecycle_id=lifecycle_ids[instance_id], acks=acks_of[instance_id]), done)
        tried.append(done)
        if done.dues:
            moved = [self._dal.instance.update_due(instance_id, due_at) for instance_id, due_at in done.dues.items()]
            self._dal.write(load, [*moved, *self._outbox.notice_statements(done.notices, ids)])
        return done

    def _decide(self, load: "DbExecutionLoad", one: DueInstance, stay: StayNow, done: StalePage) -> None:
        """One bad instance must not stop the others, nor come back at once."""
        now, is_overdue = done.decided_at, one.instance.is_active and not stay.has_open
        try:
            after = self._next(load, one, now, is_overdue=is_overdue)
            done.notices += self._notices(load, one, stay, now) if is_overdue else []
        except StorageError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever it was, it is this instance's
            done.broken.append(one.trouble(error))
            after = one.next_due(None, one.firings, now + timedelta(seconds=self._options.overdue_recheck_seconds))
        done.dues[one.instance.instance_id] = after

    def _next(self, load: "DbExecutionLoad", one: DueInstance, now: datetime, *, is_overdue: bool) -> StateDue:
        """After a notice: the stale duration, which is the throttle. With an ack open: a short while."""
        wait = self._options.default_state_stale_seconds if is_overdue else self._options.overdue_recheck_seconds
        blueprint = self._blueprints.get_blueprint_by_version_id(load, one.instance.def_version_id)
        policy = self._blueprints.attached_policy(load, blueprint, one.instance.policy_id)
        timeout = policy.timeouts.get(blueprint.states[one.instance.current_state_id].name_key)
        return one.next_due(timeout, one.firings, now + timedelta(seconds=wait))

    def _notices(self, load: "DbExecutionLoad", one: DueInstance, stay: StayNow, now: datetime) -> list[LifeCycleNotice]:
        """One per consumer of transitions, with the nine fields of the guidelines; one without consumer where nobody listens."""
        instance = one.instance
        blueprint = self._blueprints.get_blueprint_by_version_id(load, instance.def_version_id)
        state = blueprint.states[instance.current_state_id]
        listening: list[SubscriberRow | None] = [row for row in one.subscribers if row.kinds & LifeCycleKindFlag.TRANSITION]
        return [
            LifeCycleNotice(
                code=NoticeCode.DEFAULT_STATE_STALE,
                occurred_at=now,
                env_code=blueprint.env_code,
                instance_id=instance.instance_id,
                instance_guid=instance.instance_guid,
                external_ref=instance.external_ref,
                consumer_id=listener.consumer_id if listener else None,
                consumer=listener.consumer if listener else None,
                data={
                    "def_version_id": instance.def_version_id,
                    "current_state_id": state.state_id,
                    "state_name": state.name,
                    "lc_id": stay.lifecycle_id,
                    "stale_seconds": int((now - instance.state_entered_at).total_seconds()),
                    "failed": stay.failed_of(listener),
                },
            )
            for listener in listening or [None]
        ]
