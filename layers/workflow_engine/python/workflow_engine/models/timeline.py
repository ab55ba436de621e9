"""The timeline of an instance: what happened, who was told, and what applications said of their own work."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated

from pydantic import Field, JsonValue

from workflow_engine.models.base import UtcTime, WorkFlowModel
from workflow_engine.models.instance import EventView


class TimelineRequest(WorkFlowModel):
    after_seq: Annotated[int, Field(ge=0, le=2_147_483_647, description="the next_seq of the page before")] = 0
    limit: Annotated[int, Field(ge=1, le=200, description="steps in a page")] = 200


class TimelineHead(WorkFlowModel):
    id: int
    guid: str
    external_ref: str
    def_version: int
    current_state: str
    last_event: EventView | None
    created: UtcTime
    modified: UtcTime


class TimelineActivity(WorkFlowModel):
    """A runtime row, as an application wrote it."""

    runtime_id: int
    activity: str
    status: str
    actor: str | None
    state: str
    frozen: bool
    data: JsonValue
    created: UtcTime
    modified: UtcTime


class TimelineReceipt(WorkFlowModel):
    """What became of one event on its way to one consumer."""

    ack_guid: str
    kind: str
    route: str | None
    consumer: str
    status: str
    sends: int
    first_sent_at: UtcTime | None
    delivered_at: UtcTime | None
    processed_at: UtcTime | None
    gave_up: str | None


class TimelineStep(WorkFlowModel):
    seq: int
    lifecycle_id: int
    from_state: str
    to_state: str
    event: str
    event_code: int
    actor: str | None
    occurred_at: UtcTime
    created: UtcTime
    activities: list[TimelineActivity]
    receipts: list[TimelineReceipt]
    truncated: Annotated[bool, Field(description="the step alone is too much for an answer; some of its activities or receipts were left out")]


class Timeline(WorkFlowModel):
    """Oldest step first. `next_seq` is null on the last page; `truncated` says that other activities were left out."""

    instance: TimelineHead
    timeline: list[TimelineStep]
    other_activities: list[TimelineActivity]
    next_seq: int | None
    truncated: bool


class TimelinePart(IntEnum):
    """What a row of the timeline's query holds."""

    HEAD = 0
    STEP = 1
    ACTIVITY = 2
    RECEIPT = 3
    OTHER_ACTIVITY = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """One part of the timeline as a JSON text, and the step it belongs to."""

    part: int
    seq: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineCaps:
    """How many rows of each part a page reads at most."""

    steps: int
    activities: int
    receipts: int
    other_activities: int
