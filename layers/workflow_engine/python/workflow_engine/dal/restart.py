"""When a unit of work runs again, and after how long."""

import random
import time
from dataclasses import dataclass

from workflow_engine.dal.load import Deadline
from workflow_engine.errors import (
    AccessDeniedError,
    ConnectionLostError,
    DeadlineExceededError,
    DuplicateKeyError,
    MissingKeyError,
    OutOfIdsError,
    RestartUnitError,
    StorageError,
)

# A key that is missing or doubled twice in a row is a fault, not a race; more tries would only loop until the deadline.
_MAX_KEY_RESTARTS = 5
# A database that is gone is answered with "try again" soon, not at the end of the caller's patience.
_MAX_CONNECT_RESTARTS = 3
_MAX_WAIT_SECONDS = 1.0


@dataclass(slots=True)
class Restarts:
    """Counts the restarts of one unit and decides on the next."""

    keys: int = 0
    connects: int = 0
    others: int = 0
    is_uncertain: bool = False

    def after(self, error: StorageError, deadline: Deadline) -> None:
        """Wait a little, or raise when another attempt makes no sense."""
        if not self._is_worth_it(error):
            raise error
        wait = self._wait_seconds(error)
        if deadline.remaining() <= wait:
            raise DeadlineExceededError("no time left after a restart; try again") from error
        time.sleep(wait)

    def _is_worth_it(self, error: StorageError) -> bool:
        if isinstance(error, (DeadlineExceededError, AccessDeniedError)):
            # The password was read again before this was said; a third reading would be the same.
            return False
        if isinstance(error, (DuplicateKeyError, MissingKeyError)):
            self.keys += 1
            return self.keys <= _MAX_KEY_RESTARTS
        if isinstance(error, RestartUnitError):
            self.others += 1
            return True
        self.is_uncertain = self.is_uncertain or isinstance(error, ConnectionLostError)
        self.connects += 1
        return self.connects <= _MAX_CONNECT_RESTARTS

    def _wait_seconds(self, error: StorageError) -> float:
        if isinstance(error, (DuplicateKeyError, MissingKeyError, OutOfIdsError)):
            return 0.0
        tries = self.others + self.connects
        longest = min(_MAX_WAIT_SECONDS, 0.01 * 2.0**tries)
        return random.uniform(0.2 * longest, longest)  # noqa: S311  # jitter, not a secret
