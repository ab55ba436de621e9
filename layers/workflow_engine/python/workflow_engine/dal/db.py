"""The one user of the driver: connects, sends packets, reads their results, translates errors."""

import logging
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Any

import pymysql
from pymysql.constants import CLIENT, FIELD_TYPE
from pymysql.converters import conversions, escape_int
from pymysql.cursors import Cursor

from workflow_engine.dal.db_errors import PACKET_TOO_LARGE, READ_ONLY, translate
from workflow_engine.dal.load import DbExecutionLoad, Deadline
from workflow_engine.dal.packet import Query, Statement
from workflow_engine.dal.times import utc_from_text
from workflow_engine.errors import AccessDeniedError, ConnectionLostError
from workflow_engine.models import enums, flags
from workflow_engine.queries.transaction import QRY_TRANSACTION

_log = logging.getLogger(__name__)
_CONNECT_SECONDS = 5.0
# The server closes an idle connection after 60 s; past this we ask first.
_IDLE_SECONDS = 30.0
_NUMBERS = {kind: escape_int for module in (enums, flags) for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, (IntEnum, IntFlag))}
_CONVERSIONS: dict[Any, Any] = {**conversions, **_NUMBERS, FIELD_TYPE.DATETIME: utc_from_text}
_BEGIN = Statement(sql=QRY_TRANSACTION.BEGIN, values={})
_COMMIT = Statement(sql=QRY_TRANSACTION.COMMIT, values={})
_SESSION = f"{QRY_TRANSACTION.SET_ISOLATION};{QRY_TRANSACTION.SET_MODE};{QRY_TRANSACTION.SET_ZONE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseTarget:
    """Where the database is. `password(fresh)` is asked at every connect; fresh means that the last one was refused."""

    host: str
    port: int
    database: str | None
    user: Callable[[bool], str]
    password: Callable[[bool], str]
    ssl_context: ssl.SSLContext | None = None


