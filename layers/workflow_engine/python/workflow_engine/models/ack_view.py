"""A stored event, as its consumer reads it again."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from workflow_engine.models.base import WorkFlowModel


class AckEvent(WorkFlowModel):
    ack_guid: str
    consumer: str
    status: str
    event: Annotated[dict[str, Any], Field(description="the body as it is sent, its payload always complete")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AckEventRow:
    ack_guid: str
    status: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadRow:
    payload: str | None
