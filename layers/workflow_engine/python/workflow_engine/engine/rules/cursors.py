"""Opaque cursors of keyset lists: the key of the last row shown, and the list it belongs to."""

import base64
import binascii
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from workflow_engine.errors import ErrorItem, InvalidRequestError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# Within what both the database and Python can hold.
_MAX_MOMENT = (datetime(9999, 12, 31, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_MAX_ID = 2**63 - 1
# The longest name key (1,440 bytes) fits with room to spare; more is not ours.
_MAX_LENGTH = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeKey:
    """Place in a list ordered by (time, id)."""

    moment: datetime
    row_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NameKey:
    """Place in a list ordered by (group, name), for instance environment and name."""

    group_id: int
    name: str


def time_cursor(list_name: str, key: TimeKey) -> str:
    return _encode([list_name, (key.moment - _EPOCH) // _MICROSECOND, key.row_id])


def name_cursor(list_name: str, key: NameKey) -> str:
    return _encode([list_name, key.group_id, key.name])


def time_key(list_name: str, cursor: str | None) -> TimeKey | None:
    """Return the place a cursor stands for; None without a cursor; a cursor that this list did not give out is refused."""
    if cursor is None:
        return None
    moment, row_id = _decode(list_name, cursor)
    if not (_is_number(moment, _MAX_MOMENT) and _is_number(row_id, _MAX_ID)):
        raise _bad_cursor()
    return TimeKey(moment=_EPOCH + moment * _MICROSECOND, row_id=row_id)


def name_key_of(list_name: str, cursor: str | None) -> NameKey | None:
    """Return the place a cursor stands for; None without a cursor; a cursor that this list did not give out is refused."""
    if cursor is None:
        return None
    group_id, name = _decode(list_name, cursor)
    if not (_is_number(group_id, _MAX_ID) and isinstance(name, str) and _is_text(name)):
        raise _bad_cursor()
    return NameKey(group_id=group_id, name=name)


def _encode(parts: list[str | int]) -> str:
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode("ascii").rstrip("=")


def _decode(list_name: str, cursor: str) -> tuple[Any, Any]:
    if len(cursor) > _MAX_LENGTH:
        raise _bad_cursor()
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
        parts: Any = json.loads(text)
    except (binascii.Error, ValueError, RecursionError) as error:
        raise _bad_cursor() from error
    match parts:
        case [name, first, second] if name == list_name:
            return first, second
        case _:
            raise _bad_cursor()


def _is_number(value: Any, highest: int) -> bool:
    return type(value) is int and 0 <= value <= highest


def _is_text(text: str) -> bool:
    """JSON may escape half of a surrogate pair, which the database connection cannot send."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _bad_cursor() -> InvalidRequestError:
    message = "the cursor is not one that this list gave out"
    return InvalidRequestError(message, (ErrorItem(pointer="/cursor", code="INVALID_CURSOR", message=message),))
