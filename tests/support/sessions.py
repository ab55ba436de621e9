"""Sessions of the test's own beside the engine's, to hold locks, to look and to say something; and being in a hurry."""

from collections.abc import Callable
from typing import Any

from tests.support.engine import Workbench
from tests.support.wire import Wire
from workflow_engine.dal import DbExecutionLoad, Deadline, Statement

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


class Session:
    """A connection of the test's own, with a transaction open."""

    def __init__(self, wire: Wire) -> None:
        self._connection = wire.server.connect()
        self.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")

    def run(self, sql: str) -> Any:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    def end(self) -> None:
        self._connection.rollback()

    def close(self) -> None:
        self._connection.close()


def say(bench: Workbench, sql: str) -> None:
    """Something said on the engine's own connection."""
    bench.db.send(DbExecutionLoad(deadline=bench.deadline()), [Statement(sql=sql, values={})])


def server_id(wire: Wire) -> int:
    return wire.links[-1].server_id


def transactions(wire: Wire) -> list[dict[str, Any]]:
    """What the server knows to be open on the engine's connections."""
    ids = ", ".join(str(link.server_id) for link in wire.links)
    return wire.sql(f"SELECT trx_state FROM information_schema.innodb_trx WHERE trx_mysql_thread_id IN ({ids})")
