"""PassGate: whether the monitor may begin another page."""

from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workflow_engine.dal import Deadline

# A page is begun only with this much time left to publish it, a slow SNS included.
PAGE_SECONDS = 10.0
# Well inside the lease, so that most pages cost no extra round trip.
_RENEW_SECONDS = 10.0
# Where a walk by keyset begins.
BEGINNING = (datetime(1970, 1, 1, tzinfo=UTC), 0)


class PassGate:
    """Open while there is time to publish one more page and the lease is still ours."""

    def __init__(self, deadline: "Deadline", renew: Callable[[], bool] | None = None) -> None:
        self.deadline = deadline
        self._renew = renew
        self._renewed_at = monotonic()

    def is_open(self) -> bool:
        if self.deadline.remaining() <= PAGE_SECONDS:
            return False
        if self._renew is None or monotonic() - self._renewed_at < _RENEW_SECONDS:
            return True
        self._renewed_at = monotonic()
        return self._renew()
