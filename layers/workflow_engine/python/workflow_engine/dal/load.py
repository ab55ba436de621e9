"""DbExecutionLoad: the transaction and the deadline that every database call is given."""

import time
from dataclasses import dataclass

from workflow_engine.errors import DeadlineExceededError


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """Lambda's remaining time, our form of a cancellation token; real time, never the engine's clock."""

    ends_at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        return cls(ends_at=time.monotonic() + seconds)

    def remaining(self) -> float:
        return self.ends_at - time.monotonic()

    def check(self) -> None:
        if self.remaining() <= 0:
            raise DeadlineExceededError("no time left; try again")


@dataclass(slots=True)
class Transaction:
    """Open from the first packet of a unit to its COMMIT."""

    is_open: bool = False
    # Whose it is: on another connection, the rest of it would be committed statement by statement.
    connection: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DbExecutionLoad:
    """Without a transaction every statement stands alone (autocommit)."""

    deadline: Deadline
    transaction: Transaction | None = None
    # An earlier attempt of this unit lost its connection: what it wrote may be there, or may still appear.
    is_uncertain: bool = False
