"""What the monitor finds due."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceIdRow:
    instance_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DueInstanceRow:
    instance_id: int
    instance_guid: str
    stay_id: int
    state_due_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringsRow:
    """How often the timeout of a stay fired (0 and no time: never)."""

    n: int
    last_fired_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StayRow:
    """The present stay of an instance: its last step, and whether an ack of it is open."""

    instance_id: int
    lifecycle_id: int | None
    has_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedBadlyRow:
    """How many rows of the present stay a consumer failed, or the engine gave up."""

    instance_id: int
    consumer_id: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOfDeletedRow:
    ack_id: int
    instance_id: int
