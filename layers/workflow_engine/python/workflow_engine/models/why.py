"""Why an instance stands where it stands: the answer, and the rows it is made from."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from workflow_engine.models.base import UtcTime, WorkFlowModel
from workflow_engine.models.instance import EventView, InstanceView
from workflow_engine.models.notices_api import NoticeView

HeldReason = Literal["pending", "parked", "suspended"]


class OpenAck(WorkFlowModel):
    """An event that was sent, or waits for its consumer's beat, and is not processed yet."""

    ack_guid: str
    kind: str
    route: str | None
    seq: int
    consumer: str
    alive: bool
    status: str
    attempts: int
    next_due: UtcTime | None


class HeldBy(WorkFlowModel):
    ack_guid: Annotated[str | None, Field(description="null when an operator suspended the instance")]
    reason: HeldReason


class HeldAck(WorkFlowModel):
    """An event that waits for an earlier one of the same consumer, or for the instance to be resumed."""

    ack_guid: str
    seq: int
    consumer: str
    held_by: HeldBy | None


class GaveUpAck(WorkFlowModel):
    """An event that the engine gave up on, and what it did then: suspend, park or skip."""

    ack_guid: str
    kind: str
    route: str | None
    seq: int
    consumer: str
    gave_up: str
    attempts: int
    message: str | None
    gave_up_at: UtcTime


class DownConsumer(WorkFlowModel):
    consumer: str
    last_beat: UtcTime


class RunningTimeout(WorkFlowModel):
    """`n` counts the firings in this stay; without an event it only raises a notice."""

    event: EventView | None
    mode: Literal["once", "repeat"]
    n: int
    max_retry: int | None
    due_at: UtcTime


class PossibleEvent(WorkFlowModel):
    code: int
    name: str
    to_state: str


class Why(WorkFlowModel):
    """`summary` answers in one sentence; every list holds at most 100 entries, lowest seq first."""

    instance: InstanceView
    summary: str
    open: list[OpenAck]
    held: list[HeldAck]
    gave_up: list[GaveUpAck]
    down: list[DownConsumer]
    timeout: RunningTimeout | None
    events: list[PossibleEvent]
    notices: list[NoticeView]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingRow:
    """What of an instance its view does not show."""

    instance_id: int
    env_id: int
    def_key: str
    def_version_id: int
    policy_id: int | None
    state_id: int
    flags: int
    suspended_by: int | None
    seq: int
    stay_id: int
    state_due_kind: int | None
    has_acks: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneRow:
    """A consumer that has to do with the instance, and what there is in its lane."""

    consumer_id: int
    consumer: str
    beat_seconds: int | None
    is_always_live: bool
    last_beat: datetime
    deleted_id: int
    has_pending: bool
    has_delivered: bool
    has_held: bool
    has_parked: bool
    has_suspending: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyAckRow:
    ack_guid: str
    kind: int
    route: str | None
    seq: int
    consumer_id: int
    consumer: str
    status: int
    attempts: int
    next_due: datetime | None
    gave_up: int | None
    message: str | None
    modified: datetime
