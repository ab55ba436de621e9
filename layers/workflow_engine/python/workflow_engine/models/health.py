"""Health: what is counted, and the answer."""

from dataclasses import dataclass
from datetime import datetime

from workflow_engine.models.base import WorkFlowModel


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorLeaseRow:
    owner: str | None
    expires_at: datetime
    last_pass_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerBeatRow:
    consumer_id: int
    deleted_id: int
    beat_seconds: int | None
    is_always_live: bool
    last_beat: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerDueRow:
    due: int
    oldest_due: datetime | None


class ConsumerCounts(WorkFlowModel):
    """Null when the database did not answer."""

    total: int | None
    alive: int | None
    down: int | None


class HealthView(WorkFlowModel):
    """`due` is counted to 10,000 a consumer, `suspended` to 10,000."""

    healthy: bool
    database: bool
    monitor_age_seconds: int | None
    due: int | None
    oldest_due_seconds: int | None
    suspended: int | None
    consumers: ConsumerCounts
