"""The `timeout*` keys, the same on a definition's state and in a policy's list."""

from dataclasses import dataclass

from workflow_engine.engine.rules.document_limits import MAX_INT
from workflow_engine.engine.rules.durations import minutes_from_iso, minutes_from_number
from workflow_engine.engine.rules.findings import Path
from workflow_engine.engine.rules.object_reader import Node, ObjectReader

_KEYS = ("timeout", "timeout_minutes", "timeout_mode", "timeout_event", "timeout_max_retry", "max_retry")
_MODES = {"once": False, "repeat": True, 0: False, 1: True}


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutKeys:
    """A timeout whose event is still a reference; `path` is the event's place, or the object's."""

    minutes: int
    is_repeat: bool
    event: int | str | None
    max_retry: int | None
    path: Path


def read_timeout(reader: ObjectReader, *, is_optional: bool) -> TimeoutKeys | None:
    """Read the keys; None when there are none (a finding, unless optional) or no duration can be made of them."""
    nodes = {key: reader.take(key) for key in _KEYS}
    if is_optional and not any(nodes.values()):
        return None
    minutes = _minutes(reader, nodes["timeout"], nodes["timeout_minutes"])
    is_repeat = _is_repeat(reader, nodes["timeout_mode"])
    max_retry = reader.integer(reader.take_alias("max_retry", "timeout_max_retry"), 1, MAX_INT)
    if max_retry is not None and not is_repeat:
        reader.findings.warning("MAX_RETRY_WITHOUT_REPEAT", reader.path, "max_retry has no effect: the timeout fires once")
    event_node = nodes["timeout_event"]
    event = reader.event(event_node)
    if minutes is None:
        return None
    return TimeoutKeys(minutes=minutes, is_repeat=is_repeat, event=event, max_retry=max_retry, path=event_node.path if event_node else reader.path)


def _minutes(reader: ObjectReader, iso: Node | None, number: Node | None) -> int | None:
    if iso is None and number is None:
        reader.findings.error("INVALID_DURATION", reader.path, "a timeout needs timeout or timeout_minutes")
        return None
    from_iso = _checked(reader, iso, minutes_from_iso(iso.value) if iso and isinstance(iso.value, str) else None)
    from_number = _checked(reader, number, _from_number(number))
    if iso and number and from_iso is not None and from_number is not None and from_iso != from_number:
        reader.findings.error("CONFLICTING_KEYS", number.path, "timeout_minutes says something else than timeout")
    return from_iso if from_iso is not None else from_number


def _from_number(node: Node | None) -> int | None:
    value = node.value if node else None
    return minutes_from_number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _checked(reader: ObjectReader, node: Node | None, minutes: int | None) -> int | None:
    if node is not None and minutes is None:
        reader.findings.error("INVALID_DURATION", node.path, "must be a duration like P2D or PT30M (no years or months), or minutes; over 0, up to 100 years")
    return minutes


def _is_repeat(reader: ObjectReader, node: Node | None) -> bool:
    if node is None:
        return False
    value = node.value
    mode = value.strip().lower() if isinstance(value, str) else value
    if isinstance(mode, (str, int)) and not isinstance(mode, bool) and mode in _MODES:
        return _MODES[mode]
    reader.findings.error("INVALID_VALUE", node.path, "must be once or repeat")
    return False
