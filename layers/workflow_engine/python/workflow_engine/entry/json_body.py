"""Request bodies: bytes to a JSON object, with everything refused that could not be stored or sent on as it came."""

import binascii
import json
import math
from base64 import b64decode
from collections.abc import Mapping
from typing import Any, NoReturn

from workflow_engine.errors import ErrorItem, InvalidRequestError, TooLargeError

MAX_DEPTH = 64
# A number must be finite as a 64-bit float; longer ones would also cost quadratic time to read.
_MAX_DIGITS = 308


def json_object(event: Mapping[str, Any], max_bytes: int) -> dict[str, Any]:
    """Return the event's body, which must be an object."""
    text = _text(event, max_bytes)
    try:
        value: Any = json.loads(text, parse_constant=_no_constant, parse_float=_finite, parse_int=_integer, object_pairs_hook=_object)
    except RecursionError:
        raise _refusal("TOO_DEEP", f"the body is nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        raise _refusal("INVALID_JSON", _reason(error)) from None
    if not isinstance(value, dict):
        raise _refusal("INVALID_JSON", "the body must be a JSON object")
    _check(value, has_escapes="\\u" in text)  # pyright: ignore[reportUnknownArgumentType]
    return value  # pyright: ignore[reportUnknownVariableType]


def _text(event: Mapping[str, Any], max_bytes: int) -> str:
    raw = event.get("body")
    if not isinstance(raw, str) or not raw:
        raise _refusal("INVALID_JSON", "the body must be a JSON object")
    try:
        content = b64decode(raw, validate=True) if event.get("isBase64Encoded") else raw.encode()
        if len(content) > max_bytes:
            raise TooLargeError(f"the body must not be larger than {max_bytes} bytes")
        return content.decode()
    except (binascii.Error, UnicodeError):
        raise _refusal("INVALID_ENCODING", "the body must be UTF-8") from None


def _check(document: dict[str, Any], *, has_escapes: bool) -> None:
    """Walk without recursion; only an escape can smuggle in half a surrogate pair."""
    level: list[Any] = [document]
    for _ in range(MAX_DEPTH):
        inside = [part for value in level for part in _parts(value)]
        if has_escapes and not all(_is_storable(part) for part in inside if isinstance(part, str)):
            raise _refusal("INVALID_ENCODING", "the body holds half a surrogate pair")
        level = [part for part in inside if isinstance(part, (dict, list))]
        if not level:
            return
    raise _refusal("TOO_DEEP", f"the body is nested deeper than {MAX_DEPTH} levels")


def _parts(value: Any) -> list[Any]:
    return [*value, *value.values()] if isinstance(value, dict) else value


def _is_storable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name appears twice in one object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _integer(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise ValueError("a number is too large")
    return int(text)


def _reason(error: ValueError) -> str:
    """The parser's own words with their place; nothing of the body is repeated."""
    return f"{error.msg} at character {error.pos}" if isinstance(error, json.JSONDecodeError) else str(error)


def _refusal(code: str, message: str) -> InvalidRequestError:
    return InvalidRequestError(message, (ErrorItem(pointer="", code=code, message=message),))
