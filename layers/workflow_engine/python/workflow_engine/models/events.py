"""Work events: one body per ack, one message per consumer."""

from dataclasses import dataclass
from datetime import datetime

from workflow_engine.models.enums import EventKind


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkMessage:
    """One event for one consumer, as the publisher gets it. `webhook_id` is the ack_guid, or a made-up id where no ack is kept."""

    consumer_id: int
    consumer: str
    env_code: int
    definition: str
    kind: EventKind
    route: str | None
    instance_id: int
    seq: int
    ack_id: int | None
    webhook_id: str
    body: str
    attempt: int
    first_sent_at: datetime
    # What the claim wrote as next_due; tells whether the row has moved on when an attempt is given back.
    claimed_due: datetime | None = None

    @property
    def lane(self) -> tuple[int, int]:
        return (self.consumer_id, self.instance_id)
