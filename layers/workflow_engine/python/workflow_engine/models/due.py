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
    # The step that began the stay; 0 when that was the creation.
    stay_seq: int
    state_due_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringsRow:
    """How often the timeout of a stay fired (0 and no time: never)."""

    n: int
    last_fired_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LastStepRow:
    """The last step of an instance; none where it stands as it was made."""

    instance_id: int
    lifecycle_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StayAckRow:
    """How many acks of a stay a consumer has in one status."""

    consumer_id: int
    status: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOfDeletedRow:
    ack_id: int
    instance_id: int
