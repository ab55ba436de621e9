"""Query strings: each name once, as text; the route's model does the rest."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from workflow_engine.errors import ErrorItem, InvalidRequestError

_MAX_PARAMETERS = 50


def query_values(event: Mapping[str, Any]) -> dict[str, str]:
    """Read the raw string: API Gateway joins a repeated name with commas, which a value may contain too."""
    raw = event.get("rawQueryString") or ""
    try:
        pairs = parse_qsl(str(raw), keep_blank_values=True, errors="strict", max_num_fields=_MAX_PARAMETERS)
    except (UnicodeError, ValueError):
        raise InvalidRequestError("the query string cannot be read") from None
    values: dict[str, str] = {}
    for name, value in pairs:
        if name in values:
            raise InvalidRequestError("a query parameter is given twice", (_item(name, "DUPLICATE", "is given twice"),))
        values[name] = value
    return values


def refuse_all(values: Mapping[str, str]) -> None:
    """A route without query model takes no parameters."""
    if values:
        items = tuple(_item(name, "EXTRA_FORBIDDEN", "is not a parameter of this route") for name in values)
        raise InvalidRequestError("the route takes no such query parameter", items)


def _item(name: str, code: str, message: str) -> ErrorItem:
    return ErrorItem(pointer="/" + name.replace("~", "~0").replace("/", "~1"), code=code, message=message)
