"""What the engine needs from outside and tests replace: the clock and the publisher."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from workflow_engine.dal.load import Deadline
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.notice import LifeCycleNotice


class Clock(Protocol):
    def now(self) -> datetime:
        """Return the engine's time: everything stored uses it."""
        ...

    def real_now(self) -> datetime:
        """Return the wall clock, whatever the engine's time is: leases and the monitor's pace use it."""
        ...

    def sleep(self, seconds: float) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishFailure:
    """A message that the publisher did not take; it may be sent again."""

    message: WorkMessage
    reason: str
    # The publisher itself broke; SNS never said no.
    is_handler_error: bool = False
    # SNS will never take this very message: its attempt is spent, so that the consumer's choice for exhausted events comes to bear.
    is_own_fault: bool = False
    # Not this message but the way out is shut: nothing else would be taken now.
    is_outage: bool = False


class Publisher(Protocol):
    """The engine's two outlets."""

    def publish(self, messages: Sequence[WorkMessage], deadline: Deadline) -> list[PublishFailure]:
        """Send work events in the given order; return those that were not taken, also for want of time."""
        ...

    def publish_notices(self, notices: Sequence[LifeCycleNotice], deadline: Deadline) -> None:
        """Send notices; what cannot be sent, also for want of time, is logged, never raised."""
        ...


class Subscriptions(Protocol):
    """The SNS subscriptions of registered endpoints."""

    def subscribe(self, endpoint_protocol: str, endpoint_address: str, env_code: int, consumer: str) -> str:
        """Subscribe the endpoint to this consumer's events, or correct the filter of an existing subscription; return its ARN."""
        ...

    def unsubscribe(self, subscription_arn: str) -> None: ...

    def state(self, subscription_arn: str | None) -> str:
        """Return confirmed, pending or none."""
        ...


class SigningKeys(Protocol):
    def signing_key(self, consumer_id: int) -> str:
        """Return the consumer's key as `whsec_…`."""
        ...