class Db:
    """One connection, opened on first use and again when it went away."""

    def __init__(self, target: DatabaseTarget) -> None:
        self._target = target
        self._connection: pymysql.Connection[Any] | None = None
        self._last_used = 0.0
        self.round_trips = 0

    def send(self, load: DbExecutionLoad, packet: Sequence[Statement | Query[Any]]) -> list[Any]:
        """Run the packet in one round trip: rows for a Query, the number of rows changed for a Statement."""
        connection = self._connection_for(load)
        cursor = connection.cursor()
        texts = [_render(cursor, part) for part in packet]
        results: list[Any] = []
        try:
            self._before(connection, load.deadline)
            cursor.execute(";".join(texts))
            results.append(_result(cursor, packet[0]))
            for part in packet[1:]:
                cursor.nextset()
                results.append(_result(cursor, part))
        except (pymysql.MySQLError, OSError) as error:
            raise self._failed(error, packet[min(len(results), len(packet) - 1)].sql) from error
        self._last_used = time.monotonic()
        return results

    def read(self, load: DbExecutionLoad, packet: Sequence[Query[Any]]) -> list[Any]:
        """Read; the first packet of a transaction begins it."""
        transaction = load.transaction
        if transaction is None or transaction.is_open:
            return self.send(load, packet)
        transaction.connection, transaction.is_open = self._open(load.deadline), True
        return self.send(load, [_BEGIN, *packet])[1:]

    def write(self, load: DbExecutionLoad, packet: Sequence[Statement | Query[Any]]) -> list[Any]:
        """Write and commit in one packet; a read in it sees what was written before it."""
        transaction = load.transaction
        if transaction is None:
            return self.send(load, packet)
        head = [] if transaction.is_open else [_BEGIN]
        if head:
            transaction.connection, transaction.is_open = self._open(load.deadline), True
        results = self.send(load, [*head, *packet, _COMMIT])
        transaction.is_open = False
        return results[len(head) : -1]

    def roll_back(self, load: DbExecutionLoad) -> None:
        """Every error ends here: a lock wait leaves the transaction open otherwise."""
        if load.transaction is None or not load.transaction.is_open:
            return
        load.transaction.is_open = False
        if self._connection is None:
            return
        try:
            self._before(self._connection, Deadline.after(_CONNECT_SECONDS))
            self._connection.cursor().execute(QRY_TRANSACTION.ROLLBACK)
        except (pymysql.MySQLError, OSError):
            # The server rolls back what a closed connection left open.
            self.close()

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except (pymysql.MySQLError, OSError):
                _log.debug("connection was already closed")

    def _connection_for(self, load: DbExecutionLoad) -> "pymysql.Connection[Any]":
        """Within a transaction nothing is asked or opened again: it ends with its connection."""
        if load.transaction is None or not load.transaction.is_open:
            return self._open(load.deadline)
        load.deadline.check()
        if self._connection is None or self._connection is not load.transaction.connection:
            raise ConnectionLostError("the transaction's connection is gone")
        return self._connection

    def _open(self, deadline: Deadline) -> "pymysql.Connection[Any]":
        deadline.check()
        if self._connection is not None and time.monotonic() - self._last_used > _IDLE_SECONDS:
            self._ask_whether_alive()
        if self._connection is None:
            self._connection = self._connect(deadline)
        return self._connection

    def _ask_whether_alive(self) -> None:
        try:
            if self._connection is not None:
                self._connection.ping(reconnect=False)
        except (pymysql.MySQLError, OSError):
            self.close()

    def _connect(self, deadline: Deadline) -> "pymysql.Connection[Any]":
        try:
            return self._connect_with(deadline, fresh=False)
        except AccessDeniedError:
            # The secret was rotated, or the token has just run out: read it again, once.
            return self._connect_with(deadline, fresh=True)

    def _connect_with(self, deadline: Deadline, *, fresh: bool) -> "pymysql.Connection[Any]":
        target, seconds = self._target, max(0.1, min(_CONNECT_SECONDS, deadline.remaining()))
        try:
            return pymysql.connect(
                host=target.host,
                port=target.port,
                user=target.user(fresh),
                password=target.password(fresh),
                database=target.database,
                charset="utf8mb4",
                autocommit=True,
                client_flag=CLIENT.MULTI_STATEMENTS,
                connect_timeout=seconds,
                read_timeout=seconds,
                write_timeout=seconds,
                conv=_CONVERSIONS,
                init_command=_SESSION,
                ssl=target.ssl_context,
                ssl_disabled=target.ssl_context is None,
            )
        except (pymysql.MySQLError, OSError) as error:
            raise translate(_number(error, default=2003), str(error), "connect") from error

    def _before(self, connection: "pymysql.Connection[Any]", deadline: Deadline) -> None:
        # The driver reads these before every receive and send; there is no public way to give a packet its own limit.
        seconds = max(0.05, deadline.remaining())
        vars(connection).update(_read_timeout=seconds, _write_timeout=seconds)
        self.round_trips += 1

    def _failed(self, error: Exception, sql: str) -> Exception:
        number = _number(error, default=2013)
        ours = translate(number, str(error), sql)
        if isinstance(ours, ConnectionLostError) or number in READ_ONLY or number == PACKET_TOO_LARGE:
            self.close()
        return ours


def _render(cursor: Cursor, part: Statement | Query[Any]) -> str:
    rows = getattr(part, "rows", None)
    if rows is None:
        return cursor.mogrify(part.sql, dict(part.values))
    head, shape = part.sql.rsplit(" VALUES ", 1)
    return f"{head} VALUES {','.join(cursor.mogrify(shape, row) for row in rows)}"


def _result(cursor: Cursor, part: Statement | Query[Any]) -> Any:
    if isinstance(part, Statement):
        return cursor.rowcount
    names = [column[0] for column in cursor.description]
    make = part.row_type
    return [make(**dict(zip(names, row, strict=True))) for row in cursor.fetchall()]


def _number(error: Exception, *, default: int) -> int:
    first = error.args[0] if error.args else None
    return first if isinstance(error, pymysql.MySQLError) and isinstance(first, int) else default
