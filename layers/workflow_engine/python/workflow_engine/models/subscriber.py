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
