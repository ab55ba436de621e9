"""Notices as lists show them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from workflow_engine.models.base import UtcTime, WorkFlowModel
from workflow_engine.models.consumer import PageSize
from workflow_engine.models.enums import NoticeCode, NoticeKind
from workflow_engine.models.trigger import Guid, QueryEnvCode


class ListNoticesRequest(WorkFlowModel):
    env_code: QueryEnvCode | None = None
    code: NoticeCode | None = None
    kind: NoticeKind | None = None
    instance_guid: Guid | None = None
    consumer: Annotated[str, Field(min_length=1, max_length=120)] | None = None
    limit: PageSize = 50
    cursor: str | None = None


class NoticeView(WorkFlowModel):
    """The body as it was published."""

    code: str
    kind: str
    env_code: int | None
    instance_id: int | None
    instance_guid: str | None
    external_ref: str | None
    consumer_id: int | None
    consumer: str | None
    ack_guid: str | None
    occurred_at: UtcTime
    data: dict[str, Any]


class NoticePage(WorkFlowModel):
    items: list[NoticeView]
    cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeFilter:
    """What a page shows; None: whatever it is. `codes` stands for code and kind."""

    env_code: int | None
    codes: tuple[NoticeCode, ...] | None
    instance_guid: str | None
    consumer: str | None
    before: datetime
    before_notice_id: int
