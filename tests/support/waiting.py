"""To see somebody wait on the server, and to be in a hurry oneself."""

from collections.abc import Callable
from typing import Any

from tests.support.engine import Workbench
from tests.support.wire import Wire
from workflow_engine.dal import Deadline

_LOOKS = 20_000


def until_it_waits(wire: Wire, waiting: int) -> None:
    """Return once the server is busy with this connection's locking read."""
    for _ in range(_LOOKS):
        if wire.sql(f"SELECT id FROM information_schema.processlist WHERE id = {waiting} AND command = 'Query' AND info LIKE '%FOR UPDATE%'"):
            return
    raise TimeoutError("nobody waits")


def within(bench: Workbench, seconds: float, act: Callable[[Workbench], Any]) -> Any:
    """Act with so much time left."""
    bench.deadline = lambda _seconds=seconds: Deadline.after(seconds)  # type: ignore[method-assign]
    try:
        return act(bench)
    finally:
        del bench.deadline
