"""Threads that meet on purpose: all at once, or one held in its open transaction until another waits for it."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from tests.support.engine import Workbench
from workflow_engine.adapters.database import url_target
from workflow_engine.dal import Db, DbExecutionLoad, Query, Statement

_PATIENCE_SECONDS = 15.0
# Not information_schema.innodb_trx: its answer is only renewed when nobody has asked for a tenth of a second.
_WAITING = "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'"


class HoldingDb(Db):
    """Once armed, stops between the changes and the COMMIT of its next write packet until it is let go."""

    def __init__(self, target: Any) -> None:
        super().__init__(target)
        self.is_armed = False
        self.reached = threading.Event()
        self.go = threading.Event()

    def send(self, load: DbExecutionLoad, packet: Sequence[Statement | Query[Any]]) -> list[Any]:
        if not self.is_armed or packet[-1].sql != "COMMIT":
            return super().send(load, packet)
        self.is_armed = False
        results = super().send(load, packet[:-1])
        self.reached.set()
        assert self.go.wait(_PATIENCE_SECONDS)
        return [*results, *super().send(load, packet[-1:])]


def on(bench: Workbench, db: Db) -> Workbench:
    """Another sandbox, with a connection of the test's own making."""
    other = bench.another()
    other.use(db)
    return other


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run the calls at the same moment, each in a thread of its own; what one raises is raised here."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        barrier.wait(_PATIENCE_SECONDS)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


class Overlap:
    """Two units of work of which the first is in its open transaction while the second comes to wait for it."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._db = HoldingDb(url_target(bench.database_url))
        self.first = warm(on(bench, self._db))
        self.second = warm(bench.another())

    def run(self, first: Callable[[Workbench], Any], second: Callable[[Workbench], Any]) -> tuple[Any, Any]:
        """Return both answers; the second call has been seen waiting for the first one's lock."""
        self._db.is_armed = True
        self._db.reached.clear()
        self._db.go.clear()
        with ThreadPoolExecutor(2) as pool:
            try:
                one = pool.submit(first, self.first)
                self._until(self._db.reached.is_set, one)
                two = pool.submit(second, self.second)
                self._until(self._is_somebody_waiting, two)
            finally:
                self._db.go.set()
            return one.result(_PATIENCE_SECONDS), two.result(_PATIENCE_SECONDS)

    def _is_somebody_waiting(self) -> bool:
        return int(self._bench.sql(_WAITING)[0]["Value"]) > 0

    def _until(self, is_so: Callable[[], bool], work: Future[Any]) -> None:
        give_up_at = time.monotonic() + _PATIENCE_SECONDS
        while not is_so():
            assert not work.done(), f"did not wait: {work.exception() or work.result()}"
            assert time.monotonic() < give_up_at


def warm(sandbox: Workbench) -> Workbench:
    """Its connection is open and its ids are there, so that only the unit of work itself is to come."""
    sandbox.dal.run(sandbox.deadline(), lambda _load: None)
    return sandbox


def crew(bench: Workbench, size: int) -> list[Workbench]:
    """Sandboxes that really meet."""
    return [warm(bench.another()) for _ in range(size)]
