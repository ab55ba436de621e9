"""Reads the hooks of a rule."""

from dataclasses import dataclass
from datetime import datetime

from workflow_engine.engine.rules.document_limits import MAX_EMITS, MAX_INT, MAX_NAME, MAX_ROUTE, MIN_INT
from workflow_engine.engine.rules.durations import minutes_from_iso
from workflow_engine.engine.rules.findings import Findings, Path
from workflow_engine.engine.rules.object_reader import Node, ObjectReader, open_object
from workflow_engine.engine.rules.policy_refs import Ref, read_complete, read_param_codes

GATE = "gate"
EFFECT = "effect"
_MAX_SEND = 20
_MAX_TIME = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class EmitDraft:
    """A hook whose completion events are still references."""

    route: str
    label: str | None
    on_entry: bool
    type: str | None
    order: int | None
    group: str | None
    ack_mode: str | None
    send: str | None
    not_before: str | None
    deadline: str | None
    params: tuple[Ref, ...] | None
    on_success: Ref | None
    on_failure: Ref | None
    path: Path


def read_emits(rule: ObjectReader) -> tuple[EmitDraft, ...]:
    items = rule.items(rule.take("emit"), MAX_EMITS)
    return tuple(emit for emit in (_read_emit(item, rule.findings) for item in items) if emit is not None)


def _read_emit(item: Node, findings: Findings) -> EmitDraft | None:
    entry = open_object(item, findings)
    if entry is None:
        return None
    # v0.6 calls the route of a hook its event.
    route = entry.text(entry.need(entry.take_alias("route", "event"), "route"), MAX_ROUTE)
    on_success, on_failure = read_complete(entry)
    draft = EmitDraft(
        route=route or "",
        label=entry.text(entry.take("label"), MAX_ROUTE),
        on_entry=entry.flag(entry.take("on_entry"), default=True),
        type=_read_type(entry),
        order=entry.integer(entry.take("order"), MIN_INT, MAX_INT),
        group=entry.text(entry.take("group"), MAX_NAME),
        ack_mode=entry.choice(entry.take("ack_mode"), ("all", "any")),
        send=entry.text(entry.take("send"), _MAX_SEND),
        not_before=_read_time(entry, entry.take("not_before")),
        deadline=_read_time(entry, entry.take("deadline")),
        params=read_param_codes(entry, entry.take("params")),
        on_success=on_success,
        on_failure=on_failure,
        path=item.path,
    )
    entry.close()
    return draft if route is not None else None


def _read_type(entry: ObjectReader) -> str | None:
    """`blocking` is the old way to say gate (true) or effect (false)."""
    found = entry.choice(entry.take("type"), (GATE, EFFECT))
    blocking = entry.take("blocking")
    if blocking is None:
        return found
    entry.findings.warning("LEGACY_SHAPE", blocking.path, '"blocking" is the old form of "type": gate or effect')
    old = GATE if entry.flag(blocking, default=True) else EFFECT
    if found is not None and found != old:
        entry.findings.error("CONFLICTING_KEYS", blocking.path, f'"blocking" contradicts the type {found}')
    return found or old


def _read_time(entry: ObjectReader, node: Node | None) -> str | None:
    """A time or a duration, delivered as written; the engine does not act on it."""
    text = entry.text(node, _MAX_TIME)
    if node is not None and text is not None and not _is_time(text):
        entry.findings.warning("UNRECOGNISED_TIME", node.path, "is neither an ISO 8601 time nor a duration; it is delivered as it is")
    return text


def _is_time(text: str) -> bool:
    if minutes_from_iso(text) is not None:
        return True
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
