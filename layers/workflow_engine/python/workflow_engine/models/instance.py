"""Instances: the row that is locked, and what callers see of it."""

from dataclasses import dataclass
from datetime import datetime

from workflow_engine.models.base import UtcTime, WorkFlowModel
from workflow_engine.models.enums import InstanceStatus
from workflow_engine.models.flags import LifeCycleInstanceFlag

TERMINAL_FLAGS = LifeCycleInstanceFlag.COMPLETED | LifeCycleInstanceFlag.FAILED | LifeCycleInstanceFlag.ARCHIVED


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceRow:
    instance_id: int
    instance_guid: str
    definition_id: int
    def_version_id: int
    policy_id: int | None
    external_ref: str
    current_state_id: int
    last_event_id: int | None
    flags: int
    suspended_by: int | None
    message: str | None
    seq: int
    stay_id: int
    state_entered_at: datetime
    stale_at: datetime | None
    state_due_at: datetime | None
    created: datetime

    @property
    def status(self) -> InstanceStatus:
        return InstanceStatus.of(self.flags)

    @property
    def is_terminal(self) -> bool:
        return bool(self.flags & TERMINAL_FLAGS)

    @property
    def is_suspended(self) -> bool:
        return bool(self.flags & LifeCycleInstanceFlag.SUSPENDED)

    @property
    def is_active(self) -> bool:
        return self.status is InstanceStatus.ACTIVE


class EventView(WorkFlowModel):
    code: int
    name: str


class InstanceView(WorkFlowModel):
    """An instance as every answer shows it."""

    instance_id: int
    instance_guid: str
    env_code: int
    external_ref: str
    definition: str
    def_version: int
    policy_hash: str | None
    current_state: str
    status: str
    message: str | None
    seq: int
    last_event: EventView | None
    created: UtcTime
    modified: UtcTime
    state_entered_at: UtcTime
    state_due_at: UtcTime | None
