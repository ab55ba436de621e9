"""WorkFlowDAL: the only way to the database. Leaves build statements, the gateway runs them."""

import logging
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, overload

from workflow_engine.dal.db import Db
from workflow_engine.dal.ids import UNIT_RESERVE, IdBlocks, UnitIds
from workflow_engine.dal.leaves import LeafDALs
from workflow_engine.dal.load import DbExecutionLoad, Deadline, Transaction
from workflow_engine.dal.packet import Query, Statement
from workflow_engine.dal.restart import Restarts
from workflow_engine.errors import OutOfIdsError, StorageError

_log = logging.getLogger(__name__)
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")
Result = TypeVar("Result")
# Short, because a header has to fit on a line.
Q = Query
Load = DbExecutionLoad


class WorkFlowDAL(LeafDALs):
    def __init__(self, db: Db) -> None:
        self._db = db
        self._deadline = Deadline(ends_at=0.0)
        self._ids = IdBlocks(self._fetch_block)

    @overload
    def read(self, load: DbExecutionLoad, a: Q[A], /) -> tuple[list[A]]: ...
    @overload
    def read(self, load: DbExecutionLoad, a: Q[A], b: Q[B], /) -> tuple[list[A], list[B]]: ...
    @overload
    def read(self, load: DbExecutionLoad, a: Q[A], b: Q[B], c: Q[C], /) -> tuple[list[A], list[B], list[C]]: ...
    @overload
    def read(self, load: DbExecutionLoad, a: Q[A], b: Q[B], c: Q[C], d: Q[D], /) -> tuple[list[A], list[B], list[C], list[D]]: ...
    @overload
    def read(self, load: DbExecutionLoad, a: Q[A], b: Q[B], c: Q[C], d: Q[D], e: Q[E], /) -> tuple[list[A], list[B], list[C], list[D], list[E]]: ...
    @overload
    def read(self, load: Load, a: Q[A], b: Q[B], c: Q[C], d: Q[D], e: Q[E], f: Q[F], /) -> tuple[list[A], list[B], list[C], list[D], list[E], list[F]]: ...
    def read(self, load: DbExecutionLoad, /, *queries: Query[Any]) -> tuple[Any, ...]:
        """Run the queries as one packet, in this order, in one round trip."""
        return tuple(self._db.read(load, queries))

    def read_all(self, load: DbExecutionLoad, queries: Sequence[Query[A]]) -> list[list[A]]:
        """Run any number of queries of one kind as one packet."""
        return self._db.read(load, queries) if queries else []

    def read_mixed(self, load: DbExecutionLoad, queries: Sequence[Query[Any]]) -> list[list[Any]]:
        """Run any number of queries of different kinds as one packet; the caller knows what came back."""
        return self._db.read(load, queries)

    def first(self, load: DbExecutionLoad, query: Query[A]) -> A | None:
        rows = self.read(load, query)[0]
        return rows[0] if rows else None

    def write(self, load: DbExecutionLoad, packet: Sequence[Statement | Query[Any]]) -> list[Any]:
        """Send all changes and the COMMIT as one packet: rows changed for a statement, rows for a query in it."""
        return self._db.write(load, packet)

    def reading(self, deadline: Deadline) -> DbExecutionLoad:
        """Return a load without transaction, for reads that stand alone."""
        return DbExecutionLoad(deadline=deadline)

    @contextmanager
    def begin(self, deadline: Deadline, *, is_uncertain: bool = False) -> Generator[DbExecutionLoad]:
        """Roll back what the block left open; the write packet carries its own COMMIT."""
        load = DbExecutionLoad(deadline=deadline, transaction=Transaction(), is_uncertain=is_uncertain)
        try:
            yield load
        finally:
            self._db.roll_back(load)

    def run(self, deadline: Deadline, unit: Callable[[DbExecutionLoad], Result], reserve: int = UNIT_RESERVE) -> Result:
        """Run the unit of work, and again from its read after a key clash, a deadlock, a lock wait or a lost connection."""
        restarts = Restarts()
        while True:
            try:
                self._reserve(deadline, reserve)
                with self.begin(deadline, is_uncertain=restarts.is_uncertain) as load:
                    return unit(load)
            except StorageError as error:
                _log.info("unit of work starts again", extra={"cause": str(error)})
                restarts.after(error, deadline)
                if isinstance(error, OutOfIdsError):
                    reserve *= 4

    def run_reading(self, deadline: Deadline, unit: Callable[[DbExecutionLoad], Result]) -> Result:
        """Run reads that stand alone, and again after a lost connection."""
        restarts = Restarts()
        while True:
            try:
                return unit(self.reading(deadline))
            except StorageError as error:
                restarts.after(error, deadline)

    def unit_ids(self) -> UnitIds:
        return UnitIds(self._ids)

    @property
    def round_trips(self) -> int:
        return self._db.round_trips

    def close(self) -> None:
        self._db.close()

    def _reserve(self, deadline: Deadline, count: int) -> None:
        if count:
            self._deadline = deadline
            self._ids.reserve(count)

    def _fetch_block(self, size: int) -> int:
        with self.begin(self._deadline) as load:
            changed, rows = self.write(load, [self.id_block.advance(size), self.id_block.get_next()])
        if not changed:
            raise StorageError("the id counter is missing: has the schema been migrated?")
        return int(rows[0].next_id) - size
