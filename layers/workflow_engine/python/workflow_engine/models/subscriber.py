"""Consumers as the dispatch sees them."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriberRow:
    """A consumer that listens to an instance's definition, and whether its lane there is taken."""

    consumer_id: int
    consumer: str
    kinds: int
    routes: str | None
    beat_seconds: int | None
    is_always_live: bool
    last_beat: datetime
    is_blocked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchConsumerRow:
    """A consumer with what decides on sending to it: owner, liveness, and what to do when it never answers."""

    consumer_id: int
    consumer: str
    env_code: int
    owner: str
    principals: str
    beat_seconds: int | None
    is_always_live: bool
    last_beat: datetime
    on_exhausted: int
    deleted_id: int
    closed_ack_id: int | None
    down_noticed_at: datetime | None
    modified: datetime

    @property
    def is_deleted(self) -> bool:
        return self.deleted_id != 0
