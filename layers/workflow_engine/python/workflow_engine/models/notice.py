"""LifeCycleNotice: informational, kept for a while, published once."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from workflow_engine.models.base import time_text
from workflow_engine.models.enums import NoticeCode


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeCycleNotice:
    code: NoticeCode
    occurred_at: datetime
    env_code: int | None = None
    instance_id: int | None = None
    instance_guid: str | None = None
    external_ref: str | None = None
    consumer_id: int | None = None
    consumer: str | None = None
    ack_guid: str | None = None
    data: dict[str, Any] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        return {
            "code": self.code.value,
            "kind": self.code.kind.value,
            "env_code": self.env_code,
            "instance_id": self.instance_id,
            "instance_guid": self.instance_guid,
            "external_ref": self.external_ref,
            "consumer_id": self.consumer_id,
            "consumer": self.consumer,
            "ack_guid": self.ack_guid,
            "occurred_at": time_text(self.occurred_at),
            "data": self.data,
        }

    def json_body(self) -> str:
        return json.dumps(self.body(), ensure_ascii=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeRow:
    notice_id: int
    code: str
    kind: str
    env_code: int | None
    instance_id: int | None
    instance_guid: str | None
    external_ref: str | None
    consumer_id: int | None
    consumer: str | None
    ack_guid: str | None
    occurred_at: datetime
    data: str
