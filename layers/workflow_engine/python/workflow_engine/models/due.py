"""What the monitor finds due."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DueInstanceRow:
    instance_id: int
    instance_guid: str
    state_due_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringsRow:
    """How often the timeout of a stay fired (0 and no time: never)."""

    n: int
    last_fired_at: datetime | None
