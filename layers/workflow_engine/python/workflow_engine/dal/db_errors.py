"""Driver errors become ours, by number; only `db.py` sees the driver's."""

from workflow_engine.errors import (
    AccessDeniedError,
    ConnectionLostError,
    DuplicateKeyError,
    MissingKeyError,
    RestartUnitError,
    StorageError,
    TooLargeError,
    WorkFlowError,
)

DUPLICATE_KEY = frozenset({1062, 1586})
# More than max_allowed_packet; the server hangs up after saying so.
PACKET_TOO_LARGE = 1153
MISSING_KEY = frozenset({1452, 1216})
# Deadlock, lock wait; the writer became read-only in a failover (1290, 1792, 1836).
READ_ONLY = frozenset({1290, 1792, 1836})
RESTART = frozenset({1205, 1213, 3572}) | READ_ONLY
# Server gone, packet lost, shutdown, killed, idle for too long.
LOST = frozenset({0, 1053, 1152, 1158, 1159, 1160, 1161, 1184, 1317, 1927, 2006, 2013, 2014, 2027, 2055, 4031})
ACCESS_DENIED = frozenset({1044, 1045, 1698})
# Nothing was sent: no connection came about (too many of them, host unreachable, TLS refused).
NOT_CONNECTED = frozenset({1040, 1129, 1130, 1203, 1226, 2002, 2003, 2005, 2026})

_ERRORS: tuple[tuple[frozenset[int], type[WorkFlowError]], ...] = (
    (MISSING_KEY, MissingKeyError),
    (RESTART, RestartUnitError),
    (LOST, ConnectionLostError),
    (ACCESS_DENIED, AccessDeniedError),
    (NOT_CONNECTED, StorageError),
)


def translate(number: int, text: str, sql: str) -> WorkFlowError:
    """Return our error for the driver's; the message names the statement, never its values."""
    where = sql[:80]
    if number in DUPLICATE_KEY:
        return DuplicateKeyError(f"duplicate key in: {where}", _key_name(text))
    if number == PACKET_TOO_LARGE:
        return TooLargeError("the event with its hooks is more than the database takes at once; give it less payload, params or hooks")
    for numbers, error in _ERRORS:
        if number in numbers:
            return error(f"database error {number} in: {where}")
    return WorkFlowError(f"database error {number} in: {where}")


def _key_name(text: str) -> str:
    """MySQL says 'table.key', MariaDB 'key'."""
    return text.rsplit("'", 2)[-2].rsplit(".", 1)[-1] if text.count("'") > 1 else ""
