"""What a transition decides to write: plain values, turned into statements by the DAL."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from workflow_engine.models.enums import AckStatus, EventKind, StateDueKind


@dataclass(frozen=True, slots=True, kw_only=True)
class StateDue:
    """When the monitor looks at an instance next, and what for; nothing while it is not active."""

    stale_at: datetime | None = None
    kind: StateDueKind | None = None
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewInstance:
    instance_id: int
    instance_guid: str
    definition_id: int
    def_version_id: int
    policy_id: int | None
    external_ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceState:
    """Where an instance stands after the decision."""

    state_id: int
    event_id: int | None
    flags: int
    seq: int
    stay_id: int
    entered_at: datetime
    due: StateDue


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLifecycle:
    lifecycle_id: int
    instance_id: int
    seq: int
    from_state_id: int
    to_state_id: int
    event_id: int
    log_flags: int
    occurred_at: datetime
    actor: str | None
    request_id: str | None
    payload: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewHook:
    """A hook work item, derived from a policy's emit entry."""

    hook_id: int
    position: int
    route: str
    label: str | None
    on_entry: bool
    hook_type: str | None
    order: int | None
    group: str | None
    ack_mode: str | None
    send: str | None
    not_before: str | None
    deadline: str | None
    on_success: int | None
    on_failure: int | None
    params: list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAck:
    ack_id: int
    ack_guid: str
    kind: EventKind
    hook_id: int | None
    route: str | None
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAckConsumer:
    ack_id: int
    consumer_id: int
    instance_id: int
    seq: int
    kind: EventKind
    status: AckStatus
    next_due: datetime | None
    trigger_count: int
    first_sent_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRequestLog:
    instance_id: int
    request_id: str
    unit_id: int
    fingerprint: str
    answer: str
